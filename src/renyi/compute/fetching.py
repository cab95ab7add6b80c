"""Matrices that are filled on a device, block by block, and come into memory row by row while it goes on.

Fresh memory is slow, since each page of it is made when it is first written to: threads see to that while the device is
busy. What comes goes through small buffers that the device writes to by itself, in as many threads.
"""

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from renyi.compute.arrays import Array, Index, in_memory
from renyi.compute.devices import EXTRA, free_bytes
from renyi.compute.threads import available_cores
from renyi.errors import load

Tensor: TypeAlias = Any

_MOST_THREADS = 8
# Numbers of a buffer: 16 MiB, where copies are as fast as they get. A piece of work fetches several times as many.
_BUFFER, _PIECE = 2**21, 2**23
# Of the free memory of a device the matrices take this part at most.
_SHARE_OF_MATRICES = 0.5
# So few numbers are brought at once: threads and their buffers take a millisecond.
_SMALL = 2**17
# Matrices of fewer numbers are fetched at once. Those that wait take this part of the free memory at most.
_LARGE, _SHARE_OF_LATER = 2**24, 0.2
# Fewer rows in a row wait for those between them: a table of which every tenth column is of another kind would be
# brought in thousands of pieces.
_FEWEST_TOGETHER = 32
_NUMBERS_OF_PAGE = 512


class Bringing:
    """Tensors that come to arrays in memory, in threads, while the device goes on."""

    def __init__(self, device: Any, /) -> None:
        self._device = device
        self._pool = ThreadPoolExecutor(min(_MOST_THREADS, available_cores()))
        self._work: list[Future[None]] = []
        self._own = threading.local()

    def submit(self, work: Callable[..., None], *arguments: Any) -> "Future[None]":
        """Some work that is to be done as well."""
        self._work.append(self._pool.submit(work, *arguments))
        return self._work[-1]

    def start(self, source: Tensor, target: NDArray[Any], /, *, after: "Sequence[Future[None]]" = ()) -> None:
        """Bring a matrix, as it is once the device has done what it was asked for until now, and other work is done."""
        if target.size <= _SMALL:
            self._bring(source, target, after, None)
            return
        done = self._event()
        for rows in _pieces(target):
            self.submit(self._bring, source[rows], target[rows], after, done)

    def finish(self, *, cancelled: bool = False) -> None:
        """Wait for all of it."""
        try:
            for work in () if cancelled else self._work:
                work.result()
        finally:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def _event(self) -> Any:
        """What the device has to be done with first."""
        if self._device.type != "cuda":
            return None
        torch = load("torch", extra=EXTRA)
        done = torch.cuda.Event()
        done.record(torch.cuda.current_stream(self._device))
        return done

    def _bring(self, source: Tensor, target: NDArray[Any], after: "Sequence[Future[None]]", done: Any) -> None:
        for work in after:
            work.result()
        if done is None:
            target[:] = in_memory(source)
            return
        torch = load("torch", extra=EXTRA)
        if not hasattr(self._own, "stream"):
            self._own.stream = torch.cuda.Stream(self._device)
            self._own.buffer = torch.empty(_BUFFER, dtype=torch.float64, pin_memory=True)
        flat, numbers = source.reshape(-1), target.reshape(-1)
        stream, buffer = self._own.stream, self._own.buffer.view(source.dtype)
        stream.wait_event(done)
        with torch.cuda.stream(stream):
            for start in range(0, len(numbers), len(buffer)):
                part = flat[start : start + len(buffer)]
                buffer[: len(part)].copy_(part, non_blocking=True)
                stream.synchronize()
                numbers[start : start + len(buffer)] = buffer[: len(part)].numpy()


