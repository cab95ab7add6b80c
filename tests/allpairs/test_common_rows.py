from itertools import combinations

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln

import renyi
from renyi.allpairs.column_group import ColumnGroup
from renyi.allpairs.common_rows import CommonPairs, MaskedSide
from renyi.allpairs.complete import CompletePairs
from renyi.allpairs.sums import Sums, reaches_beyond_corner
from renyi.allpairs.tiles import groups
from renyi.basis.canonical import canonical_correlations, cross_products
from renyi.inference import multiscale
from renyi.pair.prepare import together
from sample_tables import category, mixed, number, variables_of

FIRST, SECOND = np.triu_indices(3, 1)


def complete_pairs(x, y, i, j):
    return CompletePairs(x, y, i, j, Sums.of(x, y))


def common_pairs(x, y, i, j):
    return CommonPairs(Sums.of(x, y), MaskedSide.both(x, y, i, j))


def with_gaps(n, rng, *, gaps=0.3, decimals=9):
    return [number(np.round(rng.standard_normal(n), decimals), rng.random(n) < gaps) for _ in range(3)]


def whole_groups(variables):
    return {group.scales.kind + str(group.scales.basis.dimension): group for group in groups(variables)}


def test_complete_and_common_pairs_agree_where_nothing_is_missing(rng):
    variables = [number(rng.standard_normal(150)) for _ in range(3)]
    group = ColumnGroup.of(range(3), variables)
    whole, common = complete_pairs(group, group, FIRST, SECOND), common_pairs(group, group, FIRST, SECOND)
    for name in ("coefficient", "log_pvalue", "first", "n", "dimensions"):
        np.testing.assert_allclose(getattr(common, name), getattr(whole, name), atol=1e-9, err_msg=name)


@pytest.mark.parametrize("decimals", [9, 0])
def test_coefficients_and_ranks_are_those_of_the_restricted_bases(decimals, rng):
    variables = with_gaps(120, rng, decimals=decimals)
    for x in variables:
        for y in variables:
            if x is not y:
                a, b = ColumnGroup.of([0], [x]), ColumnGroup.of([1], [y])
                found = common_pairs(a, b, np.array([0]), np.array([0]))
                bases = [side.basis for side in together((x.column, y.column), (x.prepared, y.prepared))]
                assert found.dimensions.tolist() == [[basis.dimension for basis in bases]]
                assert found.coefficient[0] == pytest.approx(canonical_correlations(cross_products(*bases))[0])


def test_ranks_fall_with_the_levels_that_are_left(rng):
    codes = np.repeat([0, 1, 2, 3], 25)
    x, y = category(codes), number(rng.standard_normal(100), codes >= 2)
    found = common_pairs(ColumnGroup.of([0], [x]), ColumnGroup.of([1], [y]), np.array([0]), np.array([0]))
    assert found.n.tolist() == [50]
    assert found.dimensions[0, 0] == 1
    nothing = number(rng.standard_normal(100), codes >= 1)
    found = common_pairs(ColumnGroup.of([0], [x]), ColumnGroup.of([1], [nothing]), np.array([0]), np.array([0]))
    assert np.isnan(found.coefficient[0])


def test_spearmans_coefficient_stands_beside(rng):
    variables = with_gaps(200, rng)
    group = ColumnGroup.of(range(3), variables)
    found = common_pairs(group, group, FIRST, SECOND)
    for k, (i, j) in enumerate(zip(FIRST, SECOND, strict=True)):
        rows = ~(variables[i].column.missing | variables[j].column.missing)
        assert found.n[k] == rows.sum()
        # Of ranks over each column's own rows.
        ranks = [
            stats.rankdata(v.column.complete().values)[rows[~v.column.missing]] for v in (variables[i], variables[j])
        ]
        assert found.first[k] == pytest.approx(stats.pearsonr(*ranks).statistic, abs=1e-9)


def test_wide_blocks_against_levels_need_more_than_the_corner(rng):
    parts = whole_groups(
        [number(rng.standard_normal(300)), number(rng.integers(0, 6, 300).astype(float))]
        + [category(rng.integers(0, k, 300)) for k in (2, 4)]
    )
    whole, short, two, four = (parts[name] for name in ("number20", "number5", "category1", "category3"))
    assert reaches_beyond_corner(whole, four)
    assert reaches_beyond_corner(four, whole)
    for x, y in ((whole, whole), (whole, two), (short, four), (four, four)):
        assert not reaches_beyond_corner(x, y)


@pytest.mark.slow
@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_roots_of_all_blocks_are_those_of_one_pair(gaps, rng):
    variables = variables_of(mixed(400, rng, gaps=gaps)[["plain", "rounded", "coarse", "two", "five", "twelve"]])
    way, n_compared = common_pairs if gaps else complete_pairs, 0
    for x in variables:
        for y in variables:
            if x is y:
                continue
            found = way(ColumnGroup.of([0], [x]), ColumnGroup.of([1], [y]), np.array([0]), np.array([0]))
            if np.isnan(found.log_pvalue[0]):
                continue
            n_compared += 1
            a, b = (side.scales for side in together((x.column, y.column), (x.prepared, y.prepared)))
            kept = multiscale.trusted(multiscale.family(a, b), a, b)
            n = a.basis.n_samples
            evidence = multiscale.log_evidence(multiscale.block_roots(multiscale.products(a, b), kept), kept, n)
            expected = multiscale.log_pvalue(
                multiscale.log_harmonic_mean(evidence),
                kept,
                n=n,
                are_numbers=a.kind == b.kind == "number",
                log_arrangements=min(a.log_arrangements, b.log_arrangements),
            )
            assert found.log_pvalue[0] == pytest.approx(float(expected), rel=1e-8), (x.column.name, y.column.name)
    assert n_compared >= 20


