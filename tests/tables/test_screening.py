"""One target: a screening says what the matrix says of its column."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import renyi
from sample_tables import SOME, VECTORS, columns_of, mixed, parabola


@pytest.mark.slow
@pytest.mark.parametrize("gaps", [0.0, 0.3])
@pytest.mark.parametrize("target", ["plain", "five"])
def test_a_screening_is_a_column_of_the_matrix(target, gaps, rng):
    frame = mixed(150, rng, gaps=gaps)[SOME]
    found, whole = renyi.screen(frame, target), renyi.matrix(frame)
    order = [whole.names.index(name) for name in found.names]
    column = whole.names.index(target)
    assert sorted((*found.names, target)) == sorted(whole.names)
    for name in ("values", "debiased", "strength", "pvalues", "n_samples", "pearson", "spearman"):
        expected = getattr(whole, name)[order, column]
        np.testing.assert_allclose(getattr(found, name), expected, atol=1e-12, err_msg=name)
    np.testing.assert_allclose(found.qvalues, renyi.adjust(found.pvalues))
    lower = found.edges.lower[found.ranked()]
    lower = lower[np.isfinite(lower)]
    assert (np.diff(lower) <= 0).all()


def test_several_targets_are_one_vector(rng):
    frame = mixed(150, rng)
    found = renyi.screen(frame, ["lat", "lon"])
    whole = renyi.matrix(frame, vectors=VECTORS)
    assert found.target == "lat & lon"
    assert "lat" not in found.names
    order = [whole.names.index(name) for name in found.names]
    np.testing.assert_allclose(found.pvalues, whole.pvalues[order, whole.names.index("place")], atol=1e-12)


def test_given_what_is_held_fixed_a_screening_is_the_conditional_test(rng):
    frame = mixed(150, rng, gaps=0.1)[[*SOME, "twelve"]]
    by_name = {column.name: column for column in columns_of(frame)}
    found = renyi.screen(frame, "plain", given=["five", "lat"])
    assert found.given == ("five", "lat")
    assert set(found.names) == set(by_name) - {"plain", "five", "lat"}
    for k, name in enumerate(found.names):
        try:
            test = renyi.conditional_test(
                by_name[name], by_name["plain"], [by_name["five"], by_name["lat"]], missing="listwise"
            )
        except renyi.InputError:
            assert name == found.names[-1] == "twelve"
            assert np.isnan([found.pvalues[k], found.values[k], found.debiased[k], found.qvalues[k]]).all()
            continue
        assert found.pvalues[k] == pytest.approx(test.pvalue, rel=1e-9), name
        assert found.values[k] == pytest.approx(test.coefficient), name
        assert found.debiased[k] == pytest.approx(test.debiased), name
        assert found.n_samples[k] == test.n_samples, name
    assert np.isnan(found.pearson).all()
    np.testing.assert_allclose(found.qvalues, renyi.adjust(found.pvalues))


def test_names_that_are_numbers_are_found_as_numbers_or_text(rng):
    frame = pd.DataFrame(rng.random((50, 3)))
    assert renyi.screen(frame, 1).target == renyi.screen(frame, "1").target == "1"
    assert renyi.screen(frame, 1, given=[0]).names == ("2",)


def test_what_is_held_fixed_explains_away(rng):
    common = rng.standard_normal(400)
    frame = {"x": common + 0.3 * rng.standard_normal(400), "y": common + 0.3 * rng.standard_normal(400), "z": common}
    assert renyi.screen(frame, "y").pvalues[0] < 1e-9
    assert renyi.screen(frame, "y", given="z").pvalues[0] > 1e-3


def test_what_is_given_and_leaves_nothing_is_said(rng):
    x = rng.standard_normal(200)
    table = {"x": x, "double": 2 * x, "y": x + rng.standard_normal(200), "z": rng.standard_normal(200)}
    with pytest.raises(
        renyi.InputError, match="no column can be tested given x: column 'double' is determined by column 'x'"
    ):
        renyi.screen(table, "double", given="x")
    found = renyi.screen(table, "y", given="x")
    assert found.names == ("z",)
    assert "is determined by" in found.skipped["double"]


def test_a_screening_has_its_columns_strongest_first(rng):
    found = renyi.screen(parabola(rng), "x")
    frame = found.to_long()
    assert frame["x"].tolist() == list(found.names)
    assert frame["y"].tolist() == ["x"] * 3
    assert found.names[-1] == "noise"
    for column, name in (
        ("coefficient", "values"),
        ("debiased", "debiased"),
        ("strength", "strength"),
        ("p", "pvalues"),
        ("q", "qvalues"),
    ):
        np.testing.assert_array_equal(frame[column], getattr(found, name))
    assert found.top(1)["x"].tolist() == [found.names[0]]
    assert found.top()["x"].tolist() == list(found.names[:2])
    assert (found.target, found.given, found.n_tests) == ("x", (), 3)


@pytest.mark.parametrize(
    "as_target", [pd.Series, np.asarray, list, pl.Series], ids=["pandas", "array", "list", "polars"]
)
def test_a_target_may_be_values_beside_the_table(as_target, rng):
    frame = pd.DataFrame(rng.standard_normal((120, 3)), columns=list("abc"))
    values = frame["a"].to_numpy() ** 2 + rng.standard_normal(120)
    found, expected = renyi.screen(frame, as_target(values)), renyi.screen(frame.assign(target=values), "target")
    assert (found.target, found.names, dict(found.types)) == ("target", expected.names, dict(expected.types))
    np.testing.assert_array_equal(found.pvalues, expected.pvalues)
    np.testing.assert_array_equal(found.values, expected.values)


def test_values_of_a_target_have_a_name_of_their_own(rng):
    frame = pd.DataFrame(rng.standard_normal((60, 2)), columns=["a", "b"])
    assert renyi.screen(frame, frame["a"] > 0).target == "a (target)"
    assert renyi.screen(frame, (frame["a"] > 0).rename("sign")).target == "sign"
    levels = renyi.categorical(np.where(frame["a"] > 0, "up", "down"))
    assert renyi.screen(frame, levels, given="b").types["target"] == "category"
    # Arrays of names are names.
    assert renyi.screen(frame, np.array(["a"])).target == "a"
    with pytest.raises(renyi.InputError, match="the table has 60 rows and target has 9: pass as many"):
        renyi.screen(frame, np.arange(9.0))
    with pytest.raises(renyi.InputError, match="different indexes"):
        renyi.screen(frame, frame["a"][::-1])


def test_a_screening_is_an_array_of_its_coefficients(rng):
    found = renyi.screen(rng.standard_normal((60, 4)), "x1")
    np.testing.assert_array_equal(np.asarray(found), found.values)
    assert {"target", "strength", "top", "report"} < set(dir(found))


def test_rows_that_a_conditional_test_leaves_out_are_told(rng):
    """Pupil 40 has 0 in the first grade and 41 in the last, though both have 18 in the second."""
    ability, common = rng.standard_normal((2, 649))
    second = np.clip(np.round(11.5 + 2.8 * ability), 4, 19)
    first = np.clip(np.round(11.4 + 2.5 * ability + rng.standard_normal(649) + 0.5 * common), 4, 19)
    last = np.clip(np.round(11.9 + 2.9 * ability + 0.9 * rng.standard_normal(649) + 0.5 * common), 5, 19)
    second[40:42], first[40], last[41] = 18, 0, 0
    alone = renyi.conditional_test(first, last, second)
    found = renyi.screen({"first": first, "second": second, "last": last}, "last", given="second")
    assert alone.left_out
    assert found.n_samples[0] == alone.n_samples
    (said,) = [note for note in found.notes if "tested without" in note]
    assert all(f"{row}" in said for row in alone.left_out)
    assert said in repr(found)
