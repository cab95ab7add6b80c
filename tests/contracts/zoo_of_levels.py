"""The tables of categories with more levels than a dense basis is good for."""

import numpy as np

from contracts.tables import labels, table, with_gaps


@table()
def many_levels(rng):
    """More levels than are kept, and blocks that reach beyond the corner of the nested bases."""
    return {
        "fifty": np.array([f"{k:02}" for k in rng.integers(0, 50, 600)]),
        "twenty": labels(rng, [1] * 20, 600),
        "x": rng.standard_normal(600),
        "y": rng.standard_normal(600),
    }


@table()
def levels_by_the_hundred(rng):
    """Categories of as many levels as have a closed form and a table of their own, beside all others."""
    n = 2600
    hundred, again = rng.integers(0, 100, n), rng.integers(0, 70, n)
    return {
        "hundred": np.array([f"{k:02}" for k in hundred]),
        "seventy": np.array([f"{k:02}" for k in np.where(rng.random(n) < 0.3, hundred % 70, again)]),
        "x": np.cos(hundred) + rng.standard_normal(n),
        "zeros": np.where(rng.permutation(n) < 40, rng.exponential(size=n), 0.0),
        "two": np.where(hundred + 20 * rng.standard_normal(n) > 50, "yes", "no"),
        "four": labels(rng, [4, 3, 2, 1], n),
    }


@table()
def levels_by_the_hundred_and_gaps(rng):
    """The same where cells are missing: on common rows some levels have lost most of their rows."""
    columns = levels_by_the_hundred(rng)
    n = len(columns["x"])
    few = (columns["x"] > 0) | (rng.random(n) < 0.1)
    return {
        "hundred": columns["hundred"],
        "seventy": with_gaps(columns["seventy"], rng, 0.1),
        "x": np.where(few, columns["x"], np.nan),
        "two": with_gaps(columns["two"], rng, 0.3),
        "four": with_gaps(columns["four"], rng, 0.2),
    }


@table(slow=True)
def five_hundred_levels(rng):
    n = 15_000
    level = rng.integers(0, 500, n)
    return {
        "level": np.array([f"{k:03}" for k in level]),
        "other": np.array([f"{k:03}" for k in (level + rng.integers(0, 200, n)) % 450]),
        "x": rng.standard_normal(500)[level] + 0.3 * rng.standard_normal(n),
        "gaps": with_gaps(rng.standard_normal(500)[level], rng, 0.2),
    }


@table(max_levels=12)
def at_most_twelve_levels(rng):
    x = rng.standard_normal(600)
    return {"x": x, "forty": np.array([f"{k:02}" for k in np.digitize(x, np.linspace(-2, 2, 39))])}
