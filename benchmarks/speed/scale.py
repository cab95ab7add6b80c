"""Tables that are not in memory: time and memory against a pass of Polars over the same file, and growth with rows.

python benchmarks scale file [ROWS] | dask [ROWS] | spark [ROWS] | engines [ROWS] | growth | report [ROWS] writes
benchmarks/results/scale_*.json. A file of 20 columns takes 150 bytes a row, the CSV of `report` 192.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from harness import record

N_COLUMNS = 20
_MEANS = "import polars as pl; pl.scan_parquet({0!r}).select(pl.all().mean()).collect(engine='streaming')"
_MATRIX = "import renyi; renyi.matrix({0!r}, memory='1GB')"
# The same file by its name, and as what other engines make of it.
_ENGINES = {
    "name": "table = {0!r}",
    "dataset": "import pyarrow.dataset as ds; table = ds.dataset({0!r})",
    "duckdb": "import duckdb; table = duckdb.read_parquet({0!r})",
    "ibis": "import ibis; table = ibis.read_parquet({0!r})",
}
_DASK = """
import time, dask.dataframe as dd, renyi
from distributed import Client, LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        client.run(__import__, "renyi.tables.api")
        start = time.perf_counter()
        renyi.matrix(dd.read_parquet({0!r}, split_row_groups=True))
        seen = {{"without_start": round(time.perf_counter() - start, 2)}}
"""
# A master and two workers of one core each, whose executors are processes of their own; a small table wakes both.
_SPARK = """
import os, re, sys, time, pyspark, renyi
from pyspark.sql import SparkSession
os.environ.update(SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable)
os.environ["SPARK_HOME"] = os.path.dirname(pyspark.__file__)
path = os.pathsep.join(filter(None, sys.path))
builder = SparkSession.builder.master("local-cluster[2,1,2048]").config("spark.executor.memory", "2g")
spark = builder.config("spark.ui.enabled", "false").config("spark.executorEnv.PYTHONPATH", path).getOrCreate()
renyi.matrix(spark.range(0, 1000, 1, 4).selectExpr("id", "id % 7 as x"))
start = time.perf_counter()
renyi.matrix(spark.read.parquet({0!r}))
seen = {{"without_start": round(time.perf_counter() - start, 2)}}
status = open(f"/proc/{{spark.sparkContext._gateway.proc.pid}}/status").read()
seen["java_peak_mb"] = round(int(re.search(r"VmHWM:\\s+(\\d+)", status)[1]) / 1024, 1)
spark.stop()
"""


def write(path: Path, n_rows: int, n_columns: int = N_COLUMNS) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    writer = None
    for start in range(0, n_rows, 2**20):
        values = rng.normal(size=(min(2**20, n_rows - start), n_columns))
        values[:, 1] += values[:, 0] ** 2
        values[:, 2] = np.exp(values[:, 2])
        values[:, 6] = np.round(values[:, 6], 2)
        table = pa.table({f"x{j}": values[:, j] for j in range(n_columns)})
        writer = writer or pq.ParquetWriter(path, table.schema, compression="zstd", use_dictionary=False)
        writer.write_table(table)
    if writer is not None:
        writer.close()


# What depends on what in `write_mixed`; all other pairs are independent.
_PLANTED = (
    ("when", "temperature"), ("city", "rent"), ("x", "square"), ("angle", "ring"), ("angle", "is_up"),
    ("income", "spending"), ("visits", "status"),
)  # fmt: skip
_SCAN = """
import contextlib, sys
from renyi.__main__ import main
sys.argv = ["renyi", "scan", {0!r}, "--html", {1!r}, "--json"]
with open({2!r}, "w") as said, contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
    main()
