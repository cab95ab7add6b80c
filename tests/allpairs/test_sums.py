"""Sums over rows, beside those of whole functions: parts of the rows add up to all of them."""

import numpy as np
import pytest

from renyi.allpairs.stack import Values
from renyi.allpairs.sums import Sums, correlation, reaches_beyond_corner
from renyi.allpairs.tiles import groups
from renyi.inference.multiscale import CORNER
from sample_tables import category, number


def functions(variable, basis):
    """The functions of a basis (rows, dimension) on all rows of the table, 0 where the column lacks one."""
    rows = np.zeros((variable.n_rows, basis.dimension))
    gaps = variable.column.missing
    rows[slice(None) if gaps is None else ~gaps] = basis.rows(0, basis.n_samples)
    return rows


def standardised(group):
    """Values of columns (columns, rows), about 0 and about 1 in size, 0 where missing."""
    values = np.stack([variable.column.values for variable in group.variables]).astype(float)
    gaps = [np.zeros(group.n_rows, bool) if v.is_complete else v.column.missing for v in group.variables]
    return np.where(gaps, 0.0, (values - 0.3) / 2.0)


def over(group, rows):
    """A group over some of its rows, as a batch has them."""
    return group.over([codes[rows] for codes in group.codes], Values(standardised(group)[:, rows]))


@pytest.fixture(params=["complete", "with gaps"])
def sides(request, rng):
    """Two groups of a few numbers each, and what they are made of."""
    made = []
    for n_columns in (3, 2):
        gaps = [rng.random(200) < 0.2 if request.param == "with gaps" else None for _ in range(n_columns)]
        variables = [number(rng.standard_normal(200), gap) for gap in gaps]
        (group,) = groups(variables)
        made.append(group)
    return made


def test_a_table_in_memory_has_the_products_of_its_functions(sides):
    sums = Sums.of(*sides)
    for i, x in enumerate(sides[0].variables):
        for j, y in enumerate(sides[1].variables):
            expected = functions(x, x.prepared.basis).T @ functions(y, y.prepared.basis)
            np.testing.assert_allclose(sums.coefficient[i, j], expected, atol=1e-9)
            whole = functions(x, x.scales.basis).T @ functions(y, y.scales.basis)
            mean = sums.of_pair(i, j, 50)
            np.testing.assert_allclose(50 * mean.coefficient, expected, atol=1e-9)
            known = 50 * mean.nested
            assert known.shape == whole.shape
            np.testing.assert_allclose(known[:CORNER, :CORNER], whole[:CORNER, :CORNER], atol=1e-9)
            np.testing.assert_allclose(known[:, 0], whole[:, 0], atol=1e-9)
            np.testing.assert_allclose(known[0], whole[0], atol=1e-9)
            assert (known[CORNER:, CORNER:] == 0).all()


def test_of_a_group_with_itself_either_edge_is_the_other_turned(sides):
    corner, of_x, of_y = Sums.of(sides[0], sides[0]).nested
    np.testing.assert_allclose(of_y, of_x.swapaxes(0, 1), atol=1e-9)
    np.testing.assert_allclose(corner, corner.transpose(1, 0, 3, 2), atol=1e-9)
    for i, x in enumerate(sides[0].variables):
        for j, y in enumerate(sides[0].variables):
            expected = functions(x, x.scales.basis).T @ functions(y, y.scales.basis)[:, 0]
            np.testing.assert_allclose(of_x[i, j], expected, atol=1e-9)


def test_sums_of_parts_of_the_rows_add_up(sides):
    x, y = sides
    parts = [Sums.of_batch(over(x, rows), over(y, rows)) for rows in (slice(0, 70), slice(70, 71), slice(71, 200))]
    total, whole = parts[0] + parts[1] + parts[2], Sums.of_batch(over(x, slice(0, 200)), over(y, slice(0, 200)))
    assert total.n_rows == 200
    np.testing.assert_allclose(total.coefficient, Sums.of(x, y).coefficient, atol=1e-9)
    for part, expected in zip(total.nested, whole.nested, strict=True):
        np.testing.assert_allclose(part, expected, atol=1e-9)
    for part, expected in zip(total.moments, whole.moments, strict=True):
        np.testing.assert_allclose(part, expected, atol=1e-9)
    # What is left of cells is not counted where nothing is missing.
    assert (total.counts is None) == (whole.counts is None) == (x.is_complete and y.is_complete)
    for side, of_whole in zip(total.counts or (), whole.counts or (), strict=True):
        for part, expected in zip(side, of_whole, strict=True):
            np.testing.assert_array_equal(part, expected)
    assert total.n_bytes == whole.n_bytes


def test_common_rows_and_pearson_are_those_of_each_pair(sides):
    x, y = sides
    sums = Sums.of_batch(over(x, slice(0, 200)), over(y, slice(0, 200)))
    common = np.full((len(x.variables), len(y.variables)), 200)
    if sums.counts is not None:
        common = np.stack([counts.sum(axis=0) for counts in sums.counts[0]])
    for i, a in enumerate(x.variables):
        for j, b in enumerate(y.variables):
            masks = [v.column.missing for v in (a, b) if v.column.missing is not None]
            rows = ~np.logical_or.reduce(masks) if masks else np.ones(200, dtype=bool)
            assert common[i, j] == rows.sum()
            found = sums.pearson(np.array([i]), np.array([j]), common[[i], [j]])
            expected = np.corrcoef(a.column.values[rows], b.column.values[rows])[0, 1]
            assert found[0] == pytest.approx(expected, abs=1e-12)
    assert Sums.of(x, y).pearson(np.array([0]), np.array([0]), 200) is None


def test_correlations_are_in_range_and_none_where_nothing_varies():
    found = correlation(np.array([2.0, -0.5, 1.0]), np.array([1.0, 1.0, 1e-21]), np.array([1.0, 4.0, 1.0]))
    assert found[:2].tolist() == [1.0, -0.25]
    assert np.isnan(found[2])
    assert correlation(np.array([1e-13]), np.array([1e-13]), np.array([1e-13]), least=0.0)[0] == 1.0


def test_only_many_levels_reach_beyond_the_corners(rng):
    numbers = groups([number(rng.standard_normal(400))])[0]
    few, many = (groups([category(rng.integers(0, k, 400))])[0] for k in (2, 4))
    assert not reaches_beyond_corner(numbers, numbers)
    assert not reaches_beyond_corner(numbers, few)
    assert reaches_beyond_corner(numbers, many)
    # Then all products are there, and not those of the corners alone.
    corner, _, _ = Sums.of(numbers, many).nested
    assert corner.shape[2:] == (numbers.scales.basis.dimension, many.scales.basis.dimension)
