import numpy as np

from renyi.experiments.demo import RELATED, demo_table, n_by_pearson
from renyi.tables.api import matrix


def test_demo_table_is_what_it_says():
    table = demo_table(500, seed=7)
    again, other = demo_table(500, seed=7), demo_table(500, seed=8)
    assert all(np.array_equal(table[name], again[name], equal_nan=table[name].dtype.kind == "f") for name in table)
    assert not np.array_equal(table["height"], other["height"])
    assert {name for pair in RELATED for name in pair} <= set(table)
    assert 0.1 < np.isnan(table["weight"]).mean() < 0.3
    found = matrix(table)
    at = found.names.index
    assert all(found.qvalues[at(x), at(y)] < 1e-6 for x, y in RELATED)
    assert n_by_pearson(found, 0.05) <= 3
