import gzip
import json
import zlib
from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import renyi
from renyi.cli import app
from renyi.data.files.batches import is_large
from renyi.data.files.large_text import converted
from renyi.data.files.request import Request
from renyi.data.files.table_files import read_table
from renyi.errors import InputError

LINES = 400


def rows_of(rng, n=LINES):
    x = rng.standard_normal(n)
    return pl.DataFrame(
        {
            "whole": np.arange(n) - 50,
            "real": x,
            "curve": x**2,
            "day": [f"2024-{1 + k % 12:02}-{1 + k % 28:02}" for k in range(n)],
            "quoted": [f'a "{k % 3}",\nb' for k in range(n)],
            "gap": [None if k % 4 else k / 7 for k in range(n)],
        }
    )


def parts(path, folder, n_bytes=2000, **options):
    folder.mkdir(exist_ok=True)
    files, notes = converted({path: Request.of(path, **options)}, folder, n_bytes=n_bytes)
    return files, pl.concat([pl.read_parquet(file) for file in files]), notes.sentences()


@pytest.mark.slow
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_blocks_of_a_csv_are_the_table(separator, tmp_path, rng):
    path = tmp_path / "rows.csv"
    rows_of(rng).write_csv(path, separator=separator)
    files, found, _ = parts(path, tmp_path / "parts")
    assert len(files) > 5
    assert found.equals(read_table(path).frame)


@pytest.mark.slow
def test_gzip_and_other_encodings(tmp_path, rng):
    frame = rows_of(rng).with_columns(pl.lit("é").alias("accent"))
    text = frame.write_csv()
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "wide.csv").write_text(text, encoding="utf-16", newline="")
    (tmp_path / "marked.csv").write_text(text, encoding="utf-8-sig", newline="")
    (tmp_path / "western.csv").write_text(text, encoding="cp1252", newline="")
    for name in ("rows.csv.gz", "wide.csv", "marked.csv", "western.csv"):
        _, found, _ = parts(tmp_path / name, tmp_path / f"parts of {name}")
        assert found.equals(read_table(tmp_path / name).frame), name


def test_a_named_encoding_is_kept_to(tmp_path, rng):
    path = tmp_path / "rows.csv"
    path.write_text(rows_of(rng).with_columns(pl.lit("Ж").alias("letter")).write_csv(), encoding="koi8-r", newline="")
    assert parts(path, tmp_path / "parts", encoding="koi8-r")[1]["letter"].unique().to_list() == ["Ж"]


def test_lines_of_json_are_the_table(tmp_path, rng):
    path = tmp_path / "rows.jsonl"
    frame = rows_of(rng)
    frame.write_ndjson(path)
    _, found, _ = parts(path, tmp_path / "parts")
    assert found.equals(read_table(path).frame)


def test_types_come_from_all_blocks(tmp_path):
    """Whole numbers early and fractions late are fractions, numbers early and words late are words."""
    path = tmp_path / "rows.csv"
    lines = [f"{k},{k},{k:04},," for k in range(300)] + [f"{k}.5,flat {k % 2},{k},{k}," for k in range(300)]
    path.write_text("a,b,code,late,never\n" + "\n".join(lines))
    files, found, _ = parts(path, tmp_path / "parts", n_bytes=1000)
    assert len(files) > 5
    assert [str(found[name].dtype) for name in ("a", "b", "late")] == ["Float64", "String", "Int64"]
    assert found["never"].null_count() == 600
    assert found["b"][:3].to_list() == ["0", "1", "2"]
    assert found["code"][:2].to_list() == ["0000", "0001"]


def test_the_separator_is_that_of_the_first_lines(tmp_path):
    path = tmp_path / "rows.csv"
    lines = [f"{k};x" for k in range(200)] + [f'{k};"a,b,c"' for k in range(200)]
    path.write_text("a;b\n" + "\n".join(lines))
    assert parts(path, tmp_path / "parts", n_bytes=300)[1].columns == ["a", "b"]


def test_numbers_written_in_two_ways_are_refused(tmp_path):
    path = tmp_path / "rows.csv"
    lines = [f'{k},"1,{k % 900 + 100}"' for k in range(200)] + [f'{k},"1,5"' for k in range(200)]
    path.write_text("a,b\n" + "\n".join(lines))
    with pytest.raises(InputError, match="commas between thousands and others with decimal commas in column 'b'"):
        parts(path, tmp_path / "parts", n_bytes=500)


