"""Draw docs/images/null-pvalues.png and the table beside it, from all studies of independent data; --check compares.

Every cell of every study (a kind of data, a number of rows) is a dot: the share of p-values at most a level, over the
level. What is right lies at 1.
"""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from harness import RESULTS
from renyi.report.figures.style import BLUE, GREY, ORANGE, in_style, save
from tables import DOCS, renew, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAGE, PICTURE = DOCS / "validation/p-values.md", DOCS / "images/null-pvalues.png"
LEVELS = (0.05, 0.01, 0.001)
# A cell is drawn where as many p-values below the level are expected: fewer show chance alone.
_EXPECTED = 4
_FARTHEST = 4.0
# A share this many Monte Carlo errors above its level is marked.
_FAR = 3.0


@dataclass(frozen=True)
class Cell:
    """What one kind of data with one number of rows showed at one level."""

    what: str
    level: float
    size: float
    draws: float

    @property
    def ratio(self) -> float:
        return self.size / self.level

    @property
    def error(self) -> float:
        """Monte Carlo error of the ratio, where the p-value is right."""
        return float(np.sqrt((1 - self.level) / (self.level * self.draws)))

    @property
    def is_far_above(self) -> bool:
        return self.ratio > 1 + _FAR * self.error


Cells = Iterator[Cell]


def results(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text())["results"]


def counted(what: str, levels: list[float], counts: list[int], draws: int) -> Cells:
    """Cells from counts of p-values at most each level."""
    return (Cell(what, level, counts[levels.index(level)] / draws, draws) for level in LEVELS if draws)


def of_pairs() -> Cells:
    for row in results("sizes")["sizes"]:
        if row["method"] == "auto":
            what = f"{row['data']}, {row['n']:,} rows"
            yield from (Cell(what, level, row["sizes"][str(level)], row["repetitions"]) for level in LEVELS)


def of_few_rows() -> Cells:
    found = results("few_rows")
    for row in chain(found["sizes"], found["one tied"]):
        yield from counted(f"{row['data']}, {row['n']} rows", row["levels"], row["counts"], row["draws"])


def of_levels() -> Cells:
    for row in results("levels")["sizes"]:
        some = row["as it is"]
        yield from counted(f"{row['data']}, {row['n']:,} rows", row["levels"], some["counts"], some["draws"])
    found = results("many_levels")
    for row in found["tables"]:
        what = f"{row['levels of both']} {row['data']} levels, {row['n']:,} rows"
        yield from counted(what, found["levels"], row["counts"], row["draws"])
    for row in found["tests"]:
        what = f"{row['levels']} levels and {row['other']}, {row['n']:,} rows"
        yield from counted(what, found["levels"], row["counts"], row["draws"])


def of_real_tables() -> Cells:
    for row in results("table_study")["real"]:
        yield from (
            Cell(row["table"], level, row["below"][str(level)] / row["tests"], row["tests"]) for level in LEVELS
        )


def of_made_tables(*parts: str) -> Callable[[], Cells]:
    def cells() -> Cells:
        for row in chain(*(results("table_study")[part] for part in parts)):
            for level in LEVELS:
                # Pairs of one table share columns: the error between tables counts where it is the larger one.
                between = row["errors between tables"][str(level)]
                draws = min(row["tests"], level * (1 - level) / between**2) if between else row["tests"]
                yield Cell(f"{row['data']}, {row['n']:,} rows", level, row["below"][str(level)] / row["tests"], draws)

    return cells


def of_series(*, walks: bool) -> Callable[[], Cells]:
    def cells() -> Cells:
        for row in results("time_sizes")["rows"]:
            if (row["process"] == "random walk") == walks:
                what = f"{row['process']}, {row['n']:,} rows"
                yield from (Cell(what, level, row["sizes"][str(level)], row["pairs"]) for level in LEVELS)

    return cells


def of_lags() -> Cells:
    for row in results("lag_sizes")["rows"]:
        if row["process"] != "random walk":
            what = f"{row['process']}, {row['n']:,} rows"
            yield from (Cell(what, level, row[f"{level:g}"] / row["pairs"], row["pairs"]) for level in LEVELS)


def of_change() -> Cells:
    for row in results("change_sizes")["sizes"]:
        what = f"{row['kind']}, {' and '.join(f'{n:,}' for n in row['rows'])} rows"
        sizes = {level: row.get(f"size at {level:g}") for level in LEVELS}
        yield from (Cell(what, level, size, row["draws"]) for level, size in sizes.items() if size is not None)


_ROUGH = ("a fast wave along a projection", "waves along two projections", "the larger of two")


