import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import pdist

import reference
import renyi
from renyi.coefficients.hsic import CopulaHsic, Hsic
from renyi.coefficients.registry import measure
from renyi.errors import InputError

sys.path.append(str(Path(__file__).parents[1] / "golden"))
import samples

PAIRS = {**samples.scalars(), **samples.vectors()}


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIRS)
def test_equal_to_the_definition(name):
    x, y = (side[:150] for side in PAIRS[name])
    assert Hsic()(x, y) == pytest.approx(reference.hsic(x, y), abs=1e-12)
    ranks = reference.empirical_ranks(x), reference.empirical_ranks(y)
    assert CopulaHsic()(x, y) == pytest.approx(reference.hsic(*ranks), abs=1e-12)


@pytest.mark.parametrize("name", ["sine", "rounded", "heavy tails", "norm", "30 rows"])
def test_unbiased_and_not_normalised(name):
    x, y = (side[:80] for side in PAIRS[name])
    n = len(x)
    k, m = reference.gaussian_kernel(x), reference.gaussian_kernel(y)
    plain = (reference.double_centred(k) * reference.double_centred(m)).sum() / n**2
    corrected = (reference.u_centred(k) * reference.u_centred(m)).sum() / (n * (n - 3))
    assert Hsic(normalised=False)(x, y) == pytest.approx(plain, rel=1e-10)
    assert Hsic(normalised=False, unbiased=True)(x, y) == pytest.approx(corrected, rel=1e-9)
    ratio = reference.alignment(reference.u_centred(k), reference.u_centred(m))
    assert Hsic(unbiased=True)(x, y) == pytest.approx(ratio, abs=1e-12)


@pytest.mark.parametrize("width", [0.01, 0.3, 50.0])
def test_width_in_units_of_the_data(width):
    x, y = (3.0 + side[:60] for side in PAIRS["sine"])
    assert Hsic(width=width)(x, y) == pytest.approx(reference.hsic(x, y, width), abs=1e-9)


@pytest.mark.parametrize("name", ["sine", "heavy tails", "rounded", "norm", "independent vectors"])
@pytest.mark.parametrize("n_kept", [0, 1024])
def test_factors_kept_matrices_and_blocks_agree(name, n_kept, monkeypatch):
    x, y = PAIRS[name]
    expected = Hsic()(x, y), Hsic(unbiased=True)(x, y), Hsic().test(x, y).log_pvalue
    monkeypatch.setattr("renyi.coefficients.kernels.row_pairs.MOST_KEPT", n_kept)
    monkeypatch.setattr("renyi.coefficients.hsic._MOST_COLUMNS", 2)
    assert Hsic().prepare(x).factor is None
    found = Hsic()(x, y), Hsic(unbiased=True)(x, y), Hsic().test(x, y).log_pvalue
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.slow
def test_kernels_of_scalars_have_short_factors():
    x = np.random.default_rng(0).standard_normal(3_000)
    factor = Hsic().prepare(x).factor
    assert factor is not None
    assert factor.shape[1] <= 40
    kernel = reference.double_centred(np.exp(-((np.subtract.outer(x, x) / np.median(pdist(x[:, None]))) ** 2) / 2))
    np.testing.assert_allclose(factor @ factor.T, kernel, atol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("sides", ["scalars", "vectors", "both", "many vectors"])
@pytest.mark.parametrize("settings", [{}, {"unbiased": True}, {"normalised": False}])
def test_permuting_a_prepared_side_is_permuting_the_data(sides, settings):
    rng = np.random.default_rng(4)
    n = 1_100 if sides == "many vectors" else 90
    x = rng.standard_normal((n, 1 if sides == "scalars" else 4))
    y = rng.standard_normal((n, 4 if "vectors" in sides else 1))
    measured, orders = Hsic(**settings), np.stack([rng.permutation(n) for _ in range(3)])
    a, b = measured.prepare(x), measured.prepare(y)
    expected = [measured(x, y[order]) for order in orders]
    np.testing.assert_allclose(measured.permuted(a, b, orders), expected, atol=1e-12)
    again = [measured.combine(a, measured.reordered(b, order)) for order in orders]
    np.testing.assert_allclose(again, expected, atol=1e-12)


def test_copula_is_invariant_to_increasing_maps():
    x, y = PAIRS["rounded y"]
    assert CopulaHsic()(np.exp(5 * x), y**3) == CopulaHsic()(x, y)
    assert Hsic()(np.exp(5 * x), y**3) != pytest.approx(Hsic()(x, y), abs=1e-3)


def test_range_and_symmetry():
    for x, y in PAIRS.values():
        assert 0.0 <= Hsic()(x, y) <= 1.0
        assert Hsic()(y, x) == pytest.approx(Hsic()(x, y), abs=1e-12)
        assert Hsic()(x, 3.0 - 2.0 * x) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(
    "x",
    [
        [0.0, 1.7e308, -1.7e308, 1.0, 5.0, 2.0],
        [5e-324, 0.0, 0.0, 1e-323, 0.0, 0.0],
        [1.0, 1.0 + 2**-52, 1.0, 1.0, 1.0, 1.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
    ],
)
@pytest.mark.parametrize("settings", [{}, {"unbiased": True}, {"width": 1e-300}, {"width": 1e300}])
def test_extreme_numbers_give_a_number_in_range(x, settings):
    for measured in (Hsic(**settings), CopulaHsic(**settings)):
        for y in (x, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]):
            assert -1.0 <= measured(x, y) <= 1.0
            assert 0.0 < measured.test(x, y, n_resamples=9).pvalue <= 1.0


@pytest.mark.parametrize("n", [2, 3])
def test_few_rows(n):
    x, y = np.arange(n) ** 2.0, np.arange(n) + 5.0
    assert Hsic()(x, y) == pytest.approx(reference.hsic(x, y))
    assert Hsic().test(x, y, n_resamples=9).pvalue > 0.1
    with pytest.raises(InputError, match="at least 4 rows"):
        Hsic(unbiased=True)(x, y)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["uniforms", "heavy tails", "vectors"])
