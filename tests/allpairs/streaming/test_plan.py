"""Plans for the second look at rows: whatever the tiles and batches, the pairs are those of the table."""

import pickle
from itertools import pairwise

import numpy as np
import pytest

import renyi
from renyi.allpairs.compare import PERMUTATIONS
from renyi.allpairs.streaming import plan as plans
from renyi.allpairs.streaming.column_stats import ColumnStats
from renyi.allpairs.streaming.plan import Plan
from renyi.allpairs.streaming.rank_sketch import LEAST_CAPACITY
from renyi.basis.random_features import DEFAULT_SCALE
from renyi.errors import InputError
from renyi.pair.settings import Settings

SETTINGS = Settings(None, DEFAULT_SCALE, "auto")


def table(rng, n=300):
    x = rng.standard_normal(n)
    return {
        "x": x,
        "curve": x**2 + rng.standard_normal(n),
        "gaps": np.where(rng.random(n) < 0.2, np.nan, x + rng.standard_normal(n)),
        "same": 3 * x,
        "level": np.array(list("abc"))[np.digitize(x + rng.standard_normal(n), [-0.5, 0.5])],
        "noise": rng.random(n),
    }


def plan_of(columns, targets=(), most_bytes=2**30):
    counted = {}
    for name, cells in columns.items():
        survey = ColumnStats(name, None, LEAST_CAPACITY)
        survey.update(cells)
        counted[name] = survey.decided(lambda _: None)
    compared = tuple(column for name, column in counted.items() if name not in targets)
    n_rows = len(next(iter(columns.values())))
    return Plan(compared, tuple(counted[name] for name in targets), SETTINGS, n_rows, most_bytes)


def batches(columns, cuts):
    edges = [0, *cuts, len(next(iter(columns.values())))]
    return [{name: cells[a:b] for name, cells in columns.items()} for a, b in pairwise(edges)]


def folded(plan, columns, cuts=(100, 101)):
    first, *rest = [plan.fold(batch) for batch in batches(columns, cuts)]
    return sum(rest, first)


def test_pairs_are_those_of_the_table(rng):
    columns = table(rng)
    plan, whole = plan_of(columns), renyi.matrix(columns)
    edges = plan.edges(folded(plan, columns), PERMUTATIONS)
    i, j = edges.found.i, edges.found.j
    assert len(edges) == 15
    np.testing.assert_allclose(edges.found.coefficient, whole.values[i, j], atol=1e-9)
    np.testing.assert_allclose(np.exp(edges.found.log_pvalue), whole.pvalues[i, j], atol=1e-9)
    np.testing.assert_allclose(edges.found.pearson, whole.pearson[i, j], atol=1e-9)
    np.testing.assert_array_equal(edges.found.n, whole.n_samples[i, j])
    # What needs the sums was asked while they were there.
    alike = [(int(i[k]), int(j[k])) for k in range(15) if edges.is_alias(k)]
    assert alike == [(0, 3)]


def test_targets_are_compared_with_all_others(rng):
    columns = table(rng)
    plan, whole = plan_of(columns, targets=("curve",)), renyi.screen(columns, "curve")
    edges = plan.edges(folded(plan, columns), PERMUTATIONS)
    found = {plan.x[i].column.name: value for i, value in zip(edges.found.i, edges.found.coefficient, strict=True)}
    assert found == pytest.approx(dict(zip(whole.names, whole.values, strict=True)), abs=1e-9)


def test_small_budgets_make_rounds_of_tiles_that_are_all_pairs_together(rng):
    columns = table(rng)
    whole = plan_of(columns)
    small = plan_of(columns, most_bytes=whole.n_bytes // 16)
    rounds = small.rounds()
    assert len(rounds) > 2
    for part in rounds:
        # One pair takes what it takes.
        is_one_pair = len(part.tiles) == 1 and all(len(side.positions) == 1 for side in part.tiles[0])
        assert is_one_pair or part.n_bytes <= small.most_bytes
    assert sorted(k for part in rounds for k in part.which) == list(range(small.n_tiles))
    expected = whole.edges(folded(whole, columns), PERMUTATIONS).found
    at = dict(zip(zip(expected.i.tolist(), expected.j.tolist(), strict=True), expected.coefficient, strict=True))
    seen = []
    for part in rounds:
        edges = part.edges(folded(part, columns), PERMUTATIONS)
        for a, b, value in zip(edges.found.i.tolist(), edges.found.j.tolist(), edges.found.coefficient, strict=True):
            seen.append((min(a, b), max(a, b)))
            assert value == pytest.approx(at[seen[-1]], abs=1e-9)
    assert sorted(seen) == sorted(at)


def test_rows_that_have_changed_are_refused(rng):
    columns = table(rng)
    plan = plan_of(columns)
    with pytest.raises(InputError, match="the first pass saw 300 rows and the second 200"):
        plan.edges(folded(plan, {name: cells[:200] for name, cells in columns.items()}), PERMUTATIONS)
    with pytest.raises(InputError, match="'noise' does not hold the values of the first pass any more"):
        plan.edges(folded(plan, columns | {"noise": columns["noise"] ** 2}), PERMUTATIONS)
    with pytest.raises(InputError, match="'level' does not hold"):
        plan.fold(columns | {"level": np.full(300, "new")})


def test_plans_travel_and_few_are_kept(rng, monkeypatch):
    columns = table(rng)
    plan = plan_of(columns)
    again = pickle.loads(pickle.dumps(plan))
    # In one process they share what was made.
    assert again.tiles is plan.tiles
    assert again.shape == plan.shape != plan_of(columns, most_bytes=1000).shape
    monkeypatch.setattr(plans, "_made", {})
    for _ in range(9):
        plan_of(columns).x  # noqa: B018
    assert len(plans._made) == plans._MOST_PLANS
    np.testing.assert_allclose(folded(again, columns).sums[0].coefficient, folded(plan, columns).sums[0].coefficient)
