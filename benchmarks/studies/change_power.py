"""How often a change between two tables is found: of columns and of pairs, beside the tests that people use for it.

`python benchmarks change_power` takes about fifteen minutes on one core and writes results/change_power.json. Every
test sees the same tables, and says "changed" at a level of 5 %; a number that gives a share of the draws comes first.
`--evidently PYTHON`, an interpreter that has evidently (0.7 needs pandas below 3), takes a few minutes: its preset sees
the columns of the same tables, and is put beside the other tests.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.ensemble import RandomForestClassifier

import renyi
from harness import RESULTS, record

Rng: TypeAlias = np.random.Generator
Rows: TypeAlias = NDArray[np.float64]
Draw: TypeAlias = Callable[[int, Rng], Rows]

LEVEL, DRAWS, PERMUTED = 0.05, 150, 99
SEED = 12


# Columns: what the second table has in place of standard normal numbers.


def normal(n: int, rng: Rng) -> Rows:
    return rng.standard_normal(n)


def two_humps(n: int, rng: Rng) -> Rows:
    """Mean 0 and variance 1 as before."""
    return np.asarray(rng.choice([-0.9, 0.9], n) + np.sqrt(1 - 0.81) * rng.standard_normal(n))


def heavy_tails(n: int, rng: Rng) -> Rows:
    """Student's t with 3 degrees of freedom, with the quartiles of the normal distribution."""
    return rng.standard_t(3, n) * (0.6745 / 0.7649)


def skewed(n: int, rng: Rng) -> Rows:
    """A gamma distribution with mean 0 and variance 1."""
    return (rng.gamma(4.0, size=n) - 4.0) / 2.0


def contaminated(n: int, rng: Rng) -> Rows:
    """One row in twenty is far away."""
    return np.where(rng.random(n) < 0.05, rng.normal(5.0, 0.5, n), rng.standard_normal(n))


COLUMNS: dict[str, tuple[int, Draw, Draw]] = {
    "nothing": (200, normal, normal),
    "shifted by 0.25": (200, normal, lambda n, rng: 0.25 + rng.standard_normal(n)),
    "1.3 times as wide": (200, normal, lambda n, rng: 1.3 * rng.standard_normal(n)),
    "two humps, same mean and variance": (200, normal, two_humps),
    "skewed, same mean and variance": (200, normal, skewed),
    "heavy tails, same quartiles": (1_000, normal, heavy_tails),
    "one row in twenty far away": (200, normal, contaminated),
    "shifted by 0.05, many rows": (5_000, normal, lambda n, rng: 0.05 + rng.standard_normal(n)),
}


# Pairs: standard normal columns, but for circles and waves, so that each column alone has changed in nothing.


def normals(correlation: float) -> Draw:
    def draw(n: int, rng: Rng) -> Rows:
        x, noise = rng.standard_normal((2, n))
        return np.array([x, correlation * x + np.sqrt(1 - correlation**2) * noise])

    return draw


def parabola(sign: float) -> Draw:
    def draw(n: int, rng: Rng) -> Rows:
        x, noise = rng.standard_normal((2, n))
        return np.array([x, _normal_again(sign * x**2 + noise)])

    return draw


def spread(n: int, rng: Rng) -> Rows:
    """The spread of y goes with |x|."""
    x, noise = rng.standard_normal((2, n))
    return np.array([x, _normal_again(noise * (0.3 + np.abs(x)))])


def wave(n: int, rng: Rng) -> Rows:
    x = rng.standard_normal(n)
    return np.array([x, _normal_again(np.cos(4 * np.pi * stats.norm.cdf(x)) + 0.7 * rng.standard_normal(n))])


def _normal_again(values: Rows) -> Rows:
    return np.asarray(stats.norm.ppf((stats.rankdata(values) - 0.5) / len(values)))


PAIRS: dict[str, tuple[int, Draw, Draw]] = {
    "nothing, ρ = 0.5": (200, normals(0.5), normals(0.5)),
    "ρ = 0.3 to 0.6": (200, normals(0.3), normals(0.6)),
    "ρ = 0.8 to 0.9": (200, normals(0.8), normals(0.9)),
    "ρ = −0.2 to 0.2": (200, normals(-0.2), normals(0.2)),
    "nothing to a parabola": (200, normals(0.0), parabola(1.0)),
    "a parabola to its mirror image": (200, parabola(1.0), parabola(-1.0)),
    "nothing to a spread that grows": (200, normals(0.0), spread),
    "nothing to a wave": (200, normals(0.0), wave),
    "same dependence, y shifted by 1": (
        200,
        normals(0.5),
        lambda n, rng: normals(0.5)(n, rng) + np.array([[0.0], [1.0]]),
    ),
}


