"""Every door refuses the same bad input, with the same words but for what it calls the table."""

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import renyi
from contracts.doors import BY_PAIRS, DOORS, REFERENCE
from contracts.tables import Column, Table

# What may differ: the name of the table, numbers of rows, which batches do not know, and what else a door can do.
MAY_DIFFER = (
    (r"\bthe batch\b|\bother\b", "the table"),
    (r", first in row [\d,]+", ""),
    (r"missing='\w+'( or missing='\w+')*$", "another way"),
)


def refused(call: Any) -> str:
    """The message with which something is refused, in words that all doors share."""
    with pytest.raises(renyi.InputError) as caught:
        call()
    message = str(caught.value)
    for pattern, shared in MAY_DIFFER:
        message = re.sub(pattern, shared, message)
    return message


@dataclass(frozen=True)
class Bad:
    """A table or options that no door takes, and what the message says; some doors may say it in their own words."""

    match: str
    table: Table
    options: dict[str, Any] = field(default_factory=dict)
    own_words: tuple[str, ...] = ()


def table(*columns: list[Any]) -> Table:
    """Numbers under the names that matrices give them."""
    return Table("bad", {f"x{j}": Column("number", cells) for j, cells in enumerate(columns)})


A, B, C = ([float(k * step % 31) for k in range(30)] for step in (3, 7, 11))
GOOD = table(A, B, C)
WITH_GAPS = table(A, [None if k in (4, 9) else cell for k, cell in enumerate(B)], [None, *C[1:]])
# A text file without rows, or without a line of names, is refused by whoever reads it.
TEXT = ("csv at once", "csv in batches", "ndjson in batches")
TENSORS = tuple(str(door) for door in DOORS if door.needs == "torch")

BAD = {
    "an unknown correction": Bad("correction='fdr' is unknown", GOOD, {"correction": "fdr"}),
    "an unknown measure": Bad("no measure 'rcd': did you mean 'rdc'", GOOD, {"measure": "rcd"}),
    "no measure": Bad("no measure 3", GOOD, {"measure": 3}),
    "several draws": Bad("coefficient of one draw", GOOD, {"measure": renyi.measure("rdc", repeats=3)}),
    "debiased twice": Bad("coefficient of one draw", GOOD, {"measure": renyi.measure("rdc", debias=True)}),
    "an unknown way with gaps": Bad("missing='drop' is unknown", GOOD, {"missing": "drop"}),
    "gaps that are not allowed": Bad(r"2 columns with missing cells: 'x1' \(2\)", WITH_GAPS, {"missing": "raise"}),
    "no amount of memory": Bad("memory='lots' is not an amount of memory", GOOD, {"memory": "lots"}),
    "no number of levels": Bad("max_levels must be an integer from 2 to 2,000, got 1", GOOD, {"max_levels": 1}),
    "a type of an unknown column": Bad("types names 'X7'", GOOD, {"types": {"X7": "number"}}, TENSORS),
    "an unknown type": Bad("'colour' is unknown", GOOD, {"types": {"x0": "colour"}}, TENSORS),
    "types that are no mapping": Bad("is not a mapping", GOOD, {"types": ["x0"]}, TENSORS),
    "a text as a date": Bad(
        "types asks for dates in 'x0', and 'a' is none",
        Table("bad", {"x0": Column("label", list("aab" * 10)), "x1": Column("number", B)}),
        {"types": {"x0": "date"}},
    ),
    "a text as a number": Bad(
        "most of its cells, such as 'a', spell none",
        Table("bad", {"x0": Column("label", list("aab" * 10)), "x1": Column("number", B)}),
        {"types": {"x0": "number"}},
    ),
    "vectors that are no mapping": Bad("is not a mapping", GOOD, {"vectors": ["x0"]}, TENSORS),
    "a vector of one column": Bad("has 1 column: pass at least 2", GOOD, {"vectors": {"v": ["x0"]}}, TENSORS),
    "a vector of an unknown column": Bad("names 'x8'", GOOD, {"vectors": {"v": ["x0", "x8"]}}, TENSORS),
    "a column in two vectors": Bad(
        "has 'x1' in 'v' as well", GOOD, {"vectors": {"v": ["x0", "x1"], "w": ["x1", "x2"]}}, TENSORS
    ),
    "a vector with the name of another column": Bad(
        "such a column already", GOOD, {"vectors": {"x2": ["x0", "x1"]}}, TENSORS
    ),
    "a vector of labels": Bad(
        "has 'x0', a category, and the parts of a vector are numbers",
        Table("bad", {"x0": Column("label", list("aab" * 10)), "x1": Column("number", B), "x2": Column("number", C)}),
        {"vectors": {"v": ["x1", "x0"]}},
    ),
    "a target within a vector": Bad(
        "target 'x1' is part of the vector 'v'", GOOD, {"target": "x1", "vectors": {"v": ["x0", "x1"]}}, TENSORS
    ),
    "no target": Bad("target names no column", GOOD, {"target": []}, TENSORS),
    "a vector as target that is not there": Bad("names 'x9'", GOOD, {"target": ["x0", "x9"]}, TENSORS),
    "an unknown target": Bad("target names 'x8', which is not a column", GOOD, {"target": "x8"}),
    "a constant target": Bad("target 'x1' cannot be measured", table(A, [1.0] * 30, B), {"target": "x1"}),
    "a target alone": Bad("0 columns to compare and needs 1", table(A), {"target": "x0"}),
    "one column": Bad("1 column to compare and needs 2", table(A)),
    "one column that varies": Bad(
        r"1 column to compare and needs 2 \(2 columns left out: 'x1': constant \(always 1.0\); 'x2': no observed value",
        table(A, [1.0] * 30, [None] * 30),
    ),
    "constants": Bad("0 columns to compare and needs 2", table([1.0] * 30, [2.0] * 30)),
    "no columns": Bad("no columns", table(), own_words=(*TEXT, "lazy frame", "records", "spark")),
    "no rows": Bad("0 rows", table([], []), own_words=TEXT),
    "one row": Bad("1 row", table([1.0], [2.0])),
}
CASES = [
    pytest.param(door, bad, marks=[pytest.mark.slow] if door.only else [], id=f"{door}-{name}")
    for name, bad in BAD.items()
    for door in DOORS
    if door not in BY_PAIRS and (door.holds(bad.table) or str(door) in bad.own_words)
]


