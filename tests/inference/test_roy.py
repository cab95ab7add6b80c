import csv
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import eigh

import renyi
from renyi.inference.double_wishart import LARGEST_BELOW_ONE, DoubleWishart, LargestRoot, log_tail
from renyi.inference.roy import _tracy_widom_median, critical_root, log_sf, log_sf_of_many, null_median


def golden_values():
    """Dimensions, number of samples, root and log p of every row that golden/roy.py wrote."""
    with (Path(__file__).parents[1] / "golden" / "roy.csv").open() as lines:
        rows = csv.DictReader(line for line in lines if not line.startswith("#"))
        return [
            (
                int(row["dimension_x"]),
                int(row["dimension_y"]),
                int(row["n_samples"]),
                float(row["root"]),
                float(row["log_p"]),
            )
            for row in rows
        ]


@pytest.mark.parametrize(("a", "b", "n", "root", "log_p"), golden_values())
def test_null_distribution_against_arithmetic_of_many_digits(a, b, n, root, log_p):
    # Of p, not of its logarithm: 4e-10 at most, in Pfaffians just above the tail. Closed forms miss it by 5e-13, by
    # 1e-12 with SciPy 1.12, and by the last digit of −10⁴.
    tolerance = 2e-12 if a <= 2 else 6e-10
    assert log_sf(root, a, b, n) == pytest.approx(log_p, rel=0, abs=tolerance)
    assert log_sf(root, b, a, n) == log_sf(root, a, b, n)


# Dimensions alike and far apart, rows that these nearly fill and many rows; odd and even numbers of roots.
CASES = [
    (3, 3, 8), (3, 3, 10**6), (3, 3000, 4000), (4, 4, 100), (4, 3000, 10**5), (5, 5, 12), (5, 3000, 10**5),
    (6, 6, 10**8), (7, 9, 30), (8, 3000, 3020), (10, 40, 100), (20, 20, 500), (40, 40, 83), (40, 40, 500),
    (40, 3000, 3100), (40, 3000, 10**8),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_body_and_tail_meet(case):
    table = LargestRoot(DoubleWishart(*case))
    # The last root of the body, and the tail's integral there: computed in two ways that share no step.
    join = np.array([table._join])
    assert log_tail(join, DoubleWishart(*case)) == pytest.approx(table.log_sf(join), rel=0, abs=2e-10)
    assert -18 < table.log_sf(join) < -16


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [*CASES, (1, 1, 3), (1, 6, 100), (1, 3000, 10**5), (1, 1, 10**8), (2, 2, 5), (2, 20, 500), (40, 40, 81)],
)
def test_null_distribution_is_monotone(case):
    everywhere = 1 / (1 + np.exp(-np.linspace(-40, 37, 50_001)))
    middle, end = critical_root(0.5, *case), critical_root(1e-9, *case)
    # Every joint within: p = 1 below the body, the body, the tail.
    closely = np.linspace(0.2 * middle, min(1.1 * end, 1.0), 50_001)
    for roots in (everywhere, closely):
        log_p = log_sf(roots, *case)
        assert np.all(np.isfinite(log_p))
        assert np.all(log_p <= 0)
        # Next to p = 1 the closed form of two roots is as uneven as its last digit.
        assert np.max(np.diff(log_p)) <= 2e-16


@pytest.mark.parametrize("case", [(1, 1, 50), (1, 6, 10**8), (2, 2, 50), (4, 4, 100), (20, 20, 41), (40, 40, 10**8)])
def test_null_distribution_at_the_ends(case):
    log_p = log_sf([-1e-17, 0.0, 1e-300, LARGEST_BELOW_ONE, 1.0, 1.0 + 1e-15], *case)
    assert np.array_equal(log_p[:3], np.zeros(3))
    assert -np.inf < log_p[3] == log_p[4] == log_p[5] < -15


@pytest.mark.parametrize("case", [(1, 1, 50), (2, 2, 500), (4, 4, 500)])
def test_shape_and_company_do_not_matter(case):
    # Of one root, the last is beyond the underflow; of four, there are some of the body and some of the tail.
    roots = np.array([[0.0, 0.01, 0.02], [0.2, 0.9, 1.0]])
    log_p = log_sf(roots, *case)
    assert log_p.shape == roots.shape
    assert log_sf(roots[1, 1], *case).shape == ()
    assert log_sf(np.empty((0, 2)), *case).shape == (0, 2)
    alone = [[float(log_sf(root, *case)) for root in row] for row in roots]
    assert log_p == pytest.approx(np.array(alone), rel=1e-14)


def test_many_roots_of_a_beta_null_distribution():
    # More than one block of the far tail, which crosses SciPy's underflow.
    roots = np.linspace(0.5, 0.9, 10_001)
    log_p = log_sf(roots, 1, 1, 1000)
    assert log_p[0] > np.log(1e-290) > log_p[-1]
    assert log_p[::100] == pytest.approx([float(log_sf(root, 1, 1, 1000)) for root in roots[::100]], rel=1e-14)
    # A step of 3e-8 between the two ways would show.
    assert np.max(np.abs(np.diff(log_p, 3))) < 1e-7


