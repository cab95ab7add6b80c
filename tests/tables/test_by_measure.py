import copy
import pickle
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest

import renyi
from renyi.coefficients.pearson import Spearman
from renyi.inference.roy import MANY_ROOTS
from renyi.report.summary import lines_of, remarks
from renyi.tables.by_measure import _n_resamples
from sample_tables import mixed

NAMES = [name for name in renyi.measures() if name != "rdc"]
SLOW_TO_TEST = [name for name in NAMES if renyi.measure(name).statement.null == "permutations"]


def numbers(n, rng, *, gaps=0.0):
    x = rng.standard_normal((n, 4))
    x[:, 1] += x[:, 0] ** 2
    x[:, 2] = np.round(x[:, 0] - x[:, 2], 1)
    frame = pd.DataFrame(x, columns=list("abcd"))
    return frame.mask(rng.random(x.shape) < gaps) if gaps else frame


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_columns_that_a_measure_cannot_take_are_left_out_with_a_reason(name, rng):
    frame = mixed(60, rng, gaps=0.1)[["plain", "curve", "two", "five", "lat", "lon"]]
    found = renyi.matrix(frame, measure=name, vectors={"place": ["lat", "lon"]})
    if renyi.measure(name).statement.takes_vectors:
        assert found.names == ("plain", "curve", "two", "five", "place")
    elif name == "mutual_info":
        assert found.names == ("plain", "curve", "two", "five")
        assert found.skipped["place"].startswith("a vector of 2 coordinates")
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
    kept = renyi.pairs(table, measure="pearson", threshold=0.9).to_frame()
    assert kept["y"].to_list() == ["falls"]
    assert kept["q"].to_list() == top["q"].to_list()[:1]


@pytest.mark.slow
@pytest.mark.parametrize("n", [15, 60])
@pytest.mark.parametrize("name", ["pearson", "spearman"])
def test_null_distributions_of_all_pairs_at_once_are_those_of_each(name, n, rng):
    table = np.column_stack((rng.normal(size=(n, 6)), rng.standard_cauchy((n, 6)), rng.random((n, 4)) < 3 / n))
    table[0, -4:] = 1.0
    found, measure = renyi.matrix(table, measure=name), renyi.measure(name)
    tests = [[measure.test(table[:, i], table[:, j]) for j in range(16)] for i in range(16)]
    for i, j in zip(*np.triu_indices(16, 1), strict=True):
        assert found.pvalues[i, j] == pytest.approx(tests[i][j].pvalue, rel=1e-9)
    n_permuted = sum(tests[i][j].calibration == "permutation" for i, j in zip(*np.triu_indices(16, 1), strict=True))
    assert found.n_permuted == n_permuted > 0


def test_the_null_distribution_of_very_many_pairs_is_that_of_few(rng):
    values = rng.standard_normal((200, 100))
    values[:, 1] = 1 - 2 * values[:, 0]  # a correlation of 1, beyond what is tabulated
    values[:, 2] = values[:, 0] + 0.3 * values[:, 2]
    of_many, of_few = (renyi.matrix(values[:, :k], measure="pearson").edges for k in (100, 3))
    among = (of_many.found.i < 3) & (of_many.found.j < 3)
    assert len(of_many) > MANY_ROOTS > len(of_few)
    np.testing.assert_allclose(of_many.log_pvalues[among], of_few.log_pvalues, rtol=1e-8)


@pytest.mark.slow
def test_pairs_by_pearson_take_no_longer_than_by_rdc(rng):
    table = rng.normal(size=(500, 120))

    def seconds(measure):
        start = time.process_time()
        renyi.pairs(table, measure=measure)
        return time.process_time() - start

    # In turns, so that a noisy moment hits both.
    turns = [(seconds("pearson"), seconds("rdc")) for _ in range(10)]
    by_pearson, by_rdc = (min(times) for times in zip(*turns, strict=True))
    assert by_pearson < by_rdc


