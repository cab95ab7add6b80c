"""Links between series at a lag, given others: `conditional_test(time=True)` beside tigramite's GPDC and CMIknn.

`python benchmarks lags_given` takes a minute or two of one core and writes results/lags_given.json. `--tigramite
PYTHON`, an interpreter that has tigramite and scikit-learn, takes five minutes more: its tests see the first samples.
The three processes are those of tigramite's tutorials: squares, products, and a linear one. Every question holds fixed
what a search by conditions would: the parents of both ends.
"""

import argparse
import json
import os
import subprocess
import tempfile

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

import renyi
from harness import RESULTS, record

Rows: TypeAlias = NDArray[np.float64]
Rng: TypeAlias = np.random.Generator

N_ROWS, LEVEL, BURN_IN = 150, 0.05, 100
N_SAMPLES, N_OF_PEERS = 400, 40
LONGEST = 4
# Coefficients of the linear process: of each series those of others, by how many rows they are before.
LINEAR: dict[int, tuple[tuple[int, int, float], ...]] = {
    0: ((0, 1, 0.7), (1, 1, -0.8)),
    1: ((1, 1, 0.8), (3, 1, 0.8)),
    2: ((2, 1, 0.5), (1, 2, 0.5), (3, 3, 0.6)),
    3: ((3, 1, 0.4),),
}


def squares(rng: Rng) -> Rows:
    """Series 1 is noise; its square counts in series 0 after one row, in series 2 after two."""
    rows = rng.standard_normal((N_ROWS + LONGEST, 3))
    rows[1:, 0] += 0.4 * rows[:-1, 1] ** 2
    rows[2:, 2] += 0.3 * rows[:-2, 1] ** 2
    return rows


def products(rng: Rng) -> Rows:
    """The same, with noise that is multiplied: the spread follows, the mean does not."""
    rows = rng.standard_normal((N_ROWS + LONGEST, 3))
    rows[1:, 0] *= 0.2 * rows[:-1, 1]
    rows[2:, 2] *= 0.3 * rows[:-2, 1]
    return rows


def linear(rng: Rng) -> Rows:
    rows = rng.standard_normal((N_ROWS + LONGEST + BURN_IN, len(LINEAR)))
    for t in range(LONGEST, len(rows)):
        for series, causes in LINEAR.items():
            rows[t, series] += sum(share * rows[t - lag, cause] for cause, lag, share in causes)
    return rows[BURN_IN:]


Place: TypeAlias = tuple[int, int]  # a series, and how many rows before


class Question(NamedTuple):
    """Whether a series some rows before is linked with another one now, given others, and whether it is."""

    process: str
    cause: Place
    effect: int
    given: tuple[Place, ...]
    is_linked: bool

    def __str__(self) -> str:
        verb = "counts in" if self.is_linked else "does not count in"
        return f"{self.process}: {self.cause[0]} {verb} {self.effect}, {self.cause[1]} later"


PROCESSES: dict[str, Callable[[Rng], Rows]] = {"squares": squares, "products": products, "linear": linear}
QUESTIONS = [
    *(
        question
        for name in ("squares", "products")
        for question in (
            Question(name, (1, 1), 0, ((0, 1), (1, 2)), True),
            Question(name, (1, 2), 2, ((2, 1), (1, 3)), True),
            Question(name, (0, 1), 2, ((1, 2),), False),
        )
    ),
    Question("linear", (1, 1), 0, ((0, 1), (1, 2), (3, 2)), True),
    Question("linear", (3, 3), 2, ((2, 1), (1, 2), (3, 4)), True),
    Question("linear", (0, 1), 2, ((2, 1), (1, 2), (3, 3)), False),
    Question("linear", (3, 1), 0, ((0, 1), (1, 1), (3, 2)), False),
]


def drawn(question: Question, k: int) -> tuple[Rows, Rows, Rows]:
    """Cause, effect and what is held fixed, of sample k: the same for all tests."""
    rows = PROCESSES[question.process](np.random.default_rng([k, *question.process.encode()]))

    def before(series: int, lag: int) -> Rows:
        return rows[LONGEST - lag : len(rows) - lag, series]

    return before(*question.cause), before(question.effect, 0), np.column_stack([before(*at) for at in question.given])


