"""ACE, and under it the super smoother (`supersmoother`): beside R, and by their definitions."""

import csv
import warnings
from pathlib import Path

import numpy as np
import pytest

import reference
import renyi
from golden.samples import scalars
from renyi.coefficients.ace import Ace
from renyi.coefficients.supersmoother import Scratch, smoother

SAMPLES = scalars()
TIED = {"many zeros", "rounded", "rounded x", "rounded y", "two values"}


def golden_values():
    """Numbers of every case and quantity that golden/ace.R printed."""
    with (Path(__file__).parents[1] / "golden" / "ace.csv").open() as lines:
        next(lines)
        rows = list(csv.DictReader(lines))
    return {(row["case"], row["quantity"]): np.array(row["values"].split(), dtype=float) for row in rows}


GOLDEN = golden_values()


def smooth_over(x, z, bass):
    """A smooth in the order of x, which has its median at 0."""
    rows = np.atleast_2d(z)[:, np.argsort(x, kind="stable")]
    x = np.sort(x)
    return smoother(x - np.median(x))(rows, Scratch(*rows.shape), bass=bass)


def test_golden_values_are_of_all_samples():
    assert {case for case, _ in GOLDEN} == set(SAMPLES)
    assert {case for case, quantity in GOLDEN if quantity == "order x"} == TIED


@pytest.mark.parametrize("case", sorted(set(SAMPLES) - TIED))
def test_equal_to_acepack(case):
    # Its spans and bounds are numbers of single precision, 0.2 for one is 0.200000003: nine digits agree.
    x, y = SAMPLES[case]
    assert Ace()(x, y) ** 2 == pytest.approx(GOLDEN[case, "rsq"][0], abs=2e-9)
    assert Ace()(y, x) ** 2 == pytest.approx(GOLDEN[case, "rsq swapped"][0], abs=2e-9)


@pytest.mark.slow
@pytest.mark.parametrize("case", sorted(TIED))
def test_close_to_acepack_with_ties_which_takes_them_in_an_order(case):
    # Windows begin and end among equal values, and acepack has them in the order that its quicksort leaves. In that
    # order the reference is equal to it; without any, as here, R² differs by up to 8.5e-4.
    x, y = SAMPLES[case]
    orders = tuple(GOLDEN[case, f"order {side}"].astype(int) for side in "xy")
    assert reference.ace(x, y, orders) == pytest.approx(GOLDEN[case, "rsq"][0], abs=2e-9)
    assert Ace()(x, y) ** 2 == pytest.approx(reference.ace(x, y), abs=1e-12)
    assert Ace()(x, y) ** 2 == pytest.approx(GOLDEN[case, "rsq"][0], abs=1e-3)
    assert Ace()(y, x) ** 2 == pytest.approx(GOLDEN[case, "rsq swapped"][0], abs=1e-3)


@pytest.mark.slow
def test_ties_give_about_the_mean_of_all_orders_of_them(rng):
    # Lines of ties are the mean over orders; sizes of residuals, and so the spans, are close to it.
    x, y = (values[:80] for values in SAMPLES["rounded"])
    in_orders = []
    for _ in range(20):
        mixed = rng.permutation(80)
        orders = tuple(mixed[np.argsort(values[mixed], kind="stable")] for values in (x, y))
        in_orders.append(reference.ace(x, y, orders))
    spread = np.std(in_orders)
    assert spread > 1e-3
    assert Ace()(x, y) ** 2 == pytest.approx(np.mean(in_orders), abs=spread)


def pairs_of_all_kinds(rng, n):
    """Columns without ties, with some, and of two values, each with each."""
    kinds = rng.standard_normal(n), np.round(2 * rng.standard_normal(n)) / 7, (rng.random(n) < 0.4).astype(float)
    return [(x, rng.permutation(y)) for x in kinds for y in kinds]


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 51, 300])
def test_order_of_rows_changes_not_one_bit(n, rng):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", renyi.ConvergenceWarning)
        for x, y in pairs_of_all_kinds(rng, n):
            for measure in (Ace(), Ace().undirected()):
                orders = [rng.permutation(n) for _ in range(5)]
                assert {measure(x[order], y[order]) for order in orders} == {measure(x, y)}