def test_ties_on_few_rows_are_looked_at_one_by_one(rng):
    n = 40
    tied, free = np.round(rng.standard_normal(n)), rng.standard_normal(n)
    a, b = ColumnGroup.of([0], [number(tied)]), ColumnGroup.of([1], [number(free)])
    one = np.array([0])
    assert np.isnan(complete_pairs(a, a, one, one).log_pvalue[0])
    assert np.isfinite(complete_pairs(b, b, one, one).log_pvalue[0])
    many = ColumnGroup.of([0], [number(np.tile(tied, 3))]), ColumnGroup.of([1], [number(np.tile(free, 3))])
    assert np.isfinite(complete_pairs(*many, one, one).log_pvalue[0])


def test_arrangements_of_common_rows_are_counted_and_bounded(rng):
    n = 80
    x = number(np.round(rng.standard_normal(n)), rng.random(n) < 0.2)
    y = number(rng.standard_normal(n), rng.random(n) < 0.4)
    side, other = MaskedSide.both(ColumnGroup.of([0], [x]), ColumnGroup.of([1], [y]), np.array([0]), np.array([0]))
    rows = ~(x.column.missing | y.column.missing)
    counts = np.unique(x.column.values[rows], return_counts=True)[1]
    expected = gammaln(rows.sum() + 1) - gammaln(counts + 1).sum()
    assert side.log_arrangements(0) == pytest.approx(expected)
    assert side.fewest_log_arrangements()[0] <= expected
    assert other.log_arrangements(0) == pytest.approx(gammaln(rows.sum() + 1))


def test_no_pvalue_is_below_one_over_the_arrangements():
    # 100 events in 1,000 common rows, all of them where x is large: 1000!/(100!·900!) arrangements.
    gaps = np.arange(2000) % 2 == 1
    x, y = (
        ColumnGroup.of([0], [number(np.arange(2000.0))]),
        ColumnGroup.of([1], [category(np.arange(2000) >= 1800, gaps)]),
    )
    one = np.array([0])
    floor = -(gammaln(1001) - gammaln(101) - gammaln(901))
    found = [common_pairs(x, y, one, one), common_pairs(y, x, one, one)]
    complete = ColumnGroup.of([0], [number(np.arange(1000.0))]), ColumnGroup.of([1], [category(np.arange(1000) >= 900)])
    for pairs in (*found, complete_pairs(*complete, one, one)):
        assert pairs.n.tolist() == [1000]
        assert pairs.log_pvalue[0] == pytest.approx(floor)


# Two of them have 6 to 76 rows in common.
WINDOWS = (slice(0, 60), slice(30, 90), slice(52, 130), slice(54, 300), slice(20, 66))


def columns_with_few_common_rows(rng, n=300):
    columns = dict(zip("uvw", rng.standard_normal((3, n)), strict=True))
    for k, window in enumerate(WINDOWS):
        columns[f"x{k}"] = np.full(n, np.nan)
        columns[f"x{k}"][window] = np.round(rng.standard_normal(n)[window], 1 if k == 1 else 9)
    return columns


@pytest.mark.slow
def test_few_common_rows_have_few_functions_whichever_way_they_are_compared(rng):
    columns = columns_with_few_common_rows(rng)
    found = renyi.matrix(columns, vectors={"place": list("uvw")})
    batches = [{name: values[start : start + 100] for name, values in columns.items()} for start in (0, 100, 200)]
    gone = renyi.matrix(iter(batches))
    vector = np.column_stack([columns[name] for name in "uvw"])
    sizes = []
    for x, y in combinations(found.names, 2):
        sides = [vector if name == "place" else columns[name] for name in (x, y)]
        alone = renyi.independence_test(*sides, missing="pairwise")
        at = found.names.index(x), found.names.index(y)
        assert found.values[at] == pytest.approx(alone.coefficient, abs=1e-9)
        assert found.debiased[at] == pytest.approx(alone.debiased, abs=1e-7)
        assert renyi.rdc(*sides, missing="pairwise") == pytest.approx(alone.coefficient, abs=1e-12)
        if "place" not in (x, y):
            at = gone.names.index(x), gone.names.index(y)
            assert gone.values[at] == pytest.approx(alone.coefficient, abs=1e-6)
            assert max(alone.dimensions) <= 2 * max(1, alone.n_samples // 10)
            sizes.append(alone.n_samples)
    assert (min(sizes), max(sizes)) == (6, 76)


def test_a_k_that_is_named_is_taken_as_it_is_on_few_common_rows(rng):
    columns = columns_with_few_common_rows(rng)
    pair = columns["x1"], columns["x2"]
    by_rows, named = (renyi.transformations(*pair, missing="pairwise", k=k) for k in (None, 10))
    assert max(by_rows.dimensions) <= 6 < min(named.dimensions)
    found = renyi.matrix({"x": pair[0], "y": pair[1]}, measure=renyi.measure("rdc", k=10))
    assert found.values[0, 1] == pytest.approx(named.correlation, abs=1e-9)


def test_functions_of_few_common_rows_serve_new_data(rng):
    columns = columns_with_few_common_rows(rng)
    x, y = columns["x1"], columns["x2"]
    common = ~np.isnan(x) & ~np.isnan(y)
    found = renyi.transformations(x, y, missing="pairwise")
    f, g = found.f(x[common]), found.g(y[common])
    assert np.corrcoef(f, g)[0, 1] == pytest.approx(found.correlation, abs=1e-9)
