import csv
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2

import reference
from renyi.coefficients.dcor import Dcor
from renyi.coefficients.registry import measure
from renyi.errors import InputError

GOLDEN = Path(__file__).parents[1] / "golden"
sys.path.append(str(GOLDEN))
import samples  # noqa: E402

SAMPLES = {"scalar": samples.scalars(), "vector": samples.vectors()}


def golden():
    with (GOLDEN / "dcor.csv").open() as lines:
        return list(csv.DictReader((line for line in lines if not line.startswith("#")), delimiter=";"))


def named(row):
    return f"{row['kind']} {row['sample']}"


def test_every_sample_has_golden_values():
    assert {(row["kind"], row["sample"]) for row in golden()} == {
        (kind, name) for kind, pairs in SAMPLES.items() for name in pairs
    }


@pytest.mark.parametrize("row", golden(), ids=named)
def test_equal_to_energy_of_r(row):
    pair = SAMPLES[row["kind"]][row["sample"]]
    assert Dcor()(*pair) == pytest.approx(float(row["dcor"]), abs=1e-12)
    assert Dcor(exponent=0.5)(*pair) == pytest.approx(float(row["dcor_half"]), abs=1e-12)
    assert Dcor(unbiased=True)(*pair) == pytest.approx(float(row["bcdcor"]), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("kind", SAMPLES)
@pytest.mark.parametrize("exponent", [1.0, 0.5, 1.7])
def test_equal_to_the_definition(kind, exponent):
    for pair in SAMPLES[kind].values():
        x, y = (side[:60] for side in pair)
        expected = reference.dcor(x, y, exponent)
        assert Dcor(exponent=exponent)(x, y) == pytest.approx(expected, abs=1e-12)


def test_sides_of_different_shape():
    x, y = SAMPLES["vector"]["norm"]
    for scalar in (y[:, 0], x[:, 1]):
        assert Dcor()(x, scalar) == pytest.approx(reference.dcor(x, scalar), abs=1e-12)
        assert Dcor()(scalar, x) == pytest.approx(reference.dcor(scalar, x), abs=1e-12)


def test_categories_are_indicators():
    import renyi

    rng = np.random.default_rng(3)
    levels, y = rng.integers(0, 4, 80), rng.random(80)
    indicators = (levels[:, None] == np.arange(4)).astype(float)
    assert Dcor()(renyi.categorical(levels), y) == pytest.approx(reference.dcor(indicators, y), abs=1e-12)


@pytest.mark.parametrize("n", [pytest.param(6_000, marks=pytest.mark.slow), 1_000])
@pytest.mark.parametrize("draw", ["random", "standard_cauchy"])
def test_two_ways_for_scalars_agree(n, draw):
    # A coordinate that is 0 throughout makes vectors of the same distances, which are compared pair by pair.
    x, y = getattr(np.random.default_rng(n), draw)((2, n))
    wide = [np.column_stack((side, np.zeros(n))) for side in (x, y)]
    for measured in (Dcor(), Dcor(unbiased=True)):
        assert measured(x, y) == pytest.approx(measured(*wide), rel=1e-9, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 16, 17, 33, 500, 1100])
@pytest.mark.parametrize("n_coordinates", [1, 2])
@pytest.mark.parametrize("unbiased", [False, True])
def test_permuting_a_prepared_side_is_permuting_the_data(n, n_coordinates, unbiased):
    rng = np.random.default_rng(n)
    n = max(n, 4) if unbiased else n
    x, y = np.round(rng.standard_normal((2, n, n_coordinates)), 1)
    x[0], y[0] = 9.0, -9.0
    measured, orders = Dcor(unbiased=unbiased), np.stack([rng.permutation(n) for _ in range(3)])
    a, b = measured.prepare(x), measured.prepare(y)
    expected = [measured(x, y[order]) for order in orders]
    np.testing.assert_allclose(measured.permuted(a, b, orders), expected, atol=1e-12)
    again = [measured.combine(a, measured.reordered(b, order)) for order in orders]
    np.testing.assert_allclose(again, expected, atol=1e-12)


def test_invariant_to_shifts_scales_and_rotations():
    x, y = SAMPLES["vector"]["noisy copy"]
    rotation = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0]
    assert Dcor()(1e5 + x @ rotation, -3e-200 * y) == pytest.approx(Dcor()(x, y), abs=1e-9)
    assert Dcor()(y, x) == pytest.approx(Dcor()(x, y), abs=1e-13)


