"""The path for many columns: what a table says of a pair is what the pair itself says."""

from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats

import renyi
from contracts.lowering import as_if_large, lowered
from renyi.allpairs.stack import ROWS_FOR_FLOAT32
from renyi.basis import ranks
from renyi.tables import in_memory
from sample_tables import SOME, VECTORS, columns_of, mixed, of_pair

N_LONG = ROWS_FOR_FLOAT32 + 900


def assert_one_truth(found, x, y, i, j):
    """Entry (i, j) of a matrix against the functions of one pair, in the precision that the table is worked on in."""
    is_long = len(x) >= ROWS_FOR_FLOAT32
    coefficient, test = of_pair(renyi.rdc, x, y), of_pair(renyi.independence_test, x, y)
    names = f"{x.name} and {y.name}"
    if coefficient is None:
        assert np.isnan(found.values[i, j]), names
        assert np.isnan(found.debiased[i, j]), names
    else:
        assert found.values[i, j] == pytest.approx(coefficient, abs=1e-6 if is_long else 1e-9), names
    if test is None:
        assert np.isnan(found.pvalues[i, j]), names
    else:
        assert found.n_samples[i, j] == test.n_samples, names
        assert found.pvalues[i, j] == pytest.approx(test.pvalue, abs=1e-5 if is_long else 1e-9), names
        if x.kind == y.kind == "number":
            # Near zero the square root magnifies what rounding did to the square.
            expected = renyi.rdc(x, y, missing="pairwise", debias=True)
            assert found.debiased[i, j] == pytest.approx(expected, abs=2e-3 if is_long else 1e-6), names
    return test is not None


@pytest.mark.slow
@pytest.mark.parametrize("gaps", [0.0, 0.3])
@pytest.mark.parametrize("n", [23, 60, 300, N_LONG])
def test_entries_are_what_the_functions_of_one_pair_say(n, gaps, rng):
    frame = mixed(n, rng, gaps=gaps)
    frame = frame[SOME] if n < 100 else frame
    found = renyi.matrix(frame, vectors=VECTORS)
    columns = columns_of(frame, vectors=VECTORS)
    assert found.names == tuple(column.name for column in columns)
    assert {"plain", "zeros", "grade", "place"} <= set(found.names)
    made = [assert_one_truth(found, x, y, i, j) for (i, x), (j, y) in combinations(enumerate(columns), 2)]
    assert found.n_tests == sum(made)
    for array in (found.values, found.pvalues, found.debiased, found.n_samples, found.pearson, found.spearman):
        np.testing.assert_array_equal(array, array.T)


@pytest.mark.slow
def test_pairs_without_an_answer_have_none_in_the_table(rng):
    frame = mixed(23, rng)[SOME]
    frame.loc[rng.permutation(23)[:17], "lat"] = np.nan
    frame.loc[rng.permutation(23)[:12], "zeros"] = np.nan
    frame.loc[rng.permutation(23)[:12], "plain"] = np.nan
    found = renyi.matrix(frame, vectors=VECTORS)
    columns = columns_of(frame, vectors=VECTORS)
    made = [assert_one_truth(found, x, y, i, j) for (i, x), (j, y) in combinations(enumerate(columns), 2)]
    assert found.n_tests == sum(made) < len(made)


