"""Permutation tests where statistics are equal: counted as equal, whatever rounding makes of them in any row order."""

from collections import Counter
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, pairwise, permutations, product
from math import factorial, prod

import numpy as np
import pandas as pd
import pytest

import renyi
from renyi.coefficients import base
from renyi.data.column import Column
from renyi.inference import permutation
from renyi.inference.correlation_null import log_of_overlap
from renyi.inference.roy import log_sf, log_sf_of_many
from renyi.selection.candidates import as_candidates
from renyi.selection.gain import Gains
from renyi.selection.setwise import Setwise

# Every 2×2 table of no association at all: a·d = b·c.
FLAGS = [cells for cells in product(range(1, 13), repeat=4) if cells[0] * cells[3] == cells[1] * cells[2]]
# Products of these margins have none either, whatever values stand for the levels; on so few rows many orders are such.
MARGINS = [
    ((1, 1), (1, 1, 1)),
    ((1, 1), (1, 2, 1)),
    ((1, 1, 1), (1, 1, 1)),
    ((1, 2), (1, 1, 1, 1)),
    ((2, 1, 1), (1, 2)),
]
LEVELS = np.array([0.1, 0.7, -3.3, 12.9])
# Of these the smallest value that there is belongs to such tables; of unbiased ones and of neighbours it does not.
MEASURES = {
    "pearson": {},
    "spearman": {},
    "kendall": {},
    "cca": {},
    "kcca": {},
    "ace": {},
    "mic": {},
    "dcor": {},
    "dcor of another exponent": {"exponent": 1.5},
    "hsic": {},
    "hsic itself": {"normalised": False},
    "chsic": {},
    "xi": {},
}


def named(key):
    return renyi.measure(key.split()[0], **MEASURES[key])


def rows_of(cells):
    """Levels of x and y, a row for every count of a table."""
    counts = np.asarray(cells)
    return np.array([place for place in np.ndindex(counts.shape) for _ in range(counts[place])]).T


def permuted(measure, x, y, *, n_resamples=99):
    """By permutation, also where theory has an answer."""
    sides = [measure.side(column) for column in measure._columns(x, y, "raise")]
    value = measure.combine(sides[0].prepared, sides[1].prepared)
    return measure.by_permutation(sides[0], sides[1], value, n_resamples=n_resamples)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auto", "permutation"])
@pytest.mark.parametrize("kind", [bool, float])
def test_flags_without_association_have_a_pvalue_of_1(method, kind):
    for cells in FLAGS:
        x, y = rows_of(np.reshape(cells, (2, 2))).astype(kind)
        assert renyi.independence_test(x, y, method=method, n_resamples=99).pvalue == 1.0, cells


@pytest.mark.slow
@pytest.mark.parametrize("key", [*MEASURES, "mutual_info"])
def test_no_measure_finds_anything_in_flags_without_association(key):
    measure = renyi.measure(key) if key == "mutual_info" else named(key)
    for cells in FLAGS[:: 12 if measure.has_null else 40]:
        x, y = rows_of(np.reshape(cells, (2, 2))).astype(float)
        found = permuted(measure, x, y, n_resamples=40)
        assert found.n_reached == found.n_drawn == 40, cells


@pytest.mark.slow
@pytest.mark.parametrize("key", MEASURES)
@pytest.mark.parametrize("margins", MARGINS)
def test_no_measure_finds_anything_in_products_of_margins(key, margins, rng):
    x, y = rows_of(np.outer(*margins))
    for values in (np.arange(4.0), LEVELS):
        for order in (np.arange(len(x)), rng.permutation(len(x)), rng.permutation(len(x))):
            found = permuted(named(key), values[x[order]], values[y[order]])
            assert found.n_reached == found.n_drawn == 99


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cca", "kcca", "dcor", "hsic", "chsic", "mutual_info"])
def test_no_measure_finds_anything_in_categories_without_association(name, rng):
    for margins in MARGINS:
        cells = rows_of(np.outer(*margins))
        x, y = (
            renyi.categorical(["abcd"[level] for level in side]) for side in cells[:, rng.permutation(cells.shape[1])]
        )
        found = permuted(renyi.measure(name), x, y)
        assert found.n_reached == found.n_drawn == 99