def test_null_distribution_is_that_of_all_orders(kind):
    rng = np.random.default_rng(13)
    n = 120
    draws = {
        "uniforms": rng.random((2, n)),
        "heavy tails": rng.standard_t(1.5, (2, n)),
        "vectors": rng.standard_normal((2, n, 3)),
    }
    measured = Hsic()
    x, y = (measured.prepare(side) for side in draws[kind])
    orders = np.stack([rng.permutation(n) for _ in range(20_000)])
    values = measured.permuted(x, y, orders)
    for share, tolerance in ((0.2, 0.1), (0.05, 0.15), (0.01, 0.35), (0.002, 0.6)):
        order = orders[np.argsort(values)[-int(share * len(values))]]
        permuted = measured.reordered(y, order)
        tail = measured.null_tail(x, permuted, measured.combine(x, permuted))
        assert np.exp(tail.log_pvalue) == pytest.approx(share, rel=tolerance)


def test_few_rows_and_rare_values_are_permuted():
    rng = np.random.default_rng(14)
    x, y = rng.random((2, 200))
    assert Hsic().test(x, y).n_resamples is None
    assert Hsic().test(x[:11], y[:11]).n_resamples is not None
    assert Hsic().test(np.where(x < 0.02, x, 0.0), np.where(y < 0.02, y, 0.0)).n_resamples is not None


@pytest.mark.parametrize("name", ["dcor", "hsic", "chsic"])
def test_rows_that_are_equally_far_apart_show_nothing(name):
    levels = renyi.categorical([f"level {i}" for i in range(60)])
    for other in (levels, np.random.default_rng(0).standard_normal(60)):
        assert measure(name).test(levels, other).pvalue == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dcor", "hsic", "chsic"])
