"""Feature selection, random features and changes as scikit-learn knows them; needs `renyi[sklearn]`.

Estimators check arguments as scikit-learn does, and leave the work to `selection`, `tables` and `change`.
"""

from renyi.errors import load

load("sklearn", extra="sklearn")

from renyi.sklearn.change_detector import ChangeDetector  # noqa: E402
from renyi.sklearn.copula_features import RandomCopulaFeatures  # noqa: E402
from renyi.sklearn.selector import RDCSelector, rdc_score  # noqa: E402

__all__ = ["ChangeDetector", "RDCSelector", "RandomCopulaFeatures", "rdc_score"]
