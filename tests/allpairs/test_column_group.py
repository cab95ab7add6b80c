import numpy as np
import pytest

from renyi.allpairs.column_group import ColumnGroup
from renyi.allpairs.tiles import groups
from renyi.inference.multiscale import CORNER
from sample_tables import category, mixed, number, variables_of


def dense(stack, n):
    return stack.rows(slice(0, n)).copy()


def test_columns_of_a_group_have_kind_ranks_and_levels_in_common(rng):
    variables = variables_of(mixed(300, rng, gaps=0.2))
    seen = []
    for group in groups(variables):
        first = group.variables[0]
        for position, variable in zip(group.positions, group.variables, strict=True):
            assert variable is variables[position]
            assert variable.scales.kind == first.scales.kind
            assert variable.scales.basis.dimension == first.scales.basis.dimension
            assert variable.prepared.basis.dimension == first.prepared.basis.dimension
            assert variable.scales.has_levels == first.scales.has_levels
        seen += group.positions.tolist()
    assert sorted(seen) == list(range(len(variables)))


def test_a_rare_event_is_in_no_group_with_other_numbers(rng):
    x = rng.standard_normal(400)
    zeros = np.where(rng.random(400) < 0.9, 0.0, x)
    assert number(zeros).signature != number(x).signature
    assert number(np.exp(x)).signature == number(x).signature
    assert number(np.where(x < -0.7, -0.7, x)).signature != number(x).signature


def test_a_group_stacks_what_its_columns_have(rng):
    gaps = rng.random(100) < 0.2
    variables = [number(rng.standard_normal(100)), number(np.round(rng.standard_normal(100), 2), gaps)]
    group = ColumnGroup.of([4, 7], variables)
    assert group.positions.tolist() == [4, 7]
    assert not group.is_complete
    assert (group.corner.dimension, group.rest.dimension) == (CORNER, 20 - CORNER)
    nested = group.nested.rows(slice(0, 100)).reshape(2, 20, 100).transpose(2, 0, 1)
    np.testing.assert_array_equal(nested[:, 0], variables[0].scales.basis.rows(0, 100))
    np.testing.assert_array_equal(nested[~gaps, 1], variables[1].scales.basis.rows(0, (~gaps).sum()))
    assert (nested[gaps, 1] == 0).all()
    assert group.lengths.tolist() == [100, (~gaps).sum()]
    for j, variable in enumerate(variables):
        np.testing.assert_array_equal(group.leverages[:, j], variable.scales.leverages)


def test_a_part_of_a_group_is_the_group_of_its_columns(rng):
    variables = [number(rng.standard_normal(80), rng.random(80) < 0.2) for _ in range(4)]
    whole, alone = ColumnGroup.of(range(4), variables), ColumnGroup.of([1, 2], variables[1:3])
    part = whole.part(slice(1, 3))
    assert part.positions.tolist() == [1, 2]
    assert part.variables == alone.variables
    for name in ("coefficient", "corner", "rest", "nested"):
        np.testing.assert_array_equal(dense(getattr(part, name), 80), dense(getattr(alone, name), 80))
    assert len(part.codes) == 2
    np.testing.assert_array_equal(part.leverages, alone.leverages)


def test_categories_have_all_their_levels_in_the_corner(rng):
    group = ColumnGroup.of([0], [category(rng.integers(0, 12, 400))])
    assert group.corner.dimension == 11 > CORNER
    assert group.rest is None
    assert group.nested is group.corner
    assert group.is_complete


def test_the_most_frequent_value_is_counted(rng):
    assert number([1.0, 2.0, 2.0, 3.0, 2.0, 4.0]).most_frequent == 3
    assert number(rng.permutation(20).astype(float)).most_frequent == 1
    assert category([0, 0, 1, 1, 1, 2]).most_frequent == 3


@pytest.mark.parametrize(("codes", "trend"), [([0, 0, 0, 1], 1), ([0, 1, 1, 1], 1)])
def test_two_levels_rise_from_the_first_to_the_second(codes, trend):
    # Whichever is the more frequent: the first function times the trend is larger for level 1.
    variable = category(codes)
    first = variable.trend * variable.scales.basis.rows(0, 4)[:, 0]
    assert np.sign(first[3] - first[0]) == trend
    assert np.isnan(category([0, 1, 2, 2]).trend)
    assert number([1.0, 3.0, 2.0]).trend == 1
