import gzip
import sys
from decimal import Decimal

import numpy as np
import pytest

import renyi
from renyi.data.files.batches import Stream, as_stream, is_large, is_streamed, opened

pl = pytest.importorskip("polars")


@pytest.fixture
def frame(rng):
    n = 24_000
    x = rng.normal(size=n)
    return pl.DataFrame({"x": x, "y": x**2 + rng.normal(size=n), "level": np.where(rng.random(n) < 0.3, "a", "b")})


# Too small to load the table, enough to read it.
BUDGET = "4MB"


def check_same(found, frame):
    expected = renyi.matrix(frame)
    np.testing.assert_allclose(found.values, expected.values, atol=2e-3)
    assert found.n_rows == expected.n_rows
    assert dict(found.types) == dict(expected.types)
    assert isinstance(found.to_frame(), pl.DataFrame)


def test_both_readers_of_parquet_give_the_same_rows(tmp_path, rng, monkeypatch):
    n = 9_000
    days = pl.Series(rng.integers(0, 20_000, n)).cast(pl.Date)
    names = pl.Series(rng.choice(["a", "b", "c"], n))
    frame = pl.DataFrame(
        {
            "number": rng.normal(size=n),
            "gaps": pl.Series(np.where(rng.random(n) < 0.1, np.nan, 1.5)).fill_nan(None),
            "small": pl.Series(rng.integers(0, 9, n), dtype=pl.UInt8),
            "day": days,
            "moment": days.cast(pl.Datetime("us")).dt.replace_time_zone("UTC"),
            "span": days - days[0],
            "text": names,
            "category": names.cast(pl.Categorical),
            "enum": names.cast(pl.Enum(["a", "b", "c"])),
            "flag": rng.random(n) < 0.5,
            "price": pl.Series(rng.integers(0, 999, n)).cast(pl.Decimal(10, 2)),
        }
    )
    file = tmp_path / "rows.parquet"
    frame.write_parquet(file, row_group_size=4_000)
    rows = as_stream(file, 2**23)
    by_arrow = list(rows.batches())
    assert rows._by_arrow(file) is not None
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    assert rows._by_arrow(file) is None
    by_slices = list(rows.batches())
    assert len(by_arrow) > 1 < len(by_slices)
    assert pl.concat(by_arrow).equals(frame)
    assert pl.concat(by_slices).equals(frame)


@pytest.mark.slow
def test_a_file_is_read_in_batches(frame, tmp_path):
    frame.write_parquet(tmp_path / "big.parquet", row_group_size=5000)
    assert isinstance(opened(tmp_path / "big.parquet", 2**22), Stream)
    check_same(renyi.matrix(tmp_path / "big.parquet", memory=BUDGET), frame)
    found = renyi.screen(str(tmp_path / "big.parquet"), "y", memory=BUDGET)
    assert found.names[0] == "x"


def test_many_files_are_one_table(frame, tmp_path):
    frame[:5000].write_parquet(tmp_path / "a.parquet")
    frame[5000:].write_parquet(tmp_path / "b.parquet")
    check_same(renyi.matrix(f"{tmp_path}/*.parquet", memory=BUDGET), frame)
    check_same(renyi.matrix(str(tmp_path), memory="1GB"), frame)


def test_a_small_file_is_loaded(frame, tmp_path):
    frame.write_csv(tmp_path / "small.csv")
    found = renyi.matrix(str(tmp_path / "small.csv"), vectors={"v": ["x", "y"]})
    assert found.names == ("v", "level")


@pytest.mark.slow
def test_lazy_frames_iterators_and_lists_of_batches(frame):
    check_same(renyi.matrix(frame.lazy(), memory=BUDGET), frame)
    check_same(renyi.matrix(iter([frame[:100], frame[100:]]), memory=BUDGET), frame)
    check_same(renyi.matrix([frame[:7000], frame[7000:]], memory=BUDGET), frame)
    check_same(renyi.matrix(lambda: frame.iter_slices(3000), memory=BUDGET), frame)


def test_tables_are_not_mistaken_for_something_to_read(frame):
    assert not is_streamed(frame)
    assert not is_streamed([[1.0, 2.0], [3.0, 4.0]])
    assert not is_streamed({"x": [1, 2]})


