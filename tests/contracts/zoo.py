"""The tables that go through every door: small and seeded.

To add one, write a function of a random generator that returns its columns, with `@table` and its options.
A table about reading goes through all doors in any run; others through those that only read differently in long runs.
"""

from typing import Any

import numpy as np

import contracts.zoo_of_levels
import contracts.zoo_of_rows
import contracts.zoo_of_text
import contracts.zoo_of_vectors  # noqa: F401
import sample_tables as shared
from contracts.tables import TABLES, Column, labels, numbers, of_pandas, table, with_gaps

__all__ = ["TABLES"]


# Numbers.


@table()
def complete(rng):
    return numbers(rng)


@table(reading=True)
def gaps(rng):
    some = numbers(rng)
    return {name: cells if name == "noise" else with_gaps(cells, rng) for name, cells in some.items()}


@table()
def gaps_of_one_pattern(rng):
    """Columns that lack the same rows, and some that lack others."""
    some = numbers(rng)
    gone = rng.random(240) < 0.3
    for name in ("x", "parabola", "wave"):
        some[name] = np.where(gone, np.nan, some[name])
    return some | {"copy": with_gaps(some["copy"], rng, 0.5)}


@table()
def ties(rng):
    some = numbers(rng)
    return {
        "x": np.round(some["x"], 1),
        "parabola": np.round(some["parabola"]),
        "five values": rng.integers(0, 5, 240) + (some["x"] > 0),
        "once": np.where(np.arange(240) == 17, some["noise"][3], some["noise"]),
        "two values": np.where(some["x"] > 0.4, 2.5, -1.0),
    }


@table()
def ties_and_gaps(rng):
    some = numbers(rng)
    return {
        "x": with_gaps(np.round(some["x"], 1), rng),
        "parabola": with_gaps(np.round(some["parabola"]), rng),
        "wave": with_gaps(some["wave"], rng, 0.1),
        "whole": with_gaps(rng.integers(0, 5, 240), rng, 0.1),
    }


@table()
def zero_inflated(rng):
    x = rng.standard_normal(300)
    return {
        "x": x,
        "most": np.where(rng.random(300) < 0.85, 0.0, rng.exponential(size=300)),
        "many": np.where(x < 0.3, 0.0, x + 0.1 * rng.standard_normal(300)),
        "few": np.where(rng.random(300) < 0.25, 0.0, rng.exponential(size=300)),
    }


@table(reading=True)
def single_precision(rng):
    """Rounded to 24 bits: equal to other numbers in the type that they have, not in float64."""
    x = rng.standard_normal(240)
    return {
        "x": x.astype(np.float32),
        "fine": (1 + 1e-7 * np.round(20 * x)).astype(np.float32),
        "noise": rng.standard_normal(240).astype(np.float32),
    }


@table(reading=True)
def whole_numbers(rng):
    x = rng.integers(-1000, 1000, 240)
    return {"x": x, "square": x**2, "counts": rng.poisson(3, 240), "noise": rng.permutation(240)}


@table(reading=True)
def beyond_floats(rng):
    """Whole numbers that float64 would round to a few: x = 2⁶² + k and y a wave of k."""
    k = rng.permutation(400)
    return {"x": 2**62 + k, "wave": np.cos(k / 60), "negative": -(2**60) - k, "noise": rng.standard_normal(400)}


@table(reading=True)
def apart_beyond_floats(rng):
    """Whole numbers so far apart that no shift makes floats of them."""
    k = rng.permutation(400)
    return {"x": np.where(k % 2, 2**62, -(2**62)) + k, "wave": np.cos(k / 60), "noise": rng.standard_normal(400)}