@pytest.mark.parametrize(
    "case",
    [(1, 1, 10), (1, 20, 23), (1, 20, 64), (1, 1, 10**8), (1, 20, 10**6), (2, 2, 64), (2, 20, 500), (2, 6, 10**8)],
)
def test_many_roots_are_read_from_a_table(case, rng):
    odds = rng.exponential(10 / case[2], 5000) ** rng.choice([0.5, 1.0, 2.0], 5000)
    roots = np.append(odds / (1 + odds), [0.0, 1e-300, 0.5, 1 - 1e-9])
    log_p = log_sf_of_many(roots, *case)
    exact = log_sf(roots, *case)
    assert np.all(log_p <= 0)
    assert np.max(np.abs(log_p - exact) / np.maximum(1.0, np.abs(exact) / 20)) < 1e-8
    assert np.all(np.abs(log_p[-4:-2]) < 1e-100)


@pytest.mark.parametrize("level", [0.999, 0.5, 0.05, 1e-3, 1e-7, 1e-12])
@pytest.mark.parametrize(
    "case", [(1, 1, 20), (1, 20, 10**8), (2, 2, 500), (4, 4, 100), (6, 3000, 9008), (40, 40, 10**8)]
)
def test_critical_root_is_exceeded_at_its_level(case, level):
    root = critical_root(level, *case)
    assert log_sf(root, *case) == pytest.approx(np.log(level), rel=0, abs=2e-11)
    assert critical_root(level, case[1], case[0], case[2]) == root


def test_critical_root_beyond_the_last_number():
    assert log_sf(1.0, 20, 20, 41) > np.log(1e-9)
    assert critical_root(1e-9, 20, 20, 41) == 1.0


def test_what_has_no_null_distribution_is_refused():
    with pytest.raises(renyi.InputError, match="dimensions 5 and 5 leave no freedom in 10 rows"):
        log_sf(0.5, 5, 5, 10)
    with pytest.raises(ValueError, match="no freedom"):
        null_median(5, 5, 10)
    with pytest.raises(renyi.InputError, match="smaller dimension up to 200"):
        log_sf(0.5, 201, 300, 1000)
    with pytest.raises(renyi.InputError, match="level of 5"):
        critical_root(5, 4, 4, 100)


def wishart(dimension, freedom, rng):
    """A Wishart matrix by Bartlett's decomposition."""
    lower = np.tril(rng.standard_normal((dimension, dimension)), -1)
    lower[np.diag_indices(dimension)] = np.sqrt(rng.chisquare(freedom - np.arange(dimension)))
    return lower @ lower.T


def simulated_roots(a, b, n, n_draws, rng):
    """Largest squared canonical correlations of independent normal data with n − 1 degrees of freedom."""
    roots = np.empty(n_draws)
    for i in range(n_draws):
        hypothesis, error = wishart(a, b, rng), wishart(a, n - 1 - b, rng)
        roots[i] = eigh(hypothesis, hypothesis + error, eigvals_only=True)[-1]
    return roots


@pytest.mark.slow
@pytest.mark.parametrize(
    ("a", "b", "n"),
    [
        (2, 2, 12), (3, 3, 30), (8, 8, 100), (4, 9, 60), (20, 20, 90), (5, 6, 12), (39, 40, 200),
        (12, 100_000, 110_014), (100, 100, 300),
    ],
)  # fmt: skip
def test_null_distribution_of_the_largest_root_against_simulation(a, b, n, rng):
    n_draws = 2000
    u = np.sort(np.exp(log_sf(simulated_roots(a, b, n, n_draws, rng), a, b, n)))
    # Kolmogorov's distance exceeds 1.95/√m once in a thousand times.
    distance = np.max(np.abs(u - (np.arange(n_draws) + 0.5) / n_draws))
    assert distance < 1.95 / np.sqrt(n_draws)


# Unequal dimensions, some beyond the exact null distribution, some that nearly fill the rows.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("a", "b", "n"),
    [
        (40, 1000, 1142), (40, 3000, 4542), (8, 999_900, 1_000_000), (41, 41, 1000), (100, 100, 1000), (80, 500, 3000),
        (41, 41, 83), (60, 60, 125), (100, 100, 205), (41, 950, 1000),
    ],
)  # fmt: skip
def test_median_against_simulation(a, b, n, rng):
    roots = simulated_roots(a, b, n, 600, rng)
    # A share of 600 has a standard error of 0.0204; one in a thousand exceeds 3.3 of them.
    assert np.mean(roots <= null_median(a, b, n)) == pytest.approx(0.5, abs=3.3 * 0.0204)


@pytest.mark.slow
@pytest.mark.parametrize("case", [(100, 100, 1000), (100, 3000, 10**6), (200, 200, 1000)])
def test_body_and_tail_of_large_ranks_meet(case):
    test_body_and_tail_meet(case)


def test_median_of_the_tracy_widom_limit():
    # Where both hold, the limit is within 0.3 % of the exact median.
    assert _tracy_widom_median(40, 40, 1000) == pytest.approx(null_median(40, 40, 1000), rel=3e-3)
    assert null_median(300, 300, 10**4) == _tracy_widom_median(300, 300, 10**4)
    with pytest.raises(renyi.InputError, match="too large"):
        null_median(300, 300, 610)


@pytest.mark.parametrize(("a", "b", "n"), [(1, 1, 20), (8, 8, 500), (6, 3000, 9008), (40, 40, 10**8), (2, 300, 500)])
def test_median_halves_the_null_distribution(a, b, n):
    assert np.exp(log_sf(null_median(a, b, n), a, b, n)) == pytest.approx(0.5, abs=1e-9)
    assert null_median(a, b, n) == null_median(b, a, n)
