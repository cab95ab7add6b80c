"""Write the measured parts of docs/validation/speed-large.md; with --check, say if they are up to date."""

import json
import sys
import textwrap
from typing import Any

from harness import RESULTS
from renyi.allpairs.stack import ROWS_FOR_FLOAT32
from tables import DOCS, renew, table

PAGE = DOCS / "validation/speed-large.md"
# Products of a pair and row: of the coefficient, of the corner, and of both edges.
N_PRODUCTS = 64 + 64 + 24


def results(name: str) -> Any:
    found = json.loads((RESULTS / f"{name}.json").read_text())
    return found.get("results", found)


def file() -> str:
    """One large file beside a pass of Polars."""
    found = results("scale_file")
    ours, means = found["renyi matrix"], found["polars means"]
    seconds, peak = min(one["seconds"] for one in means), max(one["peak_mb"] for one in means) / 1000
    return filled(
        f"Parquet, {found['rows']:,} rows × {found['columns']} columns of float64, `memory='1GB'`, 2 cores: "
        f"{ours['seconds']:.0f} s and {ours['peak_mb'] / 1000:.2f} GB at the peak, libraries included. A streaming "
        f"pass of Polars that takes the means of the columns needs {seconds:.1f} s and {peak:.2f} GB: "
        f"{found['ratio of seconds']:.1f} times on the clock, {found['ratio of cpu_seconds']:.1f} times by the "
        "processor (`python benchmarks scale file`)."
    )


def growth() -> str:
    """Seconds and memory by rows and columns."""
    rows = [
        [f"{one['rows']:,}", one["columns"], *(f"{one[key]:,.1f}" for key in ("seconds", "cpu_seconds", "peak_mb"))]
        for one in results("scale_growth")["rows"]
    ]
    return table(["rows", "columns", "seconds", "of the processor", "peak, MB"], rows)


def dask() -> str:
    """Two workers beside one process."""
    found = results("scale_dask")
    two, few = (found[name] for name in ("two workers", "two workers, a quarter of the rows"))
    alone = min(one["seconds"] for one in found["one process"])
    return filled(
        f"On a `LocalCluster` of two workers with one thread each, {found['rows']:,} rows take {two['seconds']:.0f} s "
        f"with the start of the cluster, {found['ratio of seconds']:.2f} times the {alone:.0f} s of one "
        f"process. The client's memory is {two['peak_mb']:.0f} MB, and {few['peak_mb']:.0f} MB with a quarter of "
        "the rows (`python benchmarks scale dask`)."
    )


def spark() -> str:
    """Spark beside Dask."""
    found = results("scale_spark")
    seconds, dask = (min(one["without_start"] for one in found[name]) for name in ("spark", "dask"))
    largest, few = max(found["spark"], key=lambda one: one["java_peak_mb"]), found["spark, a quarter of the rows"]
    return filled(
        f"On a Spark cluster of two workers with one core each, {found['rows']:,} rows take {seconds:.0f} s without "
        f"its start, {found['ratio of seconds']:.2f} times the {dask:.0f} s of Dask on as many. The driver's memory is "
        f"{largest['peak_mb']:.0f} MB in Python and {largest['java_peak_mb']:.0f} MB in Java, and "
        f"{few['peak_mb']:.0f} MB and {few['java_peak_mb']:.0f} MB with a quarter of the rows "
        "(`python benchmarks scale spark`)."
    )


def engines() -> str:
    """What other engines took of the time of the file by its name, and of memory."""
    found = results("scale_engines")
    names = {"dataset": "a dataset of Arrow", "duckdb": "a relation of DuckDB", "ibis": "a table of Ibis"}
    told = [
        f"{words} {found['ratio of seconds'][name]:.2f} times and {found['peak_mb'][name]:,.0f} MB"
        for name, words in names.items()
    ]
    return filled(
        f"The same Parquet of {found['rows']:,} rows read by its name takes {found['peak_mb']['name']:,.0f} MB at the "
        f"peak; as {', '.join(told)} (`python benchmarks scale engines`)."
    )


def gpu() -> str:
    """What one card took, beside what it cannot do without."""
    found = results("gpu")
    machine, rates, agreement = found["machine"], found["rates"], found["agreement"]
    many = [part for name, part in agreement.items() if name.startswith(("10000", "200000"))]
    few = [part for name, part in agreement.items() if name.startswith("2000 ")]
    orders, firsts = found["permutations"], [part["float32"] for part in found["whole"].values()]
    said = (
        "The floor is three products of half precision at the rate that the card was seen to do, "
        f"{rates['product of float16 into float32, TFLOPS']:.0f} TFLOPS, of 500 rows one of float64 at "
        f"{rates['product of float64, TFLOPS']:.0f}, and torch's sort; "
        "[where the rest goes](../internals/speed.md#on-one-gpu). The first table of a process takes "
        f"{max(part['first'][0] - min(part['seconds']) for part in firsts):.0f} s more at most, in which kernels are "
        f"compiled. {orders['drawn']:,} permutations of one pair at n = 10,000 take "
        f"{min(orders['seconds']):.2f} s, of which the random orders alone are "
        f"{min(orders['random orders alone']):.2f} s; NumPy would take {orders['by NumPy, from fewer']:.0f} s. "
        "Coefficients differ from NumPy's by at most "
        f"{max(part['values'] for part in many):.0e} from 10,000 rows on, logarithms of p-values by "
        f"{max(part['log p'] for part in many):.0e}; on fewer rows by "
        f"{max(max(part['values'], part['log p']) for part in few):.0e} (`python benchmarks gpu`)."
    )
    # Results of before it could be run have none.
    said += _selected(found["selection"]) if "selection" in found else ""
    card = f"{machine['driver'].replace(',', ', driver')}, torch {machine['torch']}"
    opening = f"{card}, data on the card, values and p-values of all pairs, in memory at the end:"
    header = ["columns × rows", "float32, s", "float64, s", "products alone, s", "sorting alone, s", "above that"]
    sizes = {"wide": (10_000, 10_000), "long": (1_000, 1_000_000), "middle": (5_000, 100_000), "genes": (20_000, 500)}
    rows = [_on_card(found, name, *size) for name, size in sizes.items()]
    kinds = _kinds(found["kinds"]) if "kinds" in found else ""
    strengths = _strengths(found["strengths"]) if "strengths" in found else ""
    return f"{opening}\n\n{table(header, rows)}\n{filled(said)}{kinds}{strengths}"


