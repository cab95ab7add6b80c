import numpy as np
import pandas as pd
import pytest

from renyi.data.time import timeline
from renyi.errors import InputError


def test_rows_are_ordered_by_stamps_within_groups():
    unit, hour = np.tile(["b", "a"], 50), np.repeat(np.arange(50)[::-1], 2)
    line = timeline(hour, unit, 100)
    assert line.lengths == (50, 50)
    assert line.n_rows == 100
    first = line.order[:50]
    assert len(set(unit[first])) == 1
    assert hour[first].tolist() == list(range(50))
    assert timeline(True, None, 60).order.tolist() == list(range(60))


def test_months_are_regular_and_working_days_are_not():
    months = pd.date_range("2000-01-01", periods=60, freq="MS")
    assert timeline(months, None, 60).lengths == (60,)
    assert timeline([str(month.date()) for month in months], None, 60).lengths == (60,)
    with pytest.raises(
        InputError, match=r"irregular: rows 4 and 5 \(2024-01-05 and 2024-01-08\) are 3 days apart, and most are 1 day:"
    ):
        timeline(pd.bdate_range("2024-01-01", periods=60), None, 60)


def test_labels_are_no_stamps():
    with pytest.raises(InputError, match="stamps are dates or numbers"):
        timeline(["before", "after"] * 40, None, 80)
