"""Rows that are not independent: every door in memory says what one pair says, the others refuse, in the same words."""

import re

import numpy as np
import pytest
from scipy.signal import lfilter

import renyi
from contracts.doors import BATCHES, IN_MEMORY, REFERENCE
from contracts.tables import Column, Table

N_ROWS = 120
DOORS_IN_MEMORY = [door for door in IN_MEMORY if not door.only]


def series(n=N_ROWS):
    """Three numbers that remember their past, of which the third goes with the first."""
    x0, x1, noise = lfilter([1], [1, -0.6], np.random.default_rng(8).standard_normal((3, n)))
    cells = {"x0": x0, "x1": x1, "x2": x0**2 + noise}
    return Table("series", {name: Column("number", values.round(6).tolist()) for name, values in cells.items()})


UNITS = np.repeat(np.arange(4), N_ROWS // 4)
SETTINGS = {
    "in order": {"time": True},
    "by stamps": {"time": np.arange(N_ROWS) * 0.5},
    "changes": {"time": True, "detrend": "difference"},
    "a season": {"time": True, "period": 7},
    "a panel": {"time": True, "groups": UNITS},
    "within groups": {"groups": UNITS},
    "whole groups": {"groups": UNITS, "exchange": "whole"},
}


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("door", DOORS_IN_MEMORY, ids=str)
def test_p_values_are_those_of_one_pair(door, settings, tmp_path):
    found = door.ask(door.build(series(), tmp_path), **SETTINGS[settings])
    columns = {name: np.array(column.cells) for name, column in series().columns.items()}
    for i, x in enumerate(columns):
        for j, y in list(enumerate(columns))[i + 1 :]:
            one = renyi.independence_test(columns[x], columns[y], **SETTINGS[settings])
            for name in ("pvalue", "coefficient", "debiased", "strength"):
                values = getattr(found, {"pvalue": "pvalues", "coefficient": "values"}.get(name, name))
                assert values[i, j] == pytest.approx(getattr(one, name), rel=1e-6, abs=1e-9)
            assert found.n_samples[i, j] == one.n_samples


@pytest.mark.parametrize("door", [door for door in BATCHES if str(door) not in ("accumulators", "spark")], ids=str)
@pytest.mark.parametrize("settings", ["in order", "within groups"])
def test_what_is_not_in_memory_is_refused(door, settings, tmp_path):
    said = "time and groups need all rows in memory, and this table is read in batches"
    with pytest.raises(renyi.InputError, match=said):
        door.ask(door.build(series(), tmp_path), **SETTINGS[settings])


def test_a_device_refuses():
    torch = pytest.importorskip("torch")
    table = {name: torch.tensor(column.cells) for name, column in series().columns.items()}
    for settings in SETTINGS.values():
        with pytest.raises(renyi.InputError, match="time and groups need all rows in memory, and this table is on a"):
            renyi.matrix(table, **settings)


BAD = {
    "few rows": (series(40), {"time": True}),
    "repeated stamps": (series(), {"time": np.arange(N_ROWS) // 2}),
    "irregular stamps": (series(), {"time": np.r_[0:60, 70 : N_ROWS + 10]}),
    "missing stamps": (series(), {"time": np.r_[np.nan, 1:N_ROWS]}),
    "too few stamps": (series(), {"time": np.arange(3)}),
    "a long season": (series(), {"time": True, "period": 50}),
    "a season of one row": (series(), {"time": True, "period": 1}),
    "an unknown trend": (series(), {"time": True, "detrend": "cubic"}),
    "a season without time": (series(), {"period": 7}),
    "whole groups in time": (series(), {"time": True, "groups": UNITS, "exchange": "whole"}),
    "whole groups of nothing": (series(), {"exchange": "whole"}),
    "short groups": (series(), {"time": True, "groups": np.arange(N_ROWS) // 5}),
    "groups of one row": (series(), {"groups": np.arange(N_ROWS)}),
    "too few labels": (series(), {"groups": UNITS[:5]}),
    "an unknown order": (series(), {"order": "random"}),
    "an unknown exchange": (series(), {"groups": UNITS, "exchange": "some"}),
}


@pytest.mark.parametrize("bad", BAD)
def test_tables_refuse_what_pairs_refuse(bad, tmp_path):
    table, settings = BAD[bad]
    with pytest.raises(renyi.InputError) as of_pair:
        renyi.independence_test(*(column.cells for column in list(table.columns.values())[:2]), **settings)
    with pytest.raises(renyi.InputError, match=f"^{re.escape(str(of_pair.value))}$"):
        REFERENCE.ask(REFERENCE.build(table, tmp_path), **settings)


GIVEN = {name: settings for name, settings in SETTINGS.items() if "time" in settings}


@pytest.mark.parametrize("settings", GIVEN)
def test_given_others_doors_say_what_one_conditional_test_says(settings, tmp_path):
    table = series()
    columns = {name: np.array(column.cells) for name, column in table.columns.items()}
    one = renyi.conditional_test(columns["x0"], columns["x2"], columns["x1"], **GIVEN[settings])
    found = renyi.screen(columns, "x2", given="x1", **GIVEN[settings])
    assert found.pvalues[0] == pytest.approx(one.pvalue, rel=1e-6)
    assert found.strength[0] == pytest.approx(one.strength, abs=1e-6)


def test_a_selection_takes_the_feature_that_a_test_finds():
    from renyi.sklearn import RDCSelector

    x0, x1, x2 = (np.array(column.cells) for column in series().columns.values())
    for settings in ({"time": True}, {"time": True, "detrend": "difference"}, {"time": True, "period": 7}):
        selector = RDCSelector(**settings, interactions=False).fit(np.column_stack((x1, x0)), x2)
        (step,) = selector.path_
        assert step.feature == 1
        # The best of two.
        assert step.pvalue == pytest.approx(2 * renyi.independence_test(x0, x2, **settings).pvalue, rel=1e-6)