def by_renyi(x: Rows, y: Rows, z: Rows) -> float:
    return renyi.conditional_test(x, y, z, time=True).pvalue


_TIGRAMITE = """
import json, sys, time, warnings
warnings.filterwarnings("ignore")
import numpy as np
from importlib.metadata import version
from tigramite.independence_tests.cmiknn import CMIknn
from tigramite.independence_tests.gpdc import GPDC
samples, level, found = np.load(sys.argv[1]), float(sys.argv[2]), {}
tests = {
    "GPDC": GPDC(significance="analytic", seed=1),
    "CMIknn": CMIknn(significance="shuffle_test", sig_samples=200, workers=1, seed=1),
}
keys = sorted({name.rsplit("/", 1)[0] for name in samples.files})
for name, test in tests.items():
    test.run_test_raw(*(samples[f"{keys[0]}/{part}"] for part in "xyz"))  # what is compiled or drawn once
    found[name] = {}
    for key in keys:
        begin = time.process_time()
        p = test.run_test_raw(*(samples[f"{key}/{part}"] for part in "xyz"))[1]
        row = found[name].setdefault(key.split("/")[0], {"found": 0, "samples": 0, "seconds": 0.0})
        row["found"] += bool(p <= level)
        row["samples"] += 1
        row["seconds"] += time.process_time() - begin
print(json.dumps({"version": version("tigramite"), "found": found}))
"""


def tigramite(python: str) -> dict[str, Any]:
    """What its tests find in the first samples of every question."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "samples.npz"
        arrays: dict[str, Any] = {}
        for number, question in enumerate(QUESTIONS):
            for k in range(N_OF_PEERS):
                x, y, z = drawn(question, k)
                arrays |= {
                    f"{number}/{k}/{part}": values.reshape(N_ROWS, -1)
                    for part, values in zip("xyz", (x, y, z), strict=True)
                }
        np.savez(path, **arrays)
        run = subprocess.run([python, "-c", _TIGRAMITE, path, str(LEVEL)], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return found


def shares(found: float, samples: int, seconds: float) -> dict[str, float]:
    """A share of samples with its Monte Carlo error, and seconds of the processor for one test."""
    share = found / samples
    error = np.sqrt(max(share * (1 - share), 0.25 / samples) / samples)
    return {"share": share, "error": float(error), "samples": samples, "seconds": seconds / samples}


def main() -> None:
    path = RESULTS / "lags_given.json"
    # What tigramite found of the same samples stays.
    before = json.loads(path.read_text())["results"] if path.exists() else {}
    peers = {row["question"]: row["tests"] for row in before.get("questions", [])}
    rows = []
    for question in QUESTIONS:
        begin, found = time.process_time(), 0
        for k in range(N_SAMPLES):
            found += by_renyi(*drawn(question, k)) <= LEVEL
        tests = peers.get(str(question), {}) | {"renyi": shares(found, N_SAMPLES, time.process_time() - begin)}
        rows.append({"question": str(question), "linked": question.is_linked, "tests": tests})
        print(question, tests["renyi"], flush=True)
    settings = {"rows": N_ROWS, "level": LEVEL}
    kept = {"tigramite": before["tigramite"]} if "tigramite" in before else {}
    record("lags_given", settings | kept | {"questions": rows})


def beside(python: str) -> None:
    """What tigramite finds, beside what renyi found."""
    path = RESULTS / "lags_given.json"
    whole = json.loads(path.read_text())
    said = tigramite(python)
    whole["results"]["tigramite"] = said["version"]
    for number, row in enumerate(whole["results"]["questions"]):
        row["tests"] |= {name: shares(**found[str(number)]) for name, found in said["found"].items()}
        print(row["question"], {name: round(one["share"], 3) for name, one in row["tests"].items()}, flush=True)
    path.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tigramite", metavar="PYTHON")
    asked = parser.parse_args()
    if asked.tigramite:
        beside(asked.tigramite)
    else:
        main()