"""


def mixed_block(rng: np.random.Generator, n: int) -> Any:
    """Rows of 16 columns: numbers, categories, flags and dates, with gaps anywhere and where another one is large."""
    import pyarrow as pa

    seconds, days = rng.integers(0, 10 * 365 * 86_400, n), rng.integers(0, 4000, n)
    city = np.minimum(rng.geometric(0.15, n) - 1, 29)
    x, income, visits = rng.normal(size=n), rng.lognormal(10, 0.6, n), rng.poisson(1.5, n)
    angle = rng.uniform(0, 2 * np.pi, n)
    status = np.where(rng.random(n) < 0.2, rng.integers(0, 3, n), np.minimum(visits, 2))

    def with_gaps(values: Any, is_gap: Any) -> Any:
        return pa.array(values, mask=is_gap)

    names, words = np.array([f"city {k:02}" for k in range(30)]), np.array(["new", "known", "regular"])
    return pa.table(
        {
            "when": pa.array(seconds + 1_420_070_400, pa.timestamp("s")),
            "temperature": 10 - 12 * np.cos(2 * np.pi * seconds / (365 * 86_400)) + rng.normal(0, 6, n),
            "city": names[city],
            "rent": 500 + 300 * np.sin(1.7 * city) + rng.normal(0, 200, n),
            "x": x,
            "square": with_gaps(x**2 + rng.normal(0, 1.5, n), rng.random(n) < 0.1),
            "angle": angle,
            "ring": np.cos(angle) + rng.normal(0, 0.5, n),
            "is_up": with_gaps((np.sin(angle) > 0) ^ (rng.random(n) < 0.3), rng.random(n) < 0.02),
            "income": income,
            # Missing more often where the income is large.
            "spending": with_gaps(
                income * rng.uniform(0.1, 0.9, n), rng.random(n) < np.where(income > 30_000, 0.4, 0.05)
            ),
            "visits": visits,
            "status": with_gaps(words[status], rng.random(n) < 0.05),
            "noise": with_gaps(rng.standard_t(3, n), rng.random(n) < 0.2),
            "code": rng.integers(0, 1_000_000, n),
            "joined": pa.array(days + 14_000, pa.int32(), mask=rng.random(n) < 0.3).cast(pa.date32()),
        }
    )


def write_mixed(path: Path, n_rows: int) -> None:
    import pyarrow.csv
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    writer = None
    for start in range(0, n_rows, 2**19):
        table = mixed_block(rng, min(2**19, n_rows - start))
        if writer is None and path.suffix == ".csv":
            writer = pyarrow.csv.CSVWriter(path, table.schema)
        writer = writer or pq.ParquetWriter(path, table.schema, compression="zstd")
        writer.write_table(table)
    if writer is not None:
        writer.close()


def timed(program: str) -> dict[str, float]:
    """Seconds on the clock and of the processor, and peak memory in MB, of a program in a process of its own.

    Of what it calls `seen` as well.
    """
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    # The kernel's peak of this process alone: getrusage would hand down that of the process which started it.
    report = "\nimport json, re; peak = int(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1]) / 1024"
    report += "\nprint(json.dumps({'peak_mb': round(peak, 1), **globals().get('seen', {})}))"
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(program + report)
        file.flush()
        done = subprocess.run([sys.executable, file.name], check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "seconds": round(time.perf_counter() - start, 2),
        "cpu_seconds": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 2),
        **json.loads(done.stdout.splitlines()[-1]),
    }


def study_file(n_rows: int) -> dict[str, Any]:
    """One file, beside the means of its columns by Polars."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.parquet"
        write(path, n_rows)
        means = [timed(_MEANS.format(str(path)))]
        found = timed(_MATRIX.format(str(path)))
        means += [timed(_MEANS.format(str(path))) for _ in range(2)]
    ratios = {
        f"ratio of {clock}": round(found[clock] / min(one[clock] for one in means), 2)
        for clock in ("seconds", "cpu_seconds")
    }
    return {"rows": n_rows, "columns": N_COLUMNS, "polars means": means, "renyi matrix": found, **ratios}


