import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from renyi.sklearn import ChangeDetector, RandomCopulaFeatures, RDCSelector


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:No features were selected")
@parametrize_with_checks([RDCSelector(), RDCSelector(n_features_to_select=1), RandomCopulaFeatures(), ChangeDetector()])
def test_conventions_of_scikit_learn(estimator, check):
    check(estimator)
