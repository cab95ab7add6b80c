"""What is shown of one pair, beside the rows themselves."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import spearmanr

from renyi.report.views import Axis, view_of
from renyi.tables.api import matrix
from sample_tables import category, number


@pytest.fixture
def gappy(rng):
    """A number with gaps and ties, and a category with gaps."""
    x = np.round(rng.standard_normal(500), 1)
    codes = rng.integers(0, 3, 500)
    return Axis(number(x, rng.random(500) < 0.2, name="x")), Axis(category(codes, rng.random(500) < 0.2, name="c"))


def test_cells_along_the_values_are_equal_steps_or_levels(gappy):
    x, c = gappy
    cells, n_cells = x.by_value
    known = ~x.column.missing
    values = x.column.values[known]
    expected = np.floor((values - values.min()) / (values.max() - values.min()) * n_cells).clip(0, n_cells - 1)
    assert np.mean(cells[known] == expected) > 0.99  # but for values on a border, which rounding moves
    assert c.by_value[1] == 3
    assert np.array_equal(c.by_value[0], c.column.values)


def test_cells_along_the_ranks_are_even_whatever_the_ties(gappy):
    x, c = gappy
    cells, n_cells = x.by_rank
    known = ~x.column.missing
    assert np.ptp(np.bincount(cells[known], minlength=n_cells)) <= 1
    groups = [x.column.values[known & (cells == k)] for k in range(n_cells)]
    assert all(low.max() <= high.min() for low, high in pairwise(groups))
    assert c.by_rank is c.by_value


def test_counts_are_of_the_rows_that_both_have(gappy):
    x, c = gappy
    rows = ~(x.column.missing | c.column.missing)
    view = view_of(x, c, is_whole=False)
    counts = np.reshape(view["data"]["counts"], view["data"]["shape"])
    assert counts.sum() == sum(view["ranks"]["counts"]) == sum(view["cloud"]["counts"]) == rows.sum()
    np.testing.assert_array_equal(counts.sum(axis=0), np.bincount(c.column.values[rows], minlength=3))


def test_boxes_are_quantiles_of_the_number_in_every_group(gappy):
    x, c = gappy
    rows = ~(x.column.missing | c.column.missing)
    for view in (view_of(x, c, is_whole=False), view_of(c, x, is_whole=False)):
        for code, box in enumerate(view["boxes"]):
            part = x.column.values[rows & (c.column.values == code)]
            assert box == pytest.approx(np.quantile(part, [0.05, 0.25, 0.5, 0.75, 0.95]), abs=1e-5)
    assert view_of(x, x, is_whole=False)["boxes"] is None


def test_where_all_rows_are_shown_nothing_is_counted(gappy):
    x, c = gappy
    view = view_of(x, c, is_whole=True)
    assert view["data"] is view["ranks"] is view["cloud"] is None
    assert view["reached"] == view_of(x, c, is_whole=False)["reached"]
    assert view_of(c, c, is_whole=False)["ranks"] is None


def test_a_pair_without_functions_shows_its_rows_alone(rng):
    # Two rows in common, on which nothing can be centred and compared.
    rows = np.arange(40)
    x, y = (Axis(number(rng.standard_normal(40), gaps)) for gaps in (rows < 19, rows > 20))
    view = view_of(x, y, is_whole=False)
    assert view["f"] is view["g"] is view["reached"] is view["cloud"] is None
    assert sum(view["data"]["counts"]) == 2


@pytest.mark.parametrize("n_common", [0, 1])
def test_a_pair_that_shares_no_rows_has_no_functions(n_common, rng):
    early, late = np.arange(40) < 20, np.arange(40) >= 20 - n_common
    x, y = (Axis(number(rng.standard_normal(40), ~known)) for known in (early, late))
    assert view_of(x, y, is_whole=True)["f"] is None


def test_spearmans_correlation_is_that_of_scipy_on_the_common_rows(gappy, rng):
    x, c = gappy
    values = np.round(x.column.values + rng.standard_normal(500))
    y = Axis(number(values, x.column.values > rng.standard_normal(500) + 1, name="y"))
    rows = ~(x.column.missing | y.column.missing)
    expected = spearmanr(x.column.values[rows], values[rows]).statistic
    assert view_of(x, y, is_whole=True)["spearman"] == pytest.approx(expected, abs=1e-4)
    assert view_of(x, c, is_whole=True)["spearman"] is None


def test_a_sample_too_small_for_a_dependence_shows_no_functions_of_it(rng, monkeypatch):
    x = rng.standard_normal(3000)
    table = {"x": x, "strong": x + rng.standard_normal(3000), "weak": 0.1 * x + rng.standard_normal(3000)}
    for sample, is_told in ((400, False), (3000, True)):
        monkeypatch.setattr("renyi.allpairs.column_group.SAMPLE", sample)
        axes = [Axis(variable) for variable in matrix(table).edges.x]
        weak = view_of(axes[0], axes[2], is_whole=False, strength=0.1, linear=0.1)
        strong = view_of(axes[0], axes[1], is_whole=False, strength=0.7, linear=0.7)
        assert [weak[part] is not None for part in ("f", "g", "reached", "cloud", "words")] == 5 * [is_told]
        assert sum(weak["data"]["counts"]) == sample
        assert strong["words"] == "strong rises with x"
        assert strong["f"]
        assert strong["cloud"]
        assert axes[0].is_sample == (not is_told) == (strong["spearman"] is None)
