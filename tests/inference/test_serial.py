import numpy as np
from scipy.signal import lfilter

from renyi.inference.serial import in_order, may_be_random_walk, memory


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
