import numpy as np
import pytest

import renyi
from renyi.allpairs import common_rows, few_rows, masked_moments
from renyi.allpairs.masked_moments import distinct_masks, means_of_moments, observed_rows
from renyi.allpairs.tiles import groups
from sample_tables import number


def columns_with_gaps(n_columns, rng):
    gaps = [rng.random(150) < 0.3 for _ in range(n_columns - 1)]
    return [number(rng.standard_normal(150), gap) for gap in (*gaps, gaps[0].copy())]


def test_means_of_a_part_over_the_masks_of_another_are_those_taken_for_them_alone(rng):
    columns = columns_with_gaps(20, rng)
    (group,) = groups(columns)
    whole = group.averaged(distinct_masks([one.column.missing for one in columns], 150))
    part, other = whole.part(slice(3, 7)), whole.part(slice(15, 20))
    masks = observed_rows([variable.column.missing for variable in other.variables], 150).T
    own = observed_rows([variable.column.missing for variable in part.variables], 150)
    n = own.astype(float) @ masks
    expected = means_of_moments(part.moments, part.smooth, part.codes, observed=own, masks=masks, n=n)
    kept = part.gaps.over(other.positions)
    assert kept == pytest.approx(expected, abs=1e-14)


def test_means_are_taken_once_for_the_gaps_of_all_kinds_of_columns(monkeypatch, rng):
    # Of a column without gaps among them, which is compared on the rows of others.
    table = {"x": rng.standard_normal(200), "y": rng.standard_normal(200), "k": rng.integers(0, 3, 200).astype(str)}
    gaps = rng.random((2, 200)) < 0.3
    table["y"][gaps[0]], table["k"] = np.nan, np.where(gaps[1], None, table["k"])
    monkeypatch.setattr(few_rows, "MOST_ROWS", 0)
    taken = []
    with monkeypatch.context() as patch:
        patch.setattr(masked_moments, "means_of_moments", lambda *a, **k: taken.append(a) or means_of_moments(*a, **k))
        patch.setattr(common_rows, "means_of_moments", None)
        kept = renyi.matrix(table)
    assert len(taken) == 1
    monkeypatch.setattr(masked_moments, "_MOST_BYTES", 0)
    np.testing.assert_allclose(renyi.matrix(table).pvalues, kept.pvalues, rtol=1e-9)


def test_complete_columns_need_no_means(rng):
    (group,) = groups([number(rng.standard_normal(60)) for _ in range(3)])
    assert group.averaged(None) is group


def test_without_memory_for_all_means_the_same_is_found(monkeypatch, rng):
    monkeypatch.setattr(few_rows, "MOST_ROWS", 0)
    table = rng.standard_normal((200, 6))
    table[rng.random(table.shape) < 0.3] = np.nan
    kept = renyi.matrix(table)
    monkeypatch.setattr(masked_moments, "_MOST_BYTES", 0)
    taken = renyi.matrix(table)
    np.testing.assert_allclose(taken.values, kept.values, atol=1e-12)
    np.testing.assert_allclose(taken.pvalues, kept.pvalues, rtol=1e-9)
