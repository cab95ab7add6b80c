"""Files of Parquet as batches; what is read of them, and refused, is in `test_batches.py`."""

from contextlib import suppress

import numpy as np
import polars as pl
import pytest

from renyi.data.files.batches import is_large
from renyi.data.files.parquet import Parquet, is_parquet
from renyi.data.files.table_files import read_table
from renyi.errors import InputError


def test_what_is_parquet_its_first_bytes_tell(tmp_path):
    pl.DataFrame({"x": [1]}).write_parquet(tmp_path / "a.csv")
    (tmp_path / "b.parquet").write_text("x\n1\n")
    assert is_parquet(tmp_path / "a.csv")
    assert not is_parquet(tmp_path / "b.parquet")


def test_files_without_rows_are_one_empty_batch(tmp_path):
    empty = pl.DataFrame(schema={"x": pl.Float64, "l": pl.String})
    empty.write_parquet(tmp_path / "a.parquet")
    rows = Parquet([tmp_path / "a.parquet"], 2**23)
    assert (rows.n_rows, rows.n_cells) == (0, 0)
    assert [batch.equals(empty) for batch in rows.batches()] == [True]


def test_a_file_that_was_changed_meanwhile_is_refused(tmp_path):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"x": range(30), "y": range(30)}).write_parquet(path)
    rows = Parquet([path], 2**23)
    pl.DataFrame({"x": range(20), "y": range(20)}).write_parquet(path)
    with pytest.raises(InputError, match="has 20 rows instead of 30: it was changed meanwhile"):
        list(rows.batches())


def test_long_text_is_read_some_rows_at_a_time(tmp_path):
    text = pl.DataFrame({"x": range(4000), "text": [f"{row:0500}" for row in range(4000)]})
    for name, column in (("long", text["text"]), ("short", text["text"].str.slice(490))):
        text.with_columns(column).write_parquet(tmp_path / f"{name}.parquet")
    memory = 2**22
    heights = {}
    for name in ("long", "short"):
        rows = Parquet([tmp_path / f"{name}.parquet"], memory)
        batches = list(rows.batches())
        assert sum(batch.height for batch in batches) == 4000
        heights[name] = max(batch.height for batch in batches)
        assert is_large(str(tmp_path / f"{name}.parquet"), memory) == (name == "long")
    assert heights == {"long": pytest.approx(2**18 / 508, rel=0.05), "short": 4000}


def test_a_damaged_page_is_refused_and_does_not_end_the_process(tmp_path):
    path, rng = tmp_path / "a.parquet", np.random.default_rng(5)
    frame = pl.DataFrame({"x": [row / 7 if row % 5 else None for row in range(30)], "y": ["a", "b", "c"] * 10})
    frame.write_parquet(path)
    whole, refused = path.read_bytes(), 0
    assert read_table(path).frame.equals(frame)
    for _ in range(40):
        damaged = bytearray(whole)
        damaged[rng.integers(4, len(whole) // 2)] ^= int(rng.integers(1, 256))
        path.write_bytes(damaged)
        try:
            read_table(path)
        except InputError:
            refused += 1
    assert refused > 5


def test_a_damaged_footer_is_refused_in_one_line(tmp_path, capfd):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"x": [1.5, 2.5], "y": ["a", "b"]}).write_parquet(path)
    whole = path.read_bytes()
    # All single bytes of the description of the columns' pages, some of which make Polars panic.
    start, stop = whole.rindex(b"PAR1") - 500, whole.rindex(b"PAR1") - 300
    for place in range(start, stop):
        path.write_bytes(whole[:place] + b"\x15" + whole[place + 1 :])
        with suppress(InputError):
            Parquet([path], 2**23)
    with suppress(InputError):
        read_table(path)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("compression", ["zstd", "uncompressed"])
def test_damage_in_later_row_groups_is_refused_without_a_trace(compression, tmp_path, capfd):
    path, rng, refused = tmp_path / "a.parquet", np.random.default_rng(6), 0
    n = 900
    frame = pl.DataFrame({
        "x": rng.standard_normal(n), "whole": rng.integers(0, 9, n),
        "text": rng.choice(["aa", "b", None], n).tolist(), "day": pl.Series(rng.integers(0, 20_000, n)).cast(pl.Date),
    })  # fmt: skip
    frame.write_parquet(path, row_group_size=n // 3, compression=compression)
    intact = path.read_bytes()
    assert frame.equals(pl.concat(Parquet([path], 2**23).batches()))
    for _ in range(60):
        damaged = bytearray(intact)
        damaged[rng.integers(len(intact) // 3, len(intact) - 8)] ^= int(rng.integers(1, 256))
        path.write_bytes(damaged)
        for read in (read_table, lambda file: list(Parquet([file], 2**23).batches())):
            try:
                read(path)
            except InputError:
                refused += 1
    assert refused > 5
    assert capfd.readouterr().err == ""
