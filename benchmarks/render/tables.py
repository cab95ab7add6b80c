"""Turn the recorded results into the tables of docs/. Run after the benchmarks whose results it reads."""

import json
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from harness import RESULTS

DOCS = Path(__file__).parents[2] / "docs"
_COLUMNS = ("rdc", "spearmanr", "two argsorts", "listing")


def table(header: Iterable[str], rows: Iterable[Iterable[object]], *, in_words: bool = False) -> str:
    """A Markdown table; numbers are set to the right, words to the left."""
    names = list(header)
    lines = ["| " + " | ".join(names) + " |", "|---|" + ("---|" if in_words else "---:|") * (len(names) - 1)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def with_error(value: dict[str, float], digits: int = 3) -> str:
    return f"{value['mean']:.{digits}f} ± {value['error']:.{digits}f}"


def provenance(recorded: dict[str, Any], script: str) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in recorded["versions"].items())
    machine = recorded["machine"]
    return f"Made by `benchmarks/{script}` on {machine['cores']} cores of an {machine['processor']} ({versions}).\n"


def defaults() -> str:
    recorded = json.loads((RESULTS / "defaults.json").read_text())
    found = recorded["results"]
    parts = [
        "# The defaults and the study behind them\n",
        provenance(recorded, "studies/defaults.py"),
        "Values are means with their Monte Carlo error. What decides is the dimension of a side: too low, and",
        "curved shapes are missed; too high, and independent data score high and power falls. With s = 3 and k = 10",
        "the dimension is 8: the shapes of the gallery have reached their values (what squares still gain is noise, as",
        "the four clusters show), and the last kept direction lies a factor 6 above the cut, the first dropped one a",
        "factor 3.6 below it, so that the dimension is the same for every n from 100 on.\n",
        "Power is the mean over the paper's eight patterns at noise levels 1, 3, 6, 10, 15, 20, 25 and 30, n = 500.",
        "Dimensions 4 and 6 have a little more of it, at the price of shapes with more than two bends: a test",
        "that needs no such compromise combines several dimensions. *Spread* is the standard deviation over 30",
        "draws, averaged over the gallery, for independent and for stratified frequencies.\n",
        "## The scale s, with k = 10\n",
        _settings_table(found["scale"], "s"),
        "## The number of projections k, with s = 3\n",
        _settings_table(found["projections"], "k"),
        "## How k grows with the dimension\n",
        "Power at 5 % for six ways in which a scalar depends on d coordinates, n = 500. The default is ⌈10·√d⌉, with",
        "few rows at most min(d, 5) for every 120 of them; here that makes 8 for d = 2, 20 for d = 5 and 20.\n",
        table(
            ["d", "k", "independent", *found["vectors"][0]["power"], "mean"],
            (
                [row["d"], row["k"], f"{row['independent']:.2f}"]
                + [f"{power:.2f}" for power in (*row["power"].values(), row["mean"])]
                for row in found["vectors"]
            ),
        ),
        "## Debiased values under independence\n",
        "The last four have rows of high leverage: there the level of chance comes from random pairings of the rows.\n",
        table(
            ["data", "settings", "n", "mean"],
            ([row["data"], _shown(row["settings"]), row["n"], with_error(row)] for row in found["null"]),
        ),
        "## Debiased values of dependent normals, n = 500\n",
        table(
            ["correlation", "settings", "population", "raw", "debiased"],
            (
                [
                    row["correlation"],
                    _shown(row["settings"]),
                    f"{row['population']:.3f}",
                    with_error(row["raw"]),
                    with_error(row["debiased"]),
                ]
                for row in found["normal"]
            ),
        ),
    ]
    parts += [
        "## Debiased values of other strong dependence\n",
        "Where the largest of several equal correlations is taken (the categories), or rare values meet (the ends of",
        "rounded normals), the debiased value errs on the high side.\n",
        table(
            ["data", "n", "population", "debiased", "off by"],
            (
                [
                    row["data"],
                    row["n"],
                    f"{row['population']:.3f}",
                    with_error(row),
                    f"{row['mean'] - row['population']:+.3f}",
                ]
                for row in found["high"]
            ),
        ),
        *_chance(),
        *_equal_roots(),
    ]
    return "\n".join(parts)