def test_a_measure_without_a_null_distribution_ranks_and_says_that_nothing_was_tested(rng):
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
        lambda: found.top(fdr=0.1),
        lambda: screening.top(fdr=0.1),
        lambda: found.report(tmp_path / "found.json", fdr=0.1),
        lambda: renyi.pairs(frame, measure="mic", fdr=0.1),
    ):
        with pytest.raises(renyi.InputError, match=r"fdr=0.1 is a false discovery rate, and mic ranks pairs without"):
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
    assert found.values[0, 2] == pytest.approx(1.0, abs=1e-14)


WITH_NULL = [name for name in NAMES if name not in SLOW_TO_TEST]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_permuted_pvalues_depend_neither_on_the_order_of_rows_nor_on_that_of_sides(name, rng):
    m, order = renyi.measure(name).undirected(), rng.permutation(25)
    tied = np.floor(3 * rng.random(25)), np.floor(4 * rng.random(25))
    remote = np.where(np.arange(25) == 0, 50.0, rng.standard_normal(25)), rng.standard_cauchy(25) ** 3
    for x, y in (tied, remote) if name in ("pearson", "cca", "dcor") else (tied,):
        found = m.test(x, y, n_resamples=99)
        assert found.calibration == "permutation"
        assert m.test(x[order], y[order], n_resamples=99).pvalue == found.pvalue
        if m.statement.is_symmetric:
            assert m.test(y, x, n_resamples=99).pvalue == found.pvalue


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_NULL)
def test_one_dependence_on_few_rows_is_found_among_many_columns(name, rng):
    # 999 permutations end at 0.001, which is not below 0.05 over the number of tests.
    frame = pd.DataFrame(rng.standard_normal((30, 24)))
    frame[24] = frame[0] + 0.05 * rng.standard_normal(30)
    found = renyi.matrix(frame, measure=name)
    assert found.n_found(0.05) >= 1
    assert found.qvalues[0, 24] <= 0.05


def test_permutations_are_as_many_as_the_tests_of_a_table_ask_for(rng):
    # One row outweighs all others in every column, so that every pair is permuted.
    table = rng.standard_normal((30, 24))
    table[0] = 8.0
    table = np.column_stack((table, table[:, 0] + 0.01 * rng.standard_normal(30)))
    found = renyi.matrix(pd.DataFrame(table), measure="pearson")
    assert found.n_permuted == found.n_tests == 300
    assert found.edges.smallest_permuted == found.pvalues[0, 24] == pytest.approx(1 / 12_001)
    assert "p from 12,000 permutations" in repr(found)
    # All of them together are held to a time.
    assert _n_resamples(10**6, 10**6) == 10**5
    assert _n_resamples(10, 10) == _n_resamples(10**6, 10**9) == 9999


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall", "cca", "dcor", "hsic"])
def test_tables_of_independent_rare_flags_hold_no_discoveries(name, rng):
    # By the null distributions of many rows seven in ten of such tables had one.
    n_found = 0
    for n_ones in (15, 20, 30):
        flags = np.stack([rng.permutation(np.arange(800) < n_ones) for _ in range(30)], axis=1)
        n_found += renyi.matrix(pd.DataFrame(flags.astype(float)), measure=name).n_found(0.05)
    assert n_found == 0


def test_why_a_pair_was_not_measured_is_told(rng):
    x = rng.random(40)
    gaps = {"a": np.where(np.arange(40) < 20, np.nan, x), "b": np.where(np.arange(40) >= 23, np.nan, x), "c": x}
    for measure, reason in (
        (renyi.measure("dcor", unbiased=True), "unbiased=True with 3 rows"),
        (renyi.measure("mutual_info", n_neighbors=4), "there are 3 rows and n_neighbors=4"),
    ):
        (said,) = (remark for remark in remarks(renyi.matrix(gaps, measure=measure)) if "not tested" in remark)
        assert said.startswith(f"not tested, {reason}")
        assert said.endswith(": a with b")
    flat = gaps | {"a": np.where(np.arange(40) < 20, np.nan, np.where(np.arange(40) < 25, 1.0, x))}
    (said,) = (remark for remark in remarks(renyi.matrix(flat, measure="dcor")) if "not tested" in remark)
    assert said.startswith("not tested, column 'a' is constant on the rows")


