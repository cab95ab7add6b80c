"""What estimators are given, to features and a target."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from renyi.errors import InputError
from renyi.selection.inputs import is_frame, read_features, read_target, with_labels


@pytest.fixture
def frame(rng):
    return pd.DataFrame(
        {"x": rng.random(40), "level": pd.Categorical(rng.choice(list("abc"), 40)), "same": 1.0, "y": rng.random(40)}
    )


def test_features_keep_their_places_and_what_is_left_out_has_a_reason(frame):
    names, columns, skipped = read_features(frame, "from_dtype")
    assert names == ["x", "level", "same", "y"]
    assert {place: column.name for place, column in columns.items()} == {0: "x", 1: "level", 3: "y"}
    assert columns[1].kind == "category"
    assert list(skipped) == ["same"]
    _, columns, skipped = read_features(frame, None)
    assert list(columns) == [0, 3]
    assert set(skipped) == {"level", "same"}


@pytest.mark.parametrize("declared", [[2], [-1], ["c"], [False, False, True], np.array([2])])
def test_categories_are_declared_by_name_place_or_mask(declared, rng):
    table = pl.DataFrame({"a": rng.random(30), "b": rng.random(30), "c": rng.integers(0, 3, 30)})
    _, columns, _ = read_features(table, declared)
    assert [columns[place].kind for place in range(3)] == ["number", "number", "category"]


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ("all", "is unknown"),
        ([[0]], r"the shape \(1, 1\)"),
        ([True], "a mask of 1 for 2 columns"),
        ([5], "pass a place"),
    ],
)
def test_declarations_without_sense_are_refused(declared, message, rng):
    with pytest.raises(InputError, match=message):
        read_features(rng.random((9, 2)), declared)


def test_infinities_are_refused_as_scikit_learn_does(rng):
    values = rng.random((20, 2))
    values[3, 1] = np.inf
    with pytest.raises(InputError, match="X contains infinity: column 'x1' has 1 infinite value"):
        read_features(values, None)


def test_tensors_stay_where_they_are_unless_they_must_be_read(rng):
    torch = pytest.importorskip("torch")
    values = rng.random((20, 4))
    values[2, 1], values[:, 2], values[:, 3] = np.nan, 1.0, rng.integers(0, 2, 20)
    names, columns, skipped = read_features(torch.tensor(values), [3])
    assert names == ["x0", "x1", "x2", "x3"]
    assert [isinstance(columns[place].values, torch.Tensor) for place in (0, 1, 3)] == [True, False, False]
    assert columns[1].missing.sum() == 1
    assert columns[3].kind == "category"
    assert list(skipped) == ["x2"]


@pytest.mark.parametrize(
    ("y", "kind", "found"),
    [
        (np.array([3, 1, 2]), "auto", "number"),
        (np.array([[3.0], [1.0], [2.0]]), "auto", "number"),
        (np.array([[3.0, 1.0], [1.0, 2.0]]), "auto", "vector"),
        (np.array([[3.0, 7.0], [1.0, 7.0]]), "auto", "number"),
        (np.array(["b", "a", "b"]), "auto", "category"),
        (np.array([True, False, True]), "auto", "category"),
        (np.array([True, False]), "number", "number"),
        (np.array([1, 2, 1]), "category", "category"),
        (np.array([["a", "x"], ["a", "y"], ["a", "x"]]), "auto", "category"),
    ],
)
def test_a_target_is_what_it_holds(y, kind, found):
    assert read_target(y, kind).kind == found


def test_labels_of_several_outputs_are_their_combinations():
    y = np.array([["a", "x"], ["a", "y"], ["b", "x"]] * 10)
    column = read_target(y, "auto")
    assert len(column.levels) == 3
    assert column.values.tolist() == [0, 1, 2] * 10
    assert read_target(np.array([["b"], ["a"], ["b"]]), "auto").levels == ("a", "b")


def test_rare_classes_are_pooled_unless_all_are():
    assert read_target(np.array(["a"] * 20 + ["b"] * 20 + list("cde") * 2), "auto").levels == ("a", "b", "(other)")
    assert read_target(np.array(list("aabbc")), "auto").levels == ("a", "b", "c")


def test_labels_of_a_categorical_type_are_text_even_if_they_are_numbers():
    assert with_labels(pd.Series(pd.Categorical([3, 1, 3]))).tolist() == ["3", "1", "3"]
    gaps, numbers = pd.Series(pd.Categorical([3, None])), np.array([3, 1])
    assert with_labels(gaps) is gaps
    assert with_labels(numbers) is numbers
    assert [is_frame(data) for data in (pd.DataFrame(), pl.DataFrame(), numbers, pd.Series([1]))] == [
        True, True, False, False,
    ]  # fmt: skip
