"""Dependence at many lags as plain data and sentences, for whoever shows it."""

from typing import Any

import numpy as np

from renyi import __version__
from renyi.errors import check_text, count
from renyi.report.summary import rate, short
from renyi.series.result import Lags

SCHEMA = 1
_MOST_LISTED, _MOST_DRAWN = 500, 100
_MOST_NOTES = 6


def headline(found: Lags, /, *, q: float = 0.05) -> str:
    """What was compared, and how much was found."""
    columns = count(len(found.names), "column")
    if found.target is not None:
        columns = f"{count(len(found.names) - 1, 'column')} against {short(found.target)}"
    series = f" in {found.n_series:,} series" if found.n_series > 1 else ""
    n_found = found.n_found(q)
    return (
        f"{columns} over {count(found.n_rows, 'row')}{series}, lags −{found.max_lag:,} to {found.max_lag:,}: "
        f"{n_found:,} of {count(len(found), 'pair')} {'depends' if n_found == 1 else 'depend'} at some lag, at a false "
        f"discovery rate of {rate(q)}"
    )


def legend(found: Lags, /) -> str:
    """How to read the numbers."""
    return f"p is that of the strongest of {2 * found.max_lag + 1:,} lags; a lead is not a cause"


def remarks(found: Lags, /) -> list[str]:
    """What was left out, and what is to be known beside it."""
    said = [
        f"left out: {short(name)} ({short(reason, 100)})" for name, reason in list(found.skipped.items())[:_MOST_NOTES]
    ]
    return [*(short(note, 300) for note in found.notes), *said]


def row(found: Lags, pair: int, /) -> dict[str, Any]:
    """One pair at its strongest lag, as plain data."""
    pairs = found.of_pairs
    lag = int(pairs.lag[pair])
    at = lag + found.max_lag
    return {
        "x": found.names[pairs.i[pair]],
        "y": found.names[pairs.j[pair]],
        "lag": lag,
        "direction": found.direction(pair),
        "coefficient": _plain(pairs.coefficient[pair, at]),
        "strength": _plain(pairs.strength[pair, at]),
        "p": float(found.pvalues[pair]),
        "q": _plain(found.qvalues[pair]),
        "n": int(pairs.n[pair, at]),
    }


def record_of(found: Lags, q: float, top: int | None, /) -> dict[str, Any]:
    """What was found, for other programs: pairs at a false discovery rate, with all their lags."""
    return {
        "rows": found.n_rows,
        "series": found.n_series,
        "max_lag": found.max_lag,
        "target": found.target,
        "columns": dict(found.types),
        "skipped": dict(found.skipped),
        "notes": list(found.notes),
        "tests": len(found),
        "fdr": q,
        "found": found.n_found(q),
        "pairs": [{**row(found, k), **_curve(found, k)} for k in found.ranked(q)[:top].tolist()],
    }


def document_of(found: Lags, q: float, title: str, /) -> dict[str, Any]:
    """All that a page shows."""
    check_text(title, "title")
    ranked = found.ranked(q)
    return {
        "schema": SCHEMA,
        "kind": "lags",
        "renyi": __version__,
        "title": title or "What leads what",
        "rows": found.n_rows,
        "series": found.n_series,
        "columns": len(found.names),
        "target": found.target,
        "max_lag": found.max_lag,
        "fdr": q,
        "tested": len(found),
        "found": len(ranked),
        "summary": [f"{headline(found, q=q)}.", f"{legend(found)}."],
        "remarks": remarks(found),
        "pairs": [
            {**row(found, k), **(_curve(found, k) if place < _MOST_DRAWN else {"curve": None, "band": None})}
            for place, k in enumerate(ranked[:_MOST_LISTED].tolist())
        ],
    }


def _curve(found: Lags, pair: int) -> dict[str, Any]:
    """Strengths from the lag −max on, and the band of chance."""
    return {
        "curve": [_plain(value, 4) for value in found.of_pairs.strength[pair]],
        "band": _plain(found.of_pairs.band[pair], 4),
    }


def _plain(value: Any, digits: int | None = None) -> float | None:
    number = float(value)
    if not np.isfinite(number):
        return None
    return number if digits is None else round(number, digits)