# What a column has with itself, and which columns are one.


@pytest.mark.slow
@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize(
    "measure",
    [*(renyi.measure(name) for name in NAMES), renyi.measure("hsic", normalised=False), renyi.measure("rdc")],
    ids=str,
)
def test_the_diagonal_is_the_column_with_itself(measure, gaps, rng):
    frame = numbers(60, rng, gaps=gaps)
    found = renyi.matrix(frame, measure=measure)
    by = measure.undirected()
    own = [by(frame[name].dropna(), frame[name].dropna()) for name in frame]
    np.testing.assert_allclose(np.diag(found.values), own, atol=1e-9)
    assert (np.diag(found.strength) == np.diag(found.values)).all()


def test_the_diagonal_is_not_1_where_the_measure_is_not(rng):
    for measure in ("kcca", "xi", "mutual_info", renyi.measure("hsic", normalised=False)):
        assert abs(renyi.matrix(numbers(60, rng), measure=measure).values[0, 0] - 1.0) > 0.01


def test_a_column_that_cannot_be_compared_with_itself_has_nan_there(rng):
    frame = pd.DataFrame(rng.random((25, 17))).rename(columns=str)
    found = renyi.matrix(frame, measure="cca", vectors={"wide": list(frame.columns[:15])})
    assert np.isnan(found.values[0, 0])
    assert found.values[0, 1] > 0.5
    assert found.values[1, 1] == 1.0


@pytest.mark.parametrize("name", ["ace", "mic", "kcca", "dcor", "hsic", "spearman"])
def test_only_columns_that_rise_or_fall_together_are_told_as_one(name, rng):
    x = np.linspace(-1, 1, 200)
    table = {"x": x, "square": x**2, "falls": -x + 1e-3 * rng.random(200)}
    settings = {"regularisation": 1e-4} if name == "kcca" else {}
    found = renyi.matrix(table, measure=renyi.measure(name, **settings))
    lines = {line.y: line for line in lines_of(found, 5)}
    assert lines["falls"].sign == "="
    assert not any(line.sign for name, line in lines.items() if name != "falls")


def test_columns_are_ranked_once_to_be_folded(rng, monkeypatch):
    x = rng.random(200)
    found = renyi.matrix({f"c{j}": x * (j + 1) for j in range(30)}, measure="pearson")
    calls, prepare = [], Spearman.prepare
    monkeypatch.setattr(Spearman, "prepare", lambda self, values: calls.append(1) or prepare(self, values))
    top = found.top(3)
    assert (len(top["y"]), top["stands_for"][0]) == (1, 435)
    assert len(calls) == 30


@pytest.mark.slow
@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_linear_coefficients_stand_beside_any_measure(gaps, rng):
    frame = numbers(60, rng, gaps=gaps).assign(label=pd.Categorical(rng.choice(list("uvw"), 60)))
    found = renyi.matrix(frame, measure="dcor")
    np.testing.assert_allclose(found.pearson[:4, :4], frame[list("abcd")].corr(), atol=1e-9)
    np.testing.assert_allclose(found.spearman[:4, :4], frame[list("abcd")].corr("spearman"), atol=1e-9)
    assert np.isnan(found.pearson[4, :4]).all()
    screening = renyi.screen(frame, "a", measure="dcor")
    by_name = dict(zip(screening.names, screening.pearson, strict=True))
    assert by_name["b"] == pytest.approx(frame["a"].corr(frame["b"]), abs=1e-9)
    assert np.isnan(by_name["label"])


# Copies.