@pytest.mark.parametrize(("door", "bad"), CASES)
def test_bad_tables_and_options(door, bad, tmp_path):
    here, there = (tmp_path / name for name in ("here", "there"))
    here.mkdir()
    there.mkdir()
    message = refused(lambda: door.ask(door.build(bad.table, here), **bad.options))
    if str(door) not in bad.own_words:
        assert re.search(bad.match, message)
        assert message == refused(lambda: REFERENCE.ask(REFERENCE.build(bad.table, there), **bad.options))


# What one container alone can hold, by every function that takes one.

FUNCTIONS = {
    "matrix": renyi.matrix,
    "screen": lambda data: renyi.screen(data, "a"),
    "pairs": renyi.pairs,
    "other": lambda data: renyi.matrix({"x": A, "y": B}, data),
    "batches": lambda data: renyi.matrix([data] if isinstance(data, (dict, pd.DataFrame)) else iter([data])),
    "accumulator": lambda data: renyi.Accumulator().update(data),
}


def backwards(values: list[float]) -> pd.Series:
    return pd.Series(values).iloc[::-1]


HELD = {
    "unequal lengths": ("'a' has 30 rows and 'b' has 27", {"a": A, "b": B[:27]}),
    "a number for a column": ("'b' in the table is a float: pass a value for each row", {"a": A, "b": 2.0}),
    "one dimension": (r"the shape \(30,\), and a table has rows and columns", np.array(A)),
    "three dimensions": ("shape .*, and a table has rows and columns", np.ones((3, 4, 5))),
    "a single column": ("the table is a single column", pd.Series(A)),
    "unequal indexes": ("index", {"a": pd.Series(A), "b": backwards(B)}),
}


REPEATED = {
    "pandas": pd.DataFrame({"a": A, "b": B, "c": C}).set_axis(["a", "b", "a"], axis=1),
    "arrow": pa.table([A, B, C], names=["a", "b", "a"]),
    "names that are the same as text": {"a": A, 1: B, "1": C},
}


@pytest.mark.parametrize("function", ["matrix", "screen", "other", "batches"])
@pytest.mark.parametrize("held", REPEATED)
def test_names_that_repeat_are_numbered(held, function):
    found = FUNCTIONS[function](REPEATED[held])
    again = "1" if held == "names that are the same as text" else "a"
    assert f"{again}_2" in found.types
    assert found.notes == (f"columns of the same name are numbered: the next '{again}' is '{again}_2'",)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("bad", HELD)
def test_what_one_container_alone_can_hold(bad, function):
    match, data = HELD[bad]
    message = refused(lambda: FUNCTIONS[function](data))
    assert re.search(match, message)
    assert message == refused(lambda: renyi.matrix(data))


@pytest.mark.parametrize("bad", ["unequal lengths"])
def test_tensors_are_refused_as_arrays_are(bad):
    torch = pytest.importorskip("torch")
    _, data = HELD[bad]
    message = refused(lambda: renyi.matrix({name: torch.tensor(cells) for name, cells in data.items()}))
    assert message == refused(lambda: renyi.matrix(data))


@pytest.mark.parametrize("as_other", [lambda s: s.to_frame("b"), lambda s: {"b": s}], ids=["frame", "dict"])
def test_two_tables_with_unequal_indexes(as_other):
    found = refused(lambda: renyi.matrix(pd.DataFrame({"a": A}), as_other(backwards(B))))
    assert "index" in found


def test_one_pair_is_refused_as_two_columns_are():
    pair = pd.Series(A), pd.Series(B)
    for function in (renyi.rdc, renyi.independence_test, renyi.transformations):
        assert refused(lambda: function(*pair, missing="drop")) == refused(  # noqa: B023
            lambda: renyi.matrix({"a": A, "b": B}, missing="drop")
        )
        assert "index" in refused(lambda: function(pair[0], backwards(B)))  # noqa: B023
