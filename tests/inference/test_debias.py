import numpy as np
import pytest
from scipy.stats import t as student

import renyi
from renyi.basis.basis import RowlessBasis, category_basis, scalar_basis
from renyi.basis.canonical import cross_products
from renyi.basis.random_features import draw, seeds
from renyi.inference.debias import (
    debias,
    debias_all,
    effective_rows,
    largest_leverage,
    lower_end,
    null_level,
    plain_rows,
    strengths,
    without_heaviest,
)
from renyi.inference.roy import null_median


def test_debias_keeps_one_and_turns_the_level_to_zero():
    level = null_median(8, 8, 100)
    assert debias(1.0, level) == 1.0
    assert debias(np.sqrt(level), level) == pytest.approx(0, abs=1e-7)
    assert debias(0.0, level) == pytest.approx(-np.sqrt(level / (1 - level)))
    assert debias(0.0, 0.9) == -1
    assert debias(1.0, 1.0) == 0


def test_many_are_debiased_as_each_alone(rng):
    correlations, levels = rng.random(50), rng.random(50)
    levels[:3], correlations[3:5], levels[5] = 1.0, [0.0, 1.0], 0.0
    expected = [debias(float(r), float(m)) for r, m in zip(correlations, levels, strict=True)]
    assert debias_all(correlations, levels).tolist() == expected
    assert expected[5] == pytest.approx(correlations[5])
    assert expected[:3] == [0, 0, 0]
    for r, m, value in zip(correlations[6:], levels[6:], expected[6:], strict=True):
        v = max((r * r - m) / (1 - m), -1)
        assert value == pytest.approx(np.sign(v) * abs(v) ** 0.5)


def test_what_is_not_known_stays_unknown():
    found = debias_all(np.array([np.nan, 0.5, np.nan, 0.5]), np.array([0.1, np.nan, np.nan, 0.25]))
    assert found == pytest.approx([np.nan, np.nan, np.nan, 0.0], nan_ok=True)
    assert debias_all(np.zeros(0), np.zeros(0)).shape == (0,)


@pytest.mark.parametrize(("n", "by_theory"), [(150, True), (200, False)])
def test_rare_events_go_by_pairings_and_numbers_on_few_rows_do_not(n, by_theory, rng):
    (seed,) = seeds(None, n_draws=1)
    line = draw(1, 5, 3.0, kind="auto", seed=seed)
    events = [rng.permutation(n) < 4 for _ in range(2)]
    numbers = [scalar_basis(np.where(event, rng.random(n), 0.0), line) for event in events]
    levels = [category_basis(np.where(event, rng.integers(1, 3, n), 0)) for event in events]
    product = numbers[0].largest_leverage * numbers[1].largest_leverage
    assert (product < largest_leverage(2, n)) == by_theory
    assert (null_level(*numbers) == null_median(numbers[0].dimension, numbers[1].dimension, n)) == by_theory
    assert levels[0].largest_leverage * levels[1].largest_leverage > largest_leverage(0, n)
    assert null_level(*levels) != null_median(levels[0].dimension, levels[1].dimension, n)


def zipf(n, n_levels, rng):
    weights = 1 / np.arange(1, n_levels + 1)
    return renyi.categorical(rng.choice(n_levels, n, p=weights / weights.sum()))


def common_factor(n, d, rng):
    return rng.standard_normal((n, 1)) * 2 + rng.standard_normal((n, d))


# What independent data may look like; the last five have rows of high leverage.
INDEPENDENT = {
    "scalars": lambda n, rng: rng.standard_normal((2, n)),
    "vectors of 2": lambda n, rng: rng.standard_normal((2, n, 2)),
    "vectors of 5": lambda n, rng: rng.standard_normal((2, n, 5)),
    "vectors of 20": lambda n, rng: rng.standard_normal((2, n, 20)),
    "integers": lambda n, rng: np.round(rng.standard_normal((2, n))),
    "7 levels": lambda n, rng: (zipf(n, 7, rng), zipf(n, 7, rng)),
    "correlated coordinates": lambda n, rng: (common_factor(n, 3, rng), common_factor(n, 3, rng)),
    "sparse scalars": lambda n, rng: np.maximum(rng.standard_normal((2, n)) - 1.3, 0),
    "sparse vectors": lambda n, rng: np.maximum(rng.standard_normal((2, n, 3)) - 1.3, 0),
    "rare binary vectors": lambda n, rng: (rng.random((2, n, 10)) < 0.05).astype(float),
    "30 levels": lambda n, rng: (zipf(n, 30, rng), zipf(n, 30, rng)),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n"), [*((name, 200) for name in INDEPENDENT), *((name, 500) for name in list(INDEPENDENT)[::4])]
)
def test_debiased_value_is_near_zero_under_independence(name, n, rng):
    values = [renyi.rdc(*INDEPENDENT[name](n, rng), debias=True) for _ in range(60)]
    error = np.std(values) / np.sqrt(len(values))
    assert abs(np.mean(values)) <= 0.03 + 2 * error
    assert min(values) < 0


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"s": 12.0}, {"k": 10, "s": 50.0}, {"k": 1}])
def test_debiased_value_is_near_zero_at_every_rank(settings, rng):
    values = [renyi.rdc(*rng.standard_normal((2, 300)), debias=True, **settings) for _ in range(600)]
    assert abs(np.mean(values)) <= 0.03


