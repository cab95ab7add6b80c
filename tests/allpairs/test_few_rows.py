import numpy as np
import pandas as pd
import pytest

import renyi
from renyi.allpairs import few_rows
from renyi.allpairs.few_rows import FewRows
from renyi.inference.multiscale import FEW_ROWS
from sample_tables import number


def short(n, rng, n_columns=9):
    """Numbers of few rows with and without ties, a third of them missing, some dependent."""
    x = rng.standard_normal((n, n_columns))
    x[:, 1] = x[:, 0] ** 2 + 0.3 * x[:, 1]
    x[:, 2] = np.round(x[:, 2] + x[:, 0], 1)
    x[:, 3] = np.round(x[:, 3])
    x[:, 4] = np.where(x[:, 4] < 0.5, 0.0, x[:, 4])
    missing = rng.random(x.shape) < 1 / 3
    missing[:, -1] = False
    return pd.DataFrame(np.where(missing, np.nan, x), columns=[f"x{k}" for k in range(n_columns)])


@pytest.mark.parametrize("is_large", [False, True])
@pytest.mark.parametrize("n", [12, 40, FEW_ROWS + 30, 200])
def test_every_pair_has_the_answer_that_it_has_by_itself(n, is_large, rng, monkeypatch):
    monkeypatch.setattr(few_rows, "are_many", lambda _: is_large)
    table = short(n, rng)
    found = renyi.matrix(table)
    for i, x in enumerate(table):
        for j in range(i):
            y = table.columns[j]
            both = table[[x, y]].dropna()
            assert found.n_samples[i, j] == len(both)
            try:
                alone = renyi.independence_test(table[x], table[y], missing="pairwise")
            except renyi.InputError:
                assert np.isnan(found.values[i, j])
                continue
            assert found.values[i, j] == pytest.approx(alone.coefficient, abs=1e-9)
            assert np.log(found.pvalues[i, j]) == pytest.approx(alone.log_pvalue, rel=1e-6, abs=1e-6)


def test_tiles_with_gaps_give_the_same(rng, monkeypatch):
    table, other = short(150, rng), short(150, rng)[["x1", "x3", "x8"]].add_suffix(" too")
    found = renyi.matrix(table), renyi.matrix(table, other), renyi.screen(table, "x0")
    monkeypatch.setattr(few_rows, "MOST_ROWS", 0)
    expected = renyi.matrix(table), renyi.matrix(table, other), renyi.screen(table, "x0")
    for own, known in zip(found, expected, strict=True):
        for name in ("values", "debiased", "spearman", "pearson", "n_samples"):
            assert getattr(own, name) == pytest.approx(getattr(known, name), abs=1e-8, nan_ok=True)
        assert np.log(own.pvalues) == pytest.approx(np.log(known.pvalues), rel=1e-6, abs=1e-6, nan_ok=True)


def test_functions_that_nearly_drop_out_are_told_apart_as_in_a_single_pair(rng):
    # Most rows that are left have neighbouring ranks, on which smooth functions hardly differ.
    n = 202
    x, y = rng.standard_normal((2, n))
    gaps = np.argsort(x)[: n - 45]
    table = pd.DataFrame({"x": x, "y": y, "z": x + y})
    table.loc[gaps, "y"] = np.nan
    table.loc[np.argsort(-y)[:60], "z"] = np.nan
    found = renyi.matrix(table)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        names = table.columns[[i, j]]
        alone = renyi.independence_test(table[names[0]], table[names[1]], missing="pairwise")
        assert np.log(found.pvalues[i, j]) == pytest.approx(alone.log_pvalue, rel=1e-6, abs=1e-6)


def test_columns_without_a_common_row_have_nothing(rng):
    table = short(60, rng)
    table.loc[:29, "x5"] = np.nan
    table.loc[30:, "x6"] = np.nan
    found = renyi.matrix(table)
    assert found.n_samples[5, 6] == 0
    assert np.isnan(found.values[5, 6])
    assert np.isnan(found.pvalues[5, 6])


def test_it_serves_numbers_with_gaps_on_few_rows(rng, monkeypatch):
    def numbers(n, missing=None):
        return [number(rng.standard_normal(n), missing), number(rng.standard_normal(n))]

    with_gaps = numbers(few_rows.MOST_ROWS, rng.random(few_rows.MOST_ROWS) < 0.1)
    assert FewRows.of(with_gaps, with_gaps) is not None
    complete = numbers(100)
    assert FewRows.of(complete, complete) is None
    longer = numbers(few_rows.MOST_ROWS + 1, rng.random(few_rows.MOST_ROWS + 1) < 0.1)
    assert FewRows.of(longer, longer) is None
    monkeypatch.setattr(few_rows, "_MOST_BYTES", 10_000)
    assert FewRows.of(with_gaps, with_gaps) is None


def test_no_pair_that_has_a_null_distribution_is_looked_at_by_itself(rng, monkeypatch):
    alone = []
    monkeypatch.setattr(few_rows, "permuted", lambda pairs, _: alone.extend(pairs))
    monkeypatch.setattr(few_rows, "by_themselves", lambda pairs, _: alone.extend(pairs))
    x = rng.standard_normal((120, 12))
    renyi.matrix(np.where(rng.random(x.shape) < 0.3, np.nan, x))
    assert not alone


def test_batches_of_pairs_change_nothing(rng, monkeypatch):
    table = short(90, rng)
    expected = renyi.matrix(table)
    monkeypatch.setattr(few_rows, "_PAIRS_AT_ONCE", 5)
    monkeypatch.setattr(few_rows, "_NUMBERS_AT_ONCE", 2**12)
    found = renyi.matrix(table)
    assert found.values == pytest.approx(expected.values, abs=1e-12)
    assert found.pvalues == pytest.approx(expected.pvalues, rel=1e-9, nan_ok=True)