def _equal_roots() -> list[str]:
    recorded = json.loads((RESULTS / "equal_roots.json").read_text())
    found = recorded["results"]
    estimates = list(found["rows"][0]["errors"])
    return [
        "## Estimates that look at more than the largest correlation\n",
        provenance(recorded, "studies/equal_roots.py"),
        f"Mean errors of {found['samples']} samples of {found['n']} rows, and in brackets the standard deviation of",
        "one sample. The closed form knows the largest correlation, the dimensions and n, and cannot tell twelve",
        "levels whose correlations are all 0.85 from a single correlation of 0.93: both show the same largest one. The",
        "others fit functions again: on nine tenths of the rows, to be correlated on the last one; on rows drawn",
        "again; without a fiftieth of the rows. None is within 0.02 everywhere. For equal correlations cross-fitting",
        "is nearest, also by the root mean square of its errors, though its samples scatter about three to six",
        "times as far; where rare values meet it is the worst of all.\n",
        table(
            ["data", "population", *estimates],
            (
                [row["data"], f"{row['population']:.3f}"]
                + [f"{row['errors'][name]:+.3f} ({row['spreads'][name]:.3f})" for name in estimates]
                for row in found["rows"]
            ),
        ),
        *_limits(found),
    ]


def _limits(found: dict[str, Any]) -> list[str]:
    means, samples, n, allowed = found["means_alike"], found["samples_alike"], found["n"], found["allowed"]
    needed = means["other"] - means["population"] - 2 * allowed
    share, spread = _rounded_down(samples["share_far_off"], 2), _rounded_down(samples["spread"], 3)
    return [
        "## What no estimate can do\n",
        _paragraph(
            f"Be within {allowed:g} of every coefficient above 0.8, not even on average. Take {means['levels']} levels",
            f"that agree in 85 % of the rows, one of which {means['rare']:.5f} of the rows have: all correlations are",
            f"{means['population']:.2f}. If both sides have the rare level or none has, the largest is",
            f"{means['other']:.2f}. The distributions of {n} rows differ by {means['variation']:.4f} (total variation,",
            f"computed), so that the means of any estimate between −1 and 1 differ by {means['most_of_means']:.3f}",
            f"at most, where {allowed:g} for both would need {needed:.2f}.",
        ),
        _paragraph(
            f"Nor in single samples of likelier populations: {samples['levels']} levels with all correlations",
            f"{samples['population']:.2f}, or with one of {samples['other']:.2f}, of being a certain level or not, and",
            f"which is not known. The χ² distance of the distributions of {n} rows is {samples['chi_squared']:.2f}. ",
            f"Every estimate is off by {samples['far_off']:.2f} or more in a share of {share} of the samples of one of",
            f"the two (Le Cam); and if its means are within {allowed:g} of both, its samples of the first scatter by",
            f"{spread} or more (Hammersley, Chapman and Robbins).",
        ),
    ]


def _paragraph(*parts: str) -> str:
    return textwrap.fill(" ".join(parts), 110) + "\n"


def _chance() -> list[str]:
    recorded = json.loads((RESULTS / "chance.json").read_text())
    return [
        "## What single rows weigh\n",
        provenance(recorded, "studies/chance.py"),
        "Means of debiased coefficients of independent columns, 400 pairs each, beside what they would be if the level",
        "of chance were that of Roy's distribution throughout, and the median product of the largest leverages.\n",
        table(
            ["data", "n", "leverages", "by theory", "debiased"],
            (
                [
                    " × ".join(row["data"]),
                    row["n"],
                    f"{row['leverages']:.2f}",
                    f"{row['by theory']:.3f}",
                    with_error(row),
                ]
                for row in recorded["results"]["rows"]
            ),
        ),
    ]


def _rounded_down(bound: float, digits: int) -> str:
    return f"{np.floor(bound * 10**digits) / 10**digits:.{digits}f}"


