"""The test of equal dependence, against influences of single rows as its formulas have them."""

import numpy as np
import pytest

from renyi.change.functions import Shape, functions_of
from renyi.change.marginals import Marginal
from renyi.change.sums import RowsOfTables, changed_pairs, own_sums
from renyi.data.column import Column
from renyi.inference.change import COMPARED, Own, Sums, _forms, _Influences


def _pair(n, rng, slope=1.0):
    x, noise = rng.standard_normal((2, n))
    return x, slope * x**2 + 0.5 * noise


def _spanned(before, after):
    shapes, rows, n = [], [], len(before[0])
    for name, parts in zip("xy", zip(before, after, strict=True), strict=True):
        column, cells = Marginal.of(Column(name, "number", np.concatenate(parts)), n)
        shapes.append(Shape.of(column))
        sides = cells[:n], cells[n:]
        rows.append([shapes[-1].rows(*side) for side in zip(sides, column.middles, strict=True)])
    return shapes, RowsOfTables(tuple(zip(*rows, strict=True)))


def _influences(u, v):
    """Influences of all rows on the products of cosines, ranks included, by sums over all pairs of rows."""
    a = np.arange(1, COMPARED + 1)[:, np.newaxis]
    f, g = (np.sqrt(2) * np.cos(np.pi * a * part) for part in (u, v))
    slopes = [-np.sqrt(2) * np.pi * a * np.sin(np.pi * a * part) for part in (u, v)]
    found = []
    for i in range(len(u)):
        below = (u[i] < u) + 0.5 * (u[i] == u) - u, (v[i] < v) + 0.5 * (v[i] == v) - v
        moved = (slopes[0] * below[0]) @ g.T / len(u) + f @ (slopes[1] * below[1]).T / len(u)
        found.append((np.outer(f[:, i], g[:, i]) + moved).ravel())
    return np.array(found)


def test_covariance_is_that_of_the_influences_of_single_rows():
    rng = np.random.default_rng(0)
    shapes, rows = _spanned(_pair(3000, rng), _pair(3000, rng))
    functions, both_columns = functions_of(shapes), slice(0, 2)
    sums = rows.between(both_columns, both_columns).spanned
    own = np.stack([own_sums([shape.is_smooth for shape in shapes], one) for one in sums])
    known = Own.empty(2)
    known.put(both_columns, functions.pooled, own, own[:, :, 0, 0])
    first, second = np.array([0]), np.array([1])
    products = sums[:, :1, 1]
    both = Sums(products, known.take(first), known.take(second), products, np.ones(2))
    x, y = functions.take(first), functions.take(second)
    pooled = _Influences.of(x, y, both)
    ones = np.ones(1)
    found = pooled.covariance([(ones / 2, ones, ones), (ones / 2, ones, ones)])[0]
    direct = sum(np.cov(_influences(*(column.places for column in rows.rows[table])).T) for table in range(2)) / 2
    # Rows of one table alone would do; both add noise of the order of 1/√n.
    assert np.abs(found - direct).max() < 0.06 * np.abs(direct).max()


@pytest.mark.slow
@pytest.mark.parametrize(("sizes", "draw"), [((300, 300), _pair), ((200, 1500), _pair)])
def test_equal_dependence_is_rejected_as_often_as_the_level_says(sizes, draw):
    rng = np.random.default_rng(1)
    log_p = [changed_pairs(*_spanned(draw(sizes[0], rng), draw(sizes[1], rng))).log_pvalues[0] for _ in range(400)]
    assert 0.015 < np.mean(np.exp(log_p) <= 0.05) < 0.085


def test_the_mirror_image_of_a_parabola_is_found_and_a_few_rows_are_refused():
    rng = np.random.default_rng(2)
    found = changed_pairs(*_spanned(_pair(200, rng), _pair(200, rng, slope=-1.0)))
    assert found.log_pvalues[0] < -20
    assert found.moved[0] > 0.9
    assert np.isnan(changed_pairs(*_spanned(_pair(40, rng), _pair(200, rng))).log_pvalues[0])


def test_covariances_from_fewer_rows_leave_evidence_the_same_on_average_and_what_is_compared_always(monkeypatch):
    rng = np.random.default_rng(3)
    shapes, rows = _spanned(_pair(6000, rng), _pair(9000, rng, slope=0.8))
    whole, both = changed_pairs(shapes, rows), slice(0, 2)
    all_rows = rows.between(both, both)
    monkeypatch.setattr("renyi.change.sums.ROWS_OF_COVARIANCE", 2000)
    fewer = RowsOfTables(rows.rows)
    tile = fewer.between(both, both)
    assert tile.times.tolist() == [3.0, 4.5]
    leading = slice(0, COMPARED + 1)
    # Sums of up to 9,000 products that are at most 2; on so many rows they are rounded to 7 digits.
    np.testing.assert_allclose(tile.compared, all_rows.compared[..., leading, leading], atol=0.01)
    log_p = []
    for seed in (0, *range(8)):
        monkeypatch.setattr("renyi.change.sums._SEED", seed)
        log_p.append(changed_pairs(shapes, RowsOfTables(rows.rows)).log_pvalues[0])
    assert log_p[0] == log_p[1] != whole.log_pvalues[0]
    error = np.std(log_p[1:], ddof=1) / np.sqrt(8)
    assert abs(np.mean(log_p[1:]) - whole.log_pvalues[0]) < 3 * error < 0.2 * abs(whole.log_pvalues[0])


def test_forms_leave_out_what_rounding_alone_decides():
    rng = np.random.default_rng(4)
    roots, vectors = rng.standard_normal((5, 3, 3)), rng.standard_normal((5, 3, 1))
    matrices = roots @ roots.transpose(0, 2, 1)
    direct = [v[:, 0] @ np.linalg.inv(m) @ v[:, 0] for m, v in zip(matrices, vectors, strict=True)]
    # The last of them has twice the same entry.
    matrices[4, 2], vectors[4, 2] = matrices[4, 1], vectors[4, 1]
    matrices[4, :, 2] = matrices[4, :, 1]
    direct[4] = vectors[4, :2, 0] @ np.linalg.inv(matrices[4, :2, :2]) @ vectors[4, :2, 0]
    np.testing.assert_allclose(_forms(matrices, vectors), direct, rtol=1e-6)