def test_level_of_heavy_rows_depends_on_the_margins_alone(rng):
    x, y = INDEPENDENT["rare binary vectors"](200, rng)
    value = renyi.rdc(x, y, debias=True)
    assert renyi.rdc(y, x, debias=True) == pytest.approx(value, abs=1e-9)
    order = rng.permutation(200)
    assert renyi.rdc(x[order], y[order], debias=True) == pytest.approx(value, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"k": 10, "s": 12.0}])
@pytest.mark.parametrize("correlation", [0.82, 0.95])
def test_debiased_value_is_near_the_population_value_when_that_is_high(settings, correlation, rng):
    def normal(n):
        x, noise = rng.standard_normal((2, n))
        return x, correlation * x + np.sqrt(1 - correlation**2) * noise

    population = renyi.rdc(*normal(10**6), **settings)
    values = [renyi.rdc(*normal(500), debias=True, **settings) for _ in range(200)]
    assert np.mean(values) == pytest.approx(population, abs=0.02)


def test_a_strength_is_what_the_coefficient_or_the_test_sees():
    n = np.array([500, 500, 500, 500, 2, 500])
    debiased = np.array([-0.1, -0.1, 0.3, 0.02, -1.0, np.nan])
    log_p = np.log([0.001, 0.7, 0.001, 1e-30, 0.2, np.nan])
    found = strengths(debiased, log_p, n)
    # Of two numbers with as small a p-value, and without what chance shows.
    expected = np.sqrt(correlation_at(0.001, 500) ** 2 - correlation_at(0.5, 500) ** 2)
    assert found[0] == pytest.approx(expected, abs=2e-3)
    assert found[1] == 0
    assert found[2] == 0.3
    assert 0.4 < found[3] < 0.55
    assert 0 < found[4] <= 1
    assert np.isnan(found[5])
    assert strengths(debiased, np.full(6, np.nan), n)[:4].tolist() == [0, 0, 0.3, 0.02]


def correlation_at(pvalue, n):
    """The correlation of n rows that has this p-value."""
    t = student.isf(pvalue / 2, n - 2)
    return t / np.sqrt(n - 2 + t**2)


@pytest.mark.slow
def test_strengths_of_weak_lines_and_fast_waves_are_near_what_is_there(rng):
    x, noise = rng.standard_normal((2, 3000))
    line = renyi.independence_test(x, 0.1 * x + noise)
    assert line.strength == pytest.approx(0.1, abs=0.04)
    wave = renyi.independence_test(x, np.sin(12 * x) + 0.5 * noise)
    assert wave.debiased < 0.1
    assert 0.5 < wave.strength < 0.82


# What pairs are ranked by.


def flags(n, *rows):
    return category_basis(np.isin(np.arange(n), rows).astype(np.intp))


@pytest.mark.parametrize("n_shared", [1, 2, 7])
def test_so_many_rows_carry_flags_as_both_have(n_shared):
    x = flags(1000, *range(n_shared))
    assert effective_rows(x, x, cross_products(x, x)) == pytest.approx(n_shared, rel=0.02)


def test_equal_roots_do_not_leave_it_to_rounding_which_rows_carry_a_pair(rng):
    """Of a column and itself all functions correlate perfectly: which come first says nothing."""
    x = category_basis(rng.integers(0, 6, 300))
    cross = cross_products(x, x)
    rows = [effective_rows(x, x, cross + 1e-12 * rng.standard_normal(cross.shape)) for _ in range(5)]
    assert rows == pytest.approx([rows[0]] * 5, rel=1e-6)
    assert rows[0] > 100


def test_lower_ends_rise_with_strength_and_rows():
    strength = np.linspace(-1, 1, 41)
    for rows in (1.0, 2.0, 10.0, 1000.0):
        assert (np.diff(lower_end(strength, np.full(41, rows))) > 0).all()
    ends = lower_end(np.ones(4), np.array([0.5, 1.0, 20.0, 1000.0]))
    assert ends == pytest.approx([0.05, 0.05, 0.861, 0.997], abs=0.001)
    assert (lower_end(strength, np.full(41, 50.0)) < strength).all()


def test_strength_without_the_rows_that_carry_it(rng):
    x, y = flags(500, 17, 90), flags(500, 17, 90, 300)
    rows, strength = without_heaviest(x, y, 2)
    assert rows.tolist() == [17, 90]
    assert strength == 0.0
    rows, strength = without_heaviest(*(category_basis(rng.permutation(500) % 2) for _ in range(2)), 1)
    assert len(rows) == 1
    assert strength < 0.2


def test_intervals_given_others_are_those_of_numbers(rng):
    z, e, noise = rng.standard_normal((3, 600))
    plain = renyi.independence_test(e, 1.5 * e + noise).confidence_interval()
    given = renyi.conditional_test(z + e, z + 1.5 * e + noise, z).confidence_interval()
    assert given == pytest.approx(plain, abs=0.06)


def test_vectors_whose_rows_are_not_kept_are_taken_to_be_carried_by_all_of_them(rng):
    vector = RowlessBasis.of(2, None, 300, np.array([0.2, 0.9]))
    cross = rng.standard_normal((2, 2)) / 20
    assert effective_rows(vector, vector, cross) == pytest.approx(plain_rows(np.array(300)))
    # By random pairings of rows there is no level: that of the null distribution is left.
    assert null_level(vector, vector) == null_median(2, 2, 300)