def test_numbers_against_many_levels_are_seen_on_every_scale(rng):
    # Waves that the first eight functions of x do not see, one for each level.
    x = np.sort(rng.random(1000))
    level = (np.digitize(np.cos(13 * np.pi * x), [-0.6, 0.6]) + (rng.random(1000) < 0.2)).clip(0, 2)
    found = renyi.matrix({"x": x, "level": np.array(list("abc"))[level]})
    expected = renyi.independence_test(x, renyi.categorical(level))
    assert expected.scale[0] > 8
    assert np.log(found.pvalues[0, 1]) == pytest.approx(expected.log_pvalue, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plain", "five", "quarter"])
def test_many_equal_values_with_gaps_are_no_evidence_in_long_tables(name, rng):
    # One value in a quarter of the rows: float32 would be magnified without end by products of smooth functions.
    n = 2 * ROWS_FOR_FLOAT32
    tied = [np.where(rng.random(n) < share, 0.0, rng.random(n)) for share in (0.15, 0.2, 0.25, 0.3, 0.35)]
    frame = pd.DataFrame({f"tied {k}": np.where(rng.random(n) < 0.3, np.nan, v) for k, v in enumerate(tied)})
    other = mixed(n, rng)[[name]]
    found = renyi.matrix(frame, other)
    for i, column in enumerate(columns_of(frame)):
        test = renyi.independence_test(column, columns_of(other)[0], missing="pairwise")
        assert found.pvalues[i, 0] == pytest.approx(test.pvalue, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_neither_columns_nor_rows_have_an_order(gaps, rng):
    frame = mixed(150, rng, gaps=gaps)[SOME]
    found = renyi.matrix(frame, vectors=VECTORS)
    turned = renyi.matrix(frame.iloc[rng.permutation(150), ::-1], vectors={"place": ["lat", "lon"]})
    order = [turned.names.index(name) for name in found.names]
    for name in ("values", "debiased", "pvalues", "qvalues", "n_samples", "pearson", "spearman"):
        expected = getattr(found, name)
        np.testing.assert_allclose(getattr(turned, name)[np.ix_(order, order)], expected, atol=1e-9, err_msg=name)


def test_all_kinds_of_frames_say_the_same(rng):
    frame = mixed(120, rng, gaps=0.2)[["plain", "rounded", "two", "five", "date"]]
    tables = {
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "arrow": pa.Table.from_pandas(frame, preserve_index=False),
        "dict": {name: frame[name].to_numpy() for name in frame},
    }
    found = {kind: renyi.matrix(data) for kind, data in tables.items()}
    for kind, other in found.items():
        assert other.names == found["pandas"].names, kind
        assert dict(other.types) == dict(found["pandas"].types), kind
        np.testing.assert_array_equal(other.values, found["pandas"].values, err_msg=kind)
        np.testing.assert_array_equal(other.pvalues, found["pandas"].pvalues, err_msg=kind)


def test_results_come_back_in_the_kind_of_frame_that_came_in(rng):
    data = {"a": rng.random(60), "b": rng.random(60)}
    kinds = {pd.DataFrame: pd.DataFrame(data), pl.DataFrame: pl.DataFrame(data), pa.Table: pa.table(data)}
    for kind, given in kinds.items():
        assert isinstance(renyi.matrix(given).to_frame(), kind)
        assert isinstance(renyi.matrix(given).to_long(), kind)
        assert isinstance(renyi.matrix(given).top(fdr=1.0), kind)
        assert isinstance(renyi.pairs(given, fdr=1.0).to_frame(), kind)
        assert isinstance(renyi.screen(given, "a").to_long(), kind)


def test_an_array_is_a_table(rng):
    data = rng.random((80, 3))
    assert renyi.matrix(data).names == ("x0", "x1", "x2")
    assert renyi.matrix(data).values[0, 2] == pytest.approx(renyi.rdc(data[:, 0], data[:, 2]), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_two_tables_are_a_block_of_both_together(gaps, rng):
    frame = mixed(150, rng, gaps=gaps)[SOME]
    left, right = frame[SOME[:4]], frame[SOME[4:]]
    both, block = renyi.matrix(frame, vectors=VECTORS), renyi.matrix(left, right, vectors=VECTORS)
    assert block.names + block.other_names == both.names
    rows, columns = slice(len(block.names)), slice(len(block.names), None)
    for name in ("values", "debiased", "pvalues", "n_samples", "pearson", "spearman"):
        np.testing.assert_allclose(getattr(block, name), getattr(both, name)[rows, columns], atol=1e-12, err_msg=name)
    np.testing.assert_allclose(block.qvalues, renyi.adjust(block.pvalues))
    assert block.to_frame().shape == block.values.shape
    assert set(block.types) == set(both.types)


def test_two_tables_may_have_the_same_names(rng):
    x, y = rng.random(100), rng.random(100)
    found = renyi.matrix({"a": x, "b": y}, {"a": y, "b": x})
    assert found.values[0, 1] == pytest.approx(1.0)
    assert found.values[1, 0] == pytest.approx(1.0)
    assert found.values[0, 0] == pytest.approx(renyi.rdc(x, y), abs=1e-12)


@pytest.mark.slow
def test_pairs_that_were_not_tested_do_not_count(rng):
    frame = mixed(100, rng, gaps=0.1)[["plain", "curve", "noise", "rounded", "date", "flag"]]
    frame.loc[:60, "plain"] = np.nan
    frame.loc[50:, "curve"] = np.nan
    for correction in ("bh", "by", "holm", "bonferroni"):
        found = renyi.matrix(frame, correction=correction)
        upper = np.triu_indices(len(found.names), 1)
        i, j = found.names.index("plain"), found.names.index("curve")
        assert found.n_samples[i, j] == 0
        assert np.isnan([found.values[i, j], found.pvalues[i, j], found.qvalues[i, j], found.debiased[i, j]]).all()
        assert np.isfinite(found.pvalues[upper]).sum() == found.n_tests < len(upper[0])
        np.testing.assert_allclose(found.qvalues[upper], renyi.adjust(found.pvalues[upper], correction))
        assert found.n_found(0.1) == np.count_nonzero(found.qvalues[upper] <= 0.1)


def test_correlations_beside_it_are_pearsons_and_spearmans(rng):
    frame = mixed(200, rng)
    found = renyi.matrix(frame)
    numbers = ["plain", "curve", "rounded", "coarse", "zeros", "lat"]
    places = [found.names.index(name) for name in numbers]
    for method in ("pearson", "spearman"):
        expected = frame[numbers].corr(method=method)
        np.testing.assert_allclose(getattr(found, method)[np.ix_(places, places)], expected, atol=1e-12)
    # Flags and two levels have an order, that of their names; more levels have none.
    i, j, k = (found.names.index(name) for name in ("plain", "two", "five"))
    codes = (frame["two"] == "b").astype(float)
    assert found.pearson[i, j] == pytest.approx(np.corrcoef(frame["plain"], codes)[0, 1])
    assert found.spearman[i, j] == pytest.approx(frame["plain"].corr(codes, method="spearman"))
    assert np.isnan([found.pearson[i, k], found.spearman[i, k], found.pearson[j, k]]).all()


def test_pearsons_correlation_of_common_rows_is_that_of_pandas(rng):
    frame = mixed(200, rng, gaps=0.3)
    numbers = ["plain", "curve", "rounded", "coarse", "zeros", "lat"]
    found = renyi.matrix(frame[numbers])
    np.testing.assert_allclose(found.pearson, frame[numbers].corr(), atol=1e-9)


def test_types_are_what_the_user_says(rng):
    frame = mixed(200, rng)
    frame["code"] = rng.integers(0, 4, 200)
    found = renyi.matrix(frame, types={"code": "category", "five": "skip"})
    assert found.types["code"] == "category"
    assert "five" not in found.names
    assert "five" in found.skipped
    i, j = found.names.index("code"), found.names.index("plain")
    assert found.values[i, j] == pytest.approx(
        renyi.rdc(renyi.categorical(frame["code"]), frame["plain"].to_numpy()), abs=1e-12
    )
    assert np.isnan(found.pearson[i, j])


def test_vectors_take_the_place_of_their_columns(rng):
    frame = mixed(200, rng)
    found = renyi.matrix(frame, vectors=VECTORS)
    assert not {"lat", "lon"} & set(found.names)
    i, j = found.names.index("place"), found.names.index("plain")
    vector = frame[["lat", "lon"]].to_numpy()
    assert found.values[i, j] == pytest.approx(renyi.rdc(vector, frame["plain"].to_numpy()), abs=1e-12)


def test_listwise_drops_rows_with_any_gap(rng):
    frame = mixed(200, rng)[["plain", "curve", "five", "coarse"]]
    frame.loc[rng.choice(200, 40, replace=False), "plain"] = np.nan
    frame.loc[rng.choice(200, 40, replace=False), "five"] = None
    found, complete = renyi.matrix(frame, missing="listwise"), renyi.matrix(frame.dropna())
    assert found.n_rows == len(frame.dropna())
    np.testing.assert_array_equal(found.values, complete.values)
    np.testing.assert_array_equal(found.pvalues, complete.pvalues)
    assert (found.n_samples == len(frame.dropna())).all()
    assert renyi.matrix(frame).values[1, 3] != found.values[1, 3]
    with pytest.raises(renyi.InputError, match=r"2 columns with missing cells: 'plain' \(40, first in row \d+\)"):
        renyi.matrix(frame, missing="raise")


def test_what_says_nothing_is_left_out_and_named(rng):
    found = renyi.matrix(
        {
            "a": rng.random(50),
            "b": rng.random(50),
            "same": np.ones(50),
            "empty": [None] * 50,
            "id": [f"k{i}" for i in range(50)],
        }
    )
    assert found.names == ("a", "b")
    assert set(found.skipped) == {"same", "empty", "id"}
    assert "constant" in found.skipped["same"]


# What is refused.


def small(rng):
    return {"income": rng.random(40), "outcome": rng.random(40), "age": rng.random(40), "same": np.ones(40)}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: renyi.screen(t, "incom"), "target names 'incom', .* did you mean 'income'"),
        (lambda t: renyi.screen(t, "AGE"), "did you mean 'age'"),
        (lambda t: renyi.screen(t, "zzz"), "it has 'income', 'outcome', 'age', 'same'"),
        (lambda t: renyi.screen(t, "same"), "target 'same' cannot be measured, it was left out: constant"),
        (lambda t: renyi.screen(t, "age", given="same"), "given 'same' cannot be measured"),
        (lambda t: renyi.screen(t, "age", given="agee"), "given names 'agee'"),
        (lambda t: renyi.screen(t, "age", given=["income", "age"]), "'age' is both the target and given"),
        (lambda t: renyi.screen(t, []), "target names no column"),
        (lambda t: renyi.screen(t, "age", vectors={"v": ["age", "income"]}), "target 'age' is part of the vector 'v'"),
        (lambda t: renyi.screen({"age": t["age"]}, "age"), "0 columns to compare and needs 1"),
        (lambda t: renyi.matrix({"age": t["age"]}), "1 column to compare and needs 2: pass more columns"),
        (lambda t: renyi.matrix({"a": t["same"], "b": t["same"]}), r"0 columns .*2 columns left out: 'a': constant"),
        (lambda t: renyi.matrix(t, {"b": np.arange(41)}), "the table has 40 rows and other has 41"),
        (lambda t: renyi.matrix(t, {"b": np.arange(40)}, missing="listwise"), "different rows of two tables"),
        (lambda t: renyi.matrix(t, {"b": np.arange(40)}, types={"c": "skip"}), "types names 'c'"),
        (lambda t: renyi.matrix(t, {"b": np.ones(40)}), "0 columns to compare and needs 1"),
        (lambda t: renyi.matrix(t, measure="person"), "there is no measure 'person': did you mean 'pearson'?"),
        (lambda t: renyi.pairs(t, measure=None), "there is no measure None"),
        (lambda t: renyi.screen(t, "age", correction="fdr"), "correction='fdr' is unknown"),
        (lambda t: renyi.matrix(t, missing="drop"), "missing='drop' is unknown"),
        (lambda t: renyi.pairs(t, correction="holm"), "'holm' needs all p-values at once"),
        (lambda t: renyi.pairs(t, top=0), "top must be an integer of at least 1, got 0"),
        (lambda t: renyi.pairs(t, top=2.5), "top must be an integer of at least 1, got 2.5"),
        (lambda t: renyi.pairs(t, top=True), "top must be an integer of at least 1, got True"),
        (lambda t: renyi.pairs(t, threshold=1.5), "threshold must be a coefficient between -1 and 1, got 1.5"),
        (lambda t: renyi.pairs(t, threshold="0.5"), "threshold must be a coefficient between -1 and 1, got '0.5'"),
        (lambda t: renyi.pairs(t, threshold=True), "threshold must be a coefficient between -1 and 1, got True"),
        (lambda t: renyi.pairs(t, threshold=float("nan")), "threshold must be a coefficient between -1 and 1, got nan"),
        (lambda t: renyi.pairs(t, fdr=0), "fdr must be a number above 0, at most 1, got 0"),
        (lambda t: renyi.pairs(t, fdr=1.1), "fdr must be a number above 0, at most 1, got 1.1"),
        (lambda t: renyi.pairs(t, fdr=True), "fdr must be a number above 0, at most 1, got True"),
        (lambda t: renyi.pairs(t, fdr="all"), "fdr must be a number above 0, at most 1, got 'all'"),
    ],
)
def test_what_is_refused_has_a_reason(call, message, rng):
    with pytest.raises(renyi.InputError, match=message):
        call(small(rng))


