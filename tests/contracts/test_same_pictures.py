"""What is done with a result is the same behind every door: showing, copying, sending, and a report with pictures."""

import copy
import json
import pickle
from functools import cache
from importlib.util import find_spec

import numpy as np
import pytest

import renyi
from contracts.doors import BY_PAIRS, DOORS, REFERENCE
from contracts.lowering import lowered
from contracts.zoo import TABLES

RESULTS = [
    pytest.param(
        door,
        table,
        marks=[
            *([pytest.mark.slow] if table.is_slow or not door.is_key else []),
            *([pytest.mark.skip(reason=f"needs {door.needs}")] if door.needs and find_spec(door.needs) is None else []),
        ],
        id=f"{door}-{table}",
    )
    for door in DOORS
    for table in (TABLES["ties"], TABLES["everything"], TABLES["ordered"], TABLES["dates"])
    # Other doors differ from these in how they read.
    if door.is_key or door.name in ("parquet in batches", "spark")
    if door not in BY_PAIRS and door.holds(table) and not door.refusal(table)
]
PARTS = ("values", "debiased", "strength", "pvalues", "qvalues", "pearson", "spearman", "n_samples")
AGAIN = {"pickled": lambda one: pickle.loads(pickle.dumps(one)), "copied": copy.copy, "deeply": copy.deepcopy}


def document_of(found, tmp_path, **options):
    return json.loads(found.report(tmp_path / "report.json", **options).read_text())


@pytest.mark.parametrize("target", [False, True], ids=["all pairs", "one target"])
@pytest.mark.parametrize(("door", "table"), RESULTS)
def test_results_are_copied_and_sent_whole(door, table, target, tmp_path):
    goal = next(iter(table.columns)) if door.has_names else "x0"
    found = door.found(table, **({"target": goal} if target else {}))
    before, frames = repr(found), [str(found.top()), str(found.to_frame())]
    if not target:
        frames.append(str(found.to_long()))
    written = document_of(found, tmp_path)
    for again in AGAIN.values():
        other = again(found)
        assert repr(other) == before
        assert frames[:2] == [str(other.top()), str(other.to_frame())]
        assert target or frames[2] == str(other.to_long())
        assert document_of(other, tmp_path) == written
        for part in PARTS:
            assert np.array_equal(getattr(other, part), getattr(found, part), equal_nan=True), part


@cache
def drawn_in_memory(name, path):
    return document_of(REFERENCE.found(TABLES[name]), path, rows=0)


@pytest.mark.parametrize(("door", "table"), RESULTS)
def test_pictures_of_all_rows_are_those_of_memory(door, table, tmp_path, tmp_path_factory):
    """Of a table that the sample has room for, rows that were kept while reading are all of them."""
    found = document_of(door.found(table), tmp_path, rows=0)
    wanted = drawn_in_memory(table.name, tmp_path_factory.getbasetemp())
    assert found["drawn"] == found["rows"] == table.n_rows
    assert not any("uniform sample" in sentence for sentence in found["summary"])
    names = dict(zip([f"x{j}" for j in range(len(table.columns))], table.columns, strict=True))
    columns = [
        {names.get(column["name"], column["name"]) if not door.has_names else column["name"]: column for column in side}
        for side in (found["columns"], wanted["columns"])
    ]
    assert list(columns[0]) == list(columns[1])
    for name, column in columns[0].items():
        same = ("type", "missing", "is_number", "levels", "limits", "is_clipped")
        assert [column[part] for part in same] == [columns[1][name][part] for part in same], name
    ends = [
        {(document["pairs"]["x"][d["pair"]], document["pairs"]["y"][d["pair"]]): d for d in document["details"]}
        for document in (found, wanted)
    ]
    assert ends[0].keys() == ends[1].keys()
    for pair, detail in ends[0].items():
        for part in ("data", "boxes", "words"):
            assert detail[part] == ends[1][pair][part], (pair, part)
        for part in ("reached", "spearman"):
            assert detail[part] == pytest.approx(ends[1][pair][part], abs=2e-4, nan_ok=True), (pair, part)


@pytest.mark.parametrize(("door", "table"), RESULTS)
def test_pictures_of_some_rows_have_the_numbers_of_all(door, table, tmp_path):
    with lowered({"renyi.allpairs.column_group:SAMPLE": 50}):
        found = door.found(table, sample=50)
        some, all_rows = document_of(found, tmp_path), document_of(door.found(table), tmp_path)
    assert (some["drawn"], some["sampled"]) == (50, 50)
    assert some["pairs"] == all_rows["pairs"]
    assert [column["missing"] for column in some["columns"]] == [column["missing"] for column in all_rows["columns"]]
    assert some["summary"][-1] == (
        f"Pictures are drawn from 50 rows, a random sample of all {table.n_rows:,}; numbers are from all rows."
    )
    assert all(detail["spearman"] is None for detail in some["details"])
    assert {len(column["sample"]) for column in some["columns"] if column["sample"]} == {50}


@pytest.mark.parametrize(
    ("door", "table"), [case for case in RESULTS if case.values[0].name in ("accumulators", "dask")]
)
def test_without_a_sample_there_is_no_report(door, table, tmp_path):
    with pytest.raises(renyi.InputError, match=r"were not kept \(sample=0\): pass sample=10_000"):
        document_of(door.found(table, sample=0), tmp_path)