class Matrices(dict[str, Array]):
    """Matrices by name, of which some stay on a device until they are asked for, copied or pickled."""

    def __init__(self, there: dict[str, Tensor], /) -> None:
        super().__init__()
        self._there, self._lock = there, threading.Lock()

    def __missing__(self, name: str) -> Array:
        with self._lock:
            if name not in self:
                source = self._there[name]
                found, bringing = np.empty(tuple(source.shape)), Bringing(source.device)
                bringing.start(source, found)
                bringing.finish()
                self[name] = found
                del self._there[name]
            return dict.__getitem__(self, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, ({name: self[name] for name in (*self, *self._there)},)


class Fetching:
    """Matrices of one shape by name; once the context has ended the rows that were fetched are in memory.

    Large ones that are wanted `later` stay on the device, if these take a small part of its memory.
    """

    def __init__(
        self, names: Sequence[str], shape: tuple[int, int], device: Any, /, *, later: Collection[str] = ()
    ) -> None:
        self._filled = _filled(names, shape, device)
        are_kept = 8 * shape[0] * shape[1] * len(later) <= _SHARE_OF_LATER * free_bytes(device)
        kept = later if self._filled and are_kept and shape[0] * shape[1] >= _LARGE else ()
        self.matrices = Matrices({name: self._filled[name] for name in kept})
        self.matrices.update({name: np.empty(shape) for name in names if name not in kept})
        self._waiting = np.zeros(shape[0], dtype=bool)
        self._bringing = Bringing(device)
        self._touching: list[Future[None]] = []

    def __enter__(self) -> "Fetching":
        for matrix in self.matrices.values() if self._filled else ():
            for rows in _pieces(matrix):
                # Every page of fresh memory is made by writing to it.
                touch = matrix[rows].reshape(-1)[::_NUMBERS_OF_PAGE].fill
                self._touching.append(self._bringing.submit(touch, 0.0))
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._start(1)
        self._bringing.finish(cancelled=kind is not None)
        self._filled.clear()

    def put(self, name: str, rows: Index, columns: Index, block: Tensor, /) -> None:
        """Write a block."""
        torch = load("torch", extra=EXTRA)
        matrix = self._filled[name] if self._filled else torch.from_numpy(self.matrices[name])
        matrix[_where(rows, columns, matrix)] = block.to(matrix)

    def fetch(self, rows: Index, /) -> None:
        """Bring rows into memory that nothing is written to any more."""
        self._waiting[rows] = True
        self._start(_FEWEST_TOGETHER)

    def _start(self, fewest: int) -> None:
        """Bring rows that follow one another, if there are so many."""
        if not self._filled:
            return
        rows = np.flatnonzero(self._waiting)
        for run in np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1):
            if len(run) >= fewest:
                self._waiting[run] = False
                together = slice(int(run[0]), int(run[-1]) + 1)
                for name, matrix in self.matrices.items():
                    self._bringing.start(self._filled[name][together], matrix[together], after=self._touching)


def _filled(names: Sequence[str], shape: tuple[int, int], device: Any) -> dict[str, Tensor]:
    """Where matrices are filled on the device; nothing where it has no room, and they are filled in memory."""
    torch = load("torch", extra=EXTRA)
    if 8 * shape[0] * shape[1] * len(names) <= _SHARE_OF_MATRICES * free_bytes(device):
        try:
            return {name: torch.empty(shape, dtype=torch.float64, device=device) for name in names}
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
    return {}


def _pieces(matrix: NDArray[Any]) -> Iterator[slice]:
    """Rows as pieces of work."""
    step = max(1, _PIECE // max(1, matrix.shape[1]))
    return (slice(first, first + step) for first in range(0, len(matrix), step))


def _where(rows: Index, columns: Index, matrix: Tensor) -> Any:
    """A block of a matrix, as slices if its places follow one another."""
    if all(index[-1] - index[0] == len(index) - 1 for index in (rows, columns)):
        return slice(int(rows[0]), int(rows[-1]) + 1), slice(int(columns[0]), int(columns[-1]) + 1)
    torch = load("torch", extra=EXTRA)
    return torch.as_tensor(rows, device=matrix.device)[:, None], torch.as_tensor(columns, device=matrix.device)