@pytest.mark.parametrize("bass", [0, 2, 5])
@pytest.mark.parametrize("case", ["sine", "independent 50", "heavy tails", "6 rows"])
def test_smooths_are_those_of_supsmu(case, bass):
    x, z = SAMPLES[case]
    expected = GOLDEN[case, f"supsmu {bass}"]
    np.testing.assert_allclose(smooth_over(x, z, bass)[0], expected, rtol=0, atol=1e-8 * np.std(z))


def hard_columns(rng):
    """Columns with ties, gaps, few rows, and far values."""
    columns = {f"{n} rows": rng.standard_normal(n) for n in (2, 3, 4, 5, 11, 40, 101)}
    columns |= {"rounded": np.round(2 * rng.standard_normal(60)), "two values": (rng.random(41) < 0.3).astype(float)}
    columns |= {"one apart": np.repeat([0.0, 1.0], [29, 1]), "one below": np.repeat([-1.0, 0.0], [1, 29])}
    columns["cauchy"] = rng.standard_cauchy(80)
    columns["marked as missing"] = np.where(rng.random(90) < 0.2, -1e7, rng.standard_normal(90))
    columns["far groups"] = rng.standard_normal(90) + 1e6 * rng.integers(-1, 2, 90)
    return columns


HARD = hard_columns(np.random.default_rng(5))


@pytest.mark.slow
@pytest.mark.parametrize("bass", [0, 5, 10])
@pytest.mark.parametrize("case", HARD)
def test_smoother_is_its_definition(case, bass, rng):
    x = np.sort(HARD[case])
    z = rng.standard_normal((2, len(x)))
    expected = [reference.super_smooth(x, row, bass) for row in z]
    # Where groups are a million times their widths apart, six digits are lost before anything is computed.
    np.testing.assert_allclose(smooth_over(x, z, bass), expected, rtol=0, atol=1e-8 if case == "far groups" else 1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in HARD if len(HARD[case]) >= 5 and case != "far groups"])
def test_measure_is_its_definition(case, rng):
    x = HARD[case]
    for y in (
        rng.standard_normal(len(x)),
        np.abs(x) + rng.standard_normal(len(x)),
        np.round(rng.standard_normal(len(x))),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", renyi.ConvergenceWarning)
            found = Ace()(x, y)
        assert found**2 == pytest.approx(max(reference.ace(x, y), 0.0), abs=1e-9)


def test_smooths_of_rows_are_smooths_of_each(rng):
    x = rng.standard_normal(70)
    z = rng.standard_normal((4, 70))
    together = smooth_over(x, z, 5.0).copy()
    np.testing.assert_array_equal(together, [smooth_over(x, row, 5.0)[0] for row in z])


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 51, 300])
def test_permutations_are_those_of_the_data(n, rng):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", renyi.ConvergenceWarning)
        for x, y in pairs_of_all_kinds(rng, n):
            for measure in (Ace(), Ace().undirected()):
                a, b = measure.prepare(x), measure.prepare(y)
                orders = np.stack([rng.permutation(n) for _ in range(5)])
                expected = [measure(x, y[order]) for order in orders]
                assert measure.permuted(a, b, orders).tolist() == expected
                assert [measure.combine(a, measure.reordered(b, order)) for order in orders] == expected


def test_many_rows_are_permuted_in_parts(rng):
    x, y = rng.standard_normal((2, 12_000))
    measure = Ace()
    orders = np.stack([rng.permutation(12_000) for _ in range(3)])
    found = measure.permuted(measure.prepare(x), measure.prepare(y), orders)
    assert found.tolist() == [measure(x, y[order]) for order in orders]


