"""Values of one column, of every type: good, odd and impossible ones."""

import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

DAY = datetime.datetime(2020, 2, 27, 5, 6, 7)
_WORDS = ("up", "down", "é", "", " ", "1", "NA", "nan", "2020-01-01", "x" * 300, "a\nb", "\x00", "👩‍👩‍👧", "=1+1")


def plain(rng: Any, n: int) -> Any:
    """Values that can be measured by everything."""
    kind = rng.integers(6)
    if kind == 0:
        return rng.standard_normal(n)
    if kind == 1:
        return np.round(rng.standard_normal(n), 1)
    if kind == 2:
        return rng.integers(-50, 50, n)
    if kind == 3:
        return rng.permutation(n) * 0.5
    if kind == 4:
        return rng.standard_normal(n).astype(np.float32)
    return np.where(rng.random(n) < 0.5, 0.0, rng.exponential(size=n))


def labels(rng: Any, n: int) -> Any:
    """Text of a few levels."""
    return np.array(list("abcd"))[rng.integers(0, 4, n)]


def _lists(values: Any) -> list[Any]:
    return list(values)


_X = {
    "flags": lambda rng, n: rng.random(n) < 0.5,
    "constant": lambda rng, n: np.full(n, rng.integers(3)),
    "one value": lambda rng, n: np.where(np.arange(n) == n // 2, 1.0, 0.0),
    "names of rows": lambda rng, n: np.array([f"row {k}" for k in range(n)], dtype=object),
    "words": lambda rng, n: [_WORDS[k] for k in rng.integers(0, len(_WORDS), n)],
    "bytes": lambda rng, n: [b"ab"[k : k + 1] for k in rng.integers(0, 2, n)],
    "numbers as text": lambda rng, n: [f"{v:.2f}" for v in rng.standard_normal(n)],
    "dates as text": lambda rng, n: [str(DAY + datetime.timedelta(int(k)))[:10] for k in rng.integers(0, 99, n)],
    "small integers": lambda rng, n: rng.integers(-128, 127, n).astype(rng.choice(["i1", "i2", "u1", "u2", "i4"])),
    "unsigned": lambda rng, n: rng.integers(0, 2**64, n, dtype=np.uint64),
    "beyond floats": lambda rng, n: 2**62 + rng.permutation(n),
    "beyond 64 bits": lambda rng, n: [10**30 + int(k) for k in rng.permutation(n)],
    "half": lambda rng, n: rng.standard_normal(n).astype(np.float16),
    "extended": lambda rng, n: rng.standard_normal(n).astype(np.longdouble) * np.longdouble("1e400"),
    "largest": lambda rng, n: np.where(rng.random(n) < 0.5, 1.7e308, -1.7e308),
    "large": lambda rng, n: rng.standard_normal(n) * 5e307,
    "smallest": lambda rng, n: rng.integers(-9, 9, n) * 5e-324,
    "near one": lambda rng, n: 1.0 + rng.integers(0, 9, n) * 2.3e-16,
    "signed zeros": lambda rng, n: np.where(rng.random(n) < 0.5, 0.0, -0.0),
    "infinite": lambda rng, n: np.where(rng.random(n) < 0.1, np.inf, rng.standard_normal(n)),
    "nothing": lambda rng, n: np.full(n, np.nan),
    "None": lambda rng, n: [None] * n,
    "complex": lambda rng, n: rng.standard_normal(n) * 1j,
    "days": lambda rng, n: np.datetime64("2020-02-27") + rng.integers(0, 900, n),
    "stamps": lambda rng, n: (np.datetime64("2020-02-27", "s") + np.arange(n)).astype(
        rng.choice(["M8[s]", "M8[ms]", "M8[us]", "M8[ns]"])
    ),
    "ancient": lambda rng, n: np.datetime64("-9999-01-01", "D") + rng.integers(0, 9**7, n),
    "durations": lambda rng, n: rng.integers(0, 900, n).astype(rng.choice(["m8[s]", "m8[D]", "m8[ns]", "m8[M]", "m8"])),
    "dates": lambda rng, n: [DAY.date() + datetime.timedelta(int(k)) for k in rng.integers(0, 99, n)],
    "moments": lambda rng, n: [DAY + datetime.timedelta(seconds=int(k)) for k in rng.integers(0, 99, n)],
    "zoned": lambda rng, n: [DAY.replace(tzinfo=datetime.UTC) + datetime.timedelta(int(k)) for k in range(n)],
    "times": lambda rng, n: [datetime.time(int(k) % 24, 5) for k in rng.integers(0, 99, n)],
    "deltas": lambda rng, n: [datetime.timedelta(int(k)) for k in rng.integers(0, 99, n)],
    "numpy durations": lambda rng, n: [np.timedelta64(int(k), "sYD"[k % 3]) for k in rng.integers(0, 99, n)],
    "numpy dates": lambda rng, n: [np.datetime64(int(k), "sYD"[k % 3]) for k in rng.integers(0, 99, n)],
    "periods": lambda rng, n: list(pd.period_range("2020-01", periods=n, freq="M")),
    "intervals": lambda rng, n: list(pd.interval_range(0, max(n, 1)))[:n],
    "decimals": lambda rng, n: [Decimal(int(k)) / 8 for k in rng.integers(0, 99, n)],
    "odd decimals": lambda rng, n: [(Decimal("NaN"), Decimal("Infinity"), Decimal(1))[k % 3] for k in range(n)],
    "fractions": lambda rng, n: [Fraction(int(k), 7) for k in rng.integers(0, 99, n)],
    "mixed": lambda rng, n: [(1, "a", 2.5, True, None, b"x", DAY)[k] for k in rng.integers(0, 7, n)],
    "large and fractions": lambda rng, n: [(2**60 + 1, 0.5)[k % 2] for k in range(n)],
    "lists": lambda rng, n: [[1, 2]] * n,
    "uneven lists": lambda rng, n: [[1] * (k % 3) for k in range(n)],
    "dicts": lambda rng, n: [{"a": 1}] * n,
    "sets": lambda rng, n: [{1}] * n,
    "tuples": lambda rng, n: [(1, "a")] * n,
    "objects": lambda rng, n: [object() for _ in range(n)],
    "arrays": lambda rng, n: [np.arange(3)] * n,
    "masked scalars": lambda rng, n: [np.ma.masked if k % 5 == 1 else float(k) for k in range(n)],
    "masked": lambda rng, n: np.ma.array(rng.standard_normal(n), mask=rng.random(n) < 0.2),
    "masked text": lambda rng, n: np.ma.array(labels(rng, n), mask=rng.random(n) < 0.2),
    "vectors": lambda rng, n: rng.standard_normal((n, 2)),
    "cubes": lambda rng, n: rng.standard_normal((n, 2, 2)),
    "wide": lambda rng, n: rng.standard_normal((n, 0)),
    "records": lambda rng, n: np.zeros(n, dtype=[("a", "f8"), ("b", "i4")]),
    "raw": lambda rng, n: np.zeros(n, dtype="V4"),
    "swapped": lambda rng, n: rng.standard_normal(n).astype(">f8"),
    "wide text": lambda rng, n: np.array(["a", "b"] * n, dtype=np.dtypes.StringDType())[:n],
    "types": lambda rng, n: [int, str] * (n // 2),
}  # fmt: skip
ODD = tuple(_X)
# What stands for a missing cell; each in a list, or as the cells have it.
_GAPS = (None, float("nan"), np.nan, pd.NA, pd.NaT, np.datetime64("NaT", "s"), np.timedelta64("NaT", "s"), np.ma.masked)


def odd(kind: str, rng: Any, n: int) -> Any:
    """Cells of one of the kinds in `ODD`."""
    return _X[kind](rng, n)


def without_numpy(cells: Any) -> list[Any]:
    """Cells as Python has them: some of NumPy's, beside others, end a process that makes an array of Arrow of them."""
    return [cell.item() if isinstance(cell, np.generic) else cell for cell in _lists(cells)]


def with_gaps(cells: Any, rng: Any) -> list[Any]:
    """The same cells as a list with some missing, in a way that lists have."""
    gap = _GAPS[int(rng.integers(len(_GAPS))) if rng.random() < 0.6 else 0]
    return [gap if rng.random() < 0.15 else cell for cell in _lists(cells)]