def test_a_broken_line_is_named(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n" + "\n".join(["1,2"] * 300 + ["1,2,3"] + ["1,2"] * 300))
    with pytest.raises(InputError, match=r"3 cells in row \d+ \(line \d+\).*counted from line"):
        parts(path, tmp_path / "parts", n_bytes=400)


def test_a_large_array_of_json_and_an_empty_file_are_refused(tmp_path):
    (tmp_path / "rows.json").write_text(json.dumps([{"a": 1}] * 1000))
    (tmp_path / "none.csv").write_text("\n\n")
    for name, reason in (("rows.json", "an object on every line"), ("none.csv", "is empty")):
        with pytest.raises(InputError, match=reason):
            parts(tmp_path / name, tmp_path / "parts")


def test_a_small_array_of_json_is_read_at_once(tmp_path):
    rows = [{"a": k, "b": k / 2} for k in range(50)]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    files, found, _ = parts(tmp_path / "rows.json", tmp_path / "parts")
    assert len(files) == 1
    assert found.to_dicts() == rows


def test_columns_that_lines_of_json_lack_are_empty_there(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(['{"a": 1, "b": 2}'] * 100 + ['{"a": 1, "c": 0.5}'] * 100))
    _, found, _ = parts(path, tmp_path / "parts", n_bytes=300)
    assert found.columns == ["a", "b", "c"]
    assert found.null_count().row(0) == (0, 100, 100)


@pytest.mark.slow
def test_a_large_csv_has_the_dependences_of_the_same_table_in_memory(tmp_path, rng):
    # Few enough distinct values for exact ranks within the budget.
    rows = (
        rows_of(rng, 30_000).drop("quoted").with_columns(pl.col("real", "curve").round(2), pl.col("whole", "gap") // 10)
    )
    path = tmp_path / "rows.csv"
    rows.write_csv(path)
    in_batches = renyi.matrix(str(path), memory="8MB")
    in_memory = renyi.matrix(read_table(path).frame)
    assert in_batches.types == in_memory.types
    np.testing.assert_allclose(in_batches.values, in_memory.values, atol=1e-6)


@pytest.mark.slow
def test_a_large_csv_is_scanned_with_the_options_of_the_command_line(tmp_path, rng):
    path = tmp_path / "rows.csv"
    hole = pl.when(pl.col("real") < 1).then("real").otherwise(-99.0).alias("real")
    rows = rows_of(rng, 30_000).drop("quoted").with_columns(hole)
    rows.write_csv(path, separator="|")
    result = CliRunner().invoke(app, ["scan", str(path), "--sep", "|", "--null", "-99.0", "--memory", "8MB", "--json"])
    pairs = {frozenset((pair["x"], pair["y"])): pair["n"] for pair in json.loads(result.stdout)["pairs"]}
    assert pairs[frozenset(("real", "curve"))] == rows.filter(pl.col("real") != -99.0).height


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "first", "second", "dtype"),
    [
        ("csv", ["1", "2"], ["0.5", "1e300"], pl.Float64),
        ("csv", [str(2**62 + 1), "2"], [str(2**63 + 1), "3"], pl.Decimal(38, 0)),
        ("csv", [str(2**62 + 1), "-2"], [str(2**70 + 1), "3"], pl.Decimal(38, 0)),
        ("csv", ["9007199254740993.5", "2"], [str(2**62 + 1), "3"], pl.Decimal(38, 1)),
        ("csv", [str(2**62 + 1), "2"], ["0.5", "3"], pl.String),
        ("csv", ["9007199254740993.5", "2"], ["0.25", "3"], pl.String),
        ("ndjson", ["1", "2"], ["0.5", "1e300"], pl.Float64),
        ("ndjson", [str(2**62 + 1), "2"], [str(2**63 + 1), "3"], pl.Decimal(38, 0)),
        ("ndjson", [str(2**62 + 1), "-2"], [str(2**70 + 1), "3"], pl.Int128),
        ("ndjson", [str(2**62 + 1), "2"], ["0.5", "3"], pl.String),
    ],
)
def test_blocks_of_numbers_of_many_digits_agree_on_a_type_that_holds_them(form, first, second, dtype, tmp_path):
    cells = first * 50 + second * 50
    path = tmp_path / f"rows.{form}"
    lines = [f'{{"x":{cell}}}' for cell in cells] if form == "ndjson" else ["x", *cells]
    path.write_text("\n".join(lines) + "\n")
    files, found, notes = parts(path, tmp_path / "parts", n_bytes=150)
    assert len(files) > 3
    assert found["x"].dtype == dtype
    if dtype != pl.Float64:
        assert [Decimal(str(value)) for value in found["x"]] == [Decimal(cell) for cell in cells]
    assert any("kept as text" in note for note in notes) == (dtype == pl.String)


