"""Does forward selection find the truth, stay silent on noise, and choose features that predict?
docs/validation/features.md.

python benchmarks selection_study truth|real [--seeds 100] [--setwise 20] [--splits 5] [--data DIR]
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_friedman1, make_friedman2, make_friedman3
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_selection import SequentialFeatureSelector, f_regression, mutual_info_regression
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold

import renyi
from harness import RESULTS, record
from renyi.basis.nested import number_scales
from renyi.basis.ranks import quantise
from renyi.coefficients.rdc import Rdc
from renyi.data.files.table_files import read_table
from renyi.experiments.panels import DataSet, prepared, read_panels
from renyi.experiments.selection import normalised_error, split
from renyi.sklearn import RDCSelector

Array = NDArray[np.float64]
N_ROWS, N_JUDGED, MOST = 1000, 1000, 10
# Of backward elimination: functions of a column, as many as the selector has, and a ridge penalty on their weights.
N_FUNCTIONS, PENALTY = 6, 0.01
# Wider sets take scikit-learn's SequentialFeatureSelector minutes; its order is computed in another way for all.
WIDEST_TIMED = 40
OTHER_SETS = (
    *("breast_diagnosis.csv", "breast_prognostic.csv", "crime_violent.csv", "parkinson_updrs.csv", "redwine.csv"),
    *("concrete.csv", "delta_elevators.csv", "bank32nh.csv.gz", "bank8FM.csv", "kin8nm.csv.gz", "puma32H.csv.gz"),
    *("machine.csv", "bodyfat.csv", "pyrim.csv"),
)


# The truth: made-up data whose first columns are all that matters.


def _angle(rng: np.random.Generator) -> tuple[Array, Array]:
    angle = rng.uniform(0, 2 * np.pi, N_ROWS)
    return angle, np.column_stack((np.cos(angle), np.sin(angle)))


def friedman1(seed: int) -> tuple[Array, Array, int]:
    return *make_friedman1(N_ROWS, 5, noise=1.0, random_state=seed), 50


def friedman2(seed: int) -> tuple[Array, Array, int]:
    X, y = make_friedman2(N_ROWS, noise=0.0, random_state=seed)
    return X[:, [1, 2, 0, 3]], y, 50


def friedman3(seed: int) -> tuple[Array, Array, int]:
    return *make_friedman3(N_ROWS, noise=0.0, random_state=seed), 50


def xor(seed: int) -> tuple[Array, Array, int]:
    rng = np.random.default_rng([seed, 1])
    X = rng.uniform(-1, 1, (N_ROWS, 2))
    return X, np.sign(X[:, 0] * X[:, 1]) + rng.normal(0, 0.5, N_ROWS), 20


def circle(seed: int) -> tuple[Array, Array, int]:
    rng = np.random.default_rng([seed, 2])
    angle, X = _angle(rng)
    return X, angle + rng.normal(0, 0.2, N_ROWS), 20


def circle_twice(seed: int) -> tuple[Array, Array, int]:
    rng = np.random.default_rng([seed, 3])
    angle, X = _angle(rng)
    return X, np.sin(2 * angle) + rng.normal(0, 0.2, N_ROWS), 20


def noise(seed: int) -> tuple[Array, Array, int]:
    return np.empty((N_ROWS, 0)), np.random.default_rng([seed, 4]).normal(size=N_ROWS), 50


# With the number of relevant columns, and how many others are there that matter little.
TRUTHS: dict[str, tuple[Callable[[int], tuple[Array, Array, int]], int]] = {
    "Friedman #1": (friedman1, 5),
    "Friedman #2": (friedman2, 2),
    "Friedman #3": (friedman3, 3),
    "XOR": (xor, 2),
    "circle, angle": (circle, 2),
    "circle, sin 2φ": (circle_twice, 2),
    "noise": (noise, 0),
}


def with_noise(made: tuple[Array, Array, int], seed: int) -> tuple[Array, Array]:
    X, y, n_noise = made
    return np.column_stack((X, np.random.default_rng([seed, 5]).uniform(size=(len(y), n_noise)))), y


# The paper's search, by the coefficient of the chosen as one vector: with a number of random features that stays, and
# with one that grows with the set.
SETWISE = {"set-wise, k = 10": Rdc(k=10), "set-wise, k grows": Rdc()}


def study_truth(n_seeds: int, n_setwise: int) -> dict[str, Any]:
    found = {}
    for name, (make, n_relevant) in TRUTHS.items():
        first = silent = falls = 0
        begin = time.process_time()
        for seed in range(n_seeds):
            made = make(seed)
            X, y = with_noise(made, seed)
            selector = RDCSelector().fit(X, y)
            path = [step.feature for step in selector.path_]
            first += set(path[:n_relevant]) == set(range(n_relevant))
            silent += all(feature < made[0].shape[1] for feature in path)
            falls += any(np.diff([step.dependence for step in selector.path_]) < 0.0)
        seconds = (time.process_time() - begin) / n_seeds
        found[name] = {
            "seeds": n_seeds,
            "relevant columns first": first,
            "no noise column chosen": silent,
            "paths that fall": falls,
            "seconds": round(seconds, 3),
            **{way: search_setwise(make, n_relevant, by, n_setwise) for way, by in SETWISE.items() if n_relevant},
        }
        print(name, found[name], flush=True)
    return found


def search_setwise(
    make: Callable[[int], tuple[Array, Array, int]], n_relevant: int, by: Rdc, n_seeds: int
) -> dict[str, Any]:
    """How often the relevant columns come first, and how often the coefficient fell, of as many steps and one more."""
    first = falls = 0
    for seed in range(n_seeds):
        X, y = with_noise(make(seed), seed)
        path = RDCSelector(n_features_to_select=n_relevant + 1, measure=by).fit(X, y).path_
        first += {step.feature for step in path[:n_relevant]} == set(range(n_relevant))
        falls += any(np.diff([step.dependence for step in path]) < 0.0)
    return {"seeds": n_seeds, "relevant columns first": first, "paths that fall": falls}


# Real data: a Gaussian process on the features that were chosen.


def best_first(scores: Array) -> list[int]:
    return [int(j) for j in np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")]


def by_gain(X: Array, y: Array, most: int) -> list[int]:
    return [step.feature for step in RDCSelector(n_features_to_select=most).fit(X, y).path_]


def by_mutual_info(X: Array, y: Array, most: int) -> list[int]:
    return best_first(mutual_info_regression(X, y, random_state=0))[:most]


def by_f(X: Array, y: Array, most: int) -> list[int]:
    return best_first(f_regression(X, y)[0])[:most]


def by_forest(X: Array, y: Array, most: int) -> list[int]:
    return best_first(RandomForestRegressor(100, random_state=0).fit(X, y).feature_importances_)[:most]


def by_ridge(X: Array, y: Array, most: int) -> list[int]:
    """The order of SequentialFeatureSelector(Ridge(), cv=5), from products of matrices instead of many fits."""
    folds = [_fold(X, y, learn, judge) for learn, judge in KFold(5).split(X)]
    chosen: list[int] = []
    while len(chosen) < most:
        left = [j for j in range(X.shape[1]) if j not in chosen]
        scores = np.mean([_scores(fold, chosen, left) for fold in folds], axis=0)
        chosen.append(left[int(np.argmax(scores))])
    return chosen


def _fold(X: Array, y: Array, learn: Any, judge: Any) -> dict[str, Array]:
    means, mean = X[learn].mean(axis=0), y[learn].mean()
    x_learn, y_learn, x_judge, y_judge = X[learn] - means, y[learn] - mean, X[judge] - means, y[judge] - mean
    return {
        "gram": x_learn.T @ x_learn + np.eye(X.shape[1]),
        "cross": x_learn.T @ y_learn,
        "judge_gram": x_judge.T @ x_judge,
        "judge_cross": x_judge.T @ y_judge,
        "square": np.array(y_judge @ y_judge),
        "spread": np.array(np.sum((y_judge - y_judge.mean()) ** 2)),
    }


def _scores(fold: dict[str, Array], chosen: list[int], left: list[int]) -> Array:
    sets = np.array([[*chosen, j] for j in left])
    pairs = sets[:, :, np.newaxis], sets[:, np.newaxis]
    weights = np.linalg.solve(fold["gram"][pairs], fold["cross"][sets][:, :, np.newaxis])[:, :, 0]
    quadratic = np.einsum("ij,ijk,ik->i", weights, fold["judge_gram"][pairs], weights)
    errors = fold["square"] - 2 * np.sum(weights * fold["judge_cross"][sets], axis=1) + quadratic
    return np.asarray(1 - errors / fold["spread"])


def by_redundancy(X: Array, y: Array, most: int) -> list[int]:
    """Relevance less mean redundancy with the chosen, both from one matrix of debiased coefficients."""
    strengths = np.nan_to_num(np.asarray(renyi.matrix(np.column_stack((X, y))).debiased))
    relevance, among = strengths[:-1, -1], strengths[:-1, :-1]
    chosen: list[int] = []
    while len(chosen) < most:
        redundancy = among[:, chosen].mean(axis=1) if chosen else np.zeros(len(relevance))
        merits = relevance - redundancy
        merits[chosen] = -np.inf
        chosen.append(int(np.argmax(merits)))
    return chosen


def by_elimination(X: Array, y: Array, most: int) -> list[int]:
    """Backward: of smooth functions of the ranks of all columns, those of the column that is missed least go first."""
    functions = [number_scales(quantise(column)) for column in X.T]
    tables = [scales.basis.table[scales.basis.codes, :N_FUNCTIONS] for scales in functions]
    owner = np.repeat(np.arange(len(tables)), [table.shape[1] for table in tables])
    design, target = np.column_stack(tables), (y - y.mean()) / y.std()
    inverse = np.linalg.inv(design.T @ design / len(y) + PENALTY * np.eye(design.shape[1]))
    weights = inverse @ (design.T @ target) / len(y)
    left, dropped = list(range(len(tables))), []
    while left:
        inside = {j: np.flatnonzero(owner == j) for j in left}
        costs = [weights[k] @ np.linalg.solve(inverse[np.ix_(k, k)], weights[k]) for k in inside.values()]
        dropped.append(left.pop(int(np.argmin(costs))))
        gone, kept = owner == dropped[-1], owner != dropped[-1]
        carried = np.linalg.solve(inverse[np.ix_(gone, gone)], np.column_stack((inverse[gone][:, kept], weights[gone])))
        weights = weights[kept] - inverse[kept][:, gone] @ carried[:, -1]
        inverse = inverse[np.ix_(kept, kept)] - inverse[kept][:, gone] @ carried[:, :-1]
        owner = owner[kept]
    return dropped[::-1][:most]


METHODS: dict[str, Callable[[Array, Array, int], list[int]]] = {
    "RDCSelector": by_gain,
    "mutual_info_regression": by_mutual_info,
    "f_regression": by_f,
    "SFS(Ridge)": by_ridge,
    "random forest": by_forest,
    "relevance less redundancy": by_redundancy,
    "backward elimination": by_elimination,
}


def data_sets(folder: Path) -> list[DataSet]:
    others = [prepared(name.partition(".")[0], read_table(folder / name).frame) for name in OTHER_SETS]
    return [*read_panels(folder), *others]


def study_set(one: DataSet, n_splits: int) -> dict[str, Any]:
    errors: dict[str, list[float]] = {name: [] for name in METHODS}
    seconds: dict[str, float | None] = dict.fromkeys(METHODS, 0.0)
    agrees = None
    for number in range(n_splits):
        halves = split(len(one.values), seed=0, number=number)
        learn, judge = halves.learn[:N_ROWS], halves.judge[:N_JUDGED]
        varies = np.flatnonzero(np.ptp(one.values[learn], axis=0)[:-1] > 0)
        X, y = one.values[:, varies], one.values[:, -1]
        most = min(MOST, len(varies))
        for name, choose in METHODS.items():
            begin = time.process_time()
            chosen = choose(X[learn], y[learn], most)
            seconds[name] = (seconds[name] or 0.0) + (time.process_time() - begin) / n_splits
            sets = [chosen[: i + 1] for i in range(most)]
            curve = [normalised_error((X[learn][:, s], y[learn]), (X[judge][:, s], y[judge])) for s in sets]
            errors[name].append(float(np.mean(curve)))
            if name == "SFS(Ridge)" and number == 0:
                agrees, timed = _plain_sfs(X[learn], y[learn], chosen)
    seconds["SFS(Ridge)"] = timed
    return {
        "rows": min(N_ROWS, len(one.values) // 2),
        "columns": one.values.shape[1] - 1,
        "nmse": {name: round(float(np.mean(found)), 4) for name, found in errors.items()},
        "seconds": {name: None if s is None else round(s, 2) for name, s in seconds.items()},
        "sfs_agrees": agrees,
    }


def _plain_sfs(X: Array, y: Array, chosen: list[int]) -> tuple[bool | None, float | None]:
    """Whether scikit-learn's own search chooses the same set, and its time."""
    if not len(chosen) < X.shape[1] <= WIDEST_TIMED:
        return None, None
    begin = time.process_time()
    selector = SequentialFeatureSelector(Ridge(), n_features_to_select=len(chosen), cv=5).fit(X, y)
    return set(selector.get_support(indices=True)) == set(chosen), time.process_time() - begin


def study_real(folder: Path, n_splits: int) -> dict[str, Any]:
    kept = RESULTS / "selection_real.partial.json"
    found: dict[str, Any] = json.loads(kept.read_text()) if kept.exists() else {}
    for one in data_sets(folder):
        if one.name not in found:
            found[one.name] = study_set(one, n_splits)
            kept.write_text(json.dumps(found))
        print(one.name, found[one.name]["nmse"], found[one.name]["seconds"], found[one.name]["sfs_agrees"], flush=True)
    means = {name: round(float(np.mean([one["nmse"][name] for one in found.values()])), 4) for name in METHODS}
    print("mean", means)
    kept.unlink()
    return {"sets": found, "mean": means, "splits": n_splits}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["truth", "real"])
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--setwise", type=int, default=20)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    if arguments.part == "truth":
        record("selection_truth", study_truth(arguments.seeds, arguments.setwise), "scikit-learn")
    else:
        record("selection_real", study_real(arguments.data, arguments.splits), "scikit-learn")


if __name__ == "__main__":
    main()
