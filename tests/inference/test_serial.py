import numpy as np
import pytest
from scipy.signal import lfilter

from renyi.inference.serial import in_order, is_sorted, may_be_random_walk, memory, memory_of_sums, neighbour_sums


def standard_ranks(values):
    ranks = np.argsort(np.argsort(values)).astype(float)
    return (ranks - ranks.mean()) / ranks.std()


def test_memory_and_order(rng):
    first = standard_ranks(lfilter([1], [1, -0.9], rng.standard_normal(400)))
    assert memory(first).is_serial
    assert not memory(rng.permutation(first)).is_serial
    assert not memory(first[:40]).is_serial
    assert may_be_random_walk(memory(standard_ranks(np.cumsum(rng.standard_normal(400)))).correlation, 400)
    assert not may_be_random_walk(memory(first).correlation, 400)
    assert in_order(np.array([2, 2, 0, 1]), is_category=True)
    assert not in_order(np.array([2, 2, 0, 1]), is_category=False)


def test_sums_over_neighbours_add_up(rng):
    values, known = rng.standard_normal(500), rng.random(500) < 0.9
    one = neighbour_sums(values, known)
    two = sum(neighbour_sums(values[part], known[part]) for part in (slice(250), slice(249, 500)))
    assert one[:3] == pytest.approx(two[:3])  # the second part has the row at the border again
    both = known[1:] & known[:-1]
    assert one[3] == pytest.approx(np.sum((values[1:] * values[:-1])[both]))
    assert not memory_of_sums(one).is_serial
    ordered = neighbour_sums(np.sort(values), np.ones(500, dtype=bool))
    assert is_sorted(ordered)
    assert memory_of_sums(ordered).is_serial
    assert neighbour_sums(values[:1], known[:1]).tolist() == [0] * 6
