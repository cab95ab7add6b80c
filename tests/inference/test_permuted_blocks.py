from itertools import islice

import numpy as np
import pytest

from renyi.inference.multiscale import block_roots, log_evidence, log_harmonic_mean
from renyi.inference.permutation import ROUNDING_OF_LOGARITHMS, random_orders, until_resolved
from renyi.inference.permuted_blocks import Observed, permuted_together

N, SEED = 24, (7,)


def functions(dimension, rng):
    """Centred functions, orthonormal over the rows."""
    return np.sqrt(N) * np.linalg.qr(np.c_[np.ones(N), rng.standard_normal((N, dimension))])[0][:, 1:]


def statistics(x, y, blocks, orders):
    """The combination of blocks of y in each of some orders, one after the other."""
    cross = np.stack([x.T @ y[order] / N for order in orders])
    return -log_harmonic_mean(log_evidence(block_roots(cross, blocks), blocks, N))


def pairs(rng):
    """Of different dimensions and blocks, near and far from independence."""
    shapes = [
        (9, 9, ((1, 1), (3, 1), (1, 6), (2, 2), (2, 6), (4, 4), (8, 8))),
        (5, 9, ((1, 1), (3, 1), (1, 6), (5, 2), (4, 4), (5, 8))),
        (3, 2, ((1, 1), (3, 1), (1, 2), (3, 2))),
        (9, 4, ((6, 2), (4, 4))),
        (2, 1, ((1, 1), (2, 1))),
    ]
    for a, b, blocks in shapes:
        for strength in (0.0, 0.5, 1.5):
            x, y = functions(a, rng), functions(b, rng)
            y[:, 0] += strength * x[:, 0]
            y = np.sqrt(N) * np.linalg.qr(y)[0]
            (seen,) = statistics(x, y, blocks, np.arange(N)[np.newaxis])
            yield Observed(x, y, blocks, float(seen))


def test_every_pair_has_what_its_permutations_one_by_one_have(rng):
    some = list(pairs(rng))
    found = permuted_together(some, n_resamples=1500, seed=SEED)
    for pair, own in zip(some, found, strict=True):
        drawn = (statistics(pair.x, pair.y, pair.blocks, orders) for orders in random_orders(N, 1500, SEED))
        assert own == until_resolved(drawn, pair.statistic, rounding=ROUNDING_OF_LOGARITHMS)
        assert permuted_together([pair], n_resamples=1500, seed=SEED) == [own]
    # Answers of all kinds are among them.
    assert {own.n_reached >= 100 for own in found} == {True, False}
    assert max(own.n_drawn for own in found) == 1500
    assert min(own.n_drawn for own in found) < 256


@pytest.mark.parametrize("n_bytes", [1, 2**17])
def test_pairs_at_once_change_nothing(n_bytes, rng, monkeypatch):
    some = list(islice(pairs(rng), 6))
    found = permuted_together(some, n_resamples=600, seed=SEED)
    monkeypatch.setattr("renyi.inference.permuted_blocks._BYTES_AT_ONCE", n_bytes)
    assert permuted_together(some, n_resamples=600, seed=SEED) == found
