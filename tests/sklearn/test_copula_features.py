import numpy as np
import pytest

from renyi.errors import InputError
from renyi.sklearn import RandomCopulaFeatures


def test_features_know_no_units_and_serve_new_rows(data):
    x = data[0]
    plain, bent = (
        RandomCopulaFeatures(n_components=10).fit(x[:300]),
        RandomCopulaFeatures(n_components=10).fit(np.exp(x[:300])),
    )
    assert plain.transform(x[300:]) == pytest.approx(bent.transform(np.exp(x[300:])))
    ranks = np.array([[np.mean(x[:300, j] <= x[300, j]) for j in range(6)]])
    angles = plain.projection_.angles(ranks)
    assert plain.transform(x[300:301])[0, ::2] == pytest.approx(np.sin(angles)[0])
    assert plain.get_feature_names_out()[0] == "randomcopulafeatures0"


def test_there_are_as_many_columns_as_components(data):
    even, odd = (RandomCopulaFeatures(n_components=m).fit(data[0]) for m in (8, 7))
    assert even.transform(data[0]).shape == (len(data[0]), 8)
    assert odd.transform(data[0]).shape == (len(data[0]), 7) == (len(data[0]), len(odd.get_feature_names_out()))
    assert np.array_equal(odd.transform(data[0]), even.transform(data[0])[:, :7])


def test_weights_count_rows():
    x = np.array([[1.0], [2.0], [5.0]])
    weighted = RandomCopulaFeatures(n_components=6).fit(x, sample_weight=[1, 0, 3])
    repeated = RandomCopulaFeatures(n_components=6).fit(x[[0, 2, 2, 2]])
    assert weighted.transform(x) == pytest.approx(repeated.transform(x))
    with pytest.raises(InputError, match="sample_weight"):
        RandomCopulaFeatures().fit(x, sample_weight=[1, -1, 1])


@pytest.mark.parametrize(
    "settings", [{"n_components": 0}, {"n_components": 2.5}, {"s": -1.0}, {"s": "median"}, {"frequencies": "odd"}]
)
def test_features_that_cannot_be_drawn(data, settings):
    with pytest.raises(InputError):
        RandomCopulaFeatures(**settings).fit(data[0])


def test_draws_follow_the_seed(data):
    def drawn(random_state):
        return RandomCopulaFeatures(n_components=8, random_state=random_state).fit(data[0]).transform(data[0][:2])

    assert drawn(None).tolist() == drawn(None).tolist()
    assert drawn(1).tolist() == drawn(1).tolist() != drawn(2).tolist()
    assert drawn(np.random.RandomState(0)).tolist() == drawn(np.random.RandomState(0)).tolist()
