"""Pearson, Spearman and Kendall: values and p-values beside SciPy's, ties, extreme numbers, few rows."""

import numpy as np
import pytest
import scipy.stats

import renyi
from golden.samples import scalars
from renyi.coefficients.pearson import Pearson, Spearman, correlation_of
from renyi.data.reader import as_column

SCIPY = {"pearson": scipy.stats.pearsonr, "spearman": scipy.stats.spearmanr, "kendall": scipy.stats.kendalltau}
SAMPLES = scalars()
# Where the null distribution of many rows fails: tails on both sides that a single row decides, and t on six rows.
PERMUTED = {("pearson", "heavy tails"), ("pearson", "6 rows"), ("spearman", "6 rows")}
# Where both sides are skewed, and with them the correlation of independent data: SciPy's p-values are too small.
SKEWED = {(name, "many zeros") for name in SCIPY} | {("pearson", "independent 20")}
# Few rows, of which all orders have a tail that is heavier than that of t.
HEAVY = {("spearman", "independent 20"), ("spearman", "normal 0.8, 30"), ("pearson", "normal 0.8, 30")}


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("name", SCIPY)
def test_values_and_pvalues_are_those_of_scipy(name, sample):
    expected = SCIPY[name](*SAMPLES[sample])
    found = renyi.measure(name).test(*SAMPLES[sample])
    assert found.coefficient == pytest.approx(expected.statistic, abs=1e-10)
    assert found.statistic == abs(found.coefficient)
    assert (found.calibration == "permutation") == ((name, sample) in PERMUTED)
    # SciPy's p-values end at the smallest float, and at 0 where a rank correlation is perfect.
    if (name, sample) in SKEWED | HEAVY:
        assert expected.pvalue < found.pvalue
    elif found.calibration == "theory" and expected.pvalue > 1e-290:
        assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-8)


def test_perfect_order_has_the_smallest_pvalue_that_ranks_can_have():
    x = np.arange(200.0)
    for name in ("spearman", "kendall"):
        found = renyi.measure(name).test(x, -(x**3))
        assert found.coefficient == pytest.approx(-1.0, abs=1e-15)
        assert found.log_pvalue == pytest.approx(np.log(2.0) - scipy.special.gammaln(201.0), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("n", [18, 30])
def test_pvalues_of_few_ranks_hold_in_the_tail(n):
    rng, m = np.random.default_rng(n), renyi.measure("spearman")
    x = m.prepare(np.arange(float(n)))
    batches = (rng.permuted(np.tile(np.arange(n), (10_000, 1)), axis=1) for _ in range(60))
    values = np.sort(np.abs(np.concatenate([m.permuted(x, x, orders) for orders in batches])))
    # By Student's t 1.3 and 1.7 times too many.
    for level, reached in ((1e-3, 600), (1e-4, 60)):
        below = np.exp(m.null_tail(x, x, float(values[-int(reached + 3 * reached**0.5)])).log_pvalue)
        assert below > level


@pytest.mark.parametrize("name", SCIPY)
@pytest.mark.parametrize("levels", [0, 4, 60])
def test_permuted_values_are_those_of_permuted_data(name, levels, rng):
    x, y = rng.random((2, 150))
    x, y = (np.floor(levels * v) if levels else v for v in (x, y))
    m = renyi.measure(name)
    orders = np.stack([rng.permutation(150) for _ in range(7)])
    sides = m.prepare(x), m.prepare(y)
    expected = [m(x, y[order]) for order in orders]
    assert m.permuted(*sides, orders) == pytest.approx(expected, abs=1e-12)
    assert [m.combine(sides[0], m.reordered(sides[1], order)) for order in orders] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "stretch",
    [
        lambda v: v * 2.0**1020,
        lambda v: v * 2.0**-1040,
        lambda v: 1.0 + np.floor(v * 8) * 2.0**-52,
        lambda v: -1e300 + v * 1e290,
    ],
)
def test_pearson_survives_extreme_numbers(stretch, rng):
    x, y = rng.random((2, 100))
    x = np.floor(x * 2**20) / 2**20
    y += x
    reference = np.floor(x * 8) if np.ptp(stretch(x)) < 1e-10 and np.ptp(stretch(x)) > 1e-300 else x
    found = renyi.measure("pearson")(stretch(x), y)
    assert found == pytest.approx(np.corrcoef(reference, y)[0, 1], abs=1e-6)


@pytest.mark.parametrize("name", SCIPY)
def test_two_rows_show_nothing(name):
    found = renyi.measure(name).test([1.0, 2.0], [5.0, 3.0])
    assert found.coefficient == pytest.approx(-1.0, abs=1e-15)
    assert found.pvalue == 1.0


FLAGS = ["pearson", "spearman", "kendall", "cca", "dcor", "hsic", "chsic"]


@pytest.mark.parametrize("name", FLAGS)
def test_two_flags_have_the_share_of_tables_with_as_large_a_correlation(name):
    # By Pearson's null distribution 5e-9 and 4.6e-33.
    rare = np.arange(1000) < 20, (np.arange(1000) >= 16) & (np.arange(1000) < 36)
    found = renyi.measure(name).test(*rare)
    assert found.calibration == "theory"
    assert found.pvalue == pytest.approx(scipy.stats.hypergeom(1000, 20, 20).sf(3), rel=1e-9)
    few = np.repeat([1, 0], 3)
    assert renyi.measure(name).test(few, few).pvalue == pytest.approx(0.1, rel=1e-12)
    assert renyi.measure(name).test(few, 1 - few).pvalue == pytest.approx(0.1, rel=1e-12)


