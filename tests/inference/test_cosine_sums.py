import numpy as np
import pytest
from scipy.stats import norm

from renyi.inference.cosine_sums import CosineSum


@pytest.mark.parametrize("amplitudes", [np.ones(5), np.arange(1.0, 40.0) ** -1.5, np.array([3.0, 1.0, 1.0, 0.2])])
def test_tails_are_those_of_sums_with_random_phases(rng, amplitudes):
    signs = [amplitudes[-1]]
    drawn = np.zeros(200_000)
    for amplitude in amplitudes:
        drawn += amplitude * np.cos(2.0 * np.pi * rng.random(len(drawn)))
    drawn += signs[0] * rng.choice([-1.0, 1.0], len(drawn))
    log_p = CosineSum.of(amplitudes, signs).log_sf(np.abs(drawn))
    for level in (0.05, 0.01, 0.001):
        error = np.sqrt(level / len(drawn))
        assert np.mean(log_p < np.log(level)) == pytest.approx(level, abs=4 * error + 0.1 * level)


def test_of_many_frequencies_it_is_normal_and_goes_on_beyond_the_smallest_number():
    many = CosineSum.of(np.full(20_000, 0.01))
    sizes = np.array([0.0, 1.0, 4.0, 8.0])
    np.testing.assert_allclose(many.log_sf(sizes), np.log(2.0) + norm.logsf(sizes), rtol=0.01, atol=0.01)
    assert -1100 < many.log_sf(np.array([45.0]))[0] < -1000


def test_a_sum_is_no_larger_than_its_amplitudes_allow_and_never_more_likely_further_out():
    few = CosineSum.of(np.array([1.0, 0.5, 0.25, 0.0]), np.array([0.5]))
    log_p = few.log_sf(np.linspace(0.0, 3.0, 200))
    assert log_p[0] == pytest.approx(0.0)
    assert (np.diff(log_p) <= 0.0).all()
    assert log_p[-1] < -5.0


def test_amplitudes_that_are_nearly_equal_are_counted_together():
    amplitudes = np.linspace(1.0, 2.0, 1000)
    together = CosineSum.of(amplitudes)
    assert len(together.amplitudes) < 20
    assert together.counts @ together.amplitudes**2 == pytest.approx(np.sum(amplitudes**2))


def test_nothing_in_common_is_no_evidence():
    assert CosineSum.of(np.zeros(3)).log_sf(np.array([0.0, 1.0])).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("signs", [[0.3], [0.3, 0.0], [0.2, 0.1], [0.2, 0.2, 0.2]])
def test_signs_alone_are_no_less_likely_than_all_of_one_side(signs):
    """Series of which only two values differ have nothing else; without a warning."""
    log_p = CosineSum.of(np.zeros(3), signs).log_sf(np.linspace(0.0, sum(signs), 50))
    assert log_p[0] == pytest.approx(0.0)
    assert (np.diff(log_p) <= 0.0).all()
    assert log_p[-1] > len(signs) * np.log(0.5)
    assert CosineSum.of(np.zeros(3), [0.0]).log_sf(np.array([0.0, 1.0])).tolist() == [0.0, 0.0]
