"""Results as plain records for other programs: strict JSON, and CSV with empty cells for what is not known."""

import json
import math
from typing import Any

from renyi.errors import load
from renyi.report.summary import Result

# How cells begin that spreadsheets take for formulas.
_FORMULA = r"^([=+\-@\t\r])"


def record_of(result: Result, /, *, q: float, top: int | None = None) -> dict[str, Any]:
    """A table's findings, strongest first: all at a false discovery rate of q, or the first of them."""
    edges = result.edges.take(which := result.ranked(q)[:top])
    found = edges.found
    columns = {
        "x": [edges.x[i].column.name for i in found.i.tolist()],
        "y": [edges.y[j].column.name for j in found.j.tolist()],
        "strength": edges.strength.tolist(),
        "coefficient": found.coefficient.tolist(),
        "debiased": edges.debiased.tolist(),
        "pearson": edges.pearson.tolist(),
        "spearman": edges.spearman.tolist(),
        "nonlinear": edges.is_nonlinear.tolist() if edges.measure == "rdc" else [None] * len(edges),
        "p": edges.pvalues.tolist(),
        "log10_p": (edges.log_pvalues / math.log(10)).tolist(),
        "q": result.edge_qvalues[which].tolist(),
        "n": found.n.tolist(),
        "remark": [edges.remark(edge) for edge in range(len(edges))],
    }
    return {
        "measure": edges.measure,
        "rows": result.n_rows,
        "columns": dict(result.types),
        "skipped": dict(result.skipped),
        "pooled": dict(result.pooled),
        "notes": list(result.notes),
        "target": result.target,
        "given": list(result.given),
        "tests": result.n_tests,
        "fdr": q if edges.has_null else None,
        "found": result.n_found(q),
        "pairs": [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
    }


def json_of(record: Any, /) -> str:
    """Strict JSON: what is no number is null."""
    return json.dumps(_strict(record), allow_nan=False, indent=2)


def _strict(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _strict(part) for key, part in value.items()}
    return [_strict(part) for part in value] if isinstance(value, list) else value


def csv_of(frame: Any, /) -> str:
    """A Polars frame as CSV, with empty cells for NaN, and with ' before what a spreadsheet would run as a formula."""
    pl = load("polars", extra="cli")
    cells = pl.col(pl.String)
    is_number = cells.cast(pl.Float64, strict=False).is_not_null()
    quoted = pl.when(is_number).then(cells).otherwise(cells.str.replace(_FORMULA, "'$1"))
    text: str = frame.fill_nan(None).with_columns(quoted).write_csv()
    return text
