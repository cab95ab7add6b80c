"""The coefficient of one pair: `rdc`."""

from typing import Any

import numpy as np

from renyi.basis import random_features
from renyi.basis.canonical import cross_products, largest_correlation
from renyi.basis.random_features import DEFAULT_SCALE, Frequencies, Seed
from renyi.compute.devices import as_torch, device_of
from renyi.data.align import Missing, as_pair
from renyi.inference.debias import debias as without_chance
from renyi.inference.debias import null_level
from renyi.pair.bases import columns_on, pair_of_bases
from renyi.pair.settings import Rng, Scale, Settings, check_draws


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
    device: Any = None,
    rng: Rng = None,
) -> float:
    """How strongly two variables depend on each other, from 0 to 1: the Randomized Dependence Coefficient.

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
        worked on where they are.
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
        Draws of the frequencies, up to 10,000; the median of their coefficients is returned.
    debias : bool, default False
        Subtract what independence would show. The result has a mean near 0 under independence and may be negative.
    missing : {"raise", "pairwise", "listwise"}, default "raise"
        What to do about missing values. "pairwise" ranks each variable over its own observed rows and compares them on
        the rows both have; "listwise" drops the other rows first.
    device : str or torch.device, optional
        Where to rank and multiply: "cuda" for a GPU of NVIDIA, by torch (`renyi[gpu]`). None is where the data are: on
        the device of tensors, else on the processor by NumPy. Numbers are ranked on the device; categories, vectors and
        what `s="median"` looks at are read and ranked in memory.
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
    symmetric. Directions of the features with a root mean square below 10⁻⁶ are left out; that dimension is decided
    from one side alone. Ties share the rank of their last member. From 32,768 rows on ranks are put into 8,192 cells,
    which moves the coefficient by less than 2·10⁻⁵. The cost is O(n log n) for scalars, O(n·k·(d + k)) for vectors.

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
    draws = random_features.seeds(rng, n_draws=int(repeats))
    x, y = as_torch(x), as_torch(y)
    place = device_of(device, x, y)
    if place is not None and s != "median":
        x, y = columns_on(place, x, y)
    pair = as_pair(x, y, missing=missing)

    def coefficient(seed: Seed) -> float:
        bases = pair_of_bases(pair, settings, seed)
        largest = largest_correlation(cross_products(*bases, device=place))
        return without_chance(largest, null_level(*bases)) if debias else largest

    return float(np.median([coefficient(seed) for seed in draws]))
