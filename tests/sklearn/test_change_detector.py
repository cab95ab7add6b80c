"""`change_detector`: what is remembered, and that it finds what `renyi.compare` finds."""

import pickle

import numpy as np
import pandas as pd
import pytest

import renyi
from renyi.errors import InputError
from renyi.sklearn import ChangeDetector


def _table(n, seed):
    rng = np.random.default_rng(seed)
    x, noise = rng.standard_normal((2, n))
    return pd.DataFrame(
        {
            "x": x,
            "y": x**2 + noise,
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.round(1e6 * rng.random(n)), unit="s"),
            "grade": rng.integers(1, 5, n),
            "zeros": np.where(x > 0.5, rng.random(n), 0.0),
            "level": np.where(x > 1, "high", rng.choice(list("abc"), n)),
            "gappy": np.where(rng.random(n) < 0.2, np.nan, x + rng.standard_normal(n)),
        }
    )


@pytest.fixture(scope="module")
def detector():
    return ChangeDetector().fit(_table(3000, 0))


def test_it_finds_what_comparing_both_tables_finds(detector):
    new = _table(2000, 1).assign(extra=1.0)
    new["y"] = -new["y"]
    new.loc[:100, "level"] = "new"
    found, whole = detector.check(new), renyi.compare(_table(3000, 0), new)
    assert found.names == whole.names
    assert found.only_after == ("extra",)
    # Cells of values, and levels that are told apart, are those of the reference alone.
    assert np.log(found.of_pairs.pvalues) == pytest.approx(np.log(whole.of_pairs.pvalues), abs=1.5, rel=0.15)
    smooth = [
        k for k, (i, j) in enumerate(zip(found.of_pairs.i, found.of_pairs.j, strict=True)) if {i, j} <= {0, 1, 2, 6}
    ]
    assert found.of_pairs.pvalues[smooth] == pytest.approx(whole.of_pairs.pvalues[smooth], rel=1e-3)
    assert found.of_pairs.after == pytest.approx(whole.of_pairs.after, nan_ok=True)
    words = {(change.column, change.what): change.words for change in found.of_columns}
    assert words["y", "values"] == "other sign? about minus what it was"
    assert words["level", "levels"] == "new level: 'new' (101 rows)"


def test_the_same_table_says_that_nothing_changed(detector):
    assert detector.score(_table(3000, 0)) == 1.0
    assert detector.score(_table(2000, 2)) > 0.01


def test_no_row_can_be_found_in_the_pickle(detector):
    table = _table(3000, 0)
    table["when"] = table["when"].astype("int64")
    state = pickle.dumps(detector)
    assert len(state) < 250_000
    again = pickle.loads(state)
    assert again.check(_table(500, 3)).pairs.equals(detector.check(_table(500, 3)).pairs)
    # Of no row two values of columns with many values are there, in any place and any byte order.
    numbers = table[["x", "y", "when", "gappy"]].to_numpy(dtype=float)
    kept = [
        [any(kind.tobytes() in state for kind in (value, value.astype(np.float32), value.byteswap())) for value in row]
        for row in numbers[:300]
    ]
    assert np.sum(kept, axis=1).max() <= 1


def test_a_stuck_sensor_and_a_column_that_is_gone(detector):
    new = _table(2000, 4).drop(columns="grade")
    new["y"] = 3.25
    new.loc[:999, "gappy"] = 0.5
    found = detector.check(new)
    words = {change.column: change.words for change in found.of_columns if change.what == "values"}
    assert words["y"].startswith("constant, always 3.")
    assert words["gappy"].startswith("stuck? 5")
    assert found.only_before == ("grade",)
    kinds = {frozenset((row.x, row.y)): row for row in found.pairs.itertuples()}
    # What is stuck for half of the rows says less of x; what is always stuck has no dependence that could be compared.
    assert kinds[frozenset(("x", "gappy"))].kind == "weaker"
    assert np.isnan(kinds[frozenset(("x", "y"))].p)


@pytest.mark.parametrize(
    ("new", "message"),
    [({"z": [1.0, 2.0]}, "no column that the reference has"), ({"x": []}, "no rows")],
)
def test_what_cannot_be_checked_is_refused(detector, new, message):
    with pytest.raises(InputError, match=message):
        detector.check(new)


def test_words_of_cells_are_those_of_their_values():
    """A cell that many rows have is no value that many rows have."""
    rng = np.random.default_rng(11)
    before, after = rng.standard_normal((2, 1500))
    detector = ChangeDetector().fit({"x": before})

    def told(values):
        return detector.check({"x": values}).of_columns[0].words

    assert "stuck" not in told(6.0 + after)
    assert told(np.where(after > 0, 0.123, after)).startswith("stuck? ")
    assert "are 0.123, " in told(np.where(after > 0, 0.123, after))
    assert told(np.full(1500, 0.123)) == "constant, always 0.123"
    assert not told(9.0 + 1e-6 * after).startswith("constant")