def test_undirected_is_the_larger_of_both_directions():
    x, y = SAMPLES["fast sine"]
    there, back = Ace()(x, y), Ace()(y, x)
    assert back > there + 0.05
    assert Ace().undirected()(x, y) == back == Ace().undirected()(y, x)
    assert not Ace.statement.is_symmetric
    assert str(Ace().undirected()) == "ace(symmetric=True)"


@pytest.mark.parametrize("case", ["cubic", "circle", "independent 50", "rounded", "many zeros"])
def test_scale_sign_and_shift_do_not_matter(case):
    x, y = SAMPLES[case]
    value = Ace()(x, y)
    for scale in (1e-300, 1e300, -3.0):
        assert Ace()(scale * x, y * scale + scale) == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_few_rows_give_a_number_in_range(n, rng):
    for _ in range(20):
        x, y = rng.integers(0, 4, (2, n)) + 0.0
        if np.ptp(x) and np.ptp(y):
            assert 0.0 <= Ace(max_iterations=200)(x, y) <= 1.0


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e308])
def test_extreme_numbers_give_a_number_in_range(scale, rng):
    whole = rng.integers(-1, 2, 60).astype(float)
    assert Ace()(scale * whole, whole) == pytest.approx(1.0)
    wild = np.where(rng.random(60) < 0.1, scale * whole, rng.standard_normal(60))
    assert 0.0 <= Ace(max_iterations=200)(wild, rng.standard_normal(60)) <= 1.0


def test_iteration_that_does_not_settle_is_told_once():
    x, y = SAMPLES["normal 0.8, 30"]
    with pytest.warns(renyi.ConvergenceWarning, match="not settled after 2 iterations.*raise max_iterations") as told:
        Ace(max_iterations=2)(x, y)
    assert [warning.filename for warning in told] == [__file__]
    with pytest.warns(renyi.ConvergenceWarning) as told:
        Ace(max_iterations=2).test(x, y, n_resamples=19)
    assert len(told) == 1


def test_a_smaller_tolerance_goes_on():
    x, y = SAMPLES["normal 0.8, 30"]
    assert Ace(tolerance=1e-9, max_iterations=500)(x, y) ** 2 == pytest.approx(
        reference.ace(x, y, tolerance=1e-9, max_iterations=500), abs=1e-9
    )
    assert Ace(tolerance=1e-9, max_iterations=500)(x, y) != Ace()(x, y)


def test_test_finds_dependence_and_chance():
    assert Ace().test(*SAMPLES["circle"], n_resamples=99).pvalue == 0.01
    result = Ace().test(*SAMPLES["independent"])
    assert result.method == "ace"
    assert result.pvalue > 0.05


@pytest.mark.slow
def test_level_holds_with_ties_in_sorted_rows(rng):
    x = np.sort(np.round(3 * rng.standard_normal(24)))
    measure = Ace()
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", renyi.ConvergenceWarning)
        for repeat in range(300):
            y = rng.permutation(np.repeat([0.0, 1.0, 2.0], 8))
            found.append(measure.test(x, y, n_resamples=19, rng=repeat).pvalue)
    # One in ten, and three standard errors.
    assert np.mean(np.array(found) <= 0.1) == pytest.approx(0.1, abs=0.052)


@pytest.mark.parametrize(
    "settings",
    [
        {"tolerance": 0.0},
        {"tolerance": np.nan},
        {"tolerance": np.inf},
        {"tolerance": "0.01"},
        {"max_iterations": 0},
        {"max_iterations": 2.5},
        {"max_iterations": 10**9},
        {"bass": -1},
        {"bass": 11},
        {"bass": np.nan},
        {"symmetric": "yes"},
    ],
)
def test_settings_that_cannot_work_are_refused(settings):
    (name,) = settings
    with pytest.raises(renyi.InputError, match=f"{name} must be .*, got {settings[name]!r}"):
        renyi.measure("ace", **settings)


def test_vectors_are_refused(rng):
    with pytest.raises(renyi.InputError, match="ace takes numbers alone"):
        Ace()(rng.random((30, 2)), rng.random(30))