def test_settings_are_refused_before_any_work_is_done(monkeypatch, rng):
    monkeypatch.setattr(in_memory, "prepare", lambda *_: pytest.fail("a column was prepared"))
    with pytest.raises(renyi.InputError, match=r"fdr must be .*, got 2"):
        renyi.pairs(small(rng), fdr=2)
    with pytest.raises(renyi.InputError, match="target"):
        renyi.screen(small(rng), "nothing")


@pytest.mark.slow
def test_a_table_is_not_changed(rng):
    frame = mixed(80, rng, gaps=0.2)[SOME]
    before = frame.copy(deep=True)
    renyi.matrix(frame, vectors=VECTORS)
    pd.testing.assert_frame_equal(frame, before)


def test_pvalues_are_those_of_the_pair_where_common_rows_leave_little_of_a_column():
    rng = np.random.default_rng(0)
    x = rng.standard_normal(200)
    table = {"x": x}
    # On the lower rows of x its functions are nearly dependent, and rounding is magnified.
    for k in range(12):
        table[f"y{k}"] = np.where(x > np.quantile(x, 0.55 + 0.02 * k), np.nan, rng.standard_normal(200) + 0.3 * x)
    found = renyi.matrix(table)
    for k in range(12):
        place = found.names.index(f"y{k}")
        expected = renyi.independence_test(x, table[f"y{k}"], missing="pairwise")
        assert found.pvalues[0, place] == pytest.approx(expected.pvalue, abs=1e-7)
        assert found.values[0, place] == pytest.approx(expected.coefficient, abs=1e-7)


