"""Tables in which one row, or a few, make two columns look alike."""

import numpy as np

from contracts.tables import labels, table, with_gaps


@table()
def single_rows(rng):
    """Flags of one row, of two and of three, some of them shared; numbers that are 0 but for one row."""
    places = {"one": [17], "the same": [17], "two": [17, 90], "also two": [17, 90], "three": [5, 60, 200]}
    some = {name: np.isin(np.arange(400), rows).astype(float) for name, rows in places.items()}
    amount = np.where(np.arange(400) == 17, 250.0, 0.0)
    return some | {"amount": amount, "x": (x := rng.standard_normal(400)), "noisy": x + rng.standard_normal(400)}


@table()
def few_common_rows(rng):
    """Two columns that have forty rows in common, of which one stands out in both, beside complete ones."""
    x, y = rng.standard_normal((2, 400))
    x[200], y[200] = 30.0, 30.0
    first, last = np.where(np.arange(400) < 220, x, np.nan), np.where(np.arange(400) >= 180, y, np.nan)
    return {"first": first, "last": last, "x": x, "other": x**2 + 0.3 * y}


@table()
def rare_events(rng):
    """Single rows weigh too much for a null distribution: p-values come from permutations."""
    first = rng.permutation(400) < 4
    return {
        "first": first,
        "second": rng.permutation(400) < 3,
        "both": first & (rng.random(400) < 0.8),
        "zeros": np.where(rng.permutation(400) < 6, rng.exponential(size=400), 0.0),
        "x": rng.standard_normal(400),
    }


@table()
def heavy_on_common_rows(rng):
    """On the rows that two columns have single ones may weigh more than on all: debiased values go by the former."""
    x = rng.standard_normal(100)
    kinds = {
        "x": x,
        "flag": x > 1.2,
        "label": labels(rng, [9, 6, 4, 2, 1], 100),
        "other": labels(rng, [6, 3, 2, 1], 100),
        "rare": rng.random(100) < 0.1,
        "rounded": np.round(x),
    }
    return {name: with_gaps(cells, rng, 0.4) for name, cells in kinds.items()}


@table()
def rare_numbers(rng):
    """The same with numbers alone."""
    return {
        "first": np.where(rng.permutation(300) < 4, rng.exponential(size=300), 0.0),
        "second": np.where(rng.permutation(300) < 3, rng.exponential(size=300), 0.0),
        "third": np.where(rng.permutation(300) < 5, 1.0, 2.0),
        "x": rng.standard_normal(300),
    }
