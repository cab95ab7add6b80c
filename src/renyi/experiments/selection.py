"""Feature selection (paper, section 4.2): features by dependence with the target, judged by a Gaussian process."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from renyi.coefficients.base import Measure
from renyi.coefficients.registry import measure, measures
from renyi.compute.arrays import Array, Index
from renyi.errors import InputError, load
from renyi.experiments.panels import DataSet
from renyi.experiments.runs import Record, Run, Task
from renyi.experiments.summary import Summary, number

# Those of the paper, RDC as it is there and as it is here; all rows are for RDC alone, whose cost grows with n log n.
_BY_DEFAULT = ("rdc", "dcor", "hsic", "chsic")
_OF_ALL_ROWS = ("rdc",)
_NOISE = 1.0


@dataclass(frozen=True)
class Sizes:
    """Random halves, features at most, and rows at most for the regressor and for measures of quadratic cost."""

    splits: int = 20
    features: int = 10
    rows: int = 1000


FULL = Sizes()
QUICK = Sizes(splits=2, features=5, rows=300)


def compared(names: Sequence[str] | None, /) -> list[Measure[Any]]:
    """Measures of vectors by their names; RDC comes twice, with the paper's settings and with ours."""
    known = [name for name in measures() if measure(name).statement.takes_vectors]
    if names is not None and not names:
        raise InputError(f"measures names none: choose from {', '.join(known)}, or leave it out")
    wrong = [name for name in names or () if name not in known]
    if wrong or not known:
        which = (
            f"measures={wrong[0]} is not a measure of vectors, which a set of features is" if wrong else "no measure"
        )
        raise InputError(
            f"{which}: choose from {', '.join(known) or 'those that take vectors, of which there is none'}"
        )
    wanted = dict.fromkeys(names or [name for name in _BY_DEFAULT if name in known] or known)
    found = [[measure(name), measure(name, k=10, s=0.2)] if name == "rdc" else [measure(name)] for name in wanted]
    return [one for pair in found for one in pair]


class Halves(NamedTuple):
    """Rows to learn from, in random order, and rows to judge by."""

    learn: Index
    judge: Index


