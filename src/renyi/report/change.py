"""What changed between two tables as plain data and sentences, for whoever shows it."""

from typing import Any

import numpy as np

from renyi import __version__
from renyi.change.result import Comparison
from renyi.compute.arrays import Array
from renyi.data.column import Column
from renyi.errors import check_text, count
from renyi.report.summary import pvalue, rate, short

SCHEMA = 1
# Findings that a page lists, and those that it draws.
_MOST_LISTED, _MOST_DRAWN = 500, 12
_MOST_POINTS, _MOST_BARS = 400, 12
_MOST_NOTES = 6


def headline(found: Comparison, /, *, q: float = 0.05) -> str:
    """What was compared, and how much of it changed."""
    columns, pairs = found.n_found(q)
    n_pairs = int(np.count_nonzero(np.isfinite(found.of_pairs.pvalues)))
    sizes = " and ".join(f"{n:,}" for n in found.n_rows)
    if found.are_equal:
        both = "samples" if found.sampled else "tables"
        return f"{count(len(found.names), 'column')} over {sizes} rows: the same in both {both}, cell by cell"
    return (
        f"{count(len(found.names), 'column')} over {sizes} rows: {count(columns, 'change')} of columns, {pairs:,} of "
        f"{count(n_pairs, 'dependence')}, at a false discovery rate of {rate(q)}"
    )


def sentences(found: Comparison, /, *, q: float = 0.05) -> list[str]:
    """What changed, what is not common, and how to read it."""
    said = [f"{headline(found, q=q)}."]
    if np.isfinite(found.together):
        said.append(f'The p-value of "nothing changed at all" is {pvalue(found.together)}.')
    for names, where, other in ((found.only_before, 0, 1), (found.only_after, 1, 0)):
        if names:
            listed = ", ".join(short(name) for name in names[:5]) + (
                f" and {len(names) - 5:,} more" if len(names) > 5 else ""
            )
            said.append(f"In {found.labels[where]} alone, not in {found.labels[other]}: {listed}.")
    said += [f"{short(name)} is {what}, and was not compared." for name, what in found.retyped.items()]
    if found.sampled:
        said.append(f"{found.sampled}.")
    return said


def remarks(found: Comparison, /) -> list[str]:
    """What was not compared, and what reading decided."""
    skipped = {name: reason for name, reason in found.skipped.items() if name not in found.retyped}
    said = [f"left out: {short(name)} ({short(reason, 100)})" for name, reason in list(skipped.items())[:_MOST_NOTES]]
    return [*said, *(short(note, 300) for note in found.notes[:_MOST_NOTES])]


def document_of(found: Comparison, q: float, title: str, /) -> dict[str, Any]:
    """All that a page shows."""
    check_text(title, "title")
    columns, pairs = found.ranked_columns(q), found.ranked_pairs(q)
    return {
        "schema": SCHEMA,
        "kind": "comparison",
        "renyi": __version__,
        "title": title or "What changed",
        "labels": list(found.labels),
        "rows": list(found.n_rows),
        "compared": len(found.names),
        "tested": int(np.count_nonzero(np.isfinite(found.of_pairs.pvalues))),
        "fdr": q,
        "together": _plain(found.together),
        "are_equal": found.are_equal,
        "summary": sentences(found, q=q),
        "remarks": remarks(found),
        "only_before": list(found.only_before),
        "only_after": list(found.only_after),
        "retyped": dict(found.retyped),
        "n_columns": len(columns),
        "n_pairs": len(pairs),
        "columns": [
            {
                **_column_record(found, k),
                "bars": _bars(found, found.of_columns[k].column) if place < _MOST_DRAWN else None,
            }
            for place, k in enumerate(columns[:_MOST_LISTED].tolist())
        ],
        "pairs": [
            {**pair_record(found, k), "points": _points(found, k) if place < _MOST_DRAWN else None}
            for place, k in enumerate(pairs[:_MOST_LISTED].tolist())
        ],
    }


def record_of(found: Comparison, q: float, top: int | None, /) -> dict[str, Any]:
    """What was found, for other programs."""
    columns, pairs = found.ranked_columns(q), found.ranked_pairs(q)
    return {
        "labels": list(found.labels),
        "rows": list(found.n_rows),
        "types": dict(found.types),
        "skipped": dict(found.skipped),
        "retyped": dict(found.retyped),
        "only_before": list(found.only_before),
        "only_after": list(found.only_after),
        "notes": list(found.notes),
        "sampled": found.sampled,
        "fdr": q,
        "together": _plain(found.together),
        "columns": [_column_record(found, k) for k in columns[:top].tolist()],
        "pairs": [pair_record(found, k) for k in pairs[:top].tolist()],
    }


def _column_record(found: Comparison, place: int) -> dict[str, Any]:
    change = found.of_columns[place]
    numbers = {name: _plain(getattr(change, name)) for name in ("moved", "low", "high", "p")}
    q = _plain(float(found.column_qvalues[place]))
    return {"column": change.column, "what": change.what, **numbers, "q": q, "words": change.words}


def pair_record(found: Comparison, place: int, /) -> dict[str, Any]:
    """One pair of columns, as plain data."""
    pairs = found.of_pairs
    return {
        "x": found.names[pairs.i[place]],
        "y": found.names[pairs.j[place]],
        "kind": pairs.kind(place),
        "before": _plain(float(pairs.before[place])),
        "after": _plain(float(pairs.after[place])),
        "change": _plain(float(pairs.change[place])),
        "moved": _plain(float(pairs.moved[place])),
        "p": _plain(float(pairs.pvalues[place])),
        "q": _plain(float(found.pair_qvalues[place])),
        "words": found.pair_words(place),
    }


