"""Whether an installed wheel works with one of its extras and nothing else: `python -I tests/installed.py EXTRA`.

`make dist` runs this in an empty environment for every extra, and for "none".
"""

import os
import subprocess
import sys
import tempfile
from importlib.metadata import metadata
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import renyi

HERE = Path(sys.prefix).resolve()
# A library of each extra that no other one brings.
BRINGS = {
    "causal": "causallearn",
    "cli": "typer",
    "dask": "dask",
    "gpu": "torch",
    "report": "matplotlib",
    "sklearn": "sklearn",
    "spark": "pyspark",
}
# What an extra brings of others, since its library needs theirs.
SHARES = {"causal": ["report", "sklearn"]}
x = np.linspace(-1, 1, 200)
TABLE = {"x": x, "y": x**2, "noise": np.random.default_rng(0).random(200)}


def none(_):
    """The functions of the package itself, a README without links into a folder, and messages for extras not there."""
    assert "](http" in (readme := metadata("renyi").get_payload())
    assert "](docs/" not in readme
    assert renyi.rdc(x, x**2) > 0.9
    assert renyi.matrix(TABLE).n_found() == 1
    assert "x  y" in repr(renyi.pairs(TABLE))
    assert renyi.screen(TABLE, "y").names[0] == "x"
    assert renyi.conditional_test(x, x**2, TABLE["noise"]).pvalue < 1e-6
    if find_spec("jinja2") is None:
        try:
            told = f"a report was written: {renyi.matrix(TABLE).report('report.html')}"
        except renyi.MissingExtraError as error:
            told = str(error)
        assert "renyi[report]" in told, told
    if find_spec("typer") is None:
        run = subprocess.run([command(), "demo"], capture_output=True, text=True, check=False)
        assert (run.returncode, "renyi[cli]" in run.stderr) == (2, True), run


def command():
    return str(next(Path(sys.executable).parent.glob("renyi*")))


def causal(_):
    from causallearn.utils.cit import CIT

    renyi.causal.register()
    assert CIT(np.column_stack([x, x**2, TABLE["noise"]]), "renyi")(0, 1, [2]) < 1e-6


def cli(folder):
    file = folder / "table.csv"
    np.savetxt(file, np.column_stack(list(TABLE.values())), delimiter=",", header=",".join(TABLE), comments="")
    run = subprocess.run([command(), "scan", str(file)], capture_output=True, text=True, check=True)
    assert "1 dependence" in run.stdout, run


def dask(_):
    import dask.dataframe as dd
    import pandas as pd

    assert renyi.matrix(dd.from_pandas(pd.DataFrame(TABLE), npartitions=2)).n_found() == 1


def gpu(_):
    import torch

    found = renyi.matrix({name: torch.tensor(column) for name, column in TABLE.items()})
    assert found.n_found() == 1


def report(folder):
    found = renyi.matrix(TABLE)
    assert "</html>" in found.report(folder / "report.html").read_text(encoding="utf-8")
    found.plot().savefig(folder / "matrix.png")


def sklearn(_):
    from renyi.sklearn import RDCSelector

    selector = RDCSelector().fit(np.column_stack([TABLE["noise"], x]), x**2)
    assert selector.get_support(indices=True).tolist() == [1]


def spark(_):
    import pandas as pd
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = SparkSession.builder.master("local[1]").getOrCreate()
    assert renyi.matrix(session.createDataFrame(pd.DataFrame(TABLE))).n_found() == 1
    session.stop()


def main(extra):
    assert Path(renyi.__file__).resolve().is_relative_to(HERE), f"renyi is imported from {renyi.__file__}"
    parts = {"none": [], "all": ["cli", "dask", "report", "sklearn"]}.get(extra, [extra])
    allowed = [*parts, *SHARES.get(extra, [])]
    others = [name for name, library in BRINGS.items() if name not in allowed and find_spec(library)]
    assert not others, f"the environment has more than {extra} brings: {others}"
    with tempfile.TemporaryDirectory() as folder:
        for call in [none, *(globals()[part] for part in parts)]:
            call(Path(folder))
    print(f"renyi {renyi.__version__} with {extra}: {Path(renyi.__file__).parent}")


if __name__ == "__main__":
    main(sys.argv[1])