def test_numbers_of_json_that_are_text_in_another_block_are_text(tmp_path):
    path = tmp_path / "rows.ndjson"
    path.write_text("".join(f'{{"x":{k}}}\n' for k in range(90)) + '{"x":"word"}\n' * 90)
    _, found, _ = parts(path, tmp_path / "parts", n_bytes=300)
    assert found["x"].to_list() == [*map(str, range(90)), *["word"] * 90]


def test_what_a_comma_is_follows_from_all_blocks(tmp_path):
    """Only the last block has a decimal point."""
    path = tmp_path / "rows.tsv"
    lines = [f"{k % 90 + 1},{k % 900 + 100:03}\t{k}" for k in range(LINES)]
    path.write_text("\n".join(["n\tother", *lines, "7,655\t0.25"]))
    files, found, notes = parts(path, tmp_path / "parts")
    assert len(files) > 2
    assert found["n"].to_list() == read_table(path).frame["n"].to_list()
    assert found["n"][-1] == 7655
    assert notes == (
        "column 'n' holds numbers with commas between thousands: read as numbers, for example '1,100' as 1100",
    )
    path.write_text("\n".join(["n\tother", *lines, "7,655\t3"]))
    _, found, notes = parts(path, tmp_path / "open")
    assert found["n"][-1] == 7.655
    assert "decimal commas: read as numbers, for example '1,100' as 1.1" in notes[0]


def test_blocks_below_no_names(tmp_path, rng):
    path = tmp_path / "rows.csv"
    frame = rows_of(rng)
    frame.write_csv(path, include_header=False)
    files, found, _ = parts(path, tmp_path / "parts", has_names=False)
    assert len(files) > 2
    assert found.columns == [f"column {k}" for k in range(1, 7)]
    assert found.height == LINES
    assert found.equals(read_table(path, has_names=False).frame)


def test_memory_is_kept_whatever_gzip_unfolds_to(tmp_path):
    row = b"0," * 20 + b"1\n"
    (tmp_path / "rows.csv.gz").write_bytes(
        gzip.compress(b",".join(b"c%d" % k for k in range(21)) + b"\n" + row * 40_000)
    )
    assert (tmp_path / "rows.csv.gz").stat().st_size < 8_000
    assert is_large(str(tmp_path / "rows.csv.gz"), 2**23)
    assert not is_large(str(tmp_path / "rows.csv.gz"), 2**24)


@pytest.mark.parametrize("names", ["a,b\n1,2\n", ""])
def test_a_line_that_does_not_fit_into_memory_is_refused(names, tmp_path):
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress(names.encode() + b"x" * 2**23))
    with pytest.raises(InputError, match=f"has more than 4,194,304 bytes in line {3 if names else 1}: check the ends"):
        renyi.matrix(tmp_path / "rows.csv.gz", memory="1MB")


def test_a_quote_by_itself_takes_the_lines_below_into_one_block_at_most(tmp_path):
    lines = ["size,row", *(f"{row % 90} inch,{row}" for row in range(40_000))]
    lines[2000] = '5",1999'
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    files, _ = converted({tmp_path / "rows.csv": Request.of(tmp_path / "rows.csv")}, tmp_path, n_bytes=2**15)
    heights = [pl.read_parquet(file).height for file in files]
    assert sum(heights) == 40_000
    assert max(heights) < 15_000
    (tmp_path / "rows.csv").write_text("\n".join(['size",row', *lines[3000:]]))
    with pytest.raises(InputError, match="opens a quote in its first line and never closes it"):
        converted({tmp_path / "rows.csv": Request.of(tmp_path / "rows.csv")}, tmp_path, n_bytes=2**15)


def test_gzip_that_breaks_after_some_blocks_is_refused(tmp_path):
    packing = zlib.compressobj(wbits=31)
    rows = b"a,b\n" + b"1,2\n" * 600_000
    whole = packing.compress(rows) + packing.flush(zlib.Z_FULL_FLUSH)
    # A kind of block that there is not.
    (tmp_path / "rows.csv.gz").write_bytes(whole + b"\xff" * 20)
    with pytest.raises(InputError, match="is a gzip file cut short or damaged: fetch it again"):
        renyi.matrix(tmp_path / "rows.csv.gz", memory="8MB")
