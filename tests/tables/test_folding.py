"""Pairs that are told as one."""

import numpy as np
import pandas as pd
import pytest

import renyi

COLUMNS = ["x", "y", "strength", "coefficient", "debiased", "pearson", "spearman", "nonlinear", "p", "q", "n", "remark"]


def aliases(rng, n=300):
    """One column four times, another one twice, one that depends on the first, and noise."""
    a, b = rng.standard_normal((2, n))
    return pd.DataFrame(
        {
            "a": a,
            "b": b,
            "twice": 2 * a,
            "turned": 1 - a,
            "copy": a,
            "exp b": np.exp(b),
            "near": a + rng.standard_normal(n),
            "noise": rng.random(n),
        }
    )


def test_columns_that_are_nearly_the_same_are_told_as_one(rng):
    found = renyi.matrix(aliases(rng))
    top = found.top()
    assert top.columns.tolist() == [*COLUMNS, "stands_for"]
    lines = {(row.x, row.y): row.stands_for for row in top.itertuples()}
    # Four columns are six pairs, of which one line names all; each of the four is near to "near".
    assert lines == {("a", "twice, turned, copy"): 6, ("b", "exp b"): 1, ("a", "near"): 4}
    assert top["stands_for"].sum() == len(found.top(100, fold=False)) == found.n_found()
    assert top["debiased"].is_monotonic_decreasing


def test_the_first_of_the_same_columns_speaks_for_them(rng):
    frame = aliases(rng)
    found = renyi.matrix(frame).top()
    near = found[found["y"] == "near"].iloc[0]
    assert near["x"] == "a"
    assert near["coefficient"] == pytest.approx(renyi.rdc(frame["a"].to_numpy(), frame["near"].to_numpy()))
    turned = renyi.matrix(frame[["near", "copy", "turned", "a"]]).top()
    assert {(row.x, row.y): row.stands_for for row in turned.itertuples()} == {
        ("copy", "turned, a"): 3,
        ("near", "copy"): 3,
    }


def test_a_level_that_follows_from_a_number_is_not_that_number(rng):
    x = rng.integers(0, 5, 400)
    found = renyi.matrix({"x": x, "high": x > 2, "y": x + rng.standard_normal(400)})
    assert found.values[0, 1] == pytest.approx(1.0)
    assert sorted(found.top()["stands_for"]) == [1, 1, 1]


def test_pairs_of_two_tables_are_not_folded(rng):
    frame = aliases(rng)
    top = renyi.matrix(frame[["a", "b"]], frame[["twice", "turned", "near"]]).top()
    assert top["stands_for"].tolist() == [1] * len(top)
    assert set(zip(top["x"], top["y"], strict=True)) == {("a", "twice"), ("a", "turned"), ("a", "near")}