def split(n: int, /, *, seed: int, number: int) -> Halves:
    """Two halves; the same whatever else is run."""
    order = np.random.default_rng([seed, n, number]).permutation(n)
    return Halves(order[: n // 2], order[n // 2 :])


def forward(by: Measure[Any], features: Array, target: Array, /, *, most: int) -> list[int]:
    """Features in the order in which each makes the chosen set, as a vector, depend most on the target.

    Columns that are constant on these rows are never chosen. Of equal ones the first is taken.
    """
    side = by.prepare(target)
    open_to_choice = np.flatnonzero(np.ptp(features, axis=0) > 0).tolist()
    chosen: list[int] = []
    while open_to_choice and len(chosen) < most:
        strengths = [by.strength(by.combine(by.prepare(features[:, [*chosen, j]]), side)) for j in open_to_choice]
        chosen.append(open_to_choice.pop(int(np.argmax(strengths))))
    return chosen


def normalised_error(learn: tuple[Array, Array], judge: tuple[Array, Array], /) -> float:
    """Mean squared error over the variance of the target, of a Gaussian process none of whose settings is learned.

    As kernlab's `gausspr`, which the authors used: kernel exp(−σ‖x − x'‖²), noise of variance 1, and σ the mean of the
    inverse 10th and 90th percentiles of the squared distances that are not 0.
    """
    from scipy.spatial.distance import pdist

    process, kernels = load("sklearn.gaussian_process", extra="sklearn"), "sklearn.gaussian_process.kernels"
    squares = pdist(learn[0], "sqeuclidean")
    # Equal rows alone leave no distance to go by; then any width will do.
    squares = squares[squares > 0] if np.any(squares > 0) else np.ones(1)
    sigma = float(np.mean(1 / np.quantile(squares, [0.1, 0.9])))
    kernel = load(kernels, extra="sklearn").RBF(length_scale=(2 * sigma) ** -0.5)
    regressor = process.GaussianProcessRegressor(kernel, alpha=_NOISE, optimizer=None).fit(*learn)
    return float(np.mean((regressor.predict(judge[0]) - judge[1]) ** 2) / np.var(judge[1]))


def errors_of(by: Measure[Any], values: Array, halves: Halves, /, *, sizes: Sizes) -> dict[str, Any]:
    """The features chosen on one half, and the errors on the other with the first, the first two, and so on."""
    features, target = values[:, :-1], values[:, -1]
    few = halves.learn[: sizes.rows]
    rows = halves.learn if by.name in _OF_ALL_ROWS else few
    chosen = forward(by, features[rows], target[rows], most=sizes.features)
    errors = [
        normalised_error(
            (features[few][:, which], target[few]), (features[halves.judge][:, which], target[halves.judge])
        )
        for which in (chosen[: i + 1] for i in range(len(chosen)))
    ]
    return {
        "rows": len(rows),
        "learned_from": len(few),
        "judged_by": len(halves.judge),
        "chosen": chosen,
        "nmse": errors,
    }


def measure_selection(
    how: Run, by: Sequence[Measure[Any]], data: Sequence[DataSet], /, *, sizes: Sizes = FULL
) -> Record:
    """Run the experiment with measures of vectors, or what an earlier run has left of it."""
    load("sklearn.gaussian_process", extra="sklearn")
    record = how.record("selection", asdict(sizes), named_by=("data", "split", "measure"))
    for one in data:
        record.plan[one.name] = {"rows": len(one.values), "columns": list(one.columns), "left_out": list(one.left_out)}
    tasks = [
        Task(
            {"data": one.name, "split": number, "measure": str(m)},
            partial(errors_of, m, one.values, halves, sizes=sizes),
        )
        for one in data
        for number in range(sizes.splits)
        for halves in (split(len(one.values), seed=how.seed, number=number),)
        for m in by
    ]
    return how.finish(record, tasks)


def curves(record: Record, data: str, by: str, /) -> tuple[Array, Array, int]:
    """Mean and standard deviation of the errors over splits, as far as all splits have them, and the splits."""
    found = [row["nmse"] for (d, _, m), row in record.rows.items() if (d, m) == (data, by) and row["nmse"]]
    if not found:
        return np.empty(0), np.empty(0), 0
    errors = np.array([row[: min(map(len, found))] for row in found])
    return errors.mean(axis=0), errors.std(axis=0, ddof=1) if len(found) > 1 else np.zeros(errors.shape[1]), len(found)


def summarise(record: Record, /) -> list[Summary]:
    """Errors with all features that were chosen, and the mean over all numbers of features."""
    by = list(dict.fromkeys(m for _, _, m in record.rows))
    names = list(dict.fromkeys(d for d, _, _ in record.rows))
    rows, means = [], []
    for name in names:
        found = [curves(record, name, m) for m in by]
        rows.append((name, *(f"{number(e[-1])}±{number(s[-1])}" if n else "–" for e, s, n in found)))
        means.append([e.mean() if n else np.nan for e, _, n in found])
    rows.append(("mean of curves", *(number(mean, 3) for mean in np.mean(means, axis=0))))
    lowest = np.argmin(np.nan_to_num(np.array(means), nan=np.inf), axis=1).tolist()
    best = [f"{m} {lowest.count(k)}" for k, m in enumerate(by)]
    sizes = record.settings
    left_out = [f"{name}: {', '.join(p['left_out'])} left out" for name, p in record.plan.items() if p["left_out"]]
    return [
        Summary(
            f"NMSE of a Gaussian process on up to {sizes['features']} features",
            ("data", *by),
            rows,
            (
                f"mean ± standard deviation over {sizes['splits']} random halves, with the last feature; regressor and "
                f"measures other than RDC on at most {sizes['rows']:,} rows",
                f"lowest mean over the curve: {', '.join(best)}",
                *left_out,
            ),
        )
    ]
