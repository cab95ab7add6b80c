"""Ranks to random sines and cosines of w·u + b (paper, section 3.2).

Frequencies are ordered from smooth to rough, by the length of w, so that leading features are the smoother ones. The
scale s is a standard deviation: in d coordinates w ~ N(0, s² I/d), whatever the kind of draw.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, Protocol

import numpy as np
from scipy.special import gammaincinv, ndtri

from renyi.compute.arrays import Array, Index
from renyi.errors import InputError, brief, is_integer

Frequencies = Literal["auto", "normal", "orthogonal", "fastfood"]

# Chosen in benchmarks/studies/defaults.py; docs/validation/defaults.md has the table.
DEFAULT_SCALE = 3.0
_PROJECTIONS_OF_A_SCALAR = 10
_ROWS_PER_PROJECTION = 10
_ROWS_PER_VECTOR_PROJECTION = 120

# rng=None means this entropy: the year of the paper.
_DEFAULT_ENTROPY = 2013
# Above this many weights (32 MB) "auto" takes Fastfood rather than a dense matrix of frequencies.
_LARGEST_DENSE = 2**22
_FASTFOOD_BYTES = 2**20
# A product with this small Hadamard matrix costs less than passing through memory five times.
_RADIX = 32
_MEDIAN_ROWS = 1000


@dataclass(frozen=True)
class Seed:
    """Names one draw: the same seed gives the same frequencies for every column of the same dimension."""

    entropy: int
    number: int
    is_default: bool = False

    def for_rows(self, n: int, /) -> tuple[int, int, int]:
        """What permutations of n rows are drawn from."""
        return n, self.entropy, self.number

    def bits(self, n_coordinates: int) -> np.random.PCG64:
        """The stream of bits for columns of this dimension."""
        return np.random.PCG64(np.random.SeedSequence([self.is_default, self.entropy, self.number, n_coordinates]))


def seeds(rng: int | np.random.Generator | None, /, *, n_draws: int) -> list[Seed]:
    """The draws that `rng` stands for: None is the fixed draw, whose first scalar strata are taken at midpoints."""
    if rng is None:
        return [Seed(_DEFAULT_ENTROPY, number, is_default=True) for number in range(n_draws)]
    if isinstance(rng, np.random.Generator):
        entropy = int(rng.bit_generator.random_raw())
    elif is_integer(rng) and rng >= 0:
        entropy = int(rng)
    else:
        raise InputError(
            f"rng={brief(rng)} is not a source of randomness: pass None, an integer ≥ 0, or a numpy Generator"
        )
    return [Seed(entropy, number) for number in range(n_draws)]


(FIXED_DRAW,) = seeds(None, n_draws=1)


class Projection(Hashable, Protocol):
    """The map from ranks u to the angles w·u + b of k projections, smooth to rough."""

    @property
    def n_projections(self) -> int:
        """The k of the paper."""
        ...

    @property
    def n_coordinates(self) -> int:
        """The d of the paper."""
        ...

    @property
    def roughest(self) -> float:
        """Length of the longest frequency."""
        ...

    def angles(self, ranks: Array, /) -> Array:
        """Ranks (m, d) to angles (m, k)."""
        ...


@dataclass(frozen=True, eq=False)
class Dense:
    """Frequencies kept as a matrix, one column a projection."""

    weights: Array
    phases: Array

    @property
    def n_projections(self) -> int:
        return int(self.weights.shape[1])

    @property
    def n_coordinates(self) -> int:
        return int(self.weights.shape[0])

    @property
    def roughest(self) -> float:
        return float(np.linalg.norm(self.weights[:, -1]))

    def angles(self, ranks: Array, /) -> Array:
        return ranks @ self.weights + self.phases


@dataclass(frozen=True, eq=False)
class Fastfood:
    """Frequencies as products of diagonal and Hadamard matrices (Le, Sarlós, Smola 2013).

    A block of D = 2^m ≥ d projections is S H G P H B with Hadamard H, signs B, a permutation P, normals G and row
    lengths S: O(k log d) time a row and O(k) storage.
    """

    n_coordinates: int
    signs: Array
    permutations: Index
    normals: Array
    lengths: Array
    phases: Array
    order: Index

    @property
    def n_projections(self) -> int:
        return len(self.order)

    @property
    def roughest(self) -> float:
        return float(self.lengths.ravel()[self.order[-1]])

    def angles(self, ranks: Array, /) -> Array:
        angles = np.empty((len(ranks), self.n_projections))
        # Few rows at a time: a row is as wide as the data, and passes through the cache 2 log d times.
        step = max(1, _FASTFOOD_BYTES // (8 * self.signs.size))
        for start in range(0, len(ranks), step):
            rows = slice(start, start + step)
            np.add(self._products(ranks[rows])[:, self.order], self.phases, out=angles[rows])
        return angles

    def _products(self, ranks: Array) -> Array:
        products = []
        for block, signs in enumerate(self.signs):
            padded = np.zeros((len(ranks), len(signs)))
            np.multiply(ranks, signs[: self.n_coordinates], out=padded[:, : self.n_coordinates])
            mixed = _hadamard(padded)[:, self.permutations[block]] * self.normals[block]
            # Every row of H G P H B has the length √D·|G|; S gives it the length of a normal vector instead.
            length = np.sqrt(len(signs)) * np.linalg.norm(self.normals[block])
            products.append(_hadamard(mixed) * (self.lengths[block] / length))
        return np.concatenate(products, axis=1)


@lru_cache
def _small_hadamard(width: int) -> Array:
    matrix = np.ones((1, 1))
    while len(matrix) < width:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    return matrix


def _hadamard(rows: Array) -> Array:
    """Walsh-Hadamard transform of every row, unnormalised, in log d steps of a small one."""
    n_rows, width = rows.shape
    done = 1
    while done < width:
        radix = min(_RADIX, width // done)
        small = _small_hadamard(radix)
        rows = rows.reshape(-1, radix) @ small if done == 1 else small @ rows.reshape(-1, radix, done)
        done *= radix
    return rows.reshape(n_rows, width)


def draw(n_coordinates: int, k: int, s: float, /, *, kind: Frequencies, seed: Seed) -> Projection:
    """Draw k frequencies of scale s for a column of `n_coordinates` coordinates."""
    if n_coordinates == 1:
        return _draw_scalar(k, s, kind, seed)
    if kind == "auto":
        kind = "orthogonal" if n_coordinates * k <= _LARGEST_DENSE else "fastfood"
    bits = seed.bits(n_coordinates)
    if kind == "fastfood":
        return _draw_fastfood(bits, n_coordinates, k, s)
    make = _orthogonal if kind == "orthogonal" else _normal
    return _smooth_to_rough(make(bits, n_coordinates, k) * (s / np.sqrt(n_coordinates)), _phases(bits, k))


@lru_cache(maxsize=64)
def _draw_scalar(k: int, s: float, kind: Frequencies, seed: Seed) -> Projection:
    """Frequencies of a scalar column; kept, so that equal draws are one object and bases can be shared."""
    bits = seed.bits(1)
    if kind == "fastfood":
        return _draw_fastfood(bits, 1, k, s)
    if kind != "auto":
        return _smooth_to_rough(_normal(bits, 1, k) * s, _phases(bits, k))
    # One frequency from each of k equally likely strata of |N(0, s²)|. Sign and phase do not change what a sine and a
    # cosine of the same frequency span.
    within = np.full(k, 0.5) if seed.is_default and seed.number == 0 else _uniform(bits, k)
    strata = (np.arange(k) + within) / k
    return Dense(s * ndtri(0.5 + strata / 2)[np.newaxis, :], np.zeros(k))


def _smooth_to_rough(weights: Array, phases: Array) -> Dense:
    order = np.argsort(np.linalg.norm(weights, axis=0), kind="stable")
    return Dense(np.ascontiguousarray(weights[:, order]), phases[order])


def _orthogonal(bits: np.random.PCG64, n_coordinates: int, k: int) -> Array:
    """Orthogonal directions in blocks of d, with the lengths of normal vectors (Yu et al. 2016)."""
    directions = []
    for start in range(0, k, n_coordinates):
        width = min(n_coordinates, k - start)
        q, r = np.linalg.qr(_normal(bits, n_coordinates, width))
        # Signs that make the factorisation unique make q uniform on the rotations, and equal on every machine.
        directions.append(q * np.sign(np.diagonal(r)))
    return np.concatenate(directions, axis=1) * _lengths(bits, n_coordinates, k)


def _draw_fastfood(bits: np.random.PCG64, n_coordinates: int, k: int, s: float) -> Fastfood:
    width = 1 << (n_coordinates - 1).bit_length()
    n_blocks = -(-k // width)
    shape = (n_blocks, width)
    signs = np.where(_uniform(bits, *shape) < 0.5, -1.0, 1.0)
    permutations = np.argsort(_uniform(bits, *shape), axis=1)
    normals = _normal(bits, *shape)
    lengths = _lengths(bits, width, *shape) * (s / np.sqrt(n_coordinates))
    order = np.argsort(lengths.ravel()[:k], kind="stable")
    return Fastfood(n_coordinates, signs, permutations, normals, lengths, _phases(bits, k), order)


def _uniform(bits: np.random.PCG64, *shape: int) -> Array:
    # Raw bits, since NumPy promises to keep the streams of its bit generators but not those of its distributions.
    raw = bits.random_raw(int(np.prod(shape))).reshape(shape)
    return np.asarray(((raw >> np.uint64(11)) + 0.5) * 2.0**-53)


def _normal(bits: np.random.PCG64, *shape: int) -> Array:
    return np.asarray(ndtri(_uniform(bits, *shape)))


def _lengths(bits: np.random.PCG64, n_coordinates: int, *shape: int) -> Array:
    """Lengths of standard normal vectors, chi distributed."""
    return np.asarray(np.sqrt(2 * gammaincinv(n_coordinates / 2, _uniform(bits, *shape))))


def _phases(bits: np.random.PCG64, k: int) -> Array:
    return np.pi * (2 * _uniform(bits, k) - 1)


def sines_and_cosines(projection: Projection, ranks: Array, /) -> Array:
    """Features of ranks (m, d) as (m, 2k): a sine and a cosine of each projection in turn."""
    angles = projection.angles(ranks)
    features = np.empty((len(ranks), 2 * projection.n_projections))
    np.sin(angles, out=features[:, 0::2])
    np.cos(angles, out=features[:, 1::2])
    return features


# Tables of few rows ask for every number of common rows of each of their columns.
@lru_cache(maxsize=4096)
def default_projections(n_coordinates: int, n_samples: int, /) -> int:
    """The k of a column when the user names none: 10·√d, less where rows are few.

    At most one projection for every ten rows, and for vectors one for every 60 (d = 2), 40, 30 or 24 (d ≥ 5): their
    features overlap less than those of scalars, and on few rows some of them single out a point or two.
    """
    wanted = int(np.ceil(_PROJECTIONS_OF_A_SCALAR * np.sqrt(n_coordinates)))
    if n_coordinates == 1:
        limit = n_samples // _ROWS_PER_PROJECTION
    else:
        limit = n_samples * min(n_coordinates, 5) // _ROWS_PER_VECTOR_PROJECTION
    return max(1, min(wanted, limit))


def median_scale(ranks: Array, /) -> float:
    """The paper's heuristic for s: the median squared distance between two points of the copula.

    Samples of more than 1,000 rows are thinned evenly in the order of their ranks, so that row order has no say.
    """
    ordered = ranks[np.lexsort(ranks.T[::-1])]
    thinned = ordered[np.linspace(0, len(ordered) - 1, min(len(ordered), _MEDIAN_ROWS)).round().astype(np.intp)]
    square = np.sum(thinned**2, axis=1)
    distances = square[:, np.newaxis] + square - 2 * thinned @ thinned.T
    return max(float(np.median(distances[np.triu_indices(len(thinned), k=1)])), 0.0)