@table(reading=True)
def only_beyond_floats(rng):
    """The same without floats beside them, which some containers would convert them to."""
    k = rng.permutation(400)
    return {"x": 2**62 + k, "square": (k - 200) ** 2, "negative": -(2**60) - k // 7}


@table()
def same_numbers(rng):
    """Columns that are told as one, and such that only look so to a coefficient."""
    x = rng.standard_normal(300)
    some = np.where(rng.permutation(300) < 30, rng.exponential(size=300), 0.0)
    return {
        "x": x,
        "scaled": 3.0 - 2.0 * x,
        "rounded": np.round(x, 1),
        "square": x**2,
        "noisy": x + 0.15 * rng.standard_normal(300),
        "some": some,
        "same rows": np.where(some > 0, rng.exponential(size=300), 0.0),
        "cents": np.round(100 * some),
    }


@table()
def same_with_gaps(rng):
    x = rng.standard_normal(300)
    return {
        "x": x,
        "scaled": with_gaps(3.0 - 2.0 * x, rng, 0.2),
        "seldom": with_gaps(x, rng, 0.7),
        "square": with_gaps(x**2, rng, 0.1),
    }


# Labels.


@table(reading=True)
def same_levels(rng):
    """Codes and names, with a wrong one, and a coarser name."""
    codes = rng.integers(0, 5, 600)
    few_wrong = np.where(np.arange(600) == 7, 0, codes)
    return {
        "code": codes,
        "name": np.array(list("ecadb"))[codes],
        "typed": with_gaps(np.array(list("vwxyz"))[few_wrong], rng, 0.2),
        "coarse": np.array(list("aabcd"))[codes],
    }


@table(reading=True)
def categories(rng):
    x = rng.standard_normal(300)
    return {
        "x": x,
        "two": np.where(x + rng.standard_normal(300) > 0, "yes", "no"),
        "four": np.array(list("abcd"))[np.digitize(x + rng.standard_normal(300), [-1, 0, 1])],
        "seven": labels(rng, [1] * 7, 300),
        "renamed": np.array(list("wxyz"))[np.digitize(x, [-1, 0, 1])],
        "cut": np.array(list("abcd"))[np.digitize(x, [-1, 0, 1])],
    }


@table(reading=True)
def rare_levels(rng):
    """Levels of fewer than five rows, which are pooled."""
    x = rng.standard_normal(300)
    many = np.array([f"town {k:02}" for k in rng.geometric(0.12, 300)])
    return {"x": x, "towns": many, "six": with_gaps(labels(rng, [40, 30, 20, 3, 1, 1], 300), rng, 0.1), "y": x**2}


@table(reading=True)
def flags(rng):
    x = rng.standard_normal(300)
    return {
        "x": x,
        "above": x > 0,
        "noisy": x + rng.standard_normal(300) > 0.5,
        "with gaps": with_gaps(rng.random(300) < 0.5, rng),
    }


@table()
def no_association(rng):
    """Two flags whose table has equal rows, 4, 4, 7, 7: the p-value is 1, whatever the order of the rows."""
    a, b = np.repeat([True, False, True, False], [4, 4, 7, 7]), np.repeat([True, False], [8, 14])
    return {"a": a, "b": b, "x": rng.standard_normal(22)}


@table(reading=True)
def labels_and_gaps(rng):
    x = rng.standard_normal(240)
    return {
        "x": with_gaps(x, rng),
        "flag": with_gaps(x > 0.3, rng),
        "label": with_gaps(labels(rng, [3, 2, 1], 240), rng, 0.3),
        "again": with_gaps(np.where(x > 0, "up", "down"), rng),
    }


# Dates, vectors, and whatever else has a type.


@table(reading=True)
def dates(rng):
    days = rng.integers(0, 3000, 240)
    start = np.datetime64("2019-11-03T05:06:07", "us")
    return {
        "moment": start + days * np.timedelta64(86_400_000_000, "us"),
        "fine": start + rng.permutation(240) * np.timedelta64(1, "us"),
        "gap": with_gaps(start + (days // 400) * np.timedelta64(400, "D"), rng),
        "season": np.cos(days / 58) + 0.3 * rng.standard_normal(240),
    }


@table(reading=True)
def nanoseconds(rng):
    """Moments that differ by so little that float64 would take them for the same."""
    k = rng.permutation(240)
    start = np.datetime64("2024-02-29T05:06:07", "ns")
    return {"fine": Column("nanosecond", (start + k).astype(np.int64).tolist()), "wave": np.cos(k / 50)}


@table(reading=True)
def durations(rng):
    hours = rng.exponential(size=240) * 100
    return {"span": (3600 * hours).astype("m8[s]"), "hours": np.round(hours), "noise": rng.standard_normal(240)}


@table(reading=True)
def ordered(rng):
    grades = ("low", "fair", "good", "top")
    x = rng.standard_normal(240)
    cells = [grades[k] for k in np.digitize(x + rng.standard_normal(240), [-1, 0, 1])]
    return {"x": x, "grade": Column("ordered", cells, grades), "noise": rng.standard_normal(240)}


# Columns that say nothing.


@table(reading=True)
def constants(rng):
    n = 60
    return {
        "x": rng.standard_normal(n),
        "y": rng.standard_normal(n),
        "float": np.full(n, 2.5),
        "float like a whole number": np.full(n, 3.0),
        "whole": np.full(n, 7),
        "beyond floats": np.full(n, 2**62 + 1),
        "text": np.full(n, "same"),
        "flag": np.full(n, True),
        "day": np.full(n, np.datetime64("2020-02-29T12:00:00", "us")),
        "but for gaps": Column("number", [1.5 if k % 3 else None for k in range(n)]),
        "empty": Column("number", [None] * n),
        "one value": Column("number", [None] * (n - 1) + [1.0]),
    }


@table()
def constant_on_common_rows(rng):
    """Two columns vary only where the other is missing; two have no row in common."""
    half = np.arange(120) < 60
    x = rng.standard_normal(120)
    return {
        "early": np.where(half, x, 1.0),
        "late": np.where(half, np.nan, x),
        "before": np.where(half, x, np.nan),
        "flag early": Column("flag", [bool(k % 2) if k < 60 else True for k in range(120)]),
        "label late": Column("label", [None if k < 60 else "abc"[k % 3] for k in range(120)]),
    }


@table(reading=True)
def infinities(rng):
    x = rng.standard_normal(60)
    return {
        "x": x,
        "y": x + rng.standard_normal(60),
        "above": np.where(x > 1, np.inf, x),
        "below": np.where(np.arange(60) == 7, -np.inf, x),
    }


# Few rows, and few common ones.


def few(rng, n):
    x = rng.standard_normal(n)
    return {
        "x": x,
        "y": x + 0.3 * rng.standard_normal(n),
        "tied": np.round(x),
        "flag": np.arange(n) % 2 == 0,
        "gap": Column("number", [None if k == 3 else float(k % 5) for k in range(n)]),
    }


table(reading=True, name="eight_rows")(lambda rng: few(rng, 8))
table(name="twelve_rows")(lambda rng: few(rng, 12))
table(name="thirty_rows", slow=True)(lambda rng: few(rng, 30))


@table()
def mostly_gaps(rng):
    """From hundreds of common rows to a handful."""
    x = rng.standard_normal(260)
    return {
        f"{share:.0%}": with_gaps(x + rng.standard_normal(260), rng, share) for share in (0.0, 0.3, 0.6, 0.85, 0.93)
    }


# Options.


@table(reading=True, missing="listwise")
def listwise(rng):
    some = numbers(rng)
    return {name: with_gaps(cells, rng, 0.1) for name, cells in some.items()} | {
        "label": with_gaps(labels(rng, [20, 10, 1], 240), rng, 0.1)
    }


@table(reading=True, missing="raise", correction="by")
def nothing_missing(rng):
    return numbers(rng, 60)


@table(reading=True, types={"code": "category", "text": "number", "left out": "skip"})
def typed_by_hand(rng):
    codes = rng.integers(0, 4, 200)
    return {
        "code": codes,
        "text": np.array([f"{value:.3f}" for value in codes + rng.standard_normal(200)]),
        "left out": rng.standard_normal(200),
        "x": rng.standard_normal(200),
    }


@table(reading=True, measure="dcor")
def measured(rng):
    some = numbers(rng, 40)
    return {name: some[name] for name in ("x", "parabola", "noise")} | {"gap": with_gaps(some["wave"], rng)}


# Many columns, and many rows.


@table()
def wide(rng):
    """More than a thousand pairs of numbers, most without ties."""
    hidden = rng.standard_normal((90, 6))
    values = hidden @ rng.standard_normal((6, 46)) + 3 * rng.standard_normal((90, 46))
    return {f"x{j:02}": np.round(values[:, j], 0 if j % 7 == 3 else 12) for j in range(46)}


@table(slow=True)
def wide_and_mixed(rng):
    """Many columns of every kind, most with gaps, so that groups of several columns meet one another."""
    hidden = rng.standard_normal((110, 5))
    found: dict[str, Any] = {}
    for j in range(26):
        signal = hidden[:, j % 5] + rng.standard_normal(110)
        kinds = [signal, np.round(signal, 1), signal > 0, np.array(list("abc"))[np.digitize(signal, [-0.5, 0.5])]]
        found[f"c{j:02}"] = with_gaps(kinds[j % 4], rng, 0.15) if j % 3 else kinds[j % 4]
    return found


@table()
def dozen(rng):
    """Fourteen columns of few rows, two of them with ties: enough for tiles, strips and chunks that are small."""
    values = rng.standard_normal((70, 3)) @ rng.standard_normal((3, 14)) + 2 * rng.standard_normal((70, 14))
    return {f"x{j:02}": np.round(values[:, j], 0 if j % 7 == 3 else 12) for j in range(14)}


@table()
def dozen_with_gaps(rng):
    """The same with gaps in most of them, a flag and labels."""
    values = rng.standard_normal((90, 3)) @ rng.standard_normal((3, 12)) + 2 * rng.standard_normal((90, 12))
    found: dict[str, Any] = {f"x{j:02}": with_gaps(values[:, j], rng, 0.03 * j) for j in range(10)}
    return found | {"flag": with_gaps(values[:, 10] > 0, rng), "label": labels(rng, [3, 2, 1], 90)}


@table()
def copies(rng):
    """Pairs so strong that their p-values are no numbers any more."""
    x = rng.standard_normal(800)
    return {f"x{j}": x + 1e-3 * j * rng.standard_normal(800) for j in range(6)}


@table(slow=True)
def everything(rng):
    """The table of the other tests, without what one library alone has."""
    frame = shared.mixed(200, rng, gaps=0.05).drop(columns=["grade"])
    return {name: of_pandas(frame[name]) for name in frame}


@table(slow=True)
def long(rng):
    """Beyond the rows from which products are taken in float32, and columns are prepared in threads."""
    some, label = numbers(rng, 5000), labels(rng, [5, 3, 1], 5000)
    return some | {"tied": np.round(some["x"], 1), "gap": with_gaps(some["wave"], rng), "label": label}


@table(slow=True)
def on_a_grid(rng):
    """Beyond the rows from which ranks are put into cells."""
    some = numbers(rng, 33_000)
    return {name: some[name] for name in ("x", "parabola", "noise")} | {"tied": np.round(some["wave"], 2)}


@table(slow=True)
def sketched(rng):
    """More different values than a small summary has room for."""
    some = numbers(rng, 4000)
    return {"x": some["x"], "parabola": some["parabola"], "tied": np.round(some["wave"], 2)}
