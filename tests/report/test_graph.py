"""Findings as a graph of networkx."""

import math
import sys

import networkx as nx
import numpy as np
import pytest

import renyi

x = np.linspace(-1, 1, 200)
TABLE = {"x": x, "y": x**2, "noise": np.random.default_rng(0).random(200), "side": np.where(x > 0, "left", "right")}


def test_findings_are_edges_and_all_columns_nodes():
    found = renyi.matrix(TABLE)
    graph = found.to_networkx()
    top = found.top(99, fold=False)
    assert [*graph.nodes(data="column_type")] == [*found.types.items()]
    assert {frozenset(edge) for edge in graph.edges} == {*map(frozenset, zip(top["x"], top["y"], strict=True))}
    assert graph.number_of_edges() == found.n_found() < found.n_tests
    edge, pair = graph["y"]["x"], found["x", "y"]
    assert (edge["strength"], edge["p"], edge["q"], edge["n"]) == (pair.strength, pair.pvalue, pair.qvalue, 200)
    assert edge["log10_p"] == pytest.approx(pair.log_pvalue / math.log(10))
    assert edge["nonlinear"] is True
    assert graph.graph == {"measure": "rdc", "fdr": 0.05}


def test_rate_decides_which_pairs_are_edges():
    found = renyi.matrix(TABLE)
    assert found.to_networkx(fdr=1).number_of_edges() == found.n_tests
    unranked = renyi.matrix(TABLE, measure="ace").to_networkx()
    assert unranked.number_of_edges() == 6
    assert unranked.graph == {"measure": "ace(symmetric=True)"}
    assert "nonlinear" not in unranked["x"]["y"]
    with pytest.raises(renyi.InputError, match="without testing"):
        renyi.matrix(TABLE, measure="ace").to_networkx(fdr=0.1)


def test_screening_is_a_star_that_says_what_was_given():
    graph = renyi.screen(TABLE, "y", given="side").to_networkx()
    assert [*graph.edges] == [("x", "y")]
    assert [*graph] == ["x", "noise", "y"]
    assert graph.graph["given"] == "side"


def test_pairs_have_those_that_were_kept():
    graph = renyi.pairs(TABLE, top=1).to_networkx()
    assert graph.number_of_edges() == 1
    assert graph.number_of_nodes() == 4


def test_names_of_a_second_table_are_told_apart():
    graph = renyi.matrix(TABLE, {"x": x**3, "flat": np.ones(200), "z": TABLE["noise"]}).to_networkx()
    assert nx.is_bipartite(graph)
    assert [name for name, side in graph.nodes(data="bipartite") if side] == ["x (other)", "z"]
    assert {"x (other)", "z"}.isdisjoint(nx.get_node_attributes(graph, "column_type").values())
    assert graph.has_edge("x", "x (other)")


def test_graphs_can_be_written(tmp_path):
    graph = renyi.screen(TABLE, "y", given=["side"]).to_networkx()
    nx.write_graphml_xml(graph, tmp_path / "found.graphml")
    read = nx.read_graphml(tmp_path / "found.graphml")
    assert read["x"]["y"]["strength"] == pytest.approx(graph["x"]["y"]["strength"])


def test_without_networkx_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(renyi.MissingExtraError, match=r"this call needs it: pip install networkx$"):
        renyi.matrix(TABLE).to_networkx()