@pytest.mark.slow
def test_coefficients_are_those_of_the_pair_where_single_precision_is_magnified():
    rng, n = np.random.default_rng(0), 5000
    late = np.where(np.arange(n) < n // 2, 1.0, rng.standard_normal(n))
    # All but a few of the common rows have the same value.
    table = {"late": late} | {
        f"y{k}": np.where(np.arange(n) < n // 2 + 3 + k, rng.standard_normal(n), np.nan) for k in range(6)
    }
    found = renyi.matrix(table)
    for k in range(6):
        expected = renyi.rdc(late, table[f"y{k}"], missing="pairwise")
        assert found.values[0, found.names.index(f"y{k}")] == pytest.approx(expected, abs=1e-9)


def test_spearmans_correlation_needs_no_other_function(rng):
    x, y = rng.standard_normal((2, 200))
    lower = x < np.quantile(x, 0.2)
    found = renyi.matrix({"x": x, "y": np.where(lower, y, np.nan), "z": np.where(lower, np.nan, y)})
    ranks = stats.rankdata(x)[lower], stats.rankdata(y[lower])
    assert found.spearman[0, 1] == pytest.approx(np.corrcoef(*ranks)[0, 1], abs=1e-12)


def test_numbers_far_from_zero_have_their_pearson(rng):
    z = rng.standard_normal(300)
    far = 2e15 + 2 * np.round(2 * z)
    assert renyi.matrix({"a": z, "b": far}).pearson[0, 1] == pytest.approx(np.corrcoef(z, far - 2e15)[0, 1], abs=1e-12)


@pytest.mark.parametrize("n", [25, 35, 49])
def test_wide_vectors_on_few_rows_are_compared(n, rng):
    table = {f"c{k}": rng.standard_normal(n) for k in range(5)}
    found = renyi.matrix(table, vectors={"v": ["c0", "c1", "c2"]})
    assert found.names == ("v", "c3", "c4")


def test_settings_that_leave_nothing_of_a_column_are_refused_by_its_name(rng):
    n = 40_000
    table = {"a": (np.arange(n) == 7).astype(float), "b": rng.standard_normal(n)}
    by = renyi.measure("rdc", s=1e-9)
    for data in (table, [pd.DataFrame(table)]):
        with pytest.raises(renyi.InputError, match=r"a.* does not vary enough .* pass a larger s"):
            renyi.matrix(data, measure=by)


@pytest.mark.slow
def test_what_is_constant_on_common_rows_has_no_correlation(rng):
    n = 300
    table = {f"c{k}": 10.0 ** rng.uniform(-3, 6) + rng.standard_normal(n) for k in range(40)}
    for values in table.values():
        values[:150] = values[200]
    table["x"] = np.where(np.arange(n) < 150, rng.standard_normal(n), np.nan)
    for found in (renyi.matrix(table), renyi.matrix([pd.DataFrame(table)])):
        of_x = list(found.names).index("x")
        for values in (found.values, found.pearson, found.spearman, found.pvalues):
            assert np.isnan(np.delete(values[of_x], of_x)).all()


def test_an_outlier_on_a_row_that_the_partner_lacks_leaves_pearson(rng):
    x = rng.standard_normal(300)
    y = x + rng.standard_normal(300)
    expected = np.corrcoef(x[1:], y[1:])[0, 1]
    x[0], y[0] = 1e6, np.nan
    assert renyi.matrix({"x": x, "y": y}).pearson[0, 1] == pytest.approx(expected, abs=1e-6)


def test_names_that_are_no_text_reach_both_tables(rng):
    x, y = rng.standard_normal((2, 100))
    table, other = pd.DataFrame({0: x, 1: y}), pd.DataFrame({5: x, 6: y})
    assert renyi.matrix(table, other, types={5: "skip"}).other_names == ("6",)
    assert renyi.matrix(table, other, vectors={"v": [0, 1]}).names == ("v",)
    with pytest.raises(renyi.InputError, match="not a mapping"):
        renyi.matrix(table, other, types=["b"])
    pairs = pd.DataFrame({("a", 1): x, ("a", 2): y})
    assert renyi.screen(pairs, ("a", 1)).names == ("('a', 2)",)


def test_names_that_two_tables_share_are_told_apart(rng):
    found = renyi.matrix({"a": rng.random(50), "k": rng.random(50)}, {"a": np.ones(50), "k": rng.random(50) < 0.5})
    assert dict(found.skipped) == {"a (other)": "constant (always 1.0)"}
    assert dict(found.types) == {"a": "number", "k": "number", "k (other)": "boolean"}


def test_what_reading_decided_is_in_the_result_wherever_the_rows_are(tmp_path, rng):
    path = tmp_path / "rows.tsv"
    rows = zip([0, *rng.permutation(np.arange(1, 3000)).tolist()], rng.random(3000), strict=True)
    lines = [f"{k % 90 + 1},{k % 900 + 100}\t{x:.2f}\t3/{k % 28 + 1}/2021" for k, x in rows]
    path.write_text("\n".join(["n\tx\tday", *lines]))
    whole = renyi.matrix(path)
    assert whole.types == {"n": "number", "x": "number", "day": "date"}
    assert whole.notes == (
        "column 'n' holds numbers with commas between thousands: read as numbers, for example '1,100' as 1100",
        "column 'day' holds dates such as '3/1/2021': read as month/day/year",
    )
    assert renyi.screen(path, "x").notes == whole.notes
    with lowered(as_if_large(3000, path.stat().st_size)):
        for found in (renyi.matrix(path), renyi.screen(path, "x")):
            assert len(found.edges.x[0].column) == 0  # read in batches
            assert found.notes == whole.notes
    assert "commas between thousands" in repr(whole)


def test_ties_by_chance_move_nothing_that_products_would_not(monkeypatch, rng):
    values = rng.standard_normal((6000, 4)).astype(np.float32)
    values[:, 1] += values[:, 0] ** 2
    values[5, 2] = values[6, 2]
    found = renyi.matrix(values)
    monkeypatch.setattr(ranks, "ROWS_OF_CHANCE_TIES", 10**9)
    expected = renyi.matrix(values)
    assert found.values == pytest.approx(expected.values, abs=5e-7)
    assert np.log(found.pvalues) == pytest.approx(np.log(expected.pvalues), rel=1e-4, nan_ok=True)
