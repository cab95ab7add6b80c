"""Feature selection and random features as scikit-learn knows them; needs `renyi[sklearn]`."""

from renyi.errors import load

load("sklearn", extra="sklearn")

from renyi.sklearn.copula_features import RandomCopulaFeatures  # noqa: E402
from renyi.sklearn.selector import RDCSelector, rdc_score  # noqa: E402

__all__ = ["RDCSelector", "RandomCopulaFeatures", "rdc_score"]
