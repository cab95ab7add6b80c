"""Largest eigenvalues of very many small matrices at once, by operations on whole planes: NumPy or torch.

A plane holds one entry of every matrix. Householder reflections leave a tridiagonal matrix; Laguerre's iteration on its
characteristic polynomial, all of whose roots are real, falls from above onto the largest one and never passes it. The
iteration is cubic for a simple root and halves the error for multiple ones, so that most matrices are done after a few
steps and the others go on by themselves. A device is asked rarely who is done, since it stands still meanwhile.
"""

from typing import Any

import numpy as np

from renyi.compute.arrays import Array, Mask, is_tensor, namespace, sum_of_products, sums_of_products
from renyi.compute.kernels import largest_roots
from renyi.compute.linalg import is_large, largest_square
from renyi.compute.memory import workspace
from renyi.compute.threads import share

_STEPS_OF_ALL, _STEPS_OF_OTHERS, _MOST_ROUNDS = 4, 3, 20
# By the bytes of a number: relative steps at which the iteration rests, and pivots, of matrices of trace 1, that are 0.
_REST = {4: 1e-6, 8: 1e-13}
# (of float32 what is smaller is rounding, and its inverse overflows after a few steps)
_NOTHING = {4: 1e-7, 8: 1e-18}
# From so many matrices on planes of their entries take half the time of LAPACK, while these stay in the cache, as so
# many of float32 do and half as many of float64.
_PAIRS_BY_PLANES, _MOST_BY_PLANES = 1024, 16384
# Roots of so many tridiagonal matrices are found at once, which are fewer planes: some 500 calls, after each of which a
# thread waits for the interpreter. In calls on 16,384 matrices of float32 two threads find 1.3 times as many as one
# does, and 16 find twice as many; in calls on 65,536 they find 1.7 and 4 times as many.
_ROOTS_AT_ONCE = 65536
# Where these lie as planes already, from fewer on.
_FEWEST_BY_PLANES = 128


def sum_of_squares(block: Any, /) -> Any:
    """What the largest squared singular value of every matrix of a batch is at most, at hardly any cost."""
    return np.einsum("...ij,...ij->...", block, block)


def most_of_root(block: Any, /) -> Any:
    """What the largest squared singular value of every matrix of a batch is at most: a third of the work, or less."""
    if is_tensor(block) or min(block.shape[-2:]) <= 2 or block.ndim != 3:
        return largest_root(block)
    return np.concatenate(
        share(lambda part: bounds_of_planes(_planes(part)), _parts(block, _MOST_BY_PLANES), are_short_calls=True)
    )


def bounds_of_planes(planes: Array, /) -> Array:
    """The same of matrices (a, b, m) whose entries lie together."""
    gram = products_of_rows(_lying(planes))
    size = len(gram)
    mean = np.einsum("iip->p", gram) / size
    # By the mean and the variance of all roots.
    spread = np.einsum("ijp,ijp->p", gram, gram) - size * mean**2
    return np.asarray(mean + np.sqrt(np.maximum(spread, 0.0) * ((size - 1) / size)))


def roots_of_planes(planes: Array, /) -> Array:
    """`largest_root` of matrices (a, b, m) whose entries lie together."""
    planes = _lying(planes)
    if len(planes) > 2 and (planes.shape[2] < _FEWEST_BY_PLANES or is_large(planes.shape[:2])):
        return np.asarray(largest_root(np.moveaxis(planes, -1, 0)))
    parts = _parts_of_planes(planes)
    return np.concatenate(share(lambda part: _largest_root_of(products_of_rows(part)), parts, are_short_calls=True))


def are_roots_below(planes: Array, levels: Array, /) -> Mask:
    """Whether the largest squared singular values of matrices (a, b, m) are below levels: a quarter of the work."""
    parts = _parts_of_planes(_lying(planes))
    bounded = zip(parts, np.array_split(levels, len(parts)), strict=True)
    # What is above its level may leave pivots that are next to nothing.
    with np.errstate(over="ignore", invalid="ignore"):
        return np.concatenate([_are_below(products_of_rows(part), own) for part, own in bounded])


def _are_below(gram: Array, levels: Array) -> Mask:
    """Whether all eigenvalues of symmetric matrices (m, m, …) are below levels: what they lack of these is definite."""
    size = len(gram)
    lack = np.negative(gram, out=gram)
    for k in range(size):
        lack[k, k] += levels
    are_below = lack[0, 0] > 0.0
    for k in range(size - 1):
        factors = lack[k + 1 :, k] / np.where(are_below, lack[k, k], 1.0)
        for i in range(k + 1, size):
            lack[i, k + 1 : i + 1] -= factors[i - k - 1] * lack[k + 1 : i + 1, k]
        are_below &= lack[k + 1, k + 1] > 0.0
    return np.asarray(are_below)