def test_files_that_differ_are_named(frame, tmp_path):
    frame.write_parquet(tmp_path / "a.parquet")
    frame.rename({"y": "z"}).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(
        renyi.InputError, match=r"b\.parquet has other columns than .*a\.parquet, it lacks 'y' and has 'z'"
    ):
        renyi.matrix(f"{tmp_path}/*.parquet")
    frame.cast({"y": pl.Float32}).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(renyi.InputError, match=r"'y' is Float64 in .*a\.parquet and Float32 in .*b\.parquet"):
        renyi.matrix(f"{tmp_path}/*.parquet")


@pytest.mark.parametrize("memory", ["3MB", "1GB"])
@pytest.mark.parametrize("pattern", ["", "*.[cC]*"])
def test_a_folder_of_text_has_one_table(memory, pattern, tmp_path, rng):
    frame = pl.DataFrame({"x": rng.permutation(12_000), "y": rng.normal(size=12_000), "z": rng.normal(size=12_000)})
    (frame[:4000] / 2).write_csv(tmp_path / "a.csv")
    for name, rows in (("b.csv.gz", frame[4000:8000]), ("c.CSV.GZ", frame[8000:].select("z", "y", "x"))):
        (tmp_path / name).write_bytes(gzip.compress(rows.write_csv().encode()))
    (tmp_path / ".c.csv").write_text("left,by\nan,editor\n")
    found = renyi.matrix(tmp_path / pattern, memory=memory)
    assert (found.n_rows, found.names) == (12_000, ("x", "y", "z"))
    whole = pl.concat([frame[:4000] / 2, frame[4000:]], how="vertical_relaxed")
    np.testing.assert_allclose(found.pearson, renyi.matrix(whole).pearson, atol=1e-9)
    (tmp_path / "d.csv.gz").write_bytes(
        gzip.compress(b"x," + b",".join(b"n%d" % k for k in range(900)) + b"\n" + b"1," * 900 + b"1\n")
    )
    with pytest.raises(renyi.InputError) as caught:
        renyi.matrix(tmp_path / pattern, memory=memory)
    message = str(caught.value).replace(f"{tmp_path}/", "")
    assert message == (
        "d.csv.gz has other columns than a.csv, it lacks 'y', 'z' and has 'n0', 'n1', 'n10' and 897 more besides: give "
        "all files the same columns"
    )


def test_files_of_two_kinds_are_named(frame, tmp_path):
    frame.write_parquet(tmp_path / "a.parquet")
    frame.write_csv(tmp_path / "b.csv")
    for memory in ("4MB", "1GB"):
        with pytest.raises(
            renyi.InputError, match=r"a\.parquet is Parquet and .*b\.csv is not: name files of one kind"
        ):
            renyi.matrix(tmp_path, memory=memory)


