import numpy as np
import pytest

from renyi.inference import multiscale
from renyi.inference.many_pairs import log_pvalues, within_critical
from renyi.inference.roy import MANY_ROOTS, are_many
from sample_tables import category, number


def one_by_one(x, y):
    """Roots and the p-value of one pair by `blocks`; None where no block is trusted."""
    family = multiscale.family(x, y)
    cross, n = multiscale.products(x, y), x.basis.n_samples
    kept = multiscale.trusted(family, x, y)
    if not kept:
        return multiscale.block_roots(cross, family), np.nan
    evidence = multiscale.log_evidence(multiscale.block_roots(cross, kept), kept, n)
    found = multiscale.log_pvalue(
        multiscale.log_harmonic_mean(evidence),
        kept,
        n=n,
        are_numbers=x.kind == y.kind == "number",
        log_arrangements=min(x.log_arrangements, y.log_arrangements),
    )
    return multiscale.block_roots(cross, family), float(found)


def in_a_batch(pairs, family):
    x, y = pairs[0]
    roots = np.array([one_by_one(*pair)[0] for pair in pairs])
    return log_pvalues(
        roots,
        family,
        n=np.array([pair[0].basis.n_samples for pair in pairs]),
        leverages=tuple(np.array([pair[side].leverages for pair in pairs]).T for side in (0, 1)),
        log_arrangements=np.array([min(a.log_arrangements, b.log_arrangements) for a, b in pairs]),
        are_numbers=x.kind == y.kind == "number",
        share=multiscale.share_of(x, y),
        largest=multiscale.largest_leverages(x, y, np.array([pair[0].basis.n_samples for pair in pairs])),
        tabulated=False,
    )


def scales(values, rows):
    return number(values).scales.on(rows)


@pytest.mark.parametrize("n", [40, 120, 600])
def test_numbers_have_the_pvalues_of_one_pair_whatever_their_rows(n, rng):
    pairs = []
    for strength in (0.0, 0.0, 0.5, 3.0):
        x = rng.standard_normal(n)
        y = strength * x**2 + rng.standard_normal(n)
        rows = rng.permutation(n) < rng.integers(0.8 * n, n)
        pairs += [(scales(x, rows), scales(y, rows))]
    found, _ = in_a_batch(pairs, multiscale.family(*pairs[0], n=n))
    expected = [one_by_one(*pair)[1] for pair in pairs]
    assert found == pytest.approx(expected, rel=1e-9)
    assert found[0] > -10 > found[-1]


@pytest.mark.parametrize("share", [0.5, 0.2, 0.05, 0.01])
def test_blocks_are_trusted_as_those_of_one_pair(share, rng):
    pairs = [
        (number(np.where(rng.random(300) < share, rng.random(300), 0.0)).scales, number(rng.random(300)).scales)
        for _ in range(6)
    ]
    dimensions = [pair[0].basis.dimension for pair in pairs]
    pairs = [pair for pair, dimension in zip(pairs, dimensions, strict=True) if dimension == dimensions[0]]
    family = multiscale.family(*pairs[0])
    found, are_all = in_a_batch(pairs, family)
    assert found == pytest.approx([one_by_one(*pair)[1] for pair in pairs], rel=1e-9, nan_ok=True)
    assert are_all.tolist() == [multiscale.trusted(family, *pair) == family for pair in pairs]


def test_rare_levels_on_both_sides_have_no_null_distribution(rng):
    rare = [category(rng.permutation(400) < 4).scales for _ in range(2)]
    frequent = [category(rng.permutation(400) < 150).scales for _ in range(2)]
    found, are_all = in_a_batch([tuple(rare), tuple(frequent)], multiscale.family(*rare))
    assert np.isnan(found[0])
    assert found[1] == pytest.approx(one_by_one(*frequent)[1])
    assert are_all.tolist() == [False, True]


def test_very_many_pairs_are_looked_up_in_a_table_of_the_null_distribution(rng):
    x, y = number(rng.random(100)).scales, number(rng.random(100)).scales
    family, m = multiscale.family(x, y), MANY_ROOTS
    roots = np.sort(rng.random((m, len(family))) * 0.4, axis=1)
    leverages = tuple(np.tile(side.leverages[:, np.newaxis], m) for side in (x, y))

    def some(which):
        return log_pvalues(
            roots[which],
            family,
            n=np.full(len(roots[which]), 100),
            leverages=tuple(side[:, which] for side in leverages),
            log_arrangements=np.full(len(roots[which]), np.inf),
            are_numbers=True,
            share=0.4,
            largest=np.inf,
            tabulated=are_many(len(roots[which])),
        )[0]

    assert some(slice(None))[:20] == pytest.approx(some(slice(20)), rel=1e-6)


def test_there_may_be_no_pair_at_all():
    found, are_all = log_pvalues(
        np.zeros((0, 2)),
        [(1, 1), (2, 2)],
        n=np.zeros(0, dtype=int),
        leverages=(np.zeros((2, 0)), np.zeros((2, 0))),
        log_arrangements=np.zeros(0),
        are_numbers=True,
        share=0.4,
        largest=np.inf,
        tabulated=False,
    )
    assert len(found) == len(are_all) == 0


def test_trust_of_many_is_that_of_each(rng):
    leverages, n = rng.uniform(0.0, 0.004, 200), rng.integers(60, 400, 200)
    for block in ((1, 1), (3, 2)):
        found = within_critical(leverages / 0.25**2, block, n, tabulated=False)
        expected = [multiscale.is_trusted(a, block, int(m), share=0.25) for a, m in zip(leverages, n, strict=True)]
        assert found.tolist() == expected
        assert 0 < np.count_nonzero(found) < 200