@pytest.mark.parametrize(
    "x",
    [
        [0.0, 1.7e308, -1.7e308, 1.0, 5.0],
        [5e-324, 0.0, 0.0, 1e-323, 0.0],
        [1.0, 1.0 + 2**-52, 1.0, 1.0, 1.0],
        [0.0, 0.0, 0.0, 0.0, 1.0],
    ],
)
@pytest.mark.parametrize("settings", [{}, {"unbiased": True}, {"exponent": 0.01}, {"exponent": 1.99}])
def test_extreme_numbers_give_a_number_in_range(x, settings):
    measured = Dcor(**settings)
    for y in (x, [1.0, 2.0, 3.0, 4.0, 5.0]):
        assert -1.0 <= measured(x, y) <= 1.0
        assert 0.0 < measured.test(x, y, n_resamples=9).pvalue <= 1.0
    assert measured.unbiased or measured(x, x) == pytest.approx(1.0, abs=1e-9)


def test_one_row_that_differs_has_no_unbiased_variance():
    # R's bcdcor divides 0 by 0 here.
    x = np.append(np.zeros(9), 1.0)
    assert Dcor(unbiased=True)(x, x) == 0.0
    assert Dcor()(x, x) == 1.0


@pytest.mark.parametrize("n", [2, 3])
def test_few_rows(n):
    x, y = np.arange(n) ** 2.0, np.arange(n) + 5.0
    assert Dcor()(x, y) == pytest.approx(reference.dcor(x, y))
    assert Dcor().test(x, y, n_resamples=9).pvalue > 0.1
    with pytest.raises(InputError, match="at least 4 rows"):
        Dcor(unbiased=True)(x, y)


def test_null_distribution_is_the_chi_squared_bound():
    x, y = SAMPLES["scalar"]["quadratic"]
    corrected = Dcor(unbiased=True)(x, y)
    for measured in (Dcor(), Dcor(unbiased=True)):
        result = measured.test(x, y)
        assert result.statistic == pytest.approx(300 * corrected)
        assert result.pvalue == pytest.approx(chi2.sf(300 * corrected + 1, 1), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("draw", "n_coordinates"), [("random", 1), ("standard_normal", 1), ("standard_normal", 3)])
def test_size_of_the_null_distribution(draw, n_coordinates):
    rng = np.random.default_rng(11)
    pvalues = []
    for _ in range(1_000):
        sides = [Dcor().prepare(getattr(rng, draw)((100, n_coordinates))) for _ in range(2)]
        tail = Dcor().null_tail(*sides, Dcor().combine(*sides))
        if tail is not None:
            pvalues.append(np.exp(tail.log_pvalue))
    assert len(pvalues) > 950
    # A bound: at most the level, but for three standard errors of the simulation; and not a void one.
    assert 0.02 < np.mean(np.array(pvalues) <= 0.05) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1_000)
    assert np.mean(np.array(pvalues) <= 0.01) < 0.01 + 3 * np.sqrt(0.01 * 0.99 / 1_000)


@pytest.mark.parametrize("n", [11, 12, 49, 200])
def test_few_rows_and_remote_ones_are_permuted(n):
    rng = np.random.default_rng(12)
    x, y = rng.random((2, n))
    assert (Dcor().test(x, y).n_resamples is None) == (n >= 12)
    assert Dcor().test(rng.standard_cauchy(n), rng.standard_cauchy(n)).n_resamples is not None


def test_far_tail_is_a_number():
    x = np.random.default_rng(2).random(100_000)
    result = Dcor().test(x, x)
    assert result.log_pvalue == pytest.approx(-50_000, rel=1e-3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"exponent": 2.0}, "exponent=2.0 is not between 0 and 2"),
        ({"exponent": True}, "exponent=True"),
        ({"exponent": "1"}, "exponent='1'"),
        ({"unbiased": 1}, "unbiased must be True or False, got 1"),
    ],
)
def test_invalid_settings_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        measure("dcor", **settings)


def test_too_many_vectors_are_refused():
    with pytest.raises(InputError, match="refused beyond 100,000"):
        Dcor().prepare(np.arange(200_002.0).reshape(-1, 2))
