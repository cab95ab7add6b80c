import subprocess
import sys

import numpy as np
import pytest

import reference
import renyi
from golden.samples import scalars
from renyi.coefficients.mutual_info import MutualInfo

feature_selection = pytest.importorskip("sklearn.feature_selection")

SAMPLES = scalars()
# Where noise decides between equal values or distances, or is large: scikit-learn's own answer depends on its seed.
NOISY = ["large numbers", "rounded", "rounded x", "rounded y", "many zeros"]
LABELS = ["two values"]


def by_sklearn(x, y, n_neighbors=3, seed=0):
    (found,) = feature_selection.mutual_info_regression(
        x[:, np.newaxis], y, discrete_features=False, n_neighbors=n_neighbors, random_state=seed
    )
    return found


@pytest.mark.parametrize("name", [name for name in SAMPLES if name not in (*NOISY, *LABELS)])
def test_equals_sklearn(name):
    x, y = SAMPLES[name]
    assert MutualInfo()(x, y) == pytest.approx(by_sklearn(x, y), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SAMPLES if name not in (*NOISY, *LABELS, "identity")])
def test_equals_the_formula(name):
    """Of the identity both distances are equal, and noise decides which is larger."""
    x, y = SAMPLES[name]
    assert MutualInfo()(x, y) == pytest.approx(reference.mutual_information(x, y, 3), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", NOISY)
def test_is_one_of_the_answers_of_sklearn_where_noise_decides(name):
    x, y = SAMPLES[name]
    answers = [by_sklearn(x - np.median(x), y - np.median(y), seed=seed) for seed in range(40)]
    assert min(answers) - 1e-12 <= MutualInfo()(x, y) <= max(answers) + 1e-12


def test_numbers_far_from_0_have_no_more_noise():
    x, y = SAMPLES["large numbers"]
    assert MutualInfo()(x, y) == pytest.approx(by_sklearn(x - 1e6, y), abs=1e-12)
    assert abs(by_sklearn(x, y) - by_sklearn(x - 1e6, y)) > 1e-4


@pytest.mark.parametrize("n_neighbors", [1, 10])
def test_neighbours_are_a_setting(n_neighbors):
    x, y = SAMPLES["sine"]
    assert renyi.measure("mutual_info", n_neighbors=n_neighbors)(x, y) == pytest.approx(by_sklearn(x, y, n_neighbors))


@pytest.mark.parametrize("name", ["sine", "rounded", "rounded y", "many zeros"])
def test_order_of_rows_and_sides_does_not_matter(name, rng):
    x, y = SAMPLES[name]
    rows = rng.permutation(len(x))
    assert MutualInfo()(y[rows], x[rows]) == pytest.approx(MutualInfo()(x, y), abs=1e-14)


def test_whole_numbers_without_ties_are_symmetric_too(rng):
    x, y = np.arange(200.0), rng.permutation(200).astype(float)
    assert MutualInfo()(x, y) == MutualInfo()(y, x)


def test_normal_data_have_the_known_information(rng):
    x, noise = rng.standard_normal((2, 4000))
    assert MutualInfo()(x, 0.8 * x + 0.6 * noise) == pytest.approx(-np.log(0.6), abs=0.06)


@pytest.mark.slow
def test_pvalues_are_by_permutation():
    x, y = SAMPLES["circle"]
    found = MutualInfo().test(x[:80], y[:80], n_resamples=99)
    assert (found.calibration, found.pvalue) == ("permutation", 0.01)
    assert MutualInfo().test(*SAMPLES["independent"], n_resamples=99).pvalue == 1.0


@pytest.mark.parametrize(
    "pair",
    [
        ([1e308, -1.7e308, 3e307, 1.0, 2.0], [5e-324, 0.0, 1e-323, 0.0, 0.0]),
        ([1e308, 0.0, 1e-308, 1e-300, 2.0], [0.0, -0.0, 1.0, 1.0, 1.0]),
        ([1e16, 1e16 + 2, 1e16 + 4, 1e16 + 8], [1.0, 1.0, 1.0, 2.0]),
    ],
)
def test_extremes_stay_in_range(pair):
    assert 0.0 <= MutualInfo()(*pair) < 10.0


def test_fewer_rows_than_neighbours_are_refused():
    with pytest.raises(renyi.InputError, match=r"3 rows and n_neighbors=3.*at least 4 rows"):
        MutualInfo()([1, 2, 3], [1, 2, 4])


@pytest.mark.parametrize("n_neighbors", [0, 2.0, True, "3"])
def test_invalid_settings_are_refused(n_neighbors):
    with pytest.raises(renyi.InputError, match=f"n_neighbors must be an integer of at least 1, got {n_neighbors!r}"):
        renyi.measure("mutual_info", n_neighbors=n_neighbors)


def test_without_sklearn_the_extra_is_named():
    program = (
        "import sys; sys.modules['sklearn'] = None; import renyi\n"
        "try:\n    renyi.measure('mutual_info')(range(9), range(9))\n"
        "except renyi.MissingExtraError as error:\n    print(error)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "sklearn is not installed and this call needs it: pip install 'renyi[sklearn]'\n"


# Labels.


def test_labels_are_counted(rng):
    x, y = rng.integers(0, 3, 400), rng.integers(0, 2, 400)
    y = np.where(rng.random(400) < 0.5, x > 0, y > 0)
    table = np.array([[np.mean((x == a) & (y == b)) for b in (False, True)] for a in range(3)])
    expected = np.sum(table * np.log(table / (table.sum(axis=0) * table.sum(axis=1)[:, None])))
    assert MutualInfo()(renyi.categorical(x), y) == pytest.approx(expected, abs=1e-12)
    assert MutualInfo()(y, renyi.categorical(x)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("kind", [bool, float, renyi.categorical])
def test_independent_coins_have_no_information(kind, rng):
    x, y = rng.integers(0, 2, (2, 1000))
    x = kind(x) if kind is renyi.categorical else x.astype(kind)
    assert 0.0 <= MutualInfo()(x, y.astype(float)) < 0.005
    assert MutualInfo()(x, x) == pytest.approx(np.log(2), abs=0.01)


def test_labels_and_numbers_have_the_information_of_their_mixture(rng):
    label = rng.integers(0, 3, 1500)
    x = rng.normal(size=1500) + 20.0 * label
    assert MutualInfo()(renyi.categorical(label), x) == pytest.approx(np.log(3), abs=0.01)
    assert MutualInfo()(x, renyi.categorical(label)) == MutualInfo()(renyi.categorical(label), x)
    assert MutualInfo()(renyi.categorical(rng.permutation(label)), x) < 0.05
    (expected,) = feature_selection.mutual_info_classif(x[:, None], label, discrete_features=False, random_state=0)
    assert MutualInfo()(renyi.categorical(label), x) == pytest.approx(expected, abs=1e-9)


def test_rows_of_labels_have_no_order(rng):
    label, x = rng.integers(0, 3, 90), rng.normal(size=90).round(1)
    rows = rng.permutation(90)
    assert MutualInfo()(renyi.categorical(label), x) == MutualInfo()(renyi.categorical(label[rows]), x[rows])


def test_a_table_has_categories_of_any_number_of_levels(rng):
    table = {"label": list("abcde") * 40, "flag": rng.random(200) < 0.5, "x": rng.random(200)}
    found = renyi.matrix(table, measure="mutual_info")
    assert found.names == ("label", "flag", "x")
    assert np.diag(found.values)[:2] == pytest.approx([np.log(5), np.log(2)], abs=0.01)


def test_labels_that_occur_once_have_no_neighbours():
    with pytest.raises(renyi.InputError, match="no two rows have the same label"):
        MutualInfo()(renyi.categorical(list("abcdef")), [1.0, 2.0, 3.0, 4.0, 5.0, 7.0])


def test_permutations_are_not_shared_among_threads(monkeypatch, rng):
    threadpoolctl = pytest.importorskip("threadpoolctl")
    measure, found = renyi.measure("mutual_info"), []

    def combine(self, x, y):
        found.extend(pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "openmp")
        return 0.5

    x, y = rng.normal(size=(2, 6))
    measure(x, y)
    monkeypatch.setattr(type(measure), "combine", combine)
    with threadpoolctl.threadpool_limits(2, user_api="openmp"):
        measure.test(x, y, n_resamples=3)
        # The first is no permutation.
        assert found
        assert found[0] == 2
        assert set(found[len(found) // 4 :]) == {1}
