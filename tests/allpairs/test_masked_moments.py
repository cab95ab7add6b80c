import numpy as np
import pytest

import renyi
from renyi.allpairs import masked_moments
from renyi.allpairs.masked_moments import means_of_moments, observed_rows
from renyi.allpairs.tiles import groups
from sample_tables import number


def columns_with_gaps(n_columns, rng):
    gaps = [rng.random(150) < 0.3 for _ in range(n_columns - 1)]
    return [number(rng.standard_normal(150), gap) for gap in (*gaps, gaps[0].copy())]


def test_means_of_a_part_over_the_masks_of_another_are_those_taken_for_them_alone(rng):
    (group,) = groups(columns_with_gaps(20, rng))
    whole = group.averaged()
    part, other = whole.part(slice(3, 7)), whole.part(slice(15, 20))
    masks = observed_rows([variable.column.missing for variable in other.variables], 150).T
    own = observed_rows([variable.column.missing for variable in part.variables], 150)
    n = own.astype(float) @ masks
    expected = means_of_moments(part.moments, part.smooth, part.codes, observed=own, masks=masks, n=n)
    kept = part.gaps.over(other.gaps, np.arange(5))
    assert kept == pytest.approx(expected, abs=1e-14)


def test_means_are_shared_within_a_group_alone(rng):
    one, another = (groups(columns_with_gaps(3, rng))[0].averaged().gaps for _ in range(2))
    assert one.over(another, np.arange(3)) is None


def test_complete_columns_need_no_means(rng):
    (group,) = groups([number(rng.standard_normal(60)) for _ in range(3)])
    assert group.averaged() is group


def test_without_memory_for_all_means_the_same_is_found(monkeypatch, rng):
    table = rng.standard_normal((200, 6))
    table[rng.random(table.shape) < 0.3] = np.nan
    kept = renyi.matrix(table)
    monkeypatch.setattr(masked_moments, "_MOST_BYTES", 0)
    taken = renyi.matrix(table)
    np.testing.assert_allclose(taken.values, kept.values, atol=1e-12)
    np.testing.assert_allclose(taken.pvalues, kept.pvalues, rtol=1e-9)