def test_small_statistics_are_no_ties(rng):
    # A wide kernel makes the criterion 10⁻¹³ of what it is by default.
    x, y = rng.standard_normal(30), rng.standard_normal(30)
    plain = permuted(renyi.measure("hsic", width=3000.0), x, y, n_resamples=999)
    assert permuted(renyi.measure("hsic", width=3000.0, normalised=False), x, y, n_resamples=999) == plain
    assert renyi.measure("hsic", width=3000.0, normalised=False)(x, y) < 1e-13
    assert 100 == plain.n_reached < plain.n_drawn


@pytest.mark.parametrize("method", ["auto", "permutation"])
def test_statistics_that_are_hardly_apart_are_no_ties(method):
    # Overlaps of 8 and of 9 are 24/47 below and 23/47 above what is expected: the logarithms of p differ by 0.01.
    x, y = rows_of([[15, 12], [12, 8]]).astype(bool)
    exact = np.exp(log_of_overlap(47, (20, 20), 8))
    assert exact < 0.8
    found = renyi.independence_test(x, y, method=method)
    assert found.pvalue == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / found.n_resamples))


@pytest.mark.parametrize(("a", "b", "n"), [(1, 1, 12), (3, 3, 30), (2, 20, 50), (10, 20, 200), (20, 20, 1000)])
def test_the_null_distribution_and_its_tables_are_one_statistic(a, b, n):
    roots = np.concatenate(([0.0], np.geomspace(1e-30, 0.99, 500)))
    for one, many in zip(-log_sf(roots, a, b, n), -log_sf_of_many(roots, a, b, n), strict=True):
        assert permutation.reaches(one, many, rounding=permutation.ROUNDING_OF_LOGARITHMS)
        assert permutation.reaches(many, one, rounding=permutation.ROUNDING_OF_LOGARITHMS)


# Against all orders of few rows, in exact arithmetic.


def covariance(x, y):
    return abs(len(x) * sum(a * b for a, b in zip(x, y, strict=True)) - sum(x) * sum(y))


def ranks(values):
    """Twice the mean ranks."""
    return tuple(2 * sum(b < a for b in values) + values.count(a) for a in values)


def concordance(x, y):
    pairs = combinations(range(len(x)), 2)
    return abs(sum(np.sign(x[i] - x[j]) * np.sign(y[i] - y[j]) for i, j in pairs))


def chi_squared(x, y):
    n, cells = len(x), Counter(zip(x, y, strict=True))
    expected = {(a, b): Fraction(x.count(a) * y.count(b), n) for a in set(x) for b in set(y)}
    return sum((cells[cell] - mean) ** 2 / mean for cell, mean in expected.items())


def information(x, y):
    """Grows with Σ c log c over the cells."""
    return prod(c**c for c in Counter(zip(x, y, strict=True)).values())


def distances(values):
    return [[Fraction(abs(a - b)) for b in values] for a in values]


def biased(values):
    """Distances, centred."""
    matrix, n = distances(values), len(values)
    sums = [sum(row) for row in matrix]
    return [[matrix[i][j] - (sums[i] + sums[j]) / n + sum(sums) / n**2 for j in range(n)] for i in range(n)]


def unbiased(values):
    matrix, n = distances(values), len(values)
    sums = [sum(row) for row in matrix]
    total = sum(sums) / ((n - 1) * (n - 2))
    return [
        [matrix[i][j] - (sums[i] + sums[j]) / (n - 2) + total if i != j else Fraction(0) for j in range(n)]
        for i in range(n)
    ]


def inner(a, b):
    return sum(p * q for row, other in zip(a, b, strict=True) for p, q in zip(row, other, strict=True))


def distance_covariance(x, y):
    return inner(biased(x), biased(y))


