"""The tables of text that may mean something else: dates as people write them, numbers beside a few words, names."""

import numpy as np

from contracts.tables import Column, table


def written(moments, form):
    """Dates as people write them."""
    days = np.asarray(moments, dtype="M8[us]")
    return Column("spelled", [day.strftime(form) for day in days.tolist()], meaning=days)


def beside_words(column, words):
    """Dates, some of which are words that mean nothing."""
    gone = np.array([k in words for k in range(len(column.cells))])
    cells = [words.get(k, cell) for k, cell in enumerate(column.cells)]
    return Column("spelled", cells, meaning=np.where(gone, np.datetime64("NaT", "us"), column.meaning))


def beside(numbers, words):
    """Numbers as text, some of which are words that mean nothing, or infinities."""
    told = {"inf": np.inf, "-inf": -np.inf}
    cells = [words.get(k, str(number)) for k, number in enumerate(numbers)]
    meaning = np.array([told.get(words[k], np.nan) if k in words else number for k, number in enumerate(numbers)])
    return Column("spelled", cells, meaning=meaning)


@table(reading=True)
def dates_as_text(rng):
    """The same days in the ways of several countries, and what they mean decided by all rows."""
    n = 240
    days = np.datetime64("2019-11-03") + rng.integers(0, 700, n)
    noon = days.astype("M8[us]") + np.timedelta64(60, "s") * rng.integers(0, 1440, n)
    early = np.array([f"2020-{m:02}-{d:02}" for m, d in rng.integers(1, 13, (n, 2))], dtype="M8[D]")
    early[200] = np.datetime64("2020-03-25")
    return {
        "ISO": written(days, "%Y-%m-%d"),
        "month first": written(days, "%m/%d/%Y"),
        "day first": written(days, "%d.%m.%Y"),
        "day first by one row": written(early, "%d/%m/%Y"),
        "two digits": written(days, "%m/%d/%y"),
        "names": written(days, "%d %b %Y"),
        "minutes": written(noon, "%m/%d/%Y %I:%M %p"),
        "words": beside_words(
            written(days, "%d/%m/%Y"), dict.fromkeys(range(0, 240, 9), "?") | dict.fromkeys((5, 77, 201), "unknown")
        ),
        "months": written(days.astype("M8[M]"), "%Y-%m"),
        "season": np.cos((days - days[0]).astype(int) / 58) + 0.3 * rng.standard_normal(n),
    }


@table(reading=True)
def open_order_of_dates(rng):
    """No day is above 12: the month comes first, but for dots, and where that is always 1."""
    n = 200
    day, month = rng.integers(1, 13, (2, n))
    first = [f"2020-{m:02}-{d:02}" for m, d in zip(month, day, strict=True)]
    return {
        "slashes": written(first, "%m/%d/%Y"),
        "dots": written(first, "%d.%m.%Y"),
        "firsts of months": written([f"2020-{m:02}-01" for m in month], "%d/%m/%Y"),
        "x": day + rng.standard_normal(n),
        "y": month + rng.standard_normal(n),
    }


@table(reading=True, types={"compact": "date", "whole": "date", "short": "date"})
def dates_that_are_asked_for(rng):
    n = 200
    days = np.datetime64("2020-01-01") + rng.integers(0, 700, n)
    return {
        "compact": written(days, "%Y%m%d"),
        "whole": Column("whole", [int(day.strftime("%Y%m%d")) for day in days.tolist()], meaning=days),
        # With a year that may be a day.
        "short": written(days, "%d/%m/%y"),
        "season": np.cos((days - days[0]).astype(int) / 58) + 0.3 * rng.standard_normal(n),
    }


@table(reading=True)
def numbers_and_words(rng):
    """Text that spells numbers but for a few words, codes and labels that do not, and a number for "missing"."""
    n = 400
    x = np.round(rng.standard_normal(n), 2)
    words = {3: "unknown", 50: "unknown", 77: "12 kg", 399: "(1,234)"}
    gone = np.array([words.get(k) is not None for k in range(n)])
    codes = rng.integers(1, 96, n)
    return {
        "x": Column(
            "spelled", [words.get(k, str(cell)) for k, cell in enumerate(x)], meaning=np.where(gone, np.nan, x)
        ),
        "codes": Column("label", ["2A" if code == 20 else f"{code:02}" for code in codes % 30]),
        "grades": Column("label", ["more" if k % 40 == 0 else str(k % 5) for k in range(n)]),
        "sentinel": np.where(rng.random(n) < 0.1, -999.0, x**2 + 0.1 * rng.standard_normal(n)),
        "y": x + rng.standard_normal(n),
    }


@table(reading=True)
def identifiers(rng):
    """Text that names its rows, and text that hardly does."""
    return {
        "id": np.array([f"row {k}" for k in rng.permutation(80)]),
        "half": np.array([f"pair {k // 2}" for k in range(80)]),
        "x": rng.standard_normal(80),
        "y": rng.standard_normal(80),
        "spelled": np.array([f"n{k % 4}" for k in range(80)]),
    }


@table(reading=True)
def words_that_may_mislead(rng):
    """Words in the first rows, of many kinds in a few rows, for NaN and infinities, and numbers for "missing"."""
    n = 480
    x = np.round(rng.standard_normal(n), 3)
    steps = rng.integers(0, 12, n)
    far = np.where(rng.random(n) < 0.05, -999.0, x)
    days = np.datetime64("2001-01-01") + rng.permutation(n)
    first = dict.fromkeys(range(20), "unknown")
    several = {20 * k + 5: f"word {chr(97 + k)}" for k in range(18)}
    return {
        "numbers after words": beside(x, first),
        "dates after words": beside_words(written(days, "%Y-%m-%d"), first),
        "few numbers": beside(steps + 0.5, several),
        "NaN": beside(x, {5: "-nan", 17: "unknown", 200: "-nan"}),
        "infinite": beside(x, {5: "inf", 17: "unknown", 200: "-inf"}),
        "far": beside(far, {5: "unknown"}),
        "far days": written(np.where(np.arange(n) % 9 == 0, np.datetime64("9999-12-31"), days), "%Y-%m-%d"),
        "y": x + steps + rng.standard_normal(n),
    }