def of_conditional(*, rough: bool) -> Callable[[], Cells]:
    def cells() -> Cells:
        for row in results("conditional")["sizes"]:
            if (row["effect of z"] in _ROUGH) == rough:
                what = f"{row['effect of z']}, {row['n']:,} rows, {row['variables']} in z"
                draws = row["repetitions"] - row["refused"]
                yield from (
                    Cell(what, level, row[f"at {level:.0%}".replace("%", " %")], draws) for level in (0.05, 0.01)
                )
        for row in () if rough else results("single_rows")["settings"]:
            if row["shared"] == 0.0:
                draws = round(row["repetitions"] * (1 - row["refused"]))
                what = f"single rows: {row['zeros']}, {row['n']:,} rows"
                yield from (Cell(what, level, row[f"at_{level}"], draws) for level in (0.05, 0.01))

    return cells


def of_measures() -> Cells:
    found = results("measure_sizes")
    for row in found["sizes"]:
        for k, level in enumerate(found["levels"] if "sizes" in row else ()):
            size, error = row["sizes"][k], row["errors"][k]
            draws = size * (1 - size) / error**2 if error else 0.0
            yield Cell(f"{row['measure']}, {row['kind']}, {row['n']:,} rows", level, size, draws)


FAMILIES: dict[str, Callable[[], Cells]] = {
    "one pair, any types": of_pairs,
    "12 to 49 rows": of_few_rows,
    "categories of many levels": of_levels,
    "11 real tables, permuted": of_real_tables,
    "tables of mixed types": of_made_tables("complete"),
    "tables with missing cells": of_made_tables("with gaps"),
    "other measures, by theory": of_measures,
    "what changed between tables": of_change,
    "series in time": of_series(walks=False),
    "strongest of 49 lags": of_lags,
    "random walks": of_series(walks=True),
    "given smooth effects of z": of_conditional(rough=False),
    "given rough effects of z": of_conditional(rough=True),
}


def shown(cells: Cells) -> list[Cell]:
    return [cell for cell in cells if cell.draws * cell.level >= _EXPECTED]


@in_style
def plot_families(pyplot: Any) -> Any:
    """One row of dots for every family, one panel for every level."""
    rng = np.random.default_rng(0)
    figure, axes = pyplot.subplots(1, len(LEVELS), figsize=(11, 5.2), sharey=True, layout="constrained")
    for level, ax in zip(LEVELS, axes, strict=True):
        for place, cells in enumerate(FAMILIES.values()):
            draw_family(ax, place, [cell for cell in shown(cells()) if cell.level == level], rng)
        finish(ax, level)
    axes[0].set_yticks(range(len(FAMILIES)), list(FAMILIES))
    axes[0].invert_yaxis()
    figure.supxlabel("share of p-values at most the level ÷ level", fontsize=10)
    return figure


def draw_family(ax: "Axes", place: int, cells: list[Cell], rng: np.random.Generator) -> None:
    for cell in cells:
        ratio = min(max(cell.ratio, 1 / _FARTHEST), _FARTHEST)
        marker = ">" if cell.ratio > _FARTHEST else "o"
        height = place + rng.uniform(-0.28, 0.28)
        color = ORANGE if cell.is_far_above else BLUE
        alpha = 0.9 if cell.is_far_above else 0.35
        ax.plot(ratio, height, marker=marker, ms=4.5, mew=0, color=color, alpha=alpha)


def finish(ax: "Axes", level: float) -> None:
    ax.set_xscale("log", base=2)
    ax.set_xlim(1 / _FARTHEST / 1.1, _FARTHEST * 1.1)
    ax.set_xticks([0.25, 0.5, 1, 2, 4], ["≤ ¼", "½", "1", "2", "≥ 4"])
    ax.axvline(1, color=GREY, lw=0.8, zorder=0)
    ax.tick_params(left=False)
    ax.spines["left"].set_visible(False)
    ax.set_title(f"at {100 * level:g} %", loc="left")


def summary() -> str:
    """For every family: how many cells, the mean of size over level, and the cells that lie far above."""
    rows, far = [], []
    for name, cells in FAMILIES.items():
        found = shown(cells())
        for level in LEVELS:
            some = [cell for cell in found if cell.level == level]
            far += [(name, cell) for cell in some if cell.is_far_above]
        by_level = [of_level([cell for cell in found if cell.level == level]) for level in LEVELS]
        rows.append([name, len({cell.what for cell in found}), *chain(*by_level)])
    header = ["family", "cells", *chain(*((f"mean ÷ {100 * level:g} %", "far above") for level in LEVELS))]
    return table(header, rows)


def of_level(cells: list[Cell]) -> tuple[str, str]:
    if not cells:
        return "–", "–"
    weights = [cell.draws for cell in cells]
    mean = np.average([cell.ratio for cell in cells], weights=weights)
    return f"{mean:.2f}", str(sum(cell.is_far_above for cell in cells))


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(f"<!-- summary -->\n{summary()}<!-- end of summary -->" not in PAGE.read_text())
    save(plot_families(), PICTURE)
    if PAGE.exists():
        renew(PAGE, "summary", summary())
    print(summary())
