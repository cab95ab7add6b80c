import numpy as np
import pytest

from renyi.experiments.patterns import EXTRA_PATTERNS, PATTERNS


@pytest.mark.parametrize("pattern", PATTERNS + EXTRA_PATTERNS, ids=lambda pattern: pattern.name)
def test_noise_of_a_pattern_grows_with_its_level(pattern):
    x, clean = pattern.sample(4000, 0, np.random.default_rng(0))
    again, noisy = pattern.sample(4000, 15, np.random.default_rng(0))
    assert np.array_equal(x, again)
    assert np.std(noisy - clean) == pytest.approx(1.5 * pattern.noise, rel=0.05)
    assert 0 <= x.min() <= x.max() <= 1