@pytest.mark.slow
@pytest.mark.parametrize("name", renyi.measures())
def test_results_can_be_pickled_and_copied(name, rng):
    frame = numbers(60, rng, gaps=0.1)
    whole = renyi.matrix(frame, measure=name)
    for found in (whole, renyi.matrix(frame.dropna(), measure=name), renyi.screen(frame, "a", measure=name)):
        for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
            assert type(again) is type(found)
            assert again.names == found.names
            for values in ("values", "pvalues", "debiased", "qvalues", "pearson", "spearman"):
                np.testing.assert_array_equal(getattr(again, values), getattr(found, values))
            assert not again.values.flags.writeable
            assert repr(again) == repr(found)
            with pytest.raises(TypeError):
                again.types["a"] = "category"
    assert list(pickle.loads(pickle.dumps(whole)).top(3)["y"]) == list(whole.top(3)["y"])
    tested = renyi.measure(name).test(frame["a"], frame["b"], missing="pairwise", n_resamples=19)
    for again in (pickle.loads(pickle.dumps(tested)), copy.deepcopy(tested)):
        assert repr(again) == repr(tested)
        assert again.debiased == tested.debiased


def test_results_of_tables_read_in_batches_can_be_pickled(rng):
    frame = numbers(200, rng)
    found = renyi.matrix([frame[:100], frame[100:]])
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.values, found.values)
    np.testing.assert_array_equal(again.debiased, found.debiased)


# What was asked for.


def test_a_threshold_is_on_the_scale_of_the_measure(rng):
    x = rng.random(200)
    table = {"x": x, "y": x + 1e-3 * rng.random(200), "z": rng.random(200)}
    assert renyi.pairs(table, measure="mutual_info", threshold=1.5).to_frame()["y"].tolist() == ["y"]
    for measure, threshold in (("dcor", 1.5), ("rdc", 1.5), ("mutual_info", np.inf), ("mutual_info", np.nan)):
        with pytest.raises(renyi.InputError, match="threshold must be a coefficient"):
            renyi.pairs(table, measure=measure, threshold=threshold)


def test_a_table_of_categories_alone_names_the_measures_that_take_it():
    table = {"a": list("uvw") * 20, "b": list("xxyzzz") * 10}
    with pytest.raises(renyi.InputError, match=r"measure by 'rdc' or 'dcor', or .*types=\{name: 'number'\}"):
        renyi.matrix(table, measure="spearman")
    assert renyi.matrix(table, measure="dcor").names == ("a", "b")


@pytest.mark.parametrize("make", [pd.DataFrame, np.asfortranarray, lambda values: dict(enumerate(values.T.copy()))])
def test_what_is_asked_for_later_is_of_the_data_as_they_were(make, rng):
    values = rng.standard_normal((200, 4))
    values[:, 1] += values[:, 0] ** 2
    table = make(values.copy())
    found, expected = (renyi.matrix(data, measure="dcor") for data in (table, values))
    if isinstance(table, pd.DataFrame):
        table.iloc[::2] = 0.0
    else:
        for column in table.values() if isinstance(table, dict) else table.T:
            column[::2] = 0.0
    np.testing.assert_allclose(found.pearson, expected.pearson, atol=1e-12)
    np.testing.assert_allclose(found.spearman, expected.spearman, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("make", [pd.DataFrame, lambda columns: {name: pd.Series(c) for name, c in columns.items()}])
def test_dates_and_series_may_be_written_to_afterwards(make, rng):
    x = rng.standard_normal(200)
    columns = {
        "date": np.datetime64("2020-01-01", "s") + (1e6 * x).astype("timedelta64[s]"),
        "gaps": pd.array(np.round(x, 1), dtype="Float64"),
        "x": x + rng.standard_normal(200),
    }
    table = make(columns)
    found = renyi.matrix(table, measure="xi")
    expected = renyi.matrix(make(columns), measure="xi").pearson
    for name in columns:
        turned = table[name].iloc[::-1].array.copy()
        if isinstance(table, pd.DataFrame):
            table.loc[:, name] = turned
        else:
            table[name].iloc[:] = turned
    np.testing.assert_array_equal(found.pearson, expected)