def _shown(settings: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {value:g}" for name, value in settings.items()) or "default"


def _settings_table(rows: list[dict[str, Any]], name: str) -> str:
    shapes = [shape for shape in rows[0]["gallery"] if not shape.startswith("normal")]
    header = [
        name,
        "dimension",
        *shapes,
        "normal 0.4",
        "independent, n = 500",
        "n = 10,000",
        "spread",
        "stratified",
        "power",
    ]
    return table(
        header,
        (
            [
                row["settings"][name],
                row["dimension"],
                *(f"{row['gallery'][shape]:.2f}" for shape in shapes),
                f"{row['gallery']['normal, ρ = 0.4']:.2f}",
                *(f"{row['independent'][n]['mean']:.3f}" for n in ("500", "10000")),
                f"{row['spread']['normal']:.4f}",
                f"{row['spread']['auto']:.4f}",
                with_error(row["power"]),
            ]
            for row in rows
        ),
    )


def pair() -> str:
    recorded = json.loads((RESULTS / "pair.json").read_text())
    found = recorded["results"]
    parts = [
        "# One pair: time and memory\n",
        provenance(recorded, "speed/pair.py"),
        "Best times; the calls of a row take turns in one process. *Listing* is the paper's five lines in NumPy.\n",
        "## Two uniform scalars, milliseconds\n",
        table(
            ["n", "`renyi.rdc`", "`spearmanr`", "two `argsort`", "listing", "rdc ÷ spearmanr", "rdc ÷ argsorts"],
            (_scalar_row(row) for row in found["scalars"]),
        ),
        "The same with values rounded to two decimals, hence many ties:\n",
        table(
            ["n", "`renyi.rdc`", "`spearmanr`", "rdc ÷ spearmanr"],
            (
                [
                    f"{row['n']:,}",
                    _ms(row, "rdc, tied"),
                    _ms(row, "spearmanr, tied"),
                    _ratio(row, "rdc, tied", "spearmanr, tied"),
                ]
                for row in found["scalars"]
            ),
        ),
        "## The paper's table of running times, seconds\n",
        "The paper measured interpreted R of 2013; the last column divides its time by ours.\n",
        _paper_table(found["scalars"]),
        "## Vectors, 10⁵ × 50 against 10⁵ × 50, seconds\n",
        _vector_table(found["vectors"]["seconds"]),
        "## Peak memory, megabytes\n",
        _memory_table(found["memory"]),
        "## Imports, seconds\n",
        table(["statement", "time"], ([name, f"{time:.3f}"] for name, time in found["imports"].items())),
    ]
    return "\n".join(parts)


def _paper_table(rows: list[dict[str, Any]]) -> str:
    return table(
        ["n", "Pearson, paper", "RDC, paper", "Pearson, here", "RDC, here", "RDC: paper ÷ here"],
        (
            [
                f"{row['n']:,}",
                *row["paper"],
                f"{row['seconds']['pearson']:.5f}",
                f"{row['seconds']['rdc']:.5f}",
                f"{row['paper'][1] / row['seconds']['rdc']:.0f}",
            ]
            for row in rows
            if row["paper"]
        ),
    )


def _vector_table(seconds: dict[str, dict[str, float]]) -> str:
    return table(
        ["projections", "`renyi.rdc`", "listing", "ratio"],
        (
            [name, f"{times['rdc']:.2f}", f"{times['listing']:.2f}", f"{times['rdc'] / times['listing']:.2f}"]
            for name, times in seconds.items()
        ),
    )


def _memory_table(uses: dict[str, dict[str, float]]) -> str:
    def megabytes(count: float) -> str:
        return f"{count / 1e6:.0f}"

    return table(
        ["data", "input", "above input", "(input + above) ÷ input"],
        (
            [
                name,
                megabytes(use["input"]),
                megabytes(use["above input"]),
                f"{1 + use['above input'] / use['input']:.1f}",
            ]
            for name, use in uses.items()
        ),
    )


def _ms(row: dict[str, Any], name: str) -> str:
    return f"{1000 * row['seconds'][name]:.2f}" if name in row["seconds"] else "–"


def _ratio(row: dict[str, Any], name: str, peer: str) -> str:
    return f"{row['seconds'][name] / row['seconds'][peer]:.2f}"


def _scalar_row(row: dict[str, Any]) -> list[str]:
    times = [_ms(row, call) for call in _COLUMNS]
    return [f"{row['n']:,}", *times, _ratio(row, "rdc", "spearmanr"), _ratio(row, "rdc", "two argsorts")]


def renew(page: Path, name: str, text: str) -> None:
    """Replace what stands between the marks of `name` in a page."""
    before, start, rest = page.read_text().partition(f"<!-- {name} -->\n")
    _, end, after = rest.partition(f"<!-- end of {name} -->")
    page.write_text(before + start + text + end + after)


if __name__ == "__main__":
    (DOCS / "validation/defaults.md").write_text(defaults())
    (DOCS / "validation/speed-one-pair.md").write_text(pair())