def _kinds(found: Any) -> str:
    """What gaps and categories took, beside complete numbers from the same place."""
    header = ["columns × rows", "tensors, s", "10 % gaps, s", "ratio", "frame, s", "a tenth categories, s", "ratio"]
    rows = []
    for size, part in found.items():
        n_columns, n_rows = map(int, size.split(" x "))
        seconds = [
            f"{min(part[name]):.2f}" for name in ("tensors", "tensors with gaps", "frame", "frame with categories")
        ]
        ratios = [f"{part[name]:.1f} ×" for name in ("ratio with gaps", "ratio with categories")]
        rows.append([f"{n_columns:,} × {n_rows:,}", *seconds[:2], ratios[0], *seconds[2:], ratios[1]])
    apart = [max(part[f"log p, {name}"] for part in found.values()) for name in ("gaps", "categories")]
    said = (
        "Frames of pandas lie in memory, and their categories have 8 levels. Logarithms of p-values differ from "
        f"NumPy's by a share of {apart[0]:.0e} with gaps and of {apart[1]:.0e} with categories."
    )
    return f"\n{table(header, rows)}\n{filled(said)}"


def _strengths(found: Any) -> str:
    """How far log p is off, by the strength of pairs."""
    sizes = list(found)
    names = [" × ".join(f"{int(part):,}" for part in size.split(" x ")) for size in sizes]
    header = ["coefficient", *(f"{name}{gaps}" for name in names for gaps in ("", ", gaps"))]
    columns = [found[size][kind] for size in sizes for kind in ("complete", "gaps")]
    bins = list(dict.fromkeys(strength for column in columns for strength in column))
    cells = [[f"{column[b]['log p']:.0e}" if b in column else "" for column in columns] for b in bins]
    rows = [[b.replace(" to ", " – "), *row] for b, row in zip(bins, cells, strict=True)]
    by_numpy = [own for size in sizes for kind, own in found[size].items() if "NumPy" in kind]
    said = (
        "Largest errors of log p, as a share of it from 1 on, beside products in float64 on the card; tables of "
        "float32, columns × rows. NumPy is off by "
        f"{max(part['log p'] for own in by_numpy for part in own.values()):.0e} at most, where the coefficient is "
        "above 0.999."
    )
    return f"\n{table(header, rows)}\n{filled(said)}"


def _selected(found: Any) -> str:
    """What a search took, beside NumPy."""
    seconds = min(found["seconds"])
    difference = f"differ by a share of {found['log p']:.0e}" if found["log p"] else "are equal"
    return (
        f" Ten of {found['features']:,} features are chosen from {found['rows']:,} rows, all pairs looked at once, in "
        f"{seconds:.1f} s, from an array in memory in {min(found['from an array']):.1f} s; NumPy takes "
        f"{min(found['by NumPy']):.0f} s with all cores and chooses "
        f"{'the same' if found['same features'] else 'others'}, with logarithms of p-values that "
        f"{difference}."
    )


def _on_card(found: Any, name: str, n_columns: int, n_rows: int) -> list[str]:
    """Seconds of one table, those that its products and its sort would take, and how far above the two."""
    kind, times = ("float16 into float32", 3) if n_rows >= ROWS_FOR_FLOAT32 else ("float64", 1)
    products = times * N_PRODUCTS * n_columns**2 * n_rows / (found["rates"][f"product of {kind}, TFLOPS"] * 1e12)
    sorting = min(found["sorting"][f"{n_columns} x {n_rows} torch.float32"])
    seconds = [part["seconds"] for part in found["whole"][name].values()]
    shown = [f"{min(part):.2f} to {max(part):.2f}" for part in seconds] + ["—"] * (2 - len(seconds))
    above = max(map(max, seconds)) / (products + sorting)
    return [f"{n_columns:,} × {n_rows:,}", *shown, f"{products:.2f}", f"{sorting:.2f}", f"{above:.1f} ×"]


def filled(text: str) -> str:
    """A paragraph in lines."""
    return textwrap.fill(text, 120, break_on_hyphens=False, break_long_words=False) + "\n"


PARTS = (file, engines, growth, dask, spark, gpu)

if __name__ == "__main__":
    if "--check" in sys.argv:
        page = PAGE.read_text()
        sys.exit(any(f"<!-- {p.__name__} -->\n{p()}<!-- end of {p.__name__} -->" not in page for p in PARTS))
    for part in PARTS:
        renew(PAGE, part.__name__, part())
