"""A matrix of dependences, and what every `result` on a table shares."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import renyi
from sample_tables import mixed, parabola

COLUMNS = ["x", "y", "strength", "coefficient", "debiased", "pearson", "spearman", "nonlinear", "p", "q", "n", "remark"]
ARRAYS = ["values", "debiased", "pvalues", "qvalues", "n_samples", "pearson", "spearman"]


def test_the_diagonal_is_one_for_coefficients_and_none_for_tests(rng):
    frame = mixed(80, rng, gaps=0.2)[["plain", "curve", "rounded"]]
    found = renyi.matrix(frame)
    assert np.diag(found.values).tolist() == np.diag(found.debiased).tolist() == [1, 1, 1]
    assert np.isnan(np.diag(found.pvalues)).all()
    assert np.isnan(np.diag(found.qvalues)).all()
    assert np.diag(found.n_samples).tolist() == frame.notna().sum().tolist()
    assert found.n_rows == 80


def test_what_was_found_cannot_be_written_to(rng):
    frame = parabola(rng)
    for result in (renyi.matrix(frame), renyi.matrix(frame[["x"]], frame[["line"]]), renyi.screen(frame, "x")):
        for name in ARRAYS:
            with pytest.raises(ValueError, match="read-only"):
                getattr(result, name)[0] = 0
        with pytest.raises(TypeError):
            result.types["x"] = "category"
        with pytest.raises(TypeError):
            result.skipped["x"] = "gone"
        with pytest.raises(AttributeError):
            result.n_rows = 3


def test_frames_are_copies(rng):
    found = renyi.matrix(parabola(rng).to_dict("series"))
    before = found.values.copy()
    for frame in (found.to_long(), found.top(fdr=1.0, fold=False)):
        frame["coefficient"] *= 0.0
        frame["p"] *= 0.0
    np.testing.assert_array_equal(found.values, before)
    np.testing.assert_array_equal(np.sort(found.to_long()["coefficient"]), np.sort(before[np.triu_indices(4, 1)]))


def test_a_frame_of_pandas_reads_like_that_of_corr(rng):
    frame = parabola(rng)
    result, expected = renyi.matrix(frame), frame.corr()
    found = result.to_frame("coefficient")
    assert found.index.tolist() == expected.index.tolist()
    assert found.columns.tolist() == expected.columns.tolist()
    assert found.index.name is None
    assert found.loc["x", "square"] == pytest.approx(renyi.rdc(frame["x"].to_numpy(), frame["square"].to_numpy()))
    arrays = {"strength": result.strength, "p": result.pvalues, "q": result.qvalues, "n": result.n_samples}
    for what, array in arrays.items():
        np.testing.assert_array_equal(result.to_frame(what), array)
    pd.testing.assert_frame_equal(result.to_frame(), result.to_frame("strength"))
    with pytest.raises(renyi.InputError, match="choose one of 'strength', 'coefficient', 'p', 'q', 'n'"):
        result.to_frame("debiased")


def test_frames_without_an_index_have_the_names_in_front(rng):
    found = renyi.matrix(pl.from_pandas(parabola(rng))).to_frame()
    assert found[found.columns[0]].to_list() == found.columns[1:] == ["x", "line", "square", "noise"]


def test_all_edges_come_strongest_first(rng):
    frame = mixed(90, rng, gaps=0.2)[["plain", "curve", "rounded", "five", "two"]]
    frame.loc[:60, "plain"] = np.nan
    frame.loc[40:, "curve"] = np.nan
    found = renyi.matrix(frame)
    edges = found.to_long()
    assert edges.columns.tolist() == COLUMNS
    assert len(edges) == 10
    # What could not be measured comes last.
    assert edges["debiased"].isna().tolist() == sorted(edges["debiased"].isna())
    assert edges["debiased"].isna().any()
    lower = found.edges.lower[found.ranked()]
    known = lower[~np.isnan(lower)]
    assert known.tolist() == sorted(known, reverse=True)
    position = {name: place for place, name in enumerate(frame)}
    assert (edges["x"].map(position) < edges["y"].map(position)).all()


def test_top_has_the_strongest_at_the_rate(rng):
    found = renyi.matrix(parabola(rng))
    top = found.top(fold=False)
    assert top.columns.tolist() == COLUMNS
    assert (top["q"] <= 0.05).all()
    assert len(top) == found.n_found() == np.count_nonzero(np.triu(found.qvalues <= 0.05))
    assert top["debiased"].is_monotonic_decreasing
    assert len(found.top(2, fold=False)) == 2
    assert len(found.top(fdr=1.0, fold=False)) == 6
    pd.testing.assert_frame_equal(found.top(fdr=1.0, fold=False), found.to_long())


def test_a_parabola_is_marked_as_nonlinear_and_a_line_is_not(rng):
    top = renyi.matrix(parabola(rng)).top().set_index(["x", "y"])
    assert top.loc[("x", "square"), "nonlinear"]
    assert not top.loc[("x", "line"), "nonlinear"]
    screening = renyi.screen(parabola(rng), "x").to_long().set_index("x")
    assert screening["nonlinear"].to_dict() == {"line": False, "square": True, "noise": False}


def test_without_anything_found_the_top_is_empty(rng):
    found = renyi.matrix(rng.random((100, 3)))
    assert found.n_found(1e-9) == 0
    for fold in (True, False):
        assert len(found.top(fdr=1e-9, fold=fold)["x"]) == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda found: found.top(0), "n must be an integer of at least 1, got 0"),
        (lambda found: found.top(2.0), "n must be an integer of at least 1, got 2.0"),
        (lambda found: found.top(True), "n must be an integer of at least 1, got True"),
        (lambda found: found.top(fdr=0), "fdr must be a number above 0, at most 1, got 0"),
        (lambda found: found.top(fdr=float("nan")), "fdr must be a number above 0, at most 1, got nan"),
        (lambda found: found.n_found(2), "fdr must be a number above 0, at most 1, got 2"),
    ],
)
def test_invalid_arguments_are_refused(call, message, rng):
    frame = parabola(rng)
    for found in (renyi.matrix(frame), renyi.screen(frame, "x")):
        with pytest.raises(renyi.InputError, match=message):
            call(found)


def test_categories_that_share_one_level_are_not_told_as_one(rng):
    none = rng.random(2000) < 0.3
    x = np.where(none, "none", rng.choice(list("abcd"), 2000))
    y = np.where(none, "none", rng.choice(list("wxyz"), 2000))
    z = np.isin(y, ["w", "x"]) + 0.05 * rng.standard_normal(2000)
    found = renyi.matrix({"x": x, "y": y, "copy": y, "z": z})
    top = found.top()
    assert found.values[0, 1] == pytest.approx(1.0)
    lines = dict(zip(zip(top["x"], top["y"], strict=True), top["stands_for"], strict=True))
    assert lines["y", "copy"] == 1
    assert lines["y", "z"] == 2
    assert lines["x", "z"] == 1


def test_pvalues_from_permutations_are_said(rng):
    flag = rng.integers(0, 2, 40)
    found = renyi.matrix({"a": flag, "b": 1 - flag, "c": rng.random(40), "d": rng.random(40)})
    assert found.n_permuted == 5  # of ties on few rows; those of two numbers without ties have a null distribution
    assert "5 tests: p from 9,999 permutations" in repr(found)
    assert renyi.matrix({"c": rng.random(400), "d": rng.random(400)}).n_permuted == 0


def test_a_matrix_is_an_array_of_its_coefficients(rng):
    found = renyi.matrix(rng.standard_normal((60, 3)))
    assert np.asarray(found) is found.values
    assert np.array(found).flags.writeable
    assert np.asarray(found, dtype=np.float32).dtype == np.float32
    with pytest.raises(ValueError, match="copy"):
        np.asarray(found, dtype=np.float32, copy=False)
    np.testing.assert_array_equal(np.sqrt(found), np.sqrt(found.values))


def test_dir_has_what_is_documented(rng):
    found = renyi.matrix(rng.standard_normal((60, 3)))
    documented = {"names", "other_names", *ARRAYS, "strength", "types", "skipped", "pooled", "n_rows", "n_tests"}
    assert documented | {"top", "to_frame", "to_long", "plot", "report"} <= set(dir(found))
    assert not {"edges", "new_frame", "edge_qvalues", "folded", "of"} & set(dir(found))
    assert not [name for name in dir(found) if name.startswith("_") or not hasattr(found, name)]


# Single rows.


def lending(rng, n=5000):
    x, noise = rng.standard_normal((2, n))
    flag = np.zeros(n)
    flag[17] = 1.0
    columns = {f"x{k}": x + (0.5 + 0.2 * k) * rng.standard_normal(n) for k in range(6)}
    return pd.DataFrame({"late": flag, "default": 3 * flag, **columns, "noise": noise})


def test_what_one_row_makes_is_not_among_the_first(rng):
    found = renyi.matrix(lending(rng))
    edges = found.to_long().reset_index(drop=True)
    (place,) = np.flatnonzero((edges["x"] == "late") & (edges["y"] == "default"))
    assert edges.loc[place, "debiased"] == pytest.approx(1)
    assert edges.loc[place, "q"] < 0.05
    assert edges.loc[place, "remark"] == "without row 17: 0.00"
    # All fifteen pairs of numbers that depend on one another come before it.
    assert place == 15
    assert (edges.loc[:14, "remark"] == "").all()
    assert "without row 17: 0.00" in repr(renyi.screen(lending(rng), "late"))
    assert "ranked by a lower bound of the strength" in repr(found)


def test_rows_are_named_by_their_place_in_the_table_that_came_in(rng):
    frame = lending(rng, 600)
    frame.loc[:9, "noise"] = np.nan
    found = renyi.matrix(frame, missing="listwise").to_long()
    assert "without row 17: 0.00" in found["remark"].tolist()


def test_few_common_rows_that_one_decides_are_told(rng):
    x, y = rng.standard_normal((2, 400))
    first, last = np.where(np.arange(400) < 210, x, np.nan), np.where(np.arange(400) >= 170, y, np.nan)
    first[200], last[200] = 30.0, 30.0
    found = renyi.matrix({"first": np.round(first / 20), "last": np.round(last / 20), "x": x, "y": y + x})
    frame = found.to_long()
    place = list(zip(frame["x"], frame["y"], strict=True)).index(("first", "last"))
    assert frame["debiased"][place] > 0.9
    assert frame["remark"][place] == "without row 200: 0.00"


# Levels that many columns have in common.


def subscribers(rng, n=900):
    """Four services of customers, of whom a third have no line, and what they pay."""
    has_line = rng.random(n) < 0.67
    services = {
        name: np.where(has_line, np.where(rng.random(n) < share, "yes", "no"), "no line")
        for name, share in {"tv": 0.4, "films": 0.5, "backup": 0.3}.items()
    }
    kind = np.where(has_line, np.where(rng.random(n) < 0.5, "cable", "fibre"), "none")
    bill = 20.0 * has_line + 10.0 * (services["tv"] == "yes") + rng.standard_normal(n)
    return {"line": kind, **services, "bill": bill}


def test_columns_that_all_agree_in_a_level_are_one_line(rng):
    found = renyi.matrix(subscribers(rng))
    top = found.top()
    first = {name: top[name][0] for name in ("x", "y", "stands_for")}
    assert first == {"x": "line", "y": "tv, films, backup", "stands_for": 6}
    others = set(zip(top["x"][1:].tolist(), top["y"][1:].tolist(), strict=True))
    assert others == {(name, "bill") for name in ("line", "tv", "films", "backup")}
    assert len(found.top(fold=False)["x"]) == 10
    assert "~ tv, films, backup" in repr(found)


def test_two_columns_that_agree_in_a_level_are_a_pair_as_any_other(rng):
    some = subscribers(rng)
    found = renyi.matrix({name: some[name] for name in ("line", "tv", "bill")}).top()
    assert found["y"].tolist().count("tv") == 1
    assert set(found["stands_for"].tolist()) == {1}
