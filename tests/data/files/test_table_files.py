"""Files to tables: every format, and one clear line for what cannot be read."""

import gzip
import io
import os
import sys
import types
from decimal import Decimal

import polars as pl
import pytest

from renyi.data.files.batches import within
from renyi.data.files.table_files import read_table
from renyi.errors import InputError

TABLE = pl.DataFrame({"a": [1, 2], "b": ["x", None]})


def packed(write, frame=TABLE):
    buffer = io.BytesIO()
    getattr(frame, write)(buffer)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("a,b\n1,x\n2,\n", "t.csv"),
        ("a\tb\n1\tx\n2\t\n", "t.txt"),
        ("a;b\r\n1;x\r\n2;\r\n", "t.csv"),
        ("a|b\n1|x\n2|", "t.csv"),
        ("a,b\r1,x\r2,\r", "mac.csv"),
        ('"a", b \n"1","x"\n"2",""\n', "t.csv"),
        (gzip.compress(b"a,b\n1,x\n2,\n", mtime=0), "gzip-without-the-name.csv"),
        ("a,b\n1,x\n2,\n".encode("utf-8-sig"), "t.csv"),
        ("a,b\n1,x\n2,\n".encode("utf-16"), "t.csv"),
        ('{"a":1,"b":"x"}\n\n{"a":2}\n', "t.jsonl"),
        ('{"a":1,"b":"x"}\n{"a":2,"b":null}', "t"),
        ('[{"a":1,"b":"x"},\n {"a":2,"b":null}]', "t.json"),
        (packed("write_parquet"), "t.parquet"),
        (packed("write_ipc"), "t.feather"),
        (packed("write_ipc_stream"), "t"),
        (gzip.compress(packed("write_parquet"), mtime=0), "t.parquet.gz"),
    ],
)
def test_every_format_gives_the_same_table(read, content, name):
    frame = read(content, name).frame
    assert frame.rows() == TABLE.rows()
    assert dict(frame.schema) == {"a": pl.Int64, "b": pl.String}


@pytest.mark.parametrize(
    "content", [b"a,b\n1,x\n2,\n", packed("write_parquet"), gzip.compress(b"a;b\n1;x\n2;\n", mtime=0)]
)
def test_standard_input_is_told_by_its_bytes(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=io.BytesIO(content)))
    assert within("-", 2**30).frame.rows() == TABLE.rows()


def test_null_values_are_missing_in_text_and_numbers(read):
    settings = {"null_values": ["-999", "none"]}
    assert read("a,b,c\n-999,none,1\n3,x,2\n", **settings).frame.rows() == [(None, None, 1), (3, "x", 2)]
    frame = pl.DataFrame({"a": [-999.0, 3.0], "b": ["none", "x"]})
    assert read(packed("write_parquet", frame), "t.parquet", **settings).frame.rows() == [(None, None), (3.0, "x")]


def test_typed_files_keep_their_types_and_lose_infinities(read):
    frame = pl.DataFrame({"x": [1.0, float("-inf"), 3.0], "code": ["1", "2", "NA"], "list": [[1], [2, 3], []]})
    source = read(packed("write_parquet", frame), "t.parquet")
    assert source.frame["x"].to_list() == [1.0, None, 3.0]
    assert source.frame.select("code", "list").equals(frame.select("code", "list"))
    assert [note.partition(":")[0] for note in source.notes] == ["column 'x' holds infinite values (1 time)"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty"),
        (" \n\n", "is empty"),
        ("a,b\n", "2 names and no rows"),
        ("a,b\n1,2\n3\n4,5\n", "1 cell in row 2 (line 3) and 2 names"),
        ('a,b\n"1\n1",2\n3\n', "1 cell in row 2 (line 4) and 2 names"),
        ("a,b\n1,2\n3,4,5\n", "3 cells in row 2 (line 3) and 2 names"),
        ('a,b\n1,2\n3,"open\n5,6\n', "opens a quote in row 2 and never closes it"),
        (b"a,b\n1,\x002\n", "NUL byte (byte 7)"),
        (bytes(range(1, 256)) * 9, "is neither text nor"),
        (b"PK\x03\x04rest", "packed by zip"),
        (b"\x28\xb5\x2f\xfdrest", "packed by zstd"),
        (gzip.compress(b"a,b\n1,2\n" * 99, mtime=0)[:-9], "gzip file cut short"),
        (packed("write_parquet")[:-20], "check that the file is whole"),
        (packed("write_ipc")[:-20], "check that the file is whole"),
        (packed("write_ipc_stream")[:60], "check that the file is whole"),
        (packed("write_parquet", TABLE.clear()), "2 names and no rows"),
    ],
)
def test_what_cannot_be_read_is_one_line(refusal, content, said):
    assert said in refusal(content)


def test_wrong_settings_are_one_line(refusal):
    assert "the separator '::' cannot separate cells" in refusal("a,b\n1,2\n", separator="::")
    assert "cannot be read in the encoding utf-8" in refusal(b"a,b\n1,\xe9\n", encoding="utf-8")
    assert "unknown encoding: klingon" in refusal("a,b\n1,2\n", encoding="klingon")


def test_files_that_are_not_there(tmp_path):
    (tmp_path / "penguins.csv").write_text("a\n1\n")
    with pytest.raises(InputError, match=r"does not exist: did you mean .*penguins\.csv\?"):
        read_table(tmp_path / "penguin.csv")
    with pytest.raises(InputError, match="no folder"):
        read_table(tmp_path / "nowhere" / "a.csv")
    with pytest.raises(InputError, match="is a folder"):
        read_table(tmp_path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_rights(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a\n1\n")
    path.chmod(0)
    with pytest.raises(InputError, match="Permission denied"):
        read_table(path)


def test_null_values_are_exact(read):
    cells = [2**63 - 1, 2**63 - 2, -999, 7]
    frame = read(
        "".join(f'{{"a":{cell}}}\n' for cell in cells), "t.jsonl", null_values=[str(2**63 - 1), "-999.0"]
    ).frame
    assert frame["a"].to_list() == [None, 2**63 - 2, None, 7]


def test_decimals_of_few_digits_are_floats_and_others_keep_them(read):
    few = pl.Series([Decimal("1.25"), Decimal("2.50")])
    many = pl.Series([Decimal("10000000000000000.25"), Decimal("10000000000000000.26")])
    wide = pl.Series([2**100, 2**100 + 1], dtype=pl.Int128)
    content = io.BytesIO()
    pl.DataFrame({"few": few, "many": many, "wide": wide}).write_parquet(content)
    found = read(content.getvalue(), "t.parquet")
    assert found.frame["few"].to_list() == [1.25, 2.5]
    assert found.frame["many"].to_list() == many.to_list()
    assert found.frame["wide"].to_list() == wide.to_list()