def _plain(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


# What is drawn: rows of either table, on common axes.


def _shown(found: Comparison, name: str) -> tuple[Column, Column] | None:
    """The rows of a column that both tables show."""
    columns = []
    for table in found.matrices:
        variable = next((own for own in table.edges.x if own.column.name == name), None) if table is not None else None
        if variable is None:
            return None
        columns.append(variable.shown)
    return columns[0], columns[1]


def _numbers(columns: tuple[Column, Column]) -> tuple[Array, Array, list[str]]:
    """Both as numbers, NaN where missing; levels as places among those of both."""
    levels = [*dict.fromkeys(str(level) for column in columns for level in column.levels)]
    made = []
    for column in columns:
        if column.is_category:
            place = np.array([levels.index(str(level)) for level in column.levels], dtype=float)
            values = place[column.values]
        else:
            whole = column.values.view(np.int64) if column.values.dtype.kind in "Mm" else column.values
            values = np.asarray(whole, dtype=np.float64)
        made.append(np.where(column.gaps, np.nan, values))
    return made[0], made[1], levels if columns[0].is_category else []


def _points(found: Comparison, place: int) -> dict[str, Any] | None:
    """Points of both tables in a square of 0 to 1."""
    names = found.names[found.of_pairs.i[place]], found.names[found.of_pairs.j[place]]
    shown = [_shown(found, name) for name in names]
    if shown[0] is None or shown[1] is None:
        return None
    axes = [_numbers(both) for both in (shown[0], shown[1])]
    scaled = [_scaled(*axis) for axis in axes]
    points = []
    for table in range(2):
        x, y = scaled[0][table], scaled[1][table]
        known = np.flatnonzero(np.isfinite(x) & np.isfinite(y))[:_MOST_POINTS]
        points.append([[round(float(a), 3), round(float(b), 3)] for a, b in zip(x[known], y[known], strict=True)])
    return {"before": points[0], "after": points[1]}


def _scaled(before: Array, after: Array, levels: list[str]) -> tuple[Array, Array]:
    """Values between 0 and 1, the middle 98 % of either table stretched over it; levels scattered a little."""
    if levels:
        rng = np.random.default_rng(0)
        reach = max(len(levels), 1)
        return tuple((part + rng.uniform(0.2, 0.8, len(part))) / reach for part in (before, after))  # type: ignore[return-value]
    ends = [np.nanquantile(part, (0.01, 0.99)) for part in (before, after) if np.isfinite(part).any()]
    low, high = min(end[0] for end in ends), max(end[1] for end in ends)
    width = high - low or 1.0
    return np.clip((before - low) / width, -0.02, 1.02), np.clip((after - low) / width, -0.02, 1.02)


def _bars(found: Comparison, name: str) -> dict[str, Any] | None:
    """Shares of rows in cells of values, or of levels, of either table."""
    shown = _shown(found, name)
    if shown is None:
        return None
    before, after, levels = _numbers(shown)
    before, after = before[np.isfinite(before)], after[np.isfinite(after)]
    if not len(before) or not len(after):
        return None
    if levels:
        shares = [np.bincount(part.astype(int), minlength=len(levels)) / len(part) for part in (before, after)]
        # The most frequent ones, or where there are more those that changed most.
        weight = np.maximum(*shares) if len(levels) <= _MOST_BARS else np.abs(shares[1] - shares[0])
        first = np.argsort(-weight, kind="stable")[:_MOST_BARS]
        return {
            "labels": [levels[k] for k in first],
            "before": _rounded(shares[0][first]),
            "after": _rounded(shares[1][first]),
        }
    edges, ends = _edges(np.concatenate((before, after)))
    shares = [np.histogram(np.clip(part, edges[0], edges[-1]), edges)[0] / len(part) for part in (before, after)]
    is_time = shown[0].values.dtype.kind in "Mm"
    labels = ["earliest", "latest"] if is_time else [_shown_number(end) for end in ends]
    return {"labels": labels, "before": _rounded(shares[0]), "after": _rounded(shares[1])}


def _edges(values: Array) -> tuple[Array, tuple[float, float]]:
    """Where bars begin and end: equal steps over the middle 98 % of values; and the ends as they are shown.

    Steps end between whole numbers, so that each has as many of these.
    """
    low, high = np.quantile(values, (0.01, 0.99)).tolist()
    if not (values == np.round(values)).all():
        edges = np.linspace(low, high if high > low else low + 1.0, _MOST_BARS + 1)
        return edges, (edges[0], edges[-1])
    low, high = np.floor(low), np.ceil(high)
    step = max(1.0, np.ceil((high - low + 1.0) / _MOST_BARS))
    edges = low - 0.5 + step * np.arange(np.ceil((high - low + 1.0) / step) + 1)
    return edges, (low, high)


def _shown_number(value: float) -> str:
    """Three digits, without an exponent where it can be."""
    return f"{float(f'{value:.3g}'):,.0f}" if 1e3 <= abs(value) < 1e9 else f"{value:.3g}"


def _rounded(values: Array) -> list[float]:
    return [round(float(value), 4) for value in values]
