import numpy as np
import pytest

import reference
import renyi
from golden.samples import scalars, vectors
from renyi.coefficients import kcca
from renyi.coefficients.kcca import Kcca

SAMPLES = scalars() | vectors()


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLES)
def test_equals_the_dense_formula(name):
    x, y = SAMPLES[name]
    expected = reference.kernel_correlation(x, y, 0.002)
    # The factor of the kernel may cost 4·10⁻⁶; it costs less than 2·10⁻⁹ on all samples.
    assert Kcca()(x, y) == pytest.approx(expected, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("regularisation", [1e-5, 0.02, 1.0])
@pytest.mark.parametrize("width", [0.05, 3.0])
def test_settings_are_those_of_the_formula(width, regularisation):
    x, y = SAMPLES["sine"]
    measure = renyi.measure("kcca", width=width, regularisation=regularisation)
    assert measure(x, y) == pytest.approx(reference.kernel_correlation(x, y, regularisation, width), abs=4e-6)


@pytest.mark.parametrize(("n", "d"), [(300, 5), (1200, 2), (400, 1)])
def test_a_factor_that_ends_early_is_close_to_the_exact_one(n, d, rng, monkeypatch):
    x = rng.standard_normal((n, d)) if d > 1 else rng.standard_cauchy((n, 1))
    y = np.linalg.norm(x, axis=1) + 0.1 * rng.standard_normal(n)
    exact = [Kcca().prepare(side) for side in (x, y)]
    monkeypatch.setattr(kcca, "_most_pivots", lambda n: n // 4)
    ended = [Kcca().prepare(side) for side in (x, y)]
    assert ended[0].shape[1] <= n // 4
    assert Kcca().combine(*ended) == pytest.approx(Kcca().combine(*exact), abs=1e-3)


def test_no_data_take_unbounded_memory():
    for n in (10, 1000, 10_000, 10**5, 10**6):
        assert Kcca().bytes_needed(n, 10) < 2.5 * 2**30
        assert kcca._most_pivots(n) >= min(n, 50)
    assert kcca._most_pivots(1259) == 1259


def test_many_rows_of_numbers_need_few_columns(rng):
    x = rng.random(100_000)
    side = Kcca().prepare(x)
    assert side.shape[1] < 20
    assert Kcca().combine(side, Kcca().prepare(np.sin(2 * np.pi * x))) > 0.95


@pytest.mark.parametrize("d", [1, 6])
def test_permutations_are_those_of_reordered_sides(d, rng):
    x, y = rng.standard_normal((2, 150, d))
    x[:, 0] = np.round(x[:, 0])
    measure = Kcca()
    a, b = measure.prepare(x), measure.prepare(y)
    assert (min(a.shape[1], b.shape[1]) > kcca._FEW_COLUMNS) == (d > 1)
    orders = np.stack([rng.permutation(150) for _ in range(12)])
    dense = [np.linalg.norm(a.T @ b[order], 2) for order in orders]
    for pair, moved in (((a, b), orders), ((b, a), np.argsort(orders, axis=1))):
        assert measure.permuted(*pair, moved) == pytest.approx(np.array(dense), rel=1e-9)
    anew = [measure(x, y[order]) for order in orders]
    assert anew == pytest.approx(dense, abs=1e-8)
    assert measure.combine(a, measure.reordered(b, orders[0])) == pytest.approx(dense[0], rel=1e-9)


def test_steps_end_where_few_directions_are_left(rng):
    """Bases that share a few directions alone: the steps run out before the columns do."""
    a, b = (np.linalg.qr(rng.standard_normal((90, 40)))[0] for _ in range(2))
    b[:, 3:] = 0.0
    orders = np.arange(90)[np.newaxis]
    assert kcca._largest_by_steps(a, b, orders) == pytest.approx(np.linalg.norm(a.T @ b, 2), rel=1e-9)
    assert kcca._largest_by_steps(a, 0 * b, orders) == 0.0


def test_order_of_rows_and_sides_does_not_matter(rng):
    x, y = SAMPLES["heavy tails"]
    rows = rng.permutation(len(x))
    value = Kcca()(x, y)
    assert Kcca()(x[rows], y[rows]) == pytest.approx(value, abs=1e-10)
    assert Kcca()(y, x) == pytest.approx(value, abs=1e-12)


def test_units_do_not_matter_and_increasing_maps_do():
    x, y = SAMPLES["quadratic"]
    value = Kcca()(x, y)
    assert Kcca()(2.0**900 * x, 2.0**-900 * y) == value
    assert Kcca()(1e3 * x - 7, 1e-3 * y + 1) == pytest.approx(value, abs=1e-8)
    assert abs(Kcca()(np.exp(5 * x), y) - value) > 0.01


@pytest.mark.slow
@pytest.mark.parametrize("n", [1001, 5000])
def test_width_of_many_rows_is_close_to_that_of_all(n, rng):
    x = np.sort(rng.standard_normal(n))[:, np.newaxis]
    distances = np.abs(x - x.T)[np.triu_indices(n, 1)]
    # The first and the last row are always among the thousand, which makes 0.3 % here.
    assert kcca._median_distance(x) == pytest.approx(np.median(distances), rel=4e-3)


def test_width_of_a_rare_event_is_found():
    x = np.zeros(5000)
    x[17] = 3.0
    assert kcca._median_distance(np.sort(x)[:, np.newaxis]) == 3.0
    assert 0.0 <= Kcca()(x, np.arange(5000.0)) < 0.1


@pytest.mark.slow
def test_independent_data_score_low_and_dependent_high():
    highest, lowest = 0.0, 1.0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        u, v = rng.random((2, 500))
        a, b = 0.05 * rng.standard_normal((2, 500))
        angle = 2 * np.pi * u
        highest = max(highest, Kcca()(u, v), Kcca()(a, b), Kcca()(*rng.standard_cauchy((2, 500))))
        dependent = (u, u + a), (u, 4 * (u - 0.5) ** 2 + a), (u, np.sin(angle) + a)
        lowest = min(lowest, *(Kcca()(*pair) for pair in dependent))
        lowest = min(lowest, Kcca()(np.cos(angle) + a, np.sin(angle) + b))
    assert highest < 0.4
    assert lowest > 0.89


@pytest.mark.slow
def test_pvalues_are_by_permutation():
    found = Kcca().test(*SAMPLES["circle"])
    assert found.calibration == "permutation"
    assert found.pvalue == 0.001
    assert Kcca().test(*SAMPLES["independent vectors"]).pvalue > 0.05


@pytest.mark.parametrize(
    "pair",
    [
        ([0.0, 1.0], [1.0, 0.0]),
        ([0.0, 1.0, 1.0], [1.0, 0.0, 5.0]),
        ([1e308, -1.7e308, 3e307, 1.0], [5e-324, 0.0, 1e-323, 1.0]),
        ([1e308, 0.0, 1e-308, 1e-300, 2.0], [0.0, -0.0, 1.0, 1.0, 1.0]),
        ([1e16, 1e16 + 2, 1e16 + 4, 0.0], [1.0, 1.0, 1.0, 2.0]),
    ],
)
def test_extremes_stay_in_range(pair):
    for settings in ({}, {"width": 1e-320}, {"width": 1e300}, {"regularisation": 1e-8}, {"regularisation": 1e300}):
        assert 0.0 <= renyi.measure("kcca", **settings)(*pair) <= 1.0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"width": 0.0}, "width must be a number above 0 .*, got 0.0"),
        ({"width": "median"}, "got 'median'"),
        ({"width": np.nan}, "got nan"),
        ({"width": True}, "got True"),
        ({"regularisation": 0}, "regularisation must be at least .*, got 0: without it every coefficient is 1"),
        ({"regularisation": 1e-9}, "at least 1e-08"),
        ({"regularisation": np.inf}, "got inf"),
    ],
)
def test_invalid_settings_are_refused(settings, words):
    with pytest.raises(renyi.InputError, match=words):
        renyi.measure("kcca", **settings)