# Peers.


def kolmogorov_smirnov(before: Rows, after: Rows, _: Rng) -> bool:
    return bool(stats.ks_2samp(before, after).pvalue <= LEVEL)


def wasserstein(before: Rows, after: Rows, rng: Rng) -> bool:
    """SciPy's distance, by permutations of the rows of both tables."""
    both, n = np.concatenate((before, after)), len(before)
    drawn = []
    for _ in range(PERMUTED):
        turned = rng.permutation(both)
        drawn.append(stats.wasserstein_distance(turned[:n], turned[n:]))
    return _is_rare(stats.wasserstein_distance(before, after), np.array(drawn))


def classifier(before: Rows, after: Rows, rng: Rng) -> bool:
    """A forest trained on half of the rows of both tables tells the other half apart better than by chance."""
    rows = np.concatenate((_turned(before), _turned(after)))
    labels = np.repeat([0, 1], (len(_turned(before)), len(_turned(after))))
    order = rng.permutation(len(rows))
    train, test = order[: len(order) // 2], order[len(order) // 2 :]
    forest = RandomForestClassifier(50, min_samples_leaf=5, random_state=0).fit(rows[train], labels[train])
    right = int((forest.predict(rows[test]) == labels[test]).sum())
    return bool(stats.binomtest(right, len(test), alternative="greater").pvalue <= LEVEL)


def mmd(before: Rows, after: Rows, _: Rng) -> bool:
    """Hyppo's default: a Gaussian kernel and an approximation of its distribution."""
    from hyppo.ksample import MMD

    return bool(MMD().test(_turned(before), _turned(after))[1] <= LEVEL)


def mmd_by_permutation(before: Rows, after: Rows, rng: Rng) -> bool:
    """The same kernel, whose distribution comes from permutations."""
    from hyppo.tools import compute_kern

    rows = np.concatenate((_turned(before), _turned(after)))
    kernel, _ = compute_kern(rows, rows)
    np.fill_diagonal(kernel, 0.0)
    signs = np.ones(len(rows))
    signs[len(_turned(before)) :] = -1.0
    turned = np.array([rng.permutation(signs) for _ in range(PERMUTED)])
    return _is_rare(float(signs @ kernel @ signs), np.einsum("pi,pi->p", turned @ kernel, turned))


def spearman(before: Rows, after: Rows, _: Rng) -> bool:
    """Fisher's z of the difference of Spearman's correlations, with Fieller's variance."""
    z = [np.arctanh(stats.spearmanr(*table).statistic) for table in (before, after)]
    error = np.sqrt(sum(1.06 / (table.shape[1] - 3) for table in (before, after)))
    return bool(2 * stats.norm.sf(abs(z[0] - z[1]) / error) <= LEVEL)


def renyi_column(before: Rows, after: Rows, _: Rng) -> bool:
    found = renyi.compare({"x": before}, {"x": after})
    return isinstance(found, renyi.Comparison) and bool(found.of_columns[0].p <= LEVEL)


def renyi_pair(before: Rows, after: Rows, _: Rng) -> bool:
    tables = (dict(zip("xy", table, strict=True)) for table in (before, after))
    found = renyi.compare(*tables)
    return isinstance(found, renyi.Comparison) and bool(found.of_pairs.pvalues[0] <= LEVEL)


def _is_rare(observed: float, drawn: Rows) -> bool:
    return bool((1 + np.count_nonzero(drawn >= observed)) / (1 + len(drawn)) <= LEVEL)


def _turned(table: Rows) -> Rows:
    return table[:, np.newaxis] if table.ndim == 1 else table.T


OF_COLUMNS = {
    "renyi": renyi_column,
    "Kolmogorov-Smirnov": kolmogorov_smirnov,
    "Wasserstein": wasserstein,
    "classifier": classifier,
    "MMD, hyppo": mmd,
    "MMD, permuted": mmd_by_permutation,
}
OF_PAIRS = {
    "renyi": renyi_pair,
    "Spearman, Fisher's z": spearman,
    "classifier": classifier,
    "MMD, hyppo": mmd,
    "MMD, permuted": mmd_by_permutation,
}
# Of so many rows forests and kernels take minutes.
_MANY_ROWS = 2_000

_EVIDENTLY = """
import json, sys, warnings
warnings.filterwarnings("ignore")
import numpy as np, pandas as pd
from importlib.metadata import version
from evidently import Report
from evidently.presets import DataDriftPreset
tables, found = np.load(sys.argv[1]), {}
for key in sorted({name.rsplit("/", 1)[0] for name in tables.files}):
    before, after = (pd.DataFrame(tables[f"{key}/{side}"]).add_prefix("x") for side in (0, 1))
    metrics = Report([DataDriftPreset()]).run(after, before).dict()["metrics"][1:]
    how = metrics[0]["config"]
    values = np.array([float(m["value"]) for m in metrics])
    flags = values < how["threshold"] if "p_value" in how["method"] else values >= how["threshold"]
    found[key] = {"method": how["method"], "flags": flags.tolist()}
print(json.dumps({"version": version("evidently"), "found": found}))
"""


def evidently(python: str, tables: dict[str, tuple[list[Rows], list[Rows]]]) -> dict[str, Any]:
    """What its preset says of the columns of all draws."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tables.npz"
        arrays: dict[str, Any] = {
            f"{key}/{side}": np.column_stack(part) for key, both in tables.items() for side, part in enumerate(both)
        }
        np.savez(path, **arrays)
        run = subprocess.run([python, "-c", _EVIDENTLY, str(path)], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return found


def drawn(name: str, case: tuple[int, Draw, Draw], draws: int) -> tuple[list[tuple[Rows, Rows]], Rng]:
    """Tables before and after, the same in every run, and what is left of the random numbers."""
    n, first, second = case
    rng = np.random.default_rng([SEED, n, *name.encode()])
    return [(first(n, rng), second(n, rng)) for _ in range(draws)], rng


def studied(cases: dict[str, tuple[int, Draw, Draw]], tests: dict[str, Any], draws: int) -> list[dict[str, Any]]:
    """The share of draws in which every test finds a change."""
    rows = []
    for name, case in cases.items():
        n = case[0]
        tables, rng = drawn(name, case, draws)
        power: dict[str, float | None] = {}
        for test, says in tests.items():
            is_slow = n > _MANY_ROWS and says in (classifier, mmd, mmd_by_permutation)
            flags = [] if is_slow else [says(*table, rng) for table in tables]
            power[test] = None if is_slow else round(float(np.mean(flags)), 3)
        rows.append({"change": name, "rows": n, "draws": draws, "power": power})
        print(name, n, power, flush=True)
    return rows


def main(share: float) -> None:
    warnings.filterwarnings("ignore")
    draws = max(10, int(share * DRAWS))
    columns, pairs = studied(COLUMNS, OF_COLUMNS, draws), studied(PAIRS, OF_PAIRS, draws)
    if share == 1.0:
        found = {"seed": SEED, "level": LEVEL, "columns": columns, "pairs": pairs}
        record("change_power", found, "numpy", "scipy", "scikit-learn", "hyppo")


def beside(share: float, python: str) -> None:
    """What evidently says of the columns, beside what the others said of them."""
    path = RESULTS / "change_power.json"
    whole = json.loads(path.read_text())
    found, draws = whole["results"], max(10, int(share * DRAWS))
    tables = {name: drawn(name, case, draws)[0] for name, case in COLUMNS.items()}
    said = evidently(python, {name: ([b for b, _ in both], [a for _, a in both]) for name, both in tables.items()})
    found["evidently"] = said["version"]
    for row in found["columns"]:
        own = said["found"][row["change"]]
        row["power"]["evidently"] = round(float(np.mean(own["flags"])), 3)
        row["evidently by"] = own["method"]
        print(row["change"], own["method"], row["power"]["evidently"], flush=True)
    if share == 1.0:
        # What the others were seen with stays as it is.
        path.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("share", nargs="?", type=float, default=1.0)
    parser.add_argument("--evidently", metavar="PYTHON")
    asked = parser.parse_args()
    if asked.evidently:
        beside(asked.share, asked.evidently)
    else:
        main(asked.share)