def test_a_broken_row_group_is_named_and_nothing_is_returned(frame, tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "broken.parquet"
    frame.write_parquet(path, row_group_size=8000, compression="zstd")
    column = pq.ParquetFile(path).metadata.row_group(1).column(0)
    start = column.dictionary_page_offset or column.data_page_offset
    data = bytearray(path.read_bytes())
    data[start : start + 400] = b"\xff" * 400
    path.write_bytes(data)
    with pytest.raises(renyi.InputError, match=r"broken\.parquet cannot be read in row group 1 of 3"):
        renyi.matrix(path, memory=BUDGET)


def test_names_that_stand_for_no_file(tmp_path):
    with pytest.raises(renyi.InputError, match="stands for no file"):
        renyi.matrix(f"{tmp_path}/*.parquet")
    with pytest.raises(renyi.InputError, match="does not exist"):
        renyi.matrix(str(tmp_path / "nothing.parquet"))


def test_what_needs_rows_at_hand_is_refused(frame):
    with pytest.raises(renyi.InputError, match=r"'v' has several numbers in a row.*vectors=\{'v': \[...\]\}"):
        renyi.matrix([{"v": np.ones((9, 2)), "x": np.arange(9.0)}])
    with pytest.raises(renyi.InputError, match="given is for tables in memory"):
        renyi.screen(frame.lazy(), "y", given="x", memory=BUDGET)
    with pytest.raises(renyi.InputError, match="target names 'z'"):
        renyi.screen(frame.lazy(), "z")


def test_a_budget_too_small_for_a_batch_says_what_is_enough(frame):
    with pytest.raises(renyi.InputError, match="2MB or more"):
        as_stream(frame.lazy(), 1000)


def test_an_iterator_without_batches_is_refused():
    with pytest.raises(renyi.InputError, match="no batch"):
        renyi.matrix(iter([]))


def test_a_file_that_arrow_cannot_read_is_read_by_polars(tmp_path, rng):
    x = rng.normal(size=9_000)
    wide = pl.Series((100 * x).astype(np.int64)).cast(pl.Int128)
    file = tmp_path / "wide.parquet"
    pl.DataFrame({"x": x, "y": x**2, "wide": wide}).write_parquet(file)
    assert pl.concat(as_stream(file, 2**22).batches())["wide"].equals(wide.alias("wide"))


def test_bytes_that_are_no_text_are_refused(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    broken = pa.Array.from_buffers(pa.string(), 2, [None, *pa.array([b"ok", b"\xff\xfe"], pa.binary()).buffers()[1:]])
    pq.write_table(pa.table({"text": broken, "x": [1.0, 2.0]}), tmp_path / "broken.parquet")
    with pytest.raises(renyi.InputError, match=r"broken\.parquet cannot be read"):
        list(as_stream(tmp_path / "broken.parquet", 2**22).batches())


def test_time_zones_that_nobody_knows_are_refused(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    moments = pa.array([0, 1], pa.timestamp("us", tz="+02:30"))
    pq.write_table(pa.table({"t": moments, "x": [1.0, 2.0]}), tmp_path / "zone.parquet")
    with pytest.raises(renyi.InputError, match=r"zone\.parquet cannot be read"):
        as_stream(tmp_path / "zone.parquet", 2**22)


def test_how_large_a_file_is_its_rows_tell_and_not_its_bytes(tmp_path):
    pl.DataFrame({f"x{j}": np.zeros(200_000) for j in range(4)}).write_parquet(tmp_path / "zeros.parquet")
    assert (tmp_path / "zeros.parquet").stat().st_size < 100_000
    assert is_large(str(tmp_path / "zeros.parquet"), 2**25)
    assert not is_large(str(tmp_path / "zeros.parquet"), 2**27)


@pytest.mark.slow
def test_whole_numbers_and_moments_between_floats_are_exact_in_files(tmp_path, rng):
    steps = rng.permutation(24_000)
    frame = pl.DataFrame(
        {
            "x": 2**62 + steps,
            "unsigned": pl.Series(2**63 + steps.astype(np.uint64)),
            "moment": pl.Series(1_700_000_000_000_000_000 + steps).cast(pl.Datetime("ns")),
            "y": np.round(np.cos(steps / 4000), 3),
        }
    )
    expected = renyi.matrix(frame)
    assert expected.values[0, 3] > 0.9
    frame.write_parquet(tmp_path / "rows.parquet")
    frame.write_csv(tmp_path / "rows.csv")
    frame.write_ndjson(tmp_path / "rows.ndjson")
    for data in (tmp_path / "rows.parquet", tmp_path / "rows.csv", tmp_path / "rows.ndjson", frame.lazy()):
        for memory in ("5MB", "1GB"):
            found = renyi.matrix(data, memory=memory)
            assert dict(found.types) == dict(expected.types)
            np.testing.assert_allclose(found.values, expected.values, atol=2e-3)
            np.testing.assert_allclose(found.pearson, expected.pearson, atol=1e-6)
    assert isinstance(opened(tmp_path / "rows.csv", 5 * 2**20), Stream)
    assert isinstance(opened(tmp_path / "rows.parquet", 5 * 2**20), Stream)


@pytest.mark.slow
def test_decimals_and_integers_of_128_bits_are_exact_in_files_or_left_out(tmp_path, rng):
    steps = [int(k) for k in rng.permutation(9_000)]
    frame = pl.DataFrame(
        {
            "price": pl.Series([Decimal(10**17 + k) for k in steps], dtype=pl.Decimal(38, 2)),
            "wide": pl.Series([2**62 + k for k in steps], dtype=pl.Int128),
            "wider": pl.Series([2**100 + k for k in steps], dtype=pl.Int128),
            "y": np.round(np.cos(np.array(steps) / 1500), 3),
        }
    )
    expected = renyi.matrix(frame)
    assert expected.names == ("price", "wide", "y")
    assert "more digits than 64-bit floats keep apart" in expected.skipped["wider"]
    frame.write_parquet(tmp_path / "rows.parquet")
    frame.write_csv(tmp_path / "rows.csv")
    for data in (tmp_path / "rows.parquet", tmp_path / "rows.csv"):
        for memory in ("4MB", "1GB"):
            found = renyi.matrix(data, memory=memory)
            assert found.skipped == expected.skipped
            np.testing.assert_allclose(found.values, expected.values, atol=2e-3)
