"""Feature selection and random features as scikit-learn knows them; needs `renyi[sklearn]`.

Estimators check arguments as scikit-learn does, and leave the work to `selection` and `tables`.
"""

from renyi.errors import load

load("sklearn", extra="sklearn")

from renyi.sklearn.copula_features import RandomCopulaFeatures  # noqa: E402
from renyi.sklearn.selector import RDCSelector, rdc_score  # noqa: E402

__all__ = ["RDCSelector", "RandomCopulaFeatures", "rdc_score"]
