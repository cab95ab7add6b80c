"""What changed between two tables is the same behind every door, and on both sides of sizes that switch its ways."""

from contextlib import nullcontext
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import renyi
from contracts.doors import BATCHES, IN_MEMORY, ON_DEVICES, as_pandas
from contracts.lowering import as_if_large, lowered
from contracts.zoo import TABLES
from renyi.sklearn import ChangeDetector

NAMES = ("complete", "ties", "labels_and_gaps", "rare_levels", "dates", "dates_as_text")
# What all others are compared with; and sums that are fed by hand, which are of one table.
LEFT_OUT = [door for door in (*IN_MEMORY, *BATCHES) if door.name in {"pandas", "accumulators"}]
DOORS = [door for door in (*IN_MEMORY, *BATCHES, *ON_DEVICES) if door.has_names and door not in LEFT_OUT]


def halves(name):
    """The first rows of a table, and the others."""
    n = TABLES[name].n_rows
    return TABLES[name].rows(0, n // 2), TABLES[name].rows(n // 2, n)


def compared(door, name, folder):
    """Two halves of a table that a door holds; where it reads batches, in some, all of whose rows are the sample."""
    held = []
    for part, half in zip("ab", halves(name), strict=True):
        (folder / part).mkdir()
        held.append(door.build(half, folder / part))
    n, sizes = TABLES[name].n_rows // 2, [0]
    held = [one[1] if isinstance(one, tuple) else one for one in held]
    sizes += [one.stat().st_size for one in held if isinstance(one, Path)]
    is_large = door in BATCHES and door.name not in {"dask", "spark"}
    with lowered(as_if_large(n, min(sizes[1:] or sizes))) if is_large else nullcontext():
        return renyi.compare(*held, types=TABLES[name].options.get("types"))


def told(found):
    """What changed, by column and by pair."""
    columns = {(one.column, one.what): (one.moved, one.low, one.high, np.log(one.p)) for one in found.of_columns}
    pairs = found.of_pairs
    names = [(found.names[i], found.names[j]) for i, j in zip(pairs.i, pairs.j, strict=True)]
    numbers = np.stack((np.log(pairs.pvalues), pairs.moved, pairs.before, pairs.after), axis=1)
    return columns, dict(zip(names, numbers.tolist(), strict=True))


@cache
def expected(name):
    return renyi.compare(*map(as_pandas, halves(name)))


def check_same(found, wanted, rel=1e-6):
    for own, other in zip(told(found), told(wanted), strict=True):
        assert own.keys() == other.keys()
        for key, numbers in other.items():
            assert own[key] == pytest.approx(numbers, rel=rel, abs=rel, nan_ok=True), key


def cases():
    """Every door with some of the tables that it can hold, each door with others."""
    for d, door in enumerate(DOORS):
        marks = [] if not door.needs or find_spec(door.needs) else [pytest.mark.skip(reason=f"needs {door.needs}")]
        for t, name in enumerate(NAMES):
            if door.holds(TABLES[name]) and (d + t) % 4 == 0:
                yield pytest.param(
                    door, name, marks=[*marks, *([pytest.mark.slow] if d % 2 else [])], id=f"{door}-{name}"
                )


@pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning")
@pytest.mark.parametrize(("door", "name"), list(cases()))
def test_what_changed(door, name, tmp_path):
    found, wanted = compared(door, name, tmp_path), expected(name)
    check_same(found, wanted)
    assert [one.words for one in found.of_columns] == [one.words for one in wanted.of_columns]
    assert bool(found.sampled) == (door in BATCHES)
    assert found.n_rows == wanted.n_rows


# Sizes from which another way is taken, each with a lower one, and how far numbers may then be apart.
LOWERED = {
    "rows are taken some at a time": ({"renyi.change.sums:_ROWS": 31}, 1e-9),
    "columns are compared some at a time": ({"renyi.change.sums:_COLUMNS": 2}, 1e-9),
    "pairs are compared some at a time": ({"renyi.change.sums:_PAIRS": 3}, 1e-9),
    "products are rounded": ({"renyi.change.sums:_MANY_ROWS": 1}, 1e-3),
    "covariances come from fewer rows": ({"renyi.change.sums:ROWS_OF_COVARIANCE": 110}, 0.3),
}


@pytest.mark.parametrize("switches", LOWERED)
@pytest.mark.parametrize("name", ["complete", "labels_and_gaps"])
def test_sizes_that_switch_ways(switches, name):
    values, rel = LOWERED[switches]
    wanted = expected(name)
    with lowered(values):
        found = renyi.compare(*map(as_pandas, halves(name)))
    check_same(found, wanted, rel)


def test_values_are_counted_by_fewer_bits(tmp_path):
    """Columns of more values than there is room for: ranks are off by a little, and p-values too."""
    door = next(door for door in BATCHES if door.name == "lazy frame")
    coarse = {"renyi.change.counting:LEAST_CAPACITY": 64, "renyi.tables.budget:LEAST_CAPACITY": 64}
    with lowered(coarse | {"renyi.change.counting:bytes_of": lambda _: 1}):
        found = compared(door, "complete", tmp_path)
    exact = {one.column: one.p for one in expected("complete").of_columns}
    assert {one.column: one.p for one in found.of_columns} == pytest.approx(exact, rel=0.3)
    assert {one.column: one.p for one in found.of_columns} != exact


@pytest.mark.parametrize("name", ["complete", "ties", "labels_and_gaps"])
def test_a_reference_without_rows_says_the_same(name):
    """Few rows have cells of their own, and only values in gaps between the old ones may change places."""
    before, after = map(as_pandas, halves(name))
    found, wanted = ChangeDetector().fit(before).check(after), expected(name)
    assert told(found)[0].keys() == told(wanted)[0].keys()
    pairs, others = told(found)[1], told(wanted)[1]
    assert {key: pairs[key][0] for key in others} == pytest.approx({key: others[key][0] for key in others}, abs=0.7)