@pytest.mark.parametrize("name", FLAGS)
def test_flags_are_counted_as_permutations_would_have_it(name, rng):
    x, y = (rng.random(40) < share for share in (0.2, 0.4))
    m = renyi.measure(name)
    sides = m.prepare(x.astype(float)), m.prepare(y.astype(float))
    permuted = m.permuted(*sides, np.stack([rng.permutation(40) for _ in range(4000)]))
    expected = np.mean(m.strength(permuted) >= m.strength(m.combine(*sides)) - 1e-9)
    assert m.test(x, y).pvalue == pytest.approx(expected, abs=0.04)


@pytest.mark.parametrize("name", SCIPY)
def test_columns_of_which_few_rows_decide_are_permuted(name, rng):
    # By Student's t 1e-18: one row decides, and meets its like in 1 of 60 orders.
    x, y = np.where(np.arange(60) == 3, 1e6, rng.standard_normal((2, 60)))
    if name == "pearson":
        found = renyi.measure(name).test(x, y)
        assert found.calibration == "permutation"
        assert found.pvalue == pytest.approx(1 / 60, rel=0.3)
    # Values of which nearly all are 0.
    x, y = np.where(np.arange(60) < 57, 0.0, rng.random((2, 60)))
    assert renyi.measure(name).test(x, y).calibration == "permutation"


@pytest.mark.parametrize("name", [*FLAGS, "xi"])
def test_ties_on_few_rows_are_permuted(name, rng):
    x, y = rng.integers(0, 3, (2, 12))
    assert renyi.measure(name).test(x, y).calibration == "permutation"
    assert renyi.measure(name).test(x, x).pvalue >= 1e-4


@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall", "cca", "dcor", "hsic"])
def test_no_pvalue_is_below_one_over_the_number_of_arrangements(name):
    # A row of 60 is an event, and meets the row that it belongs to in one of 60 orders.
    x, y = np.arange(60) == 0, np.where(np.arange(60) == 0, 100.0, np.arange(60) / 60)
    assert renyi.measure(name).test(x, y).pvalue >= 0.9 / 60


@pytest.mark.slow
def test_a_skewed_null_distribution_is_that_of_permutations(rng):
    x, y = rng.permutation(np.arange(400) < 20), np.round(rng.exponential(size=400), 1)
    m = renyi.measure("pearson")
    sides = m.prepare(x.astype(float)), m.prepare(y)
    values = np.abs(m.permuted(*sides, rng.permuted(np.tile(np.arange(400), (50_000, 1)), axis=1)))
    for share in (0.05, 0.01, 0.002):
        value = float(np.quantile(values, 1 - share))
        # Heavier than permutations, if anything. 100 of 50,000 are good to a tenth.
        assert 0.8 * share < np.exp(m.null_tail(*sides, value).log_pvalue) < 1.4 * share
    by_student = 2 * scipy.stats.t.sf(value * np.sqrt(398 / (1 - value**2)), 398)
    assert by_student < 0.6 * share


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall", "cca"])
@pytest.mark.parametrize("data", ["Cauchy", "lognormal", "rare"])
def test_size_holds_where_single_rows_weigh_most(name, data):
    rng = np.random.default_rng(20131205)
    draw = {
        "Cauchy": lambda: rng.standard_cauchy(60),
        "lognormal": lambda: np.exp(1.5 * rng.normal(size=60)),
        "rare": lambda: rng.permutation(np.append(rng.random(58) < 0.05, [True, False])).astype(float),
    }[data]
    m = renyi.measure(name)
    # Student's t has sizes of 0.03 to 0.04 here, and the null distributions of all four 0.03 on rare events.
    size = np.mean([m.test(draw(), draw(), n_resamples=299).pvalue <= 0.01 for _ in range(1000)])
    assert size <= 0.01 + 4 * np.sqrt(0.01 * 0.99 / 1000)


@pytest.mark.parametrize(("n", "decimals"), [(40, 0), (500, 1), (500, 9), (50_000, 9)])
def test_a_pair_has_the_textbook_value_on_its_common_rows(n, decimals, rng):
    x = np.round(rng.standard_normal(n), decimals)
    y = np.round(x**3 + rng.standard_normal(n), decimals)
    x[rng.random(n) < 0.2 + 0.3 * (y > 0)] = np.nan
    y[::7] = np.nan
    a, b = (as_column(side, name) for side, name in ((x, "x"), (y, "y")))
    rows = np.isfinite(x) & np.isfinite(y)
    assert correlation_of(Spearman(), a, b) == pytest.approx(scipy.stats.spearmanr(x[rows], y[rows])[0], abs=1e-12)
    assert correlation_of(Pearson(), a, b) == pytest.approx(np.corrcoef(x[rows], y[rows])[0, 1], abs=1e-12)


def test_what_has_no_order_or_no_variance_has_no_correlation(rng):
    x = as_column(np.where(np.arange(30) < 10, np.arange(30), np.nan), "x")
    late = as_column(np.maximum(np.arange(30), 10), "late")
    letters = renyi.categorical(rng.choice(list("abc"), 30))
    for partner in (late, letters):
        assert np.isnan(correlation_of(Spearman(), x, partner))
