import numpy as np
import pandas as pd
import polars as pl
import pytest

import renyi
from renyi.measured import _n_resamples
from tables import mixed

NAMES = [name for name in renyi.measures() if name != "rdc"]
SLOW_TO_TEST = [name for name in NAMES if renyi.measure(name).statement.law == "shuffles"]


def numbers(n, rng, *, gaps=0.0):
    x = rng.standard_normal((n, 4))
    x[:, 1] += x[:, 0] ** 2
    x[:, 2] = np.round(x[:, 0] - x[:, 2], 1)
    frame = pd.DataFrame(x, columns=list("abcd"))
    return frame.mask(rng.random(x.shape) < gaps) if gaps else frame


@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("name", NAMES)
def test_a_table_holds_what_the_measure_says_of_each_pair(name, gaps, rng):
    frame, measure = numbers(60, rng, gaps=gaps), renyi.measure(name).undirected()
    found = renyi.matrix(frame, measure=name)
    assert found.names == tuple("abcd")
    for i, j in zip(*np.triu_indices(4, 1), strict=True):
        x, y = frame.iloc[:, i], frame.iloc[:, j]
        assert found.values[i, j] == found.values[j, i] == pytest.approx(measure(x, y, missing="pairwise"), abs=1e-9)
        assert found.n_samples[i, j] == (x.notna() & y.notna()).sum()
        if name in SLOW_TO_TEST:
            assert np.isnan(found.pvalues[i, j])
        else:
            assert found.pvalues[i, j] == pytest.approx(measure.test(x, y, missing="pairwise").pvalue, rel=1e-6)
    assert np.isnan(found.debiased).all()


@pytest.mark.parametrize("name", NAMES)
def test_columns_that_a_measure_cannot_take_are_left_out_with_a_reason(name, rng):
    frame = mixed(60, rng, gaps=0.1)[["plain", "curve", "two", "five", "lat", "lon"]]
    found = renyi.matrix(frame, measure=name, vectors={"place": ["lat", "lon"]})
    if renyi.measure(name).statement.takes_vectors:
        assert found.names == ("plain", "curve", "two", "five", "place")
    else:
        assert found.names == ("plain", "curve", "two")
        assert (
            found.skipped["five"]
            == f"a category of 5 levels, and {name} takes numbers alone ('rdc' and 'dcor' take it)"
        )
        assert found.skipped["place"].startswith("a vector of 2 coordinates")
        with pytest.raises(renyi.InputError, match="target 'five' is a category of 5 levels"):
            renyi.screen(frame, "five", measure=name)


def test_a_screening_and_two_tables_hold_the_same_numbers(rng):
    frame = numbers(80, rng)
    square = renyi.matrix(frame, measure="kendall")
    screening = renyi.screen(frame, "a", measure="kendall")
    assert screening.names[0] == "c"
    for name, value, p in zip(screening.names, screening.values, screening.pvalues, strict=True):
        j = square.names.index(name)
        assert (value, p) == pytest.approx((square.values[0, j], square.pvalues[0, j]), rel=1e-9)
    beside = renyi.matrix(frame[["a"]], frame[["b", "c", "d"]], measure="kendall")
    assert beside.values[0] == pytest.approx(square.values[0, 1:])


def test_pairs_are_ranked_by_the_size_of_the_coefficient_and_keep_their_signs(rng):
    x = rng.standard_normal(200)
    table = pl.DataFrame({"x": x, "falls": -x + 0.1 * rng.random(200), "weak": x + 3 * rng.standard_normal(200)})
    found = renyi.matrix(table, measure="pearson")
    top = found.top(3, fold=False)
    assert list(top.columns) == ["x", "y", "coefficient", "p", "q", "n"]
    assert top["y"][0] == "falls"
    assert top["coefficient"][0] < -0.99
    assert "pearson" in repr(found)
    kept = renyi.pairs(table, measure="pearson", threshold=0.9)
    assert kept["y"].to_list() == ["falls"]
    assert kept["q"].to_list() == top["q"].to_list()[:1]


def test_a_measure_without_a_law_ranks_and_says_that_nothing_was_tested(rng):
    found = renyi.matrix(numbers(60, rng), measure="mic")
    assert found.n_tests == 0
    assert "ranked by mic and not tested" in repr(found)
    assert len(found.top(10)) == 6
    strengths = list(found.top(10)["coefficient"])
    assert strengths == sorted(strengths, reverse=True)


def test_a_rate_of_findings_is_refused_where_nothing_is_tested(rng, tmp_path):
    frame = numbers(60, rng)
    found, screening = renyi.matrix(frame, measure="mic"), renyi.screen(frame, "a", measure="mic")
    for ask in (
        lambda: found.top(q=0.1),
        lambda: screening.top(q=0.1),
        lambda: found.report(tmp_path / "found.json", q=0.1),
        lambda: renyi.pairs(frame, measure="mic", q=0.1),
    ):
        with pytest.raises(renyi.InputError, match=r"q=0.1 is a false discovery rate, and mic ranks pairs without"):
            ask()
    assert len(renyi.pairs(frame, measure="mic")) == len(found.top()) == 6
    assert found.report(tmp_path / "found.json").exists()


