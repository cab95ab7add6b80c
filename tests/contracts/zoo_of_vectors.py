"""Tables with columns that are one vector together."""

import numpy as np

from contracts.tables import Column, labels, numbers, table, with_gaps


@table(reading=True, vectors={"place": ["lat", "lon"]})
def vectors(rng):
    some = numbers(rng)
    return {"lat": some["x"], "lon": rng.standard_normal(240), "wave": some["wave"], "flag": some["parabola"] > 1}


@table(vectors={"place": ["lat", "lon"], "speed": ["east", "north"], "colour": ["red", "green", "blue"]})
def vectors_with_gaps(rng):
    """Vectors of which a row is missing where a coordinate is, beside columns of every kind, with gaps or without."""
    some = numbers(rng, 900)
    return {
        "lat": with_gaps(some["x"], rng, 0.05),
        "lon": rng.standard_normal(900),
        "east": with_gaps(some["wave"] + rng.standard_normal(900), rng, 0.05),
        "wave": with_gaps(some["wave"], rng),
        "north": with_gaps(rng.standard_normal(900), rng, 0.05),
        "red": rng.integers(0, 256, 900),
        "green": np.round(some["x"], 1),
        "blue": np.ones(900),
        "flag": with_gaps(some["parabola"] > 1, rng),
        "label": with_gaps(labels(rng, [5, 3, 2], 900), rng, 0.1),
        "noise": rng.standard_normal(900),
    }


@table(vectors={"place": ["lat", "lon"], "few": ["a", "b"]})
def short_vectors(rng):
    """So few rows that pairs with a vector are permuted, or have no freedom left."""
    some = numbers(rng, 40)
    late = [None] * 20 + [1.0] * 20
    return {
        "lat": some["x"],
        "lon": rng.standard_normal(40),
        "wave": some["wave"],
        "flag": some["parabola"] > 1,
        "a": Column("number", [None if gap is None else float(k % 7) for k, gap in enumerate(late)]),
        "b": rng.standard_normal(40),
    }


@table(slow=True, vectors={"place": ["lat", "lon"], "speed": ["east", "north"]})
def long_vectors(rng):
    """Beyond the rows from which products are taken in float32, and with gaps; what batches say is what memory says."""
    some = numbers(rng, 6000)
    return {
        "lat": with_gaps(some["x"], rng, 0.1),
        "lon": with_gaps(rng.standard_normal(6000), rng, 0.1),
        "wave": with_gaps(some["wave"], rng),
        "east": some["wave"] + 2 * rng.standard_normal(6000),
        "north": rng.exponential(size=6000),
        "parabola": some["parabola"],
        "label": labels(rng, [5, 3, 1], 6000),
    }


@table(reading=True, vectors={"far": ["a", "b"], "one": ["c", "d"], "none": ["e", "f"]})
def vectors_that_say_nothing(rng):
    n = 120
    return {
        "a": np.where(np.arange(n) == 7, np.inf, rng.standard_normal(n)),
        "b": rng.standard_normal(n),
        "c": np.full(n, 2.5),
        "d": np.full(n, 3),
        "e": Column("number", [None if k % 2 else 1.5 * k for k in range(n)]),
        "f": Column("number", [1.5 * k if k % 2 else None for k in range(n)]),
        "x": rng.standard_normal(n),
        "y": rng.standard_normal(n),
    }