def test_tail_of_few_rows_is_that_of_permutations(name):
    rng = np.random.default_rng(15)
    m = measure(name)
    x, y = (m.prepare(side) for side in rng.standard_normal((2, 30)))
    orders = rng.permuted(np.tile(np.arange(30), (20_000, 1)), axis=1)
    ranked = np.argsort(m.permuted(x, y, orders))
    for share, least in ((0.05, 0.04), (0.01, 0.007), (0.001, 0.0007)):
        tail = m.null_tail(x, m.reordered(y, orders[ranked[-int(share * len(orders))]]), 0.0)
        # Beyond 1 % the limit is the heavier one.
        assert least < np.exp(tail.log_pvalue) < 3 * share


def test_far_tail_is_a_number():
    x = np.random.default_rng(2).random(20_000)
    assert -np.inf < Hsic().test(x, x).log_pvalue < -1_000


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"width": 0.0}, "width=0.0 is not a width"),
        ({"width": float("nan")}, "width=nan is not a width"),
        ({"width": "median"}, "width='median'"),
        ({"normalised": None}, "normalised must be True or False, got None"),
        ({"unbiased": 1}, "unbiased must be True or False, got 1"),
    ],
)
def test_invalid_settings_are_refused(settings, message):
    for name in ("hsic", "chsic"):
        with pytest.raises(InputError, match=message):
            measure(name, **settings)


def test_too_many_vectors_are_refused():
    with pytest.raises(InputError, match="refused beyond 50,000"):
        Hsic().prepare(np.random.default_rng(0).standard_normal((50_001, 6)))


@pytest.mark.slow
@pytest.mark.parametrize("size", [1e3, 1e17, 1e100, 1e200, 1.7e308])
def test_a_remote_value_takes_no_digits_from_the_others(size, rng):
    x = rng.normal(size=(100, 2))
    y = x[:, 0] ** 2 + 0.1 * rng.normal(size=100)
    remote, near = x.copy(), x.copy()
    remote[3, 0], near[3, 0] = size, 500.0
    for columns in (slice(0, 1), slice(0, 2)):
        assert Hsic()(remote[:, columns], y) == pytest.approx(reference.hsic(near[:, columns], y), abs=1e-12)
    # Two remote values are apart from one another, too.
    remote[4, 0], near[4, 0] = -size / 2, -500.0
    assert Hsic()(remote[:, 0], y) == pytest.approx(reference.hsic(near[:, 0], y), abs=1e-12)


@pytest.mark.parametrize("width", [1e2, 3e3, 1e4, 3e4, 1e8, 1e100, 1e308])
def test_a_huge_width_leaves_a_linear_kernel(width, rng):
    x, y = rng.normal(size=(2, 100))
    x, y = x - x.mean(), (x - x.mean()) ** 2 + y
    y = y - y.mean()
    expected = np.corrcoef(x, y)[0, 1] ** 2
    nearly = pytest.approx(expected, abs=30.0 / width / width + 1e-7)
    assert Hsic(width=width)(x, y) == nearly
    products = np.outer(x, x), np.outer(y, y)
    unbiased = reference.alignment(*(reference.u_centred(-((v[:, None] - v) ** 2)) for v in (x, y)))
    assert Hsic(width=width, unbiased=True)(x, y) == pytest.approx(unbiased, abs=30.0 / width / width + 1e-7)
    plain = sum((reference.double_centred(products[0]) * reference.double_centred(products[1])).ravel()) / 100**2
    assert Hsic(width=width, normalised=False)(x, y) == pytest.approx(plain / width / width / width / width, rel=1e-2)
    assert Hsic(width=width)(np.column_stack((x, x)), y) == nearly
    assert Hsic(width=width).test(x, y).pvalue == pytest.approx(Hsic(width=100.0).test(x, y).pvalue, rel=0.05)


def test_a_side_that_is_near_agrees_with_one_that_has_no_factor(rng):
    x, y = rng.normal(size=200) + 2e4, rng.normal(size=(200, 3))
    y[:, 0] += x - 2e4
    near, far = reference.gaussian_kernel(x - 2e4, 30.0), reference.gaussian_kernel(1e3 * y, 30.0)
    expected = reference.alignment(reference.u_centred(near), reference.u_centred(far))
    assert Hsic(width=30.0, unbiased=True)(x, 1e3 * y) == pytest.approx(expected, abs=1e-9)
