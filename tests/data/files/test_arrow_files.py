import re

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather

import renyi
from renyi.data.files.arrow_files import ArrowFiles, is_arrow
from renyi.data.files.batches import as_stream, is_large, within
from renyi.data.files.request import Request
from renyi.errors import InputError

N = 40_000


@pytest.fixture(params=["write_ipc", "write_ipc_stream"])
def files(request, tmp_path, rng):
    """A table in two files."""
    x = rng.standard_normal(N)
    frame = pl.DataFrame({"x": x, "y": x**2 + rng.standard_normal(N), "text": rng.choice(["a", "b", None], N)})
    getattr(frame[:25_000], request.param)(tmp_path / "a.arrow")
    getattr(frame[25_000:], request.param)(tmp_path / "b.arrow")
    return frame, [tmp_path / "a.arrow", tmp_path / "b.arrow"]


def test_files_of_arrow_are_read_in_batches(files, tmp_path):
    frame, paths = files
    assert all(map(is_arrow, paths))
    assert all(is_large(str(path), 2**21) for path in paths)
    stream = as_stream(f"{tmp_path}/*.arrow", 2**21)
    batches = list(stream.batches())
    assert max(batch.height for batch in batches) == 2**21 // (48 * 8 * 3)
    assert pl.concat(batches).equals(frame)
    found = renyi.matrix(f"{tmp_path}/*.arrow", memory="3MB")
    assert (found.n_rows, found.types) == (N, {"x": "number", "y": "number", "text": "category"})
    np.testing.assert_allclose(found.values, renyi.matrix(frame).values, atol=2e-3)
    nulls = within(str(paths[0]), 2**21, null_values=["a"])
    assert pl.concat(nulls.batches())["text"].unique().drop_nulls().to_list() == ["b"]


def test_files_of_arrow_without_rows_and_with_other_columns(files, tmp_path):
    frame, _ = files
    feather.write_feather(pa.table({"x": pa.array([], pa.float64())}), tmp_path / "c.arrow")
    (empty,) = ArrowFiles({tmp_path / "c.arrow": Request.of("c.arrow")}, 2**21).batches()
    assert (empty.height, empty.columns) == (0, ["x"])
    with pytest.raises(InputError, match=r"c\.arrow has other columns than .*a\.arrow, it lacks"):
        as_stream(f"{tmp_path}/*.arrow", 2**21)
    frame.write_csv(tmp_path / "d.arrow")
    with pytest.raises(InputError, match=r"a\.arrow is Arrow and .*d\.arrow is not: name files of one kind"):
        as_stream(f"{tmp_path}/[ad].arrow", 2**21)


def test_damaged_files_of_arrow_are_refused_in_one_line(files, tmp_path, rng, capfd):
    path, refused = files[1][0], []
    whole = path.read_bytes()
    damaged = [whole[: rng.integers(8, len(whole))] for _ in range(10)]
    for _ in range(60):
        changed = bytearray(whole)
        at = rng.choice([rng.integers(8, 2_000), rng.integers(len(whole) - 2_000, len(whole))])
        changed[at] ^= int(rng.integers(1, 256))
        damaged.append(bytes(changed))
    for content in damaged:
        path.write_bytes(content)
        try:
            list(as_stream(path, 2**21).batches())
        except InputError as error:
            refused.append(str(error))
    assert len(refused) > 20
    assert all(re.fullmatch(f"{re.escape(str(path))} [^\n]*", message) for message in refused)
    assert capfd.readouterr().err == ""