def unbiased_distance_covariance(x, y):
    return inner(unbiased(x), unbiased(y))


def fewest_jumps(x, y):
    """Minus the jumps of ranks of y along x, as a mean over all orders that sort x."""
    highest = [sum(b <= a for b in y) for a in y]
    orders = [rows for rows in permutations(range(len(x))) if all(x[i] <= x[j] for i, j in pairwise(rows))]
    jumps = sum(abs(highest[i] - highest[j]) for rows in orders for i, j in pairwise(rows))
    return Fraction(-jumps, len(orders))


def n_reached(statistic, x, y):
    """Of all orders of y, those whose statistic is as large."""
    exact = lru_cache(maxsize=None)(statistic)
    return sum(exact(x, order) >= exact(x, y) for order in permutations(y))


def small_tables():
    rng = np.random.default_rng(5)
    drawn = [rng.integers(0, levels, (2, n)).tolist() for n in (5, 6) for levels in (2, 3, 4) for _ in range(4)]
    drawn += [rng.integers(0, 3, (2, 7)).tolist() for _ in range(2)]
    fixed = [
        [[0, 0, 0, 1, 1, 1], [0, 1, 1, 0, 1, 1]],
        [[0, 1, 2, 0, 1, 2], [1, 0, 1, 1, 0, 1]],
        [[0, 1, 2, 3, 4, 5], [0, 5, 1, 1, 5, 0]],
        [[0, 0, 1, 1, 7, 7], [3, 4, 3, 4, 3, 4]],
    ]
    return [(tuple(x), tuple(y)) for x, y in [*fixed, *drawn] if len(set(x)) > 1 and len(set(y)) > 1]


@pytest.fixture
def every_order(monkeypatch):
    """All orders of the rows in place of random ones, with nothing left out."""

    def orders(n, n_resamples, seed, /):
        yield np.array(list(permutations(range(n))))

    for module in (permutation, base):
        monkeypatch.setattr(module, "random_orders", orders)
    monkeypatch.setattr(permutation, "_ENOUGH", np.inf)


EXACT = {
    "pearson": covariance,
    "cca": covariance,
    "spearman": lambda x, y: covariance(ranks(x), ranks(y)),
    "kendall": concordance,
    "dcor": distance_covariance,
    "dcor unbiased": unbiased_distance_covariance,
    "xi": fewest_jumps,
}


@pytest.mark.slow
@pytest.mark.parametrize("key", EXACT)
def test_ties_are_those_of_exact_arithmetic_in_any_row_order(key, every_order, rng):
    measure = renyi.measure("dcor", unbiased=True) if key == "dcor unbiased" else renyi.measure(key)
    for x, y in small_tables():
        expected = permutation.Permuted(factorial(len(x)), n_reached(EXACT[key], x, y))
        for order in (np.arange(len(x)), rng.permutation(len(x))):
            found = permuted(measure, np.array(x, float)[order], np.array(y, float)[order])
            assert found == expected, (x, y)


@pytest.mark.parametrize("kind", ["numbers", "categories"])
def test_ties_of_the_coefficient_are_those_of_exact_arithmetic(kind, every_order, rng):
    # Against two levels the largest correlation is χ²/n.
    for x, y in small_tables():
        if len(set(y)) != 2 or len(set(x)) == len(x):
            continue
        expected = (1 + n_reached(chi_squared, x, y)) / (1 + factorial(len(x)))
        for order in (np.arange(len(x)), rng.permutation(len(x))):
            sides = [np.array(side, float)[order] for side in (x, y)]
            if kind == "categories":
                sides = [renyi.categorical([f"level {value}" for value in side]) for side in sides]
            assert renyi.independence_test(*sides, method="permutation").pvalue == expected, (x, y)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kcca", "hsic", "chsic", "mutual_info"])
