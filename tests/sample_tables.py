"""Tables with columns of every kind, for tests of whatever takes a table."""

import numpy as np
import pandas as pd
import pytest

import renyi
from renyi.allpairs.column_group import Variable
from renyi.basis import random_features
from renyi.data.column import Column
from renyi.data.table import as_table
from renyi.pair.prepare import prepare

VECTORS = {"place": ["lat", "lon"]}
# One of every kind, for tests in which many permutations would take long.
SOME = ["plain", "curve", "rounded", "zeros", "flag", "five", "grade", "lat", "lon"]
(SEED,) = random_features.seeds(None, n_draws=1)


def mixed(n, rng, *, gaps=0.0):
    """Numbers without ties, rounded, and mostly zero, flags, categories of 2 to 12 levels, dates, grades, a vector."""
    hidden = rng.standard_normal(n)

    def noise():
        return rng.standard_normal(n)

    def quantiles(values, n_levels):
        return np.digitize(values, np.quantile(values, np.linspace(0, 1, n_levels + 1)[1:-1]))

    zipf = 1 / np.arange(1, 13)
    frame = pd.DataFrame(
        {
            "plain": hidden + noise(),
            "curve": hidden**2 + 0.5 * noise(),
            "noise": noise(),
            "rounded": np.round(hidden + noise(), 1),
            "coarse": np.round(noise()),
            "zeros": np.where(rng.random(n) < 0.85, 0.0, rng.exponential(size=n)),
            "flag": rng.random(n) < 0.4,
            "rare": rng.permutation(n) < max(2, 0.06 * n),
            "two": np.array(["a", "b"])[(hidden > 0).astype(int)],
            "five": np.array(list("abcde"))[quantiles(hidden + noise(), 5)],
            "twelve": np.array([f"level {i}" for i in range(12)])[rng.choice(12, n, p=zipf / zipf.sum())],
            "date": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 3000, n), "D"),
            "grade": pd.Categorical.from_codes(
                quantiles(hidden + 2 * noise(), 4), ["low", "fair", "good", "top"], ordered=True
            ),
            "lat": hidden + noise(),
            "lon": noise(),
            "quarter": np.where(rng.random(n) < 0.25, 0.0, rng.exponential(size=n)),
        }
    )
    if gaps:
        for name in frame:
            column = frame[name].astype("boolean") if frame[name].dtype == bool else frame[name]
            frame[name] = column.where(rng.random(n) >= gaps)
    return frame


def parabola(rng, n=400):
    """A line, a parabola and noise over one column."""
    x = rng.uniform(-1, 1, n)
    return pd.DataFrame(
        {
            "x": x,
            "line": x + 0.3 * rng.standard_normal(n),
            "square": x**2 + 0.1 * rng.standard_normal(n),
            "noise": rng.random(n),
        }
    )


def columns_of(table, **settings):
    """The typed columns of a table."""
    return as_table(table, **settings).columns


def prepared(column):
    return prepare(column, SEED)


def variables_of(table, **settings):
    """The same, prepared."""
    return [Variable(column, prepared) for column in columns_of(table, **settings)]


def number(values, missing=None, name="x"):
    """A prepared column of numbers."""
    column = Column(name, "number", np.asarray(values), missing)
    return Variable(column, prepared)


def category(codes, missing=None, name="c"):
    """A prepared category."""
    codes = np.asarray(codes).astype(np.intp)
    column = Column(name, "category", codes, missing, tuple(range(codes.max() + 1)))
    return Variable(column, prepared)


def of_pair(function, x, y, **settings):
    """What a function of one pair says, None where it refuses."""
    try:
        return function(x, y, missing="pairwise", **settings)
    except renyi.InputError:
        return None


def assert_same_table(found, expected, tolerance):
    """The same numbers on all pairs up to rounding, the same dimensions, rows, permutations, and columns left out.

    P-values by permutation are as good as one another, but those of a device come from its own.
    """
    assert (found.names, found.other_names) == (expected.names, expected.other_names)
    assert dict(found.types) == dict(expected.types)
    assert dict(found.skipped) == dict(expected.skipped)
    assert found.n_rows == expected.n_rows
    assert (found.n_samples == expected.n_samples).all()
    for name in ("values", "pearson", "spearman"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), abs=tolerance, nan_ok=True), name
    # Near 0 a debiased value is the root of what is left of two equal numbers.
    squares = [one.debiased * np.abs(one.debiased) for one in (found, expected)]
    assert squares[0] == pytest.approx(squares[1], abs=tolerance, nan_ok=True)
    edges, others = found.edges.found, expected.edges.found
    order, of_others = (np.lexsort((one.j, one.i)) for one in (edges, others))
    assert (edges.dimensions[order] == others.dimensions[of_others]).all()
    assert (edges.is_permuted[order] == others.is_permuted[of_others]).all()
    by_theory = ~others.is_permuted[of_others]
    log_p, expected_log_p = edges.log_pvalue[order][by_theory], others.log_pvalue[of_others][by_theory]
    assert log_p == pytest.approx(expected_log_p, rel=30 * tolerance, abs=30 * tolerance, nan_ok=True)
    by_permutation = [
        np.exp(part.log_pvalue[where][~by_theory]) for part, where in ((edges, order), (others, of_others))
    ]
    assert by_permutation[0] == pytest.approx(by_permutation[1], rel=0.5, abs=0.003)
