import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import renyi

mpl.use("Agg")


@pytest.fixture
def frame(rng):
    x = rng.standard_normal(300)
    return pd.DataFrame(
        {"x": x, "square": x**2, "line": x + rng.standard_normal(300), "noise": rng.random(300), "one": 1}
    )


def test_a_pair_is_found_by_its_names_in_either_order(frame):
    found = renyi.matrix(frame)
    pair = found["x", "square"]
    assert (pair.x, pair.y) == ("x", "square")
    for turned in (found["square", "x"], renyi.screen(frame, "square")["x"], renyi.pairs(frame)["square", "x"]):
        for name in ("coefficient", "strength", "debiased", "pvalue", "log_pvalue", "n_samples", "is_finding"):
            assert getattr(turned, name) == getattr(pair, name), name
    strength, pvalue = pair
    assert (strength, pvalue) == (found.strength[0, 1], found.pvalues[0, 1])
    assert pair.coefficient == found.coefficient[0, 1]
    assert (pair.qvalue, pair.pearson) == (found.qvalues[0, 1], found.pearson[0, 1])


def test_columns_of_two_tables_are_found_by_their_sides(frame):
    found = renyi.matrix(frame[["x", "line"]], frame[["square", "noise"]])
    assert found["x", "square"].strength == found["square", "x"].strength == found.strength[0, 0]


def test_it_prints_what_it_is_and_draws_itself(frame):
    found = renyi.matrix(frame)
    said = repr(found["x", "square"])
    assert said == found["x", "square"].summary()
    assert "x and square" in said
    assert "square falls, then rises, along x" in said
    assert "strength  ·" in repr(found["x", "noise"])
    assert found["x", "square"].plot().axes
    assert "given noise" in repr(renyi.screen(frame, "x", given="noise")["square"])
    assert "columns" not in dir(found["x", "square"])


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda t: renyi.matrix(t)["x", "squares"],
            "names 'squares', which is not a column of the result: did you mean",
        ),
        (lambda t: renyi.matrix(t)["x", "one"], "'one' was left out: constant"),
        (lambda t: renyi.matrix(t)["x"], r"write found\['age', 'income'\]"),
        (lambda t: renyi.matrix(t)["x", "x"], "one column: name two"),
        (lambda t: renyi.screen(t, "x")["y"], "which is not a column of the result"),
        (lambda t: renyi.pairs(t, top=1)["x", "noise"], "not among the strongest pairs, which alone were kept"),
        (lambda t: renyi.matrix([t] * 2, sample=0)["x", "square"].plot(), "rows of this table are not kept"),
    ],
)
def test_what_is_no_pair_says_why(ask, message, frame, in_batches):
    with pytest.raises(renyi.InputError, match=message):
        ask(frame)


def test_pairs_by_other_measures_have_what_is_known_of_them(frame):
    pair = renyi.matrix(frame, measure="spearman")["x", "line"]
    assert pair.measure == "spearman"
    assert pair.coefficient == pytest.approx(frame["x"].corr(frame["line"], method="spearman"))
    assert np.isnan(pair.debiased)
    assert "line rises with x" in repr(pair)
