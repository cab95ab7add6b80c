"""Column groups of one table on a device and in memory, for tests that compare them."""

import numpy as np
import pandas as pd
import pytest

torch = pytest.importorskip("torch")

from renyi.allpairs.column_group import Variable, ready  # noqa: E402
from renyi.allpairs.device.groups import groups_on_device  # noqa: E402
from renyi.allpairs.device.ranking import ranked  # noqa: E402
from renyi.allpairs.device.reading import read_table  # noqa: E402
from renyi.allpairs.tiles import groups  # noqa: E402
from renyi.data.table import as_table  # noqa: E402
from renyi.pair.prepare import DEFAULT_SETTINGS, prepare  # noqa: E402

CPU = torch.device("cpu")
VECTORS = {"place": ["lat", "lon"]}


def frame_with_gaps(n, rng, *, gaps=0.15, n_plain=3):
    """Numbers without ties and with many, categories of 2, 8 and 60 levels, and a vector, all with gaps but one."""
    hidden = rng.standard_normal(n)

    def beside():
        return hidden + rng.standard_normal(n)

    def levels(k):
        return np.array([f"level {i}" for i in range(k)])[rng.integers(0, k, n)].astype(object)

    columns = {f"n{k}": beside() for k in range(n_plain)}
    columns |= {"rounded": np.round(beside()), "coarse": np.round(4 * beside()), "zeros": np.maximum(beside(), 0.0)}
    columns |= {"two": levels(2), "eight": levels(8), "sixty": levels(60), "lat": beside(), "lon": beside()}
    frame = pd.DataFrame(columns)
    for name in frame if gaps else ():
        frame[name] = frame[name].where(rng.random(n) >= gaps)
    frame["whole"] = hidden
    return frame


def both_ways(frame, *, has_gaps=True):
    """Groups of a frame on the processor as a device, each with the same one in memory."""
    there = ranked(read_table(frame, CPU, vectors=VECTORS), DEFAULT_SETTINGS)
    table = as_table(frame, vectors=VECTORS)
    variables = [Variable(column, ready(prepare(column))) for column in table.columns]
    assert [v.column.name for v in there.variables] == [v.column.name for v in variables]
    on_device, in_memory = groups_on_device(there, has_gaps=has_gaps), groups(variables)
    by_place = {tuple(group.positions): group for group in in_memory}
    return [(group, by_place[tuple(group.positions)]) for group in on_device]