def study_dask(n_rows: int) -> dict[str, Any]:
    """The same on two workers of one thread each, beside one process, before and after."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.parquet"
        write(path, n_rows)
        alone = [timed(_MATRIX.format(str(path)))]
        found: dict[str, Any] = {"two workers": timed(_DASK.format(str(path)))}
        alone.append(timed(_MATRIX.format(str(path))))
        found["one process"] = alone
        few = Path(folder) / "few.parquet"
        write(few, n_rows // 4)
        found["two workers, a quarter of the rows"] = timed(_DASK.format(str(few)))
    ratio = found["two workers"]["seconds"] / min(one["seconds"] for one in alone)
    return {"rows": n_rows, "columns": N_COLUMNS, **found, "ratio of seconds": round(ratio, 2)}


def study_engines(n_rows: int) -> dict[str, Any]:
    """One file as a dataset, a relation of DuckDB and a table of Ibis, beside its name, all of them twice."""
    found: dict[str, Any] = {name: [] for name in _ENGINES}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.parquet"
        write(path, n_rows)
        for _ in range(2):
            for name, program in _ENGINES.items():
                found[name].append(
                    timed(program.format(str(path)) + "\nimport renyi; renyi.matrix(table, memory='1GB')")
                )
                print(name, found[name][-1], flush=True)
    ratios = {
        f"ratio of {clock}": {
            name: round(min(one[clock] for one in runs) / min(one[clock] for one in found["name"]), 2)
            for name, runs in found.items()
        }
        for clock in ("seconds", "cpu_seconds")
    }
    # What is allowed is the budget, half a gigabyte, and 2 MB a column.
    peaks = {name: max(one["peak_mb"] for one in runs) for name, runs in found.items()}
    allowed = 1024 + 512 + 2 * N_COLUMNS
    return {"rows": n_rows, "columns": N_COLUMNS, **found, **ratios, "peak_mb": peaks, "allowed_mb": allowed}


def study_spark(n_rows: int) -> dict[str, Any]:
    """Spark beside Dask on two workers of one core each, in turns, without the start of either."""
    found: dict[str, Any] = {"spark": [], "dask": []}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.parquet"
        write(path, n_rows)
        for _ in range(2):
            found["dask"].append(timed(_DASK.format(str(path))))
            found["spark"].append(timed(_SPARK.format(str(path))))
        few = Path(folder) / "few.parquet"
        write(few, n_rows // 4)
        found["spark, a quarter of the rows"] = timed(_SPARK.format(str(few)))
    spark, dask = (min(one["without_start"] for one in found[engine]) for engine in ("spark", "dask"))
    return {"rows": n_rows, "columns": N_COLUMNS, **found, "ratio of seconds": round(spark / dask, 2)}


def study_report(n_rows: int) -> dict[str, Any]:
    """A page and a record of a table of mixed types as a CSV and as Parquet, by the command with its default memory."""
    found: dict[str, Any] = {"rows": n_rows, "columns": len(mixed_block(np.random.default_rng(0), 1).column_names)}
    for kind in ("csv", "parquet"):
        with tempfile.TemporaryDirectory() as folder:
            path, page, said = (Path(folder) / name for name in (f"big.{kind}", "big.html", "big.json"))
            write_mixed(path, n_rows)
            found[kind] = {"gigabytes": round(path.stat().st_size / 1e9, 2)}
            found[kind] |= timed(_SCAN.format(*map(str, (path, page, said))))
            found[kind] |= {"page_mb": round(page.stat().st_size / 1e6, 2)} | told(json.loads(said.read_text()))
        print(kind, found[kind], flush=True)
    return found


def told(record: Any) -> dict[str, Any]:
    """Strengths of what was planted, and strengths and p-values of all other findings."""
    pairs = {frozenset((one["x"], one["y"])): one for one in record["pairs"]}
    planted = [frozenset(pair) for pair in _PLANTED]
    found = [one for pair, one in pairs.items() if pair not in planted and one["q"] <= record["fdr"]]
    return {
        "planted": {" – ".join(pair): round(pairs[frozenset(pair)]["strength"], 4) for pair in _PLANTED},
        "others": record["tests"] - len(planted),
        "others found": {f"{one['x']} – {one['y']}": [round(one["strength"], 4), one["p"]] for one in found},
    }


def study_growth() -> dict[str, Any]:
    """Seconds and memory with more rows, and with more columns."""
    sizes = [(rows, N_COLUMNS) for rows in (10**6, 2 * 10**6, 4 * 10**6, 8 * 10**6)]
    sizes += [(10**6, columns) for columns in (40, 80, 160)] + [(150_000, 600)]
    rows = []
    for n_rows, n_columns in sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "big.parquet"
            write(path, n_rows, n_columns)
            rows.append({"rows": n_rows, "columns": n_columns, **timed(_MATRIX.format(str(path)))})
        print(rows[-1], flush=True)
    return {"rows": rows}


def main() -> None:
    part, *counts = sys.argv[1:] or ["file"]
    n_rows = int(float(counts[0])) if counts else 52_000_000 if part == "report" else 20_000_000
    studies = {"file": study_file, "dask": study_dask, "spark": study_spark, "engines": study_engines}
    studies["report"] = study_report
    found = study_growth() if part == "growth" else studies[part](n_rows)
    print(json.dumps(found, indent=1))
    libraries = {"engines": ("duckdb", "pyarrow"), "spark": ("pyspark",)}
    record(f"scale_{part}", found, "numpy", "polars", "dask", *libraries.get(part, ()))


if __name__ == "__main__":
    main()
