"""Tables that are not in memory: time and memory against a pass of Polars over the same file, and growth with rows.

python benchmarks/scale.py [ROWS] writes benchmarks/results/scale.json. The file it makes takes 150 bytes a row.
"""

import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results" / "scale.json"
N_COLUMNS = 20
_MEANS = "import polars as pl; pl.scan_parquet({0!r}).select(pl.all().mean()).collect(engine='streaming')"
_MATRIX = "import renyi; renyi.matrix({0!r}, memory='1GB')"
_DASK = """
import dask.dataframe as dd, renyi
from distributed import Client, LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        renyi.matrix(dd.read_parquet({0!r}, split_row_groups=True))
"""


def write(path: Path, n_rows: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    writer = None
    for start in range(0, n_rows, 2**20):
        values = rng.normal(size=(min(2**20, n_rows - start), N_COLUMNS))
        values[:, 1] += values[:, 0] ** 2
        values[:, 2] = np.exp(values[:, 2])
        values[:, 6] = np.round(values[:, 6], 2)
        table = pa.table({f"x{j}": values[:, j] for j in range(N_COLUMNS)})
        writer = writer or pq.ParquetWriter(path, table.schema, compression="zstd", use_dictionary=False)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def timed(program: str) -> dict[str, float]:
    """Seconds on the clock and of the processor, and peak memory in MB, of a program in a process of its own."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    report = "\nimport resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(program + report)
        file.flush()
        done = subprocess.run([sys.executable, file.name], check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "seconds": round(time.perf_counter() - start, 2),
        "cpu_seconds": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 2),
        "peak_mb": round(float(done.stdout.split()[-1]) / 1024, 1),
    }


def main() -> None:
    import polars

    n_rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 20_000_000
    with_dask = "--dask" in sys.argv
    found: dict[str, Any] = {
        "rows": n_rows,
        "columns": N_COLUMNS,
        "machine": {"cores": os.cpu_count(), "processor": platform.machine(), "load": os.getloadavg()[0]},
        "versions": {"python": platform.python_version(), "numpy": np.__version__, "polars": polars.__version__},
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.parquet"
        write(path, n_rows)
        found["polars means"] = timed(_MEANS.format(str(path)))
        found["renyi matrix"] = timed(_MATRIX.format(str(path)))
        if with_dask:
            found["renyi on dask, 2 workers"] = timed(_DASK.format(str(path)))
        found["polars means again"] = timed(_MEANS.format(str(path)))
    for clock in ("seconds", "cpu_seconds"):
        means = min(found["polars means"][clock], found["polars means again"][clock])
        found[f"ratio of {clock}"] = round(found["renyi matrix"][clock] / means, 2)
    RESULTS.with_name(f"scale-{n_rows}.json").write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
