"""The path for one pair: `rdc` and `transformations`."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from renyi.basis import random_features as features
from renyi.basis.basis import Basis, category_basis, restrict, scalar_basis, vector_basis
from renyi.basis.canonical import canonical_correlations, canonical_directions, cross_products
from renyi.basis.random_features import DEFAULT_SCALE, Frequencies, Projection, Seed
from renyi.basis.ranks import joint_ranks
from renyi.compute.threads import in_threads
from renyi.data.align import Missing, as_pair, common_rows
from renyi.data.column import Column
from renyi.errors import InputError, check_choice, is_integer, is_number
from renyi.inference.debias import debias as without_chance
from renyi.inference.debias import null_level
from renyi.pair.result import CategoryTransformation, RankTransformation, Transformations

__all__ = ["rdc", "transformations", "transformations_of"]

Array: TypeAlias = NDArray[np.float64]
Scale: TypeAlias = float | Literal["median"]
Rng: TypeAlias = int | np.random.Generator | None
Prepared = TypeVar("Prepared")

# Canonical correlations this close are taken as equal when their functions are shown.
_EQUAL_CORRELATIONS = 1e-9
# Functions rise with x, unless this many times as much is to be said of y.
_CLEARER = 2.0
_MOST_PROJECTIONS = 20_000
# Below this many rows a second thread costs more than it saves.
_ROWS_FOR_THREADS = 2**17


def rdc(
    x: Any,
    y: Any,
    *,
    k: int | None = None,
    s: Scale = DEFAULT_SCALE,
    frequencies: Frequencies = "auto",
    repeats: int = 1,
    debias: bool = False,
    missing: Missing = "raise",
    rng: Rng = None,
) -> float:
    """Randomized Dependence Coefficient of two variables.

    The largest correlation between a smooth function of the ranks of x and one of the ranks of y, in [0, 1]: near 1 if
    one determines the other by a function that the features can follow, and above 0 by chance if they are independent
    (about 0.22 at n = 500, 0.05 at n = 10,000 for scalars; `debias` takes that away). It does not change under
    strictly increasing maps of any coordinate.

    Parameters
    ----------
    x, y : array-like of shape (n,) or (n, d), or a category
        Lists, arrays, and columns or frames of pandas, Polars and Arrow; rows are samples. Dates and durations are
        numbers. Booleans and categorical columns are categories, but ordered ones of pandas and Arrow are ranked; other
        labels, whole numbers that are codes among them, are declared by `renyi.categorical`. Tensors of torch are
        brought into memory, whatever device they are on.
    k : int, optional
        Random projections a side, each giving a sine and a cosine. By default ⌈10·√d⌉ for d coordinates; on few rows
        at most one for every ten of them, and for vectors at most min(d, 5) for every 120. Where cells are missing,
        the rows that both sides have decide.
    s : float or "median", default 3.0
        Standard deviation of the frequencies. "median" is the heuristic of the paper's experiments, the median squared
        distance between two points of the copula, for each side on its own.
    frequencies : {"auto", "normal", "orthogonal", "fastfood"}, default "auto"
        How frequencies are drawn: independent as in the paper, in orthogonal blocks, or as Fastfood products that
        need O(k log d) time a row and O(k) memory. "auto" is stratified for scalars, orthogonal for vectors, and
        Fastfood where d·k exceeds 2²².
    repeats : int, default 1
        Draws of the frequencies; the median of their coefficients is returned.
    debias : bool, default False
        Subtract what independence would show. The result has a mean near 0 under independence and may be negative.
    missing : {"raise", "pairwise", "listwise"}, default "raise"
        What to do about missing values. "pairwise" ranks each variable over its own observed rows and compares them on
        the rows both have; "listwise" drops the other rows first.
    rng : int, numpy.random.Generator or None, default None
        None is one fixed draw: the same data give the same number everywhere. An integer or a Generator gives another.

    Returns
    -------
    float

    Raises
    ------
    InputError
        For data or settings without a meaningful answer. It is also a ValueError.

    Notes
    -----
    With u = P_n(x) the empirical copula and Φ(u) the sines and cosines of w·u + b, w ~ N(0, s²I/d), the coefficient is
    the largest canonical correlation of Φ(u) and Φ(v) [1]_. One draw serves both sides, so the coefficient is
    symmetric. Directions of the features with a root mean square below 10⁻⁶ are left out; that rank is decided from one
    side alone. Ties share the rank of their last member. From 32,768 rows on ranks are put into 8,192 cells, which
    moves the coefficient by less than 2·10⁻⁵. The cost is O(n log n) for scalars, O(n·k·(d + k)) for vectors.

    References
    ----------
    .. [1] D. Lopez-Paz, P. Hennig, B. Schölkopf, "The Randomized Dependence Coefficient", NIPS 2013,
       https://doi.org/10.48550/arXiv.1304.7717

    Examples
    --------
    >>> import numpy as np
    >>> import renyi
    >>> x = np.linspace(-1, 1, 500)
    >>> y = x**2
    >>> bool(abs(np.corrcoef(x, y)[0, 1]) < 1e-9)
    True
    >>> round(renyi.rdc(x, y), 3)
    1.0
    """
    settings = Settings(k, s, frequencies)
    check_draws(repeats, debias)
    draws = features.seeds(rng, n_draws=int(repeats))
    pair = as_pair(x, y, missing=missing)
    return float(np.median([_coefficient(pair, settings, seed, debias) for seed in draws]))


def transformations(
    x: Any,
    y: Any,
    *,
    k: int | None = None,
    s: Scale = DEFAULT_SCALE,
    frequencies: Frequencies = "auto",
    missing: Missing = "raise",
    rng: Rng = None,
) -> Transformations:
    """The functions f of x and g of y whose correlation is the coefficient.

    They show what `renyi.rdc` found: f(x) and g(y) have mean 0, variance 1, and the coefficient as their correlation.
    For numbers they are smooth functions of the rank, for categories a score for every level. Where x is a number, f
    is turned so that it rises with x on the whole.

    Parameters
    ----------
    x, y, k, s, frequencies, missing, rng
        As in `renyi.rdc`.

    Returns
    -------
    Transformations
        With `.f` and `.g` as callables for new data, `.correlation`, `.correlations`, `.ranks`, and `.plot()`.

    Raises
    ------
    InputError
        As `renyi.rdc`.

    Examples
    --------
    >>> import numpy as np
    >>> import renyi
    >>> x = np.linspace(-1, 1, 500)
    >>> found = renyi.transformations(x, x**2)
    >>> round(found.correlation, 3)
    1.0
    >>> bool(np.corrcoef(found.f(x), found.g(x**2))[0, 1] > 0.999)
    True
    """
    settings = Settings(k, s, frequencies)
    (seed,) = features.seeds(rng, n_draws=1)
    pair = as_pair(x, y, missing=missing)
    return transformations_of(pair, pair_of_bases(pair, settings, seed))


def transformations_of(pair: tuple[Column, Column], bases: tuple[Basis, Basis], /) -> Transformations:
    """The functions of two columns whose bases, on the rows both have, are at hand."""
    left, correlations, right = canonical_directions(cross_products(*bases))
    correlations.setflags(write=False)
    mixture = _smoothest(left, correlations)
    directions = (left @ mixture, right @ mixture)
    sign = _orientation(pair, bases, directions)
    rows = common_rows(*pair)
    # Copies, so that later changes of the user's arrays do not reach a result.
    used = [column.take(np.ones(len(column), dtype=bool) if rows is None else rows).complete() for column in pair]
    return Transformations(
        f=_transformation(pair[0], bases[0], sign * directions[0]),
        g=_transformation(pair[1], bases[1], sign * directions[1]),
        correlations=correlations,
        bases=bases,
        x=used[0],
        y=used[1],
    )


@dataclass(frozen=True)
class Settings:
    """How features are drawn, checked."""

    k: int | None
    s: Scale
    frequencies: Frequencies

    def __post_init__(self) -> None:
        if self.k is not None and not (is_integer(self.k) and 1 <= self.k <= _MOST_PROJECTIONS):
            raise InputError(
                f"k={self.k!r} makes no sense: pass a whole number of projections, 1 to {_MOST_PROJECTIONS:,}"
            )
        is_scale = self.s == "median" if isinstance(self.s, str) else is_number(self.s) and 1e-9 <= self.s <= 1e9
        if not is_scale:
            raise InputError(f"s={self.s!r} makes no sense: pass a standard deviation from 1e-9 to 1e9, or 'median'")
        check_choice(self.frequencies, Frequencies, "frequencies")

    def projection(self, column: Column, seed: Seed, /) -> Projection:
        """The frequencies of one complete column."""
        n, n_coordinates = column.values.reshape(len(column), -1).shape
        k = features.default_projections(n_coordinates, n) if self.k is None else int(self.k)
        if self.s == "median":
            s = features.median_scale(joint_ranks(column.values.reshape(n, n_coordinates)))
            if s == 0.0:
                raise InputError(f"s='median' is 0 for {column.label}, most of whose values are equal: pass a number")
        else:
            s = float(self.s)
        return features.draw(n_coordinates, k, s, kind=self.frequencies, seed=seed)

    def scalar_projection(self, n: int, seed: Seed, /) -> Projection:
        """The frequencies of a number of n rows that are elsewhere."""
        if self.s == "median":
            raise InputError("s='median' needs all ranks at once, and the rows are read in batches: pass a number")
        k = features.default_projections(1, n) if self.k is None else int(self.k)
        return features.draw(1, k, float(self.s), kind=self.frequencies, seed=seed)

    def of_rows(self, basis: Basis, /) -> Basis:
        """The basis; unless a k was named, how many functions it has goes by its rows, also where some drop out."""
        return replace(basis, goes_by_rows=self.k is None)


def check_draws(repeats: Any, debias: Any, /) -> None:
    """Refuse what is no number of draws, or neither True nor False."""
    if not is_integer(repeats) or repeats < 1:
        raise InputError(f"repeats={repeats!r} makes no sense: pass a whole number of draws, 1 or more")
    if not isinstance(debias, (bool, np.bool_)):
        raise InputError(f"debias={debias!r} makes no sense: pass True or False")


def _coefficient(pair: tuple[Column, Column], settings: Settings, seed: Seed, debias: bool) -> float:
    x, y = pair_of_bases(pair, settings, seed)
    largest = float(canonical_correlations(cross_products(x, y))[0])
    return without_chance(largest, null_level(x, y)) if debias else largest


def pair_of_bases(pair: tuple[Column, Column], settings: Settings, seed: Seed, /) -> tuple[Basis, Basis]:
    """Both bases over the rows both have, checked for freedom."""

    def prepare(column: Column) -> Basis:
        return _basis(column, settings, seed)

    x, y = for_both(prepare, pair)
    rows = rows_in_common(pair)
    if rows is not None:
        x, y = restrict(x, rows[0]), restrict(y, rows[1])
    check_freedom(pair, (x, y))
    return x, y


def for_both(prepare: Callable[[Column], Prepared], pair: tuple[Column, Column], /) -> list[Prepared]:
    """Prepare two columns, at the same time where they are long."""
    long_scalars = len(pair[0]) >= _ROWS_FOR_THREADS and all(column.kind == "number" for column in pair)
    return in_threads(prepare, pair) if long_scalars else [prepare(column) for column in pair]


def rows_in_common(pair: tuple[Column, Column], /) -> list[NDArray[np.bool_]] | None:
    """Of the observed rows of either column those that the other has too; None where nothing is missing."""
    common = common_rows(*pair)
    if common is None:
        return None
    return [common if column.missing is None else common[~column.missing] for column in pair]


def _basis(column: Column, settings: Settings, seed: Seed) -> Basis:
    """The basis of a column over its own observed rows."""
    column = column.complete()
    if column.kind == "category":
        return category_basis(column.values)
    projection = settings.projection(column, seed)
    basis = scalar_basis if column.kind == "number" else vector_basis
    return settings.of_rows(basis(column.values, projection))


def check_freedom(pair: tuple[Column, Column], bases: tuple[Basis, Basis], /) -> None:
    """Refuse bases that are empty, or so large that they correlate perfectly whatever the data."""
    for column, basis in zip(pair, bases, strict=True):
        check_basis(column, basis)
    check_ranks(bases[0].rank, bases[1].rank, bases[0].n_samples)


def check_basis(column: Column, basis: Basis, /) -> None:
    """Refuse an empty basis."""
    if basis.rank > 0:
        return
    n = basis.n_samples
    is_short = n < len(column) or column.kind == "category"
    remedy = "pass more rows" if is_short else "pass a larger s (to renyi.rdc), or declare it by renyi.categorical"
    raise InputError(f"{column.label} does not vary enough to be measured on the {n:,} rows used: {remedy}")


def check_ranks(rank_x: int, rank_y: int, n: int, /) -> None:
    """Refuse ranks that together fill the rows."""
    if rank_x + rank_y >= n:
        raise InputError(
            f"x and y have bases of ranks {rank_x} and {rank_y}, and on {n:,} rows those correlate "
            "perfectly whatever the data: pass more rows, fewer levels or coordinates, or (to renyi.rdc) a smaller k"
        )


def _transformation(column: Column, basis: Basis, direction: Array) -> RankTransformation | CategoryTransformation:
    if basis.feature_map is None and basis.codes is not None:
        scores = basis.table @ direction
        return CategoryTransformation(column.name, {column.levels[i]: float(scores[i]) for i in np.unique(basis.codes)})
    if basis.feature_map is None:
        raise ValueError("a basis has codes, a feature map, or both")
    values = column.complete().values
    ordered = np.sort(values.reshape(len(values), -1), axis=0)
    return RankTransformation(
        replace(column, values=column.values[:0], missing=None), tuple(ordered.T), basis.feature_map, direction
    )


def _smoothest(left: Array, correlations: Array) -> Array:
    """The mixture of canonical directions to show: the first one, or of several that do as well the smoothest.

    Where y is a monotone function of x every direction reaches 1, and a singular vector is an arbitrary one of them.
    """
    n_best = np.count_nonzero(correlations > correlations[0] - _EQUAL_CORRELATIONS)
    mixture = np.zeros(len(correlations))
    if n_best == 1:
        mixture[0] = 1.0
    else:
        # Bases run from smooth to rough: follow the smoothest column that lies well within the best directions.
        reach = np.linalg.norm(left[:, :n_best], axis=1)
        column = np.argmax(reach > 0.5 * reach.max())
        mixture[:n_best] = left[column, :n_best] / reach[column]
    return mixture


def _orientation(pair: tuple[Column, Column], bases: tuple[Basis, Basis], directions: tuple[Array, Array]) -> float:
    """The sign that makes f rise with x, or g with y where f has no trend: a singular vector's own means nothing."""
    trends = [
        _trend(basis, direction)
        for column, basis, direction in zip(pair, bases, directions, strict=True)
        if column.kind == "number"
    ]
    if not trends:
        return 1.0 if directions[0][np.argmax(np.abs(directions[0]))] >= 0 else -1.0
    trend = trends[-1] if abs(trends[-1]) > _CLEARER * abs(trends[0]) else trends[0]
    return 1.0 if trend >= 0 else -1.0


def _trend(basis: Basis, direction: Array) -> float:
    """Correlation of a function of a number with the place of its cells, which are in the order of the values."""
    counts = basis.cell_counts
    if counts is None:
        return 0.0
    places = np.arange(len(counts)) - counts @ np.arange(len(counts)) / counts.sum()
    return float(counts @ (places * (basis.table @ direction)) / np.sqrt(counts @ places**2 * counts.sum()))
