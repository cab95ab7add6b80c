"""Tables in which one row, or a few, make two columns look alike."""

import numpy as np

from contracts.tables import table


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