def test_settings_reach_tables_by_the_measure_alone(rng):
    frame = numbers(150, rng)
    found = renyi.matrix(frame, measure=renyi.measure("rdc", k=15, s=5.0))
    default = renyi.matrix(frame)
    for i, j in zip(*np.triu_indices(4, 1), strict=True):
        expected = renyi.rdc(frame.iloc[:, i], frame.iloc[:, j], k=15, s=5.0)
        assert found.values[i, j] == pytest.approx(expected, abs=1e-9)
    # The test has no scale to set.
    np.testing.assert_allclose(found.pvalues, default.pvalues)
    with pytest.raises(renyi.InputError, match="leave repeats and debias out"):
        renyi.matrix(frame, measure=renyi.measure("rdc", repeats=3))
    with pytest.raises(renyi.InputError, match="leave measure out"):
        renyi.screen(frame, "a", given="b", measure="pearson")


def test_settings_serve_columns_with_gaps(rng):
    frame = numbers(300, rng, gaps=0.2)
    found = renyi.matrix(frame, measure=renyi.measure("rdc", k=15, s=20.0))
    for i, j in zip(*np.triu_indices(4, 1), strict=True):
        expected = renyi.rdc(frame.iloc[:, i], frame.iloc[:, j], k=15, s=20.0, missing="pairwise")
        assert found.values[i, j] == pytest.approx(expected, abs=1e-7)


def test_a_pair_with_too_few_rows_in_common_is_not_measured(rng):
    x = rng.random(40)
    frame = pd.DataFrame({"a": np.where(np.arange(40) < 20, np.nan, x), "b": np.where(np.arange(40) >= 21, np.nan, x)})
    frame["c"] = x
    found = renyi.matrix(frame, measure="spearman")
    assert np.isnan(found.values[0, 1])
    assert found.n_samples[0, 1] == 1
    assert found.values[0, 2] == 1.0


WITH_LAW = [name for name in NAMES if name not in SLOW_TO_TEST]


@pytest.mark.parametrize("name", NAMES)
def test_shuffled_pvalues_depend_neither_on_the_order_of_rows_nor_on_that_of_sides(name, rng):
    m, order = renyi.measure(name).undirected(), rng.permutation(25)
    tied = np.floor(3 * rng.random(25)), np.floor(4 * rng.random(25))
    remote = np.where(np.arange(25) == 0, 50.0, rng.standard_normal(25)), rng.standard_cauchy(25) ** 3
    for x, y in (tied, remote) if name in ("pearson", "cca", "dcor") else (tied,):
        found = m.test(x, y, n_resamples=99)
        assert found.calibration == "shuffles"
        assert m.test(x[order], y[order], n_resamples=99).pvalue == found.pvalue
        if m.statement.is_symmetric:
            assert m.test(y, x, n_resamples=99).pvalue == found.pvalue


@pytest.mark.parametrize("name", WITH_LAW)
def test_one_dependence_on_few_rows_is_found_among_many_columns(name, rng):
    # 999 shuffles end at 0.001, which is not below 0.05 over the number of tests.
    frame = pd.DataFrame(rng.standard_normal((30, 24)))
    frame[24] = frame[0] + 0.05 * rng.standard_normal(30)
    found = renyi.matrix(frame, measure=name)
    assert found.n_found(0.05) >= 1
    assert found.qvalues[0, 24] <= 0.05


def test_shuffles_are_as_many_as_the_tests_of_a_table_ask_for(rng):
    # One row outweighs all others in every column, so that every pair is shuffled.
    table = rng.standard_normal((30, 24))
    table[0] = 8.0
    table = np.column_stack((table, table[:, 0] + 0.01 * rng.standard_normal(30)))
    found = renyi.matrix(pd.DataFrame(table), measure="pearson")
    assert found.n_shuffled == found.n_tests == 300
    assert found.edges.smallest_shuffled == found.pvalues[0, 24] == pytest.approx(1 / 12_001)
    assert "p from 12,000 shuffles" in repr(found)
    # All of them together are held to a time.
    assert _n_resamples(10**6, 10**6) == 10**5
    assert _n_resamples(10, 10) == _n_resamples(10**6, 10**9) == 9999


@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall", "cca", "dcor", "hsic"])
def test_tables_of_independent_rare_flags_hold_no_discoveries(name, rng):
    # By the laws of many rows seven in ten of such tables had one.
    n_found = 0
    for n_ones in (15, 20, 30):
        flags = np.stack([rng.permutation(np.arange(800) < n_ones) for _ in range(30)], axis=1)
        n_found += renyi.matrix(pd.DataFrame(flags.astype(float)), measure=name).n_found(0.05)
    assert n_found == 0
