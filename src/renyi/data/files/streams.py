"""Batches of rows that can be read twice: what a stream is, and those that the user's own batches make."""

import pickle
import shutil
import sys
import tempfile
import weakref
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from inspect import signature
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from renyi.data.files.budget import BYTES_OF_CELL, is_small, rows_of_batch
from renyi.data.frames import as_series
from renyi.data.notes import Source
from renyi.errors import InputError, brief, is_integer, load


class Stream:
    """Batches of rows, read anew every time they are asked for; `notes` say what was decided on the way.

    All batches together have `n_rows` and `n_cells`, where that is known beforehand. While one that `is_exclusive` is
    open, its engine takes no other query.
    """

    notes: tuple[str, ...] = ()
    n_rows: int | None = None
    n_cells: int | None = None
    is_exclusive = False

    def batches(self) -> Generator[Any]:
        """All batches, from the first row to the last; to be closed by who does not read them to the end."""
        raise NotImplementedError

    def names(self) -> list[str]:
        """What its columns are called."""
        import narwhals.stable.v2 as nw

        with closing(self.batches()) as batches:
            return [name for batch in islice(batches, 1) for name in nw.from_native(batch, eager_only=True).columns]

    def only(self, names: Sequence[str]) -> "Stream":
        """Some columns, in this order."""
        return _Part(self, names)


class _Part(Stream):
    """Some columns of another stream, whose batches are frames."""

    def __init__(self, stream: Stream, names: Sequence[str]) -> None:
        self._stream, self._names = stream, list(names)
        self.notes, self.n_rows, self.is_exclusive = stream.notes, stream.n_rows, stream.is_exclusive

    def batches(self) -> Generator[Any]:
        import narwhals.stable.v2 as nw

        with closing(self._stream.batches()) as batches:
            for batch in batches:
                yield nw.from_native(batch, eager_only=True).select(self._names).to_native()


class Folder:
    """A private folder for what is read more than once, which is gone when nothing refers to it any more."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="renyi-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def first_line(error: BaseException, /) -> str:
    """Of what a library says of an error, the part for people."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


class Lazy(Stream):
    """A lazy frame of Polars, collected in batches."""

    def __init__(self, frame: Any, memory: int) -> None:
        self._frame = frame
        self._pl = load("polars", extra="cli")
        check_streams(self._pl)
        try:
            self._rows = rows_of_batch(len(frame.collect_schema()), memory)
        except self._pl.exceptions.PolarsError as error:
            raise self._failed(error) from error

    def _failed(self, error: BaseException) -> InputError:
        return InputError(f"the lazy frame cannot be collected ({first_line(error)}): mend the query or its files")

    def batches(self) -> Generator[Any]:
        try:
            yield from self._frame.collect_batches(chunk_size=self._rows, maintain_order=True)
        except (self._pl.exceptions.PolarsError, self._pl.exceptions.PanicException) as error:
            raise self._failed(error) from error


def check_streams(pl: Any, /) -> None:
    """Refuse a Polars that reads tables whole only."""
    if not hasattr(pl.LazyFrame, "collect_batches"):
        raise InputError(f"Polars {pl.__version__} cannot read in batches: install polars>=1.34")


