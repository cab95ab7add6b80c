import numpy as np
import pandas as pd
import pytest

import renyi
from renyi.allpairs.compare import FoundPairs, InMemory, compare
from renyi.allpairs.edges import Edges
from renyi.allpairs.tiles import groups, tiles_of
from renyi.inference.debias import null_level
from renyi.inference.roy import null_median
from renyi.pair.independence import Permutations
from sample_tables import SEED, category, number

PERMUTATIONS = Permutations(99, SEED, None)


def edges_of(variables):
    return Edges.of(
        variables, variables, [compare(*tile, InMemory(), PERMUTATIONS) for tile in tiles_of(groups(variables))]
    )


def made_up(coefficient, log_pvalue, *, pearson=0.0, spearman=0.0, n=100, dimensions=(5, 5)):
    coefficient, log_pvalue = np.atleast_1d(coefficient).astype(float), np.atleast_1d(log_pvalue).astype(float)
    m = len(coefficient)
    return FoundPairs(
        i=np.zeros(m, dtype=int),
        j=np.ones(m, dtype=int),
        n=np.full(m, n),
        dimensions=np.full((m, 2), dimensions, dtype=np.int32),
        coefficient=coefficient,
        log_pvalue=log_pvalue,
        pearson=np.full(m, pearson),
        spearman=np.full(m, spearman),
        is_permuted=np.zeros(m, dtype=bool),
    )


def test_pairs_of_one_table_have_their_columns_in_its_order(rng):
    # Groups are of one kind, so that later columns come before earlier ones in some tiles.
    variables = [category(rng.integers(0, 3, 80)), number(rng.random(80)), category(rng.integers(0, 3, 80))]
    edges = edges_of(variables)
    assert sorted(zip(edges.found.i.tolist(), edges.found.j.tolist(), strict=True)) == [(0, 1), (0, 2), (1, 2)]


def test_pvalues_are_never_zero_and_nan_where_no_test_was_made():
    edges = Edges([], [], made_up([0.5, 0.5, np.nan], [-1000.0, np.log(0.3), np.nan]))
    assert edges.pvalues[0] == np.finfo(float).tiny
    assert edges.pvalues[1] == pytest.approx(0.3)
    assert np.isnan(edges.pvalues[2])


def test_some_pairs_keep_what_was_found_on_them(rng):
    variables = [number(rng.random(60)) for _ in range(4)]
    edges = edges_of(variables)
    part = edges.take(np.array([4, 1]))
    assert len(part) == 2
    assert part.debiased == pytest.approx(edges.debiased[[4, 1]])
    assert part.pvalues == pytest.approx(edges.pvalues[[4, 1]])
    assert part.found.dimensions.tolist() == edges.found.dimensions[[4, 1]].tolist()


def test_debiased_values_of_numbers_go_by_the_ranks_that_are_left(rng):
    # Of seven values four are left on the common rows.
    x = rng.integers(0, 7, 200)
    variables = [number(x.astype(float)), number(rng.random(200), x > 3)]
    edges = edges_of(variables)
    dimensions = edges.found.dimensions[0]
    assert sorted(dimensions)[0] == 3
    level = null_median(int(dimensions[0]), int(dimensions[1]), int(edges.found.n[0]))
    excess = (edges.found.coefficient[0] ** 2 - level) / (1 - level)
    assert edges.debiased[0] == pytest.approx(np.copysign(np.sqrt(abs(excess)), excess))
    columns = [variable.column for variable in variables]
    assert edges.debiased[0] == pytest.approx(renyi.rdc(*columns, missing="pairwise", debias=True))


def test_random_pairings_give_the_level_where_single_rows_weigh_too_much(rng):
    codes = np.r_[np.arange(40) // 2, np.zeros(60, dtype=int)]
    variables = [category(rng.permutation(codes)) for _ in range(2)]
    bases = [variable.prepared.basis for variable in variables]
    level = null_level(*bases)
    assert level != pytest.approx(null_median(bases[0].dimension, bases[1].dimension, 100), rel=1e-3)
    columns = [variable.column for variable in variables]
    assert edges_of(variables).debiased[0] == pytest.approx(renyi.rdc(*columns, debias=True))


def test_debiased_values_known_from_a_test_are_taken_as_they_are():
    edges = Edges([], [], made_up([0.5, 0.6], [0.0, 0.0]), known=np.array([0.1, 0.2]))
    assert edges.debiased.tolist() == [0.1, 0.2]
    assert edges.take(np.array([1])).debiased.tolist() == [0.2]


@pytest.mark.parametrize(
    ("pearson", "spearman", "debiased", "is_nonlinear"),
    [
        (0.1, 0.1, 0.8, True),
        (0.1, -0.7, 0.8, False),
        (-0.7, 0.1, 0.8, False),
        (np.nan, 0.1, 0.8, True),
        (np.nan, 0.7, 0.8, False),
        (np.nan, np.nan, 0.8, False),  # there is no linear coefficient that could have missed it
        (0.1, 0.1, -0.3, True),  # which the test finds
        (0.1, 0.1, np.nan, False),
    ],
)
def test_what_linear_coefficients_miss_is_marked(pearson, spearman, debiased, is_nonlinear):
    sides = [number(np.arange(9.0))] * 2
    edges = Edges(sides, sides, made_up(0.8, -9.0, pearson=pearson, spearman=spearman), known=np.array([debiased]))
    assert edges.is_nonlinear.tolist() == [is_nonlinear]


def test_a_frame_has_one_row_a_pair(rng):
    x = rng.uniform(-1, 1, 300)
    variables = [number(x, name="x"), number(x**2, name="square")]
    edges = edges_of(variables)
    frame = edges.to_frame(pd.DataFrame, qvalues=np.array([0.01]))
    assert frame.columns.tolist() == [
        *("x", "y", "strength", "coefficient", "debiased", "pearson", "spearman", "nonlinear", "p", "q", "n"),
        "remark",
    ]
    (row,) = frame.to_dict("records")
    assert (row["x"], row["y"], row["n"], row["q"], row["nonlinear"]) == ("x", "square", 300, 0.01, True)
    assert row["coefficient"] == pytest.approx(renyi.rdc(x, x**2))
    assert row["p"] == pytest.approx(renyi.independence_test(x, x**2).pvalue)


def test_pairs_that_nobody_looked_at_do_not_come_before_those_that_rows_carry(rng, monkeypatch):
    """Columns that are 0 but for one row they share, more of them than are looked at."""
    monkeypatch.setattr("renyi.allpairs.edges.MOST_LOOKED_AT", 5)
    x = rng.standard_normal(400)
    alone = {f"f{k}": np.where(np.arange(400) == 0, k + 1.0, 0.0) for k in range(6)}
    found = renyi.matrix({**alone, "x": x, "y": x + 0.5 * rng.standard_normal(400)})
    frame = found.to_long()
    assert (frame["x"][0], frame["y"][0]) == ("x", "y")