def test_ties_of_flags_are_those_of_exact_arithmetic(name, every_order, rng):
    exact = information if name == "mutual_info" else covariance
    flags = [(x, y) for x, y in small_tables() if len(set(x)) == len(set(y)) == 2]
    assert len(flags) > 4
    for x, y in flags[:3] if name == "mutual_info" else flags:
        expected = permutation.Permuted(factorial(len(x)), n_reached(exact, x, y))
        order = rng.permutation(len(x))
        assert permuted(renyi.measure(name), np.array(x, float)[order], np.array(y, float)[order]) == expected


# Through every door: all levels meet equally often, so that no two columns are associated.
DESIGN = pd.DataFrame(list(product(LEVELS[:2], LEVELS[1:3], LEVELS[:3])), columns=["a", "b", "c"])


def in_some_order(rng):
    return DESIGN.iloc[rng.permutation(len(DESIGN))].reset_index(drop=True)


def of_pairs(found):
    return found.pvalues[np.triu_indices(3, 1)].tolist()


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["rdc", "pearson", "spearman", "kendall", "cca", "dcor", "hsic", "chsic", "xi"])
def test_tables_compare_alike(measure, rng):
    for _ in range(8):
        frame = in_some_order(rng)
        found = renyi.matrix(frame, measure=measure)
        assert found.n_permuted >= 2  # flags may be counted
        assert of_pairs(found) == [1.0, 1.0, 1.0]
        assert renyi.screen(frame, "c", measure=measure).pvalues.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("n_first", [3, 6, 8])
def test_batches_compare_alike(n_first, rng):
    for _ in range(4):
        frame = in_some_order(rng)
        found = renyi.matrix(iter([frame[:n_first], frame[n_first:]]))
        assert found.n_permuted == 3
        assert of_pairs(found) == [1.0, 1.0, 1.0]


def test_columns_with_gaps_compare_alike(rng):
    gaps = pd.DataFrame({"a": [0.0, np.nan, 1.0], "b": [np.nan, 2.0, np.nan]})
    for _ in range(4):
        frame = pd.concat([in_some_order(rng), gaps], ignore_index=True)
        assert of_pairs(renyi.matrix(frame)) == [1.0, 1.0, 1.0]
        assert of_pairs(renyi.matrix(iter([frame[:7], frame[7:]]))) == [1.0, 1.0, 1.0]


def test_devices_compare_alike(rng):
    torch = pytest.importorskip("torch")
    for _ in range(4):
        numbers = torch.tensor(in_some_order(rng).to_numpy())
        assert of_pairs(renyi.matrix(numbers)) == [1.0, 1.0, 1.0]
        for (i, j), method in product(combinations(range(3), 2), ("auto", "permutation")):
            found = renyi.independence_test(numbers[:, i], numbers[:, j], method=method, n_resamples=99)
            assert found.pvalue == 1.0


@pytest.mark.parametrize("n_columns", [1, 3])
def test_gains_compare_alike(n_columns, rng):
    # One of the ten rows of a flag has the rare target, as by chance: 4 of 40 have.
    x, y = rows_of([[27, 3], [9, 1]])
    for _ in range(5):
        order = rng.permutation(40)
        columns = [Column(f"x{k}", "number", x[order].astype(float)) for k in range(n_columns)]
        gains = Gains(as_candidates(columns), Column("y", "number", y[order].astype(float)))
        gains.of_singles(range(n_columns))
        assert gains.doubtful == list(range(n_columns))
        best = gains.by_permutation(gains.doubtful, alpha=0.05)
        assert best is not None
        assert best[1] == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cca", "kcca", "dcor", "hsic", "rdc"])
def test_sets_of_columns_compare_alike(name, rng):
    # Eight rows of three flags: every other order of them is as unrelated as this one.
    for _ in range(4):
        a, b, c = np.array(list(product((0.0, 0.1), repeat=3)))[rng.permutation(8)].T
        columns = [Column("a", "number", a), Column("b", "number", b)]
        criterion = Setwise(columns, Column("c", "number", c), renyi.measure(name), is_tested=True, seed=0)
        assert criterion.best([0, 1], room=1, alpha=0.5).log_pvalue == 0.0
