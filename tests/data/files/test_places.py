"""Names of folders and of places elsewhere."""

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import renyi
from command_line import refused
from renyi.data.files.batches import is_large
from renyi.data.files.places import files_of, is_elsewhere, local_name


@pytest.fixture
def frame(rng):
    x = rng.normal(size=18_000)
    return pl.DataFrame({"x": x, "y": x**2, "year": 2020 + rng.integers(0, 3, 18_000).astype(np.int32)})


@pytest.fixture
def partitioned(frame, tmp_path):
    parts = ds.partitioning(pa.schema([("year", pa.int32())]), flavor="hive")
    ds.write_dataset(frame.to_arrow(), tmp_path, format="parquet", partitioning=parts)
    return tmp_path


def test_partitions_are_columns(partitioned, frame):
    assert len(files_of(partitioned)) == 3
    expected = renyi.matrix(frame.sort("year", maintain_order=True))
    for name in (partitioned, f"file://{partitioned}"):
        for memory in ("3MB", "1GB"):
            found = renyi.matrix(name, memory=memory)
            assert (found.n_rows, found.names) == (18_000, ("x", "y", "year"))
            np.testing.assert_allclose(found.values, expected.values, atol=1e-3)


def test_partitions_beside_files_and_of_text_are_refused(partitioned, frame):
    frame.write_parquet(partitioned / "own.parquet")
    with pytest.raises(renyi.InputError, match=r"has both files, such as 'own\.parquet', and partitions"):
        renyi.matrix(partitioned)
    (partitioned / "own.parquet").unlink()
    for file in files_of(partitioned):
        file.rename(file.with_suffix(".csv"))
    with pytest.raises(renyi.InputError, match="has partitions without Parquet files: name text by a pattern"):
        renyi.matrix(partitioned)


LOGS = {"Delta": ("_delta_log", "00000000000000000000.json"), "Iceberg": ("metadata", "v1.metadata.json")}
REMEDIES = {"Delta": r"DeltaTable\(.*\)\.to_pyarrow_dataset\(\)", "Iceberg": r"to_arrow_batch_reader\(\)"}


@pytest.mark.parametrize("kind", LOGS)
def test_folders_with_a_log_are_refused_with_the_remedy(kind, frame, tmp_path):
    folder, log = tmp_path / "table", LOGS[kind]
    (folder / log[0]).mkdir(parents=True)
    (folder / log[0] / log[1]).write_text("{}")
    (folder / "part").mkdir()
    frame.write_parquet(folder / "a.parquet")
    frame.write_parquet(folder / "part" / "b.parquet")
    names = [f"{folder}{name}" for name in ("", "/*.parquet", "/part", "/part/*.parquet", "/../**/*.parquet")]
    for name in names:
        with pytest.raises(renyi.InputError, match=f"table is a table of {kind}.*{REMEDIES[kind]}"):
            renyi.matrix(name)
    assert f"is a table of {kind}" in refused("scan", names[0])
    # Who names one file knows which.
    assert renyi.matrix(folder / "a.parquet").n_rows == 18_000


def test_names_elsewhere():
    assert [is_elsewhere(name) for name in ("s3://a/b", "https://a/b", "file:///a/b", "a/b", "C:\\a")] == [
        True,
        True,
        False,
        False,
        False,
    ]
    assert local_name("file:///tmp/a%20b.parquet") == "/tmp/a b.parquet"


def test_a_uri_of_a_file_here(frame, tmp_path):
    frame.write_csv(tmp_path / "a b.csv")
    assert renyi.matrix(f"file://{tmp_path}/a%20b.csv").n_rows == 18_000
    with pytest.raises(renyi.InputError, match="does not exist"):
        renyi.matrix(f"file://{tmp_path}/c.csv")


def test_what_arrow_does_not_open_is_refused_with_the_remedy():
    for name in ("https://localhost:1/a.parquet", "ftp://localhost/a.csv"):
        with pytest.raises(renyi.InputError, match=r"cannot be opened by Arrow.*fetch it first, or let DuckDB"):
            renyi.matrix(name)
    with pytest.raises(renyi.InputError, match="is a pattern, and those are for files here"):
        renyi.matrix("s3://bucket/*.parquet")
    assert "cannot be opened by Arrow" in refused("scan", "https://localhost:1/a.parquet")


@pytest.mark.slow
def test_an_endpoint_that_does_not_answer_is_refused_soon():
    name = "s3://bucket/a.parquet?endpoint_override=localhost:1&scheme=http&region=us-east-1&access_key=a&secret_key=b"
    with pytest.raises(renyi.InputError, match=r"cannot be read as Parquet.*check the name"):
        renyi.matrix(name)


def test_a_file_may_be_called_like_a_pattern_and_none_is_called_nothing(tmp_path, rng):
    file = tmp_path / "a[1].csv"
    file.write_text("x,y\n" + "".join(f"{row},{row % 7}\n" for row in range(20)))
    assert files_of(file) == [file]
    assert not is_large(str(file), 2**20)
    assert is_large(str(tmp_path / "a[2].csv"), 2**20)
    for call in (renyi.matrix, files_of):
        with pytest.raises(renyi.InputError, match="the name of the table is empty: name a file"):
            call("")
