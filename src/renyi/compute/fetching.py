"""Matrices that are filled on a device, block by block, and come into memory row by row while it goes on.

Fresh memory is slow, since each page of it is made when it is first written to: threads see to that while the device is
busy. What comes goes through small buffers that the device writes to by itself, in as many threads.
"""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeAlias

import numpy as np

from renyi.compute.arrays import Array, Index
from renyi.compute.devices import EXTRA, free_bytes
from renyi.compute.threads import available_cores
from renyi.errors import load

Tensor: TypeAlias = Any

_MOST_THREADS = 8
# Numbers of a buffer: 16 MiB, where copies are as fast as they get. A piece of work fetches several times as many.
_BUFFER, _PIECE = 2**21, 2**23
# Of the free memory of a device the matrices take this part at most.
_SHARE_OF_MATRICES = 0.5
_NUMBERS_OF_PAGE = 512


class Fetching:
    """Matrices of one shape by name; once the context has ended the rows that were fetched are in memory."""

    def __init__(self, names: Sequence[str], shape: tuple[int, int], device: Any, /) -> None:
        self.matrices: dict[str, Array] = {name: np.empty(shape) for name in names}
        self._device = device
        self._filled = _filled(self.matrices, device)
        self._pool = ThreadPoolExecutor(min(_MOST_THREADS, available_cores()))
        self._touching: list[Future[None]] = []
        self._bringing: list[Future[None]] = []
        self._own = threading.local()

    def __enter__(self) -> "Fetching":
        for matrix in self.matrices.values() if self._filled else ():
            for rows in _pieces(matrix, 0, len(matrix)):
                # Every page of fresh memory is made by writing to it.
                self._touching.append(self._pool.submit(matrix[rows].reshape(-1)[::_NUMBERS_OF_PAGE].fill, 0.0))
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            for work in self._bringing if kind is None else ():
                work.result()
        finally:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._filled.clear()

    def put(self, name: str, rows: Index, columns: Index, block: Tensor, /) -> None:
        """Write a block."""
        torch = load("torch", extra=EXTRA)
        matrix = self._filled[name] if self._filled else torch.from_numpy(self.matrices[name])
        matrix[_where(rows, columns, matrix)] = block.to(matrix)

    def fetch(self, rows: Index, /) -> None:
        """Bring rows into memory that nothing is written to any more."""
        if not self._filled or len(rows) == 0:
            return
        done = self._event()
        # Rows that follow one another come together.
        for run in np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1):
            for name, matrix in self.matrices.items():
                for piece in _pieces(matrix, int(run[0]), int(run[-1]) + 1):
                    self._bringing.append(self._pool.submit(self._bring, name, piece, done))

    def _event(self) -> Any:
        """What the device has to be done with first."""
        if self._device.type != "cuda":
            return None
        torch = load("torch", extra=EXTRA)
        done = torch.cuda.Event()
        done.record(torch.cuda.current_stream(self._device))
        return done

    def _bring(self, name: str, rows: slice, done: Any) -> None:
        for work in self._touching:
            work.result()
        source, target = self._filled[name][rows], self.matrices[name][rows]
        if done is None:
            target[:] = source.numpy()
            return
        torch = load("torch", extra=EXTRA)
        if not hasattr(self._own, "stream"):
            self._own.stream = torch.cuda.Stream(self._device)
            self._own.buffer = torch.empty(_BUFFER, dtype=source.dtype, pin_memory=True)
        flat, numbers = source.reshape(-1), target.reshape(-1)
        stream, buffer = self._own.stream, self._own.buffer
        stream.wait_event(done)
        with torch.cuda.stream(stream):
            for start in range(0, len(numbers), _BUFFER):
                part = flat[start : start + _BUFFER]
                buffer[: len(part)].copy_(part, non_blocking=True)
                stream.synchronize()
                numbers[start : start + _BUFFER] = buffer[: len(part)].numpy()


def _filled(matrices: dict[str, Array], device: Any) -> dict[str, Tensor]:
    """Where matrices are filled on the device; nothing where it has no room, and they are filled in memory."""
    torch = load("torch", extra=EXTRA)
    if sum(matrix.nbytes for matrix in matrices.values()) <= _SHARE_OF_MATRICES * free_bytes(device):
        try:
            return {
                name: torch.empty(matrix.shape, dtype=torch.float64, device=device) for name, matrix in matrices.items()
            }
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
    return {}


def _pieces(matrix: Array, start: int, stop: int) -> Iterator[slice]:
    """Some rows as pieces of work."""
    step = max(1, _PIECE // max(1, matrix.shape[1]))
    return (slice(first, min(first + step, stop)) for first in range(start, stop, step))


def _where(rows: Index, columns: Index, matrix: Tensor) -> Any:
    """A block of a matrix, as slices if its places follow one another."""
    if all(index[-1] - index[0] == len(index) - 1 for index in (rows, columns)):
        return slice(int(rows[0]), int(rows[-1]) + 1), slice(int(columns[0]), int(columns[-1]) + 1)
    torch = load("torch", extra=EXTRA)
    return torch.as_tensor(rows, device=matrix.device)[:, None], torch.as_tensor(columns, device=matrix.device)