class Repeated(Stream):
    """Batches from something that gives them as often as it is asked."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def batches(self) -> Generator[Any]:
        made = self._made()
        if isinstance(made, (str, bytes, Mapping)) or not isinstance(made, Iterable):
            raise InputError(
                f"the function gave {brief(made)}, which are no batches: return a list or iterator of tables"
            )
        yield from made

    def _made(self) -> Any:
        try:
            signature(self._make).bind()
        except TypeError as error:
            raise InputError(
                f"{brief(self._make)} cannot be called without arguments ({error}): pass one that can"
            ) from error
        except ValueError:  # nothing is known of some that are built in
            pass
        return self._make()


class Spooled(Stream):
    """Batches that come once: what is read is written to disk on the way, and read from there the second time."""

    def __init__(self, batches: Iterator[Any]) -> None:
        self._batches: Iterator[Any] | None = batches
        self._file = tempfile.TemporaryFile()  # noqa: SIM115, since it lives as long as this
        self._n_batches = 0

    def __del__(self) -> None:
        self._file.close()

    def batches(self) -> Generator[Any]:
        if self._batches is None:
            self._file.seek(0)
            for _ in range(self._n_batches):
                yield pickle.load(self._file)
            return
        batches, self._batches = self._batches, None
        for batch in batches:
            try:
                pickle.dump(batch, self._file, protocol=5)
            except Exception as error:  # of whatever library the batch is
                raise InputError(
                    f"a batch cannot be kept for the second reading ({first_line(error)}): pass arrays, lists or "
                    "frames of plain types, or a function that gives the batches as often as it is asked"
                ) from error
            self._n_batches += 1
            yield batch
        if not self._n_batches:
            raise InputError("the iterator gave no batch: pass one that was not used up already")


# Streams that end soon are tables in memory.


def begun(stream: Stream, memory: int, /) -> Any:
    """The whole table, if it is small beside the budget and its batches are of one kind; else the same stream.

    What was read to find that out is given again first, so that nothing is read or computed once more for it, unless
    the user could not ask the engine for anything else meanwhile: a result may be waited for, and never asked for.
    """
    if not is_small((stream.n_cells or 0) * BYTES_OF_CELL, memory):
        return stream
    read: deque[Any] = deque()
    rest, n_bytes = stream.batches(), 0
    for batch in rest:
        read.append(batch)
        n_bytes += _bytes_of(batch, memory)
        if not is_small(n_bytes, memory):
            break
    else:
        whole = _together(list(read))
        if whole is not None:
            return Source(whole, stream.notes) if stream.notes else whole
    if stream.is_exclusive:
        rest.close()
        return stream
    return _Begun(stream, read, rest)


class _Begun(Stream):
    """A stream of which some batches were read already: these come first, the first time."""

    def __init__(self, stream: Stream, read: deque[Any], rest: Generator[Any]) -> None:
        self._stream, self._read = stream, read
        self._rest: Generator[Any] | None = rest
        self.notes, self.n_rows = stream.notes, stream.n_rows

    def batches(self) -> Generator[Any]:
        rest, self._rest = self._rest, None
        if rest is None:
            yield from self._stream.batches()
            return
        while self._read:
            yield self._read.popleft()
        yield from rest


def _bytes_of(batch: Any, memory: int) -> int:
    """Bytes of the cells of a batch: 8 at least for each, and of text its length, unless those alone are many."""
    columns = list(batch.values()) if isinstance(batch, Mapping) else None
    if columns is not None:
        n_cells = sum(map(_n_of, columns))
    elif isinstance(batch, (list, tuple)):
        n_cells = sum(map(_n_of, batch))
    else:
        n_cells = 0 if isinstance(batch, type) else int(np.prod(getattr(batch, "shape", (0,))))
    if not is_small(n_cells * BYTES_OF_CELL, memory):
        return n_cells * BYTES_OF_CELL
    parts = [batch] if columns is None else columns
    return max(n_cells * BYTES_OF_CELL, sum(map(_bytes_of_part, parts)))


def _n_of(cells: Any) -> int:
    """How many cells a column or row has; 0 for what is none."""
    try:
        return len(cells)
    except TypeError:
        return 0


def _bytes_of_part(part: Any) -> int:
    """Bytes of a frame, of a column, or of an array; 0 where that is not known."""
    import narwhals.stable.v2 as nw

    if isinstance(part, (list, tuple)):
        return sum(map(sys.getsizeof, part))
    try:
        wrapped = nw.from_native(part, allow_series=True, pass_through=True)
    except Exception:  # such as one with columns of the same name
        return 0
    if isinstance(wrapped, nw.Series):
        wrapped = wrapped.to_frame()
    n_bytes = wrapped.estimated_size() if isinstance(wrapped, nw.DataFrame) else getattr(part, "nbytes", 0)
    return int(n_bytes) if is_integer(n_bytes) else 0


def _together(batches: Sequence[Any]) -> Any:
    """Batches that have the same columns of the same types as one table; None where they differ in anything.

    Then they stay batches, whose reader knows what columns of several types are.
    """
    if len(batches) < 2:
        return batches[0] if batches else None
    if all(isinstance(batch, Mapping) for batch in batches):
        if any(list(batch) != list(batches[0]) for batch in batches):
            return None
        columns = {name: _end_to_end([batch[name] for batch in batches]) for name in batches[0]}
        return None if any(column is None for column in columns.values()) else columns
    is_plain = all(isinstance(batch, (list, tuple, np.ndarray)) for batch in batches)
    return _end_to_end(batches) if is_plain else _one_frame(batches)


def _end_to_end(parts: Sequence[Any]) -> Any:
    """Lists or arrays one after the other; None for what else there is, and for arrays that would change their type."""
    if any(isinstance(part, (list, tuple)) for part in parts):
        lists = [part.tolist() if _is_plain(part) else part for part in parts]
        return [cell for part in lists for cell in part] if all(isinstance(p, (list, tuple)) for p in lists) else None
    if any(type(part) is not np.ndarray for part in parts):
        return None
    if len({(part.dtype, part.ndim, part.shape[1:]) for part in parts}) > 1:
        return None
    return np.concatenate(parts)


def _is_plain(part: Any) -> bool:
    """Whether this is an array of numbers or booleans, which are the same in a list."""
    return type(part) is np.ndarray and part.ndim == 1 and part.dtype.kind in "biuf" and part.itemsize <= 8


def _one_frame(batches: Sequence[Any]) -> Any:
    import narwhals.stable.v2 as nw

    try:
        frames = [nw.from_native(as_series(batch), eager_only=True) for batch in batches]
        if any(frame.columns != frames[0].columns for frame in frames):
            return None
        # An empty batch of pandas has no types to speak of.
        filled = [frame for frame in frames if len(frame)] or frames[:1]
        types = [_types_of(frame) for frame in filled]
        return nw.concat(filled).to_native() if all(kinds == types[0] for kinds in types) else None
    except Exception:  # what is wrong with a batch is said by who reads batches
        return None


def _types_of(frame: Any) -> list[Any]:
    """The library's own types, which tell more apart than narwhals', such as the levels of a category."""
    native = frame.to_native()
    return list(native.schema.types if frame.implementation.is_pyarrow() else native.dtypes)
