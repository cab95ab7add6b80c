import polars as pl
import pytest

from renyi.data.files.table_files import read_table
from renyi.errors import InputError


@pytest.fixture
def read(tmp_path):
    def read(content, name="table.csv", **settings):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_table(path, **settings)

    return read


@pytest.fixture
def column(read):
    """One column of cells, quoted, beside a column of row numbers."""

    def column(*cells, separator=","):
        rows = [f'"{cell}"{separator}{row}' for row, cell in enumerate(cells)]
        source = read("\n".join([f"x{separator}row", *rows]))
        assert source.frame["row"].dtype == pl.Int64
        return source.frame["x"], " | ".join(source.notes)

    return column


@pytest.fixture
def refusal(read):
    def refusal(content, name="table.csv", **settings):
        with pytest.raises(InputError) as caught:
            read(content, name, **settings)
        message = str(caught.value)
        assert "\n" not in message
        assert ": " in message
        return message

    return refusal