def _parts_of_planes(planes: Array) -> list[Array]:
    """As many matrices (a, b, m) at a time as stay in the cache."""
    most = _MOST_BY_PLANES * 4 // planes.itemsize
    return np.array_split(planes, max(1, -(-planes.shape[2] // most)), axis=2)


def _lying(planes: Array) -> Array:
    """Planes of matrices that are no taller than wide."""
    return planes.swapaxes(0, 1) if planes.shape[0] > planes.shape[1] else planes


def largest_root(block: Any, /) -> Any:
    """Largest squared singular value of every matrix of a batch."""
    if block.shape[-2] > block.shape[-1]:
        block = block.swapaxes(-1, -2)
    if is_tensor(block):
        roots = largest_roots(block)
        return _largest_root_of(products_of_rows(block.movedim((-2, -1), (0, 1)))) if roots is None else roots
    if is_large(block.shape[-2:]):
        found = [largest_square(matrix) for matrix in block.reshape(-1, *block.shape[-2:])]
        return np.array(found).reshape(block.shape[:-2])
    if block.ndim == 3 and block.shape[1] > 2 and len(block) >= _PAIRS_BY_PLANES:
        return np.concatenate(share(_roots_of_some, _parts(block, _ROOTS_AT_ONCE), are_short_calls=True))
    if block.shape[-2] <= 2:
        rows = block[..., 0, :], block[..., -1, :]
        first, beside, second = (np.einsum("...k,...k->...", rows[i], rows[j]) for i, j in ((0, 0), (0, 1), (1, 1)))
        return first if block.shape[-2] == 1 else _root_of_two(first, beside, second)
    block = np.ascontiguousarray(block)
    return np.asarray(np.linalg.eigvalsh(block @ block.swapaxes(-1, -2))[..., -1])


def _parts(matrices: Array, most: int, /) -> list[Array]:
    """At most so many matrices of float32 at a time, or half as many of float64."""
    most = max(1, most * 4 // matrices.itemsize)
    return np.array_split(matrices, max(1, -(-len(matrices) // most)))


def _roots_of_some(matrices: Array) -> Array:
    """Largest squared singular values of matrices (m, a, b) with a above 2."""
    lines = []
    for part in _parts(matrices, _MOST_BY_PLANES):
        diagonal, squares, scale = _tridiagonal(products_of_rows(_planes(part)))
        lines.append(np.stack((*diagonal, *squares, scale)))  # copied, since the next part overwrites them
    *rows, scale = lines[0] if len(lines) == 1 else np.concatenate(lines, axis=1)
    size = len(rows) // 2 + 1
    return np.asarray(_largest_root(rows[:size], rows[size:]) * scale)


def _planes(matrices: Array) -> Array:
    """Matrices (m, a, b) as planes (a, b, m), until the next call in this thread."""
    moved = np.moveaxis(matrices, 0, -1)
    planes = workspace("planes", moved.shape, matrices.dtype)
    planes[:] = moved
    return planes


def _largest_root_of(gram: Any) -> Any:
    """Largest eigenvalue of symmetric matrices (m, m, …)."""
    if len(gram) == 1:
        return np.asarray(gram[0, 0]) if gram.ndim == 2 else gram[0, 0]
    if len(gram) > 2:
        return largest_eigenvalue(gram)
    return _root_of_two(gram[0, 0], gram[0, 1], gram[1, 1])


def _root_of_two(first: Any, beside: Any, second: Any) -> Any:
    """Larger eigenvalue of symmetric matrices of two rows."""
    return (first + second) / 2 + namespace(first).hypot((first - second) / 2, beside)


def products_of_rows(planes: Any, /) -> Any:
    """Inner products (a, a, …) of the rows of matrices (a, b, …); of NumPy until the next call in this thread."""
    if not is_tensor(planes):
        gram = workspace("products of rows", (len(planes), len(planes), *planes.shape[2:]), planes.dtype)
        # Half of them, and the others copied, take two thirds of the time.
        for i in range(len(planes)):
            np.einsum("k...,jk...->j...", planes[i], planes[i:], out=gram[i, i:])
            gram[i, :i] = gram[:i, i]
        return gram
    gram = planes[:, None, 0] * planes[None, :, 0]
    for k in range(1, planes.shape[1]):
        gram.addcmul_(planes[:, None, k], planes[None, :, k])
    return gram


def largest_eigenvalue(planes: Any, /) -> Any:
    """Largest eigenvalue of symmetric matrices (m, m, …) without negative ones; the planes are used up."""
    diagonal, squares, scale = _tridiagonal(planes.reshape(len(planes), len(planes), -1))
    return (_largest_root(diagonal, squares) * scale).reshape(planes.shape[2:])


def _tridiagonal(planes: Any) -> tuple[list[Any], list[Any], Any]:
    """Diagonal, and squares beside it, of tridiagonal matrices of trace 1 with the same eigenvalues but for a scale."""
    xp, size = namespace(planes), len(planes)
    trace = sum(planes[k, k] for k in range(size))
    scale = xp.where(trace > 0.0, trace, xp.ones_like(trace))
    planes /= scale
    squares = []
    for k in range(size - 2):
        mirror, rest = planes[k + 1 :, k], planes[k + 1 :, k + 1 :]
        square = sum_of_products(mirror, mirror)
        squares.append(square)
        length = xp.copysign(xp.sqrt(square), mirror[0])
        mirror[0] += length
        # Twice over the squared length of the mirror; nothing is to be mirrored where that is 0.
        norm = length * mirror[0]
        factor = xp.where(norm > 0.0, 1.0 / xp.where(norm > 0.0, norm, xp.ones_like(norm)), xp.zeros_like(norm))
        image = sums_of_products(rest, mirror) * factor
        image -= mirror * (sum_of_products(mirror, image) * factor / 2)
        _subtract_products(rest, mirror, image)
    squares.append(planes[size - 1, size - 2] ** 2)
    return [planes[k, k] for k in range(size)], squares, scale


def _largest_root(diagonal: list[Any], squares: list[Any]) -> Any:
    xp, size = namespace(diagonal[0]), len(diagonal)
    # From infinity Laguerre's first step is this bound of mean and variance of the roots.
    mean = sum(diagonal) / size
    spread = sum((d - mean) ** 2 for d in diagonal) + 2 * sum(squares)
    root = mean + xp.sqrt(spread * ((size - 1) / size))
    rest = _REST[_bytes(root)]
    root *= 1.0 + rest
    for _ in range(_STEPS_OF_ALL):
        step = _step(root, diagonal, squares)
        root -= step
    (moving,) = xp.where(step > rest * root)
    for _ in range(_MOST_ROUNDS):
        if len(moving) == 0:
            break
        some, of_diagonal, beside = root[moving], [d[moving] for d in diagonal], [e[moving] for e in squares]
        for _ in range(_STEPS_OF_OTHERS):
            step = _step(some, of_diagonal, beside)
            some = some - step
        root[moving] = some
        moving = moving[step > rest * some]
    return root


def _step(root: Any, diagonal: list[Any], squares: list[Any]) -> Any:
    """Laguerre's step from above: the logarithm's derivatives by the pivots of the shifted matrix."""
    xp, size = namespace(root), len(diagonal)
    # Below a pivot that is 0 all is nonsense, which the lowest one tells in the end.
    with np.errstate(all="ignore"):
        pivot = root - diagonal[0]
        lowest, inverse = pivot, 1.0 / pivot
        slope, square, bend = inverse, inverse**2, xp.zeros_like(inverse)  # of the pivot, over the pivot
        first, second = 1.0 * slope, square
        for d, e in zip(diagonal[1:], squares, strict=True):
            # In place, since calls are many and what they write to memory is much.
            share = e * inverse
            pivot = root - d
            pivot -= share
            lowest = xp.minimum(lowest, pivot)
            square = 2.0 * square
            bend -= square
            bend *= share
            share *= slope
            share += 1.0
            inverse = 1.0 / pivot
            bend *= inverse
            share *= inverse
            slope, square = share, share**2
            first += slope
            second = second + square
            second -= bend
        inside = xp.clip((size - 1) * (size * second - first**2), 0.0, None)
        # Rounding may end below the root, where a pivot changes its sign: it is found then.
        return xp.where(lowest > _NOTHING[_bytes(root)], size / (first + xp.sqrt(inside)), 0.0)


def _bytes(array: Any) -> int:
    return int(array.element_size() if is_tensor(array) else array.itemsize)


# What NumPy would write to memory in between costs it more than the sums.


def _subtract_products(target: Any, x: Any, y: Any) -> None:
    """Take the outer products of x with y and of y with x from matrices (m, m, …), in place."""
    if is_tensor(target):
        target.addcmul_(-x[:, None], y[None])
        target.addcmul_(-y[:, None], x[None])
        return
    for k in range(len(target)):
        target[k] -= x[k] * y
        target[k] -= y[k] * x
