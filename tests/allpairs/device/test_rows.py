"""What comparing asks of rows on a device, beside the same of rows in memory."""

from itertools import product

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from device_groups import both_ways, frame_with_gaps  # noqa: E402
from renyi.allpairs.common_rows import CommonPairs, MaskedSide  # noqa: E402
from renyi.allpairs.compare import PERMUTATIONS, InMemory, compare, pair_of_rows  # noqa: E402
from renyi.allpairs.device.rows import RowsOnDevice  # noqa: E402
from renyi.compute.arrays import in_memory  # noqa: E402

N = 240


@pytest.fixture
def sides(rng):
    return both_ways(frame_with_gaps(N, rng))


def tiles(sides):
    """All pairs of groups on the device, and in memory, with all pairs of their columns."""
    for (x, of_x), (y, of_y) in product(sides, sides):
        i, j = (index.ravel() for index in np.indices((len(x.positions), len(y.positions))))
        yield (x, y), (of_x, of_y), i, j


def test_both_sides_of_pairs_are_those_of_memory(sides):
    for there, here, i, j in tiles(sides):
        for found, expected in zip(RowsOnDevice().sides(*there, i, j), MaskedSide.both(*here, i, j), strict=True):
            assert (in_memory(found.n) == expected.n).all()
            for name in ("whitened_coefficient", "whitened_nested"):
                own, known = (side.at(getattr(side, name)("test"), "test") for side in (found, expected))
                own = own.in_memory()
                assert (own.is_regular == known.is_regular).all()
                which = known.is_regular
                assert np.abs(own.means - known.means).max() < 1e-7
                assert np.abs(own.variance - known.variance).max() < 1e-7
                assert np.abs(own.distance - known.distance).max() < 1e-6
                assert np.abs((own.factor - known.factor)[:, :, which]).max(initial=0.0) < 1e-5
            for name in ("most_ties", "fewest_log_arrangements", "most_functions"):
                own, known = (getattr(side, name) for side in (found, expected))
                own, known = (part() if callable(part) else part for part in (own, known))
                np.testing.assert_allclose(in_memory(own), known, rtol=1e-12)
            for pair in (0, len(i) - 1):
                assert found.log_arrangements(pair) == pytest.approx(expected.log_arrangements(pair), rel=1e-12)


def test_leverages_of_single_pairs_are_those_of_memory(sides):
    for there, here, i, j in tiles(sides):
        found, expected = RowsOnDevice().sides(*there, i, j)[0], MaskedSide.both(*here, i, j)[0]
        white, known = (side.at(side.whitened_nested("test"), "test") for side in (found, expected))
        pairs = np.flatnonzero(known.is_regular)[::2]
        if len(pairs) == 0:
            continue
        exact = in_memory(found.exact_leverages(white, torch.tensor(pairs)))
        assert np.isnan(np.delete(exact, pairs, axis=1)).all()
        np.testing.assert_allclose(exact[:, pairs], expected.exact_leverages(known, pairs)[:, pairs], rtol=1e-6)


def test_common_pairs_and_their_sums_are_those_of_memory(sides):
    for there, here, i, j in tiles(sides):
        rows = RowsOnDevice()
        sums, known = rows.sums(*there), InMemory().sums(*here)
        assert rows.sums(*there) is sums
        assert np.abs(in_memory(sums.coefficient) - known.coefficient).max() < 1e-7
        for part, expected in zip(sums.nested, known.nested, strict=True):
            assert np.abs(in_memory(part) - expected).max() < 1e-7
        found = CommonPairs(sums, rows.sides(*there, torch.tensor(i), torch.tensor(j)))
        expected = CommonPairs(known, InMemory().sides(*here, i, j))
        np.testing.assert_allclose(in_memory(found.coefficient), expected.coefficient, atol=1e-8)
        np.testing.assert_allclose(in_memory(found.log_pvalue), expected.log_pvalue, rtol=1e-6, atol=1e-6)
        assert (in_memory(found.dimensions) == expected.dimensions).all()


def test_tiles_of_columns_with_gaps_are_compared_as_in_memory(sides):
    for there, here, _, _ in tiles(sides):
        if there[0] is there[1] and len(there[0].positions) == 1:
            continue
        found, expected = compare(*there, RowsOnDevice(), PERMUTATIONS), compare(*here, InMemory(), PERMUTATIONS)
        assert (in_memory(found.i) == expected.i).all()
        assert (in_memory(found.n) == expected.n).all()
        np.testing.assert_allclose(in_memory(found.coefficient), expected.coefficient, atol=1e-8)
        np.testing.assert_allclose(in_memory(found.log_pvalue), expected.log_pvalue, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(in_memory(found.spearman), expected.spearman, atol=1e-7)
        assert (in_memory(found.is_permuted) == expected.is_permuted).all()


@pytest.mark.parametrize("is_known", [False, True])
def test_single_pairs_have_the_products_of_their_common_rows(is_known, sides):
    for there, here, i, j in tiles(sides):
        rows = RowsOnDevice()
        if is_known:
            rows.sums(*there)
        a, b = int(i[-1]), int(j[0])
        if there[0] is there[1] and a == b:
            continue
        x, y, crosses = rows.pair(*there, a, b)
        known = pair_of_rows(here[0].variables[a], here[1].variables[b])
        assert (x.basis.n_samples, x.basis.dimension, y.basis.dimension) == (
            known[0].basis.n_samples,
            known[0].basis.dimension,
            known[1].basis.dimension,
        )
        assert (crosses is None) == ("vector" in (there[0].scales.kind, there[1].scales.kind))
        assert x.scales.leverages == pytest.approx(known[0].scales.leverages, rel=1e-7)
        assert y.basis.largest_leverage == pytest.approx(known[1].basis.largest_leverage, rel=1e-6)
