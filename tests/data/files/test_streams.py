"""Streams that end soon are tables in memory, and others go on as if nobody had looked."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import renyi
from renyi.data.files.batches import as_stream
from renyi.data.files.streams import Repeated, Stream, begun

N = 9_000
# A ninth of it is taken by the rows below, and less than an eighth by a third of them.
LITTLE, MUCH = 2**20, 2**30


@pytest.fixture
def frame(rng):
    x = rng.normal(size=N)
    return pl.DataFrame({"x": x, "y": x**2, "l": np.where(x < 0.3, "a", "b")})


def thirds(frame):
    return [frame[:4000], frame[4000:4000], frame[4000:7000], frame[7000:]]


KINDS = {
    "polars": lambda part: part,
    "pandas": lambda part: part.to_pandas(),
    "arrow": lambda part: part.to_arrow(),
    "record batches": lambda part: pa.record_batch(part.to_arrow().to_pydict(), schema=part.to_arrow().schema),
    "lists": lambda part: part.to_dict(as_series=False),
    "arrays": lambda part: {"x": part["x"].to_numpy(), "y": part["y"].to_numpy(), "l": part["l"].to_list()},
}


@pytest.mark.parametrize("kind", KINDS)
def test_batches_of_one_kind_are_one_table(kind, frame):
    rows = [KINDS[kind](part) for part in thirds(frame)]
    whole = begun(Repeated(lambda: iter(rows)), MUCH)
    assert not isinstance(whole, Stream)
    assert type(whole) is (pa.Table if kind == "record batches" else type(rows[0]))
    np.testing.assert_array_equal(renyi.matrix(whole).values, renyi.matrix(frame).values)
    found = renyi.matrix(iter(rows), vectors={"v": ["x", "y"]})
    assert found.names == ("v", "l")


def test_arrays_are_one_array(rng):
    rows = rng.normal(size=(90, 3))
    np.testing.assert_array_equal(begun(as_stream(iter(np.split(rows, 3)), MUCH), MUCH), rows)


DIFFERENT = {
    "types": lambda frame: [frame[:10], frame[10:20].cast({"x": pl.Float32})],
    "names": lambda frame: [frame[:10], frame[10:20].rename({"x": "z"})],
    "libraries": lambda frame: [frame[:10], frame[10:20].to_pandas()],
    "categories": lambda frame: [
        pd.DataFrame({"x": [1.0, 2.0], "l": pd.Categorical(["a", level])}) for level in ("b", "c")
    ],
    "array types": lambda frame: [{"x": np.arange(9)}, {"x": np.arange(9.0)}],
    "array shapes": lambda frame: [np.ones((9, 2)), np.ones((9, 3))],
    "moments beside lists": lambda frame: [{"x": np.arange(9).astype("M8[ns]")}, {"x": [None] * 9}],
}


@pytest.mark.parametrize("difference", DIFFERENT)
def test_batches_that_differ_stay_batches(difference, frame):
    rows = DIFFERENT[difference](frame)
    stream = begun(as_stream(iter(rows), MUCH), MUCH)
    assert isinstance(stream, Stream)
    for _ in range(2):
        assert [len(batch) for batch in stream.batches()] == [len(batch) for batch in rows]


def test_a_large_stream_loses_nothing_and_is_asked_no_more_often(frame):
    asked = []

    def make():
        asked.append(len(asked))
        yield from thirds(frame)

    stream = begun(as_stream(make, LITTLE), LITTLE)
    assert isinstance(stream, Stream)
    for _ in range(2):
        assert pl.concat(stream.batches()).equals(frame)
    assert asked == [0, 1]
    once = begun(as_stream(iter(thirds(frame)), LITTLE), LITTLE)
    for _ in range(3):
        assert pl.concat(once.batches()).equals(frame)


def test_text_counts_by_its_length():
    rows = [{"x": [1.0] * 100, "l": ["long" * 300] * 100} for _ in range(3)]
    for held in (rows, [pl.DataFrame(part) for part in rows], [pd.DataFrame(part) for part in rows]):
        assert isinstance(begun(Repeated(lambda held=held: iter(held)), LITTLE), Stream)
        assert not isinstance(begun(Repeated(lambda held=held: iter(held)), 2**23), Stream)


def test_a_lazy_frame_that_fails_is_refused():
    broken = pl.LazyFrame({"x": ["a"] * 30}).select(pl.col("x").cast(pl.Int64), pl.col("x").alias("y"))
    with pytest.raises(renyi.InputError, match="the lazy frame cannot be collected"):
        renyi.matrix(broken)
