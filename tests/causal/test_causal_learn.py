"""`causal_learn`, and the test of a table in the hands of causal-learn and of pgmpy."""

import sys

import numpy as np
import pandas as pd
import pytest

import renyi


@pytest.fixture
def table(rng):
    """A fork and a collider, all by even functions, which a correlation does not see."""
    a, b = rng.standard_normal((2, 400))
    c = a**2 + 0.7 * rng.standard_normal(400)
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": np.abs(a) + b**2 + 0.5 * rng.standard_normal(400)})


EDGES = {("a", "c"), ("a", "d"), ("b", "d")}


def test_without_causal_learn_its_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "causallearn.utils.cit", None)
    with pytest.raises(renyi.MissingExtraError, match=r"causallearn is not installed.*renyi\[causal\]"):
        renyi.causal.register()


@pytest.fixture
def cit(monkeypatch):
    """causal-learn's module of tests, with ours registered."""
    module = pytest.importorskip("causallearn.utils.cit")
    monkeypatch.setattr(module, "_custom_ci_tests", {})
    renyi.causal.register()
    return module


def test_searches_of_causal_learn_take_it_by_name(table, cit):
    search = pytest.importorskip("causallearn.search.ConstraintBased.PC")
    found = search.pc(table.to_numpy(), 0.01, "renyi", show_progress=False).G.graph
    names = list(table)
    assert {(names[i], names[j]) for i, j in np.argwhere(np.triu(found != 0))} == EDGES
    # a → d ← b
    assert found[0, 3] == found[1, 3] == -1
    assert found[3, 0] == found[3, 1] == 1


def test_settings_and_p_values_go_through_causal_learn(table, cit, tmp_path):
    values = np.column_stack([table["a"], table["c"], (table["a"] > 0) + 2 * (table["b"] > 0)])
    test = cit.CIT(values, "renyi", types={"x2": "category"}, cache_path=str(tmp_path / "p" / "values.json"))
    expected = renyi.conditional_test(values[:, 0], values[:, 1], renyi.categorical(values[:, 2]))
    assert test(1, 0, [2]) == test(0, 1, (np.int64(2),)) == expected.pvalue
    assert list(test.pvalue_cache.values())[-1] == expected.pvalue
    assert test(0, 1) == renyi.independence_test(values[:, 0], values[:, 1]).pvalue


def test_pc_of_pgmpy_takes_it(table):
    discovery = pytest.importorskip("pgmpy.causal_discovery")
    for variant in ("stable", "parallel"):
        search = discovery.PC(
            variant=variant, ci_test=renyi.causal.ConditionalTest(table), show_progress=False, n_jobs=2
        )
        found = search.fit(table)
        assert {tuple(sorted(edge)) for edge in found.skeleton_.edges()} == EDGES
        assert {("a", "d"), ("b", "d")} <= set(found.causal_graph_.edges())


@pytest.mark.parametrize("name", [[], 3, None])
def test_a_name_is_text(name):
    with pytest.raises(renyi.InputError, match="name must be text"):
        renyi.causal.register(name)
