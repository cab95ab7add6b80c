"""What campaigns found, kept as small examples: refusals in words, and results without warnings."""

import datetime
import decimal
import warnings
from collections import deque
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute
import pytest

import renyi
from renyi.sklearn import ChangeDetector, RandomCopulaFeatures, RDCSelector, rdc_score

N = 60
X, Y, Z = np.random.default_rng(5).standard_normal((3, N))
TABLE = {"a": X, "b": Y, "c": Z}
LABELS = np.where(Z > 0, "u", "v")
LARGE = np.where(X > 0, 1.7e308, -1.7e308)


def passed(first, second=None, **settings):
    """An accumulator after both passes."""
    accumulator = renyi.Accumulator(**settings)
    accumulator.update(first)
    accumulator = accumulator.second_pass()
    accumulator.update(first if second is None else second)
    return accumulator


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"target": 3}, "target must be the name of a column, or several, got 3"),
        ({"others": 2.5}, "others must be"),
        ({"types": ["a"]}, "is not a mapping"),
        ({"vectors": X}, "is not a mapping"),
        ({"memory": "9" * 400}, "not an amount of memory"),
        ({"order": X}, "order must be 'check'"),
    ],
)
def test_an_accumulator_refuses_what_it_cannot_be_asked(settings, message):
    with pytest.raises(renyi.InputError, match=message):
        renyi.Accumulator(**settings)


@pytest.mark.parametrize(
    "cells", [None, (k for k in range(N)), set(range(N)), np.array(3.0), object(), np.ndarray, {1: 2}]
)
def test_entries_that_are_no_column_are_named(cells):
    for call in (passed, renyi.matrix, lambda table: renyi.matrix(iter([table]))):
        with pytest.raises(renyi.InputError):
            call(TABLE | {"d": cells})


def test_a_memoryview_is_an_array():
    found = renyi.matrix({"a": memoryview(X), "b": Y})
    assert (found.values == renyi.matrix({"a": X, "b": Y}).values).all()


def test_accumulators_merge_with_others_that_were_asked_the_same():
    first, second = passed(TABLE), passed(TABLE, target="a")
    for other, message in ((3, "must be an Accumulator"), (first, "with itself"), (second, "with other settings")):
        with pytest.raises(renyi.InputError, match=message):
            first.merge(other)
        with pytest.raises(renyi.InputError):
            first.result(other)
    first.merge(passed(TABLE).empty())
    assert first.result().n_rows == N


@pytest.mark.parametrize("cells", [Z, Z > 0, np.arange(N).astype("M8[D]"), [None] * (N - 1) + [2.5]])
def test_another_type_in_the_second_pass_is_refused(cells):
    with pytest.raises(renyi.InputError, match="does not hold the values of the first pass"):
        passed(TABLE | {"c": LABELS}, TABLE | {"c": cells}).result()


def test_other_values_in_the_second_pass_are_refused_whatever_their_size():
    second = renyi.Accumulator()
    second.update(TABLE)
    second = second.second_pass()
    for scale in (1.0, 1e300, 3e307):
        second.update({name: cells * scale for name, cells in TABLE.items()})
    with pytest.raises(renyi.InputError, match="the first pass saw 60 rows"):
        second.result()


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (lambda: None, "gave None, which are no batches"),
        (lambda: "abc", "gave 'abc'"),
        (lambda batch: [batch], "cannot be called without arguments"),
        (iter([3]), "is a int, which is not a table"),
        (iter([{"a": X, "b": lambda: 3}]), "cannot be kept for the second reading"),
        (iter([pl.DataFrame({"a": X, "o": pl.Series([object()] * N, dtype=pl.Object)})]), "cannot be kept"),
    ],
)
def test_what_gives_no_batches_is_refused(table, message):
    with pytest.raises(renyi.InputError, match=message):
        renyi.matrix(table)


DURATIONS = [np.timedelta64(k * k, "s") for k in range(N)]


@pytest.mark.parametrize("start", [np.timedelta64(0, "s"), np.datetime64("2020-01-01")])
@pytest.mark.parametrize("gap", [None, np.ma.masked, "NaT"])
def test_durations_and_dates_of_numpy_in_lists(start, gap):
    cells = [type(start)("NaT") if gap == "NaT" else gap, *(start + duration for duration in DURATIONS[1:])]
    numbers = [np.nan, *np.arange(1.0, N)]
    assert renyi.rdc(cells, Y, missing="pairwise") == pytest.approx(renyi.rdc(numbers, Y, missing="pairwise"))
    found, expected = (renyi.matrix({"a": column, "b": Y}).values for column in (cells, numbers))
    assert found == pytest.approx(expected)


def test_durations_without_a_common_unit_are_told():
    mixed = [np.timedelta64(k, "sY"[k % 2]) for k in range(N)]
    with pytest.raises(renyi.InputError, match="timedelta64"):
        renyi.rdc(mixed, Y)
    assert "months or years" in renyi.matrix(TABLE | {"d": mixed}).skipped["d"]
    with pytest.raises(renyi.InputError, match="k must be an integer"):
        renyi.rdc(X, Y, k=np.timedelta64(3, "s"))


def test_a_date_and_a_number_are_no_vector():
    frame = pd.DataFrame({"d": np.arange(N).astype("M8[s]"), "a": X, "b": Y})
    for call in (
        lambda: renyi.rdc(frame[["d", "a"]], Y),
        lambda: renyi.matrix(frame, vectors={"v": ["d", "a"]}),
        lambda: renyi.matrix(iter([frame]), vectors={"v": ["d", "a"]}),
        lambda: renyi.rdc([[np.datetime64(1, "s"), 1.0]] * N, Y),
    ):
        with pytest.raises(renyi.InputError):
            call()


@pytest.mark.parametrize("holder", [list, tuple, lambda cells: [[cell] for cell in cells], deque])
def test_masked_in_lists_is_missing(holder):
    cells = [np.ma.masked, *X[1:]]
    if holder is not deque:
        expected = renyi.rdc([np.nan, *X[1:]], Y, missing="pairwise")
        assert renyi.rdc(holder(cells), Y, missing="pairwise") == expected
    assert np.isnan(renyi.adjust(deque([np.ma.masked, 0.5]))).tolist() == [True, False]


@pytest.mark.parametrize(
    "pvalues",
    [
        None,
        "0.1",
        np.array(["0.1"], dtype=object),
        {"a": 0.1},
        [decimal.Decimal("sNaN"), "a"],
        pd.Series([], dtype=pd.CategoricalDtype(np.array([], dtype=complex))),
    ],
)
def test_no_p_values(pvalues):
    with pytest.raises(renyi.InputError, match="no array of numbers"):
        renyi.adjust(pvalues)


def test_names_that_come_twice_and_whole_numbers_of_128_bits_in_estimators():
    twice = pd.DataFrame(np.column_stack((X, Y)), columns=["a", "a"])
    for call in (lambda: RDCSelector().fit(twice, Z), lambda: rdc_score(twice, Z), lambda: ChangeDetector().fit(twice)):
        with pytest.raises(renyi.InputError, match="unique column names"):
            call()
    long = pl.Series(range(N), dtype=pl.Int128)
    features = np.column_stack((X, np.arange(N) ** 2))
    assert RDCSelector(order=None).fit(features, long).get_support().tolist() == [False, True]
    assert rdc_score(features, long)[1][1] < 1e-6
    with pytest.raises(renyi.InputError, match="more digits"):
        RDCSelector().fit(features, pl.Series([10**30 + k for k in range(N)], dtype=pl.Int128))


def test_labels_that_are_no_numbers_are_not_cast_to_some():
    imaginary = renyi.categorical(list(np.where(Z > 0, 1j, 2j)))
    assert renyi.matrix(TABLE | {"d": imaginary}).types["d"] == "category"
    with pytest.raises(renyi.InputError, match="missing values"):
        rdc_score(np.column_stack((X, Y)), np.array([np.ma.masked, *X[1:]], dtype=object), target_type="number")


def test_vectors_and_masked_cells_in_frames_of_features():
    vectors = pl.DataFrame({"a": X, "v": pl.Series(np.column_stack((Y, Z)))})
    assert "vectors" in RDCSelector(order=None).fit(vectors, X).skipped_["v"]
    frame = pd.DataFrame({"a": X, "b": [np.ma.masked, *Y[1:]]}, dtype=object)
    with pytest.raises(ValueError, match="NaN"):  # in scikit-learn's words
        RandomCopulaFeatures().fit(frame)
    spans = [np.timedelta64(1), np.timedelta64(2)]
    try:
        hash(spans[0])
    except ValueError:  # of newer NumPy, where a duration without a unit is no label
        with pytest.raises(renyi.InputError, match="cannot be told apart"):
            renyi.categorical(spans)
    else:
        assert len(renyi.categorical(spans).levels) == 2


def test_complex_numbers_in_frames_are_refused_without_a_warning():
    for other in (Y, pd.array(LABELS, dtype="string")):
        frame = pd.DataFrame({"a": X * 1j, "b": other})
        with pytest.raises(renyi.InputError, match="complex numbers"):
            RandomCopulaFeatures().fit(frame)
        assert "complex" in ChangeDetector().fit(frame.assign(c=Z)).check(frame.assign(c=X)).skipped["a"]


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"title": 3}, "title must be text"),
        ({"pairs": None}, "are no pairs of columns"),
        ({"path": None}, "path must be the name"),
        ({"path": "a\0.html"}, "path must be the name"),
    ],
)
def test_reports_refuse_what_they_cannot_show(keywords, message, tmp_path):
    arguments = {"path": tmp_path / "report.html"} | keywords
    results = [renyi.matrix(TABLE), renyi.compare(TABLE, TABLE), renyi.lags(TABLE, max_lag=2)]
    for found in results if "pairs" not in keywords else results[:1]:
        with pytest.raises(renyi.InputError, match=message):
            found.report(**arguments)


def test_a_coordinate_is_of_one_type_in_all_batches():
    accumulator = renyi.Accumulator(vectors={"v": ["a", "b"]})
    accumulator.update(TABLE)
    with pytest.raises(renyi.InputError, match="is a number in one batch and a date in another"):
        accumulator.update(TABLE | {"b": np.arange(N).astype("M8[D]")})


@pytest.mark.parametrize("ax", ["x", 3, TABLE])
def test_figures_are_drawn_in_axes_alone(ax):
    for found in (renyi.matrix(TABLE), renyi.screen(TABLE, "a")):
        with pytest.raises(renyi.InputError, match="ax must be axes"):
            found.plot(ax=ax)


def test_flags_are_true_or_false():
    found = renyi.matrix(TABLE)
    with pytest.raises(renyi.InputError, match="fold must be True or False"):
        found.top(fold=pd.DataFrame(TABLE))
    with pytest.raises(renyi.InputError, match="least must be a number"):
        renyi.compare(TABLE, TABLE).top(least="a")
    with pytest.raises(renyi.InputError, match="progress must be True or False"):
        renyi.matrix(TABLE, progress=X)


def test_half_precision_declared_a_category_gives_no_warning():
    halves = np.round(X).astype(np.float16)
    assert renyi.matrix(TABLE | {"d": halves}, types={"d": "category"}).types["d"] == "category"


def test_the_largest_floats_give_no_warning(tmp_path):
    features, series = np.column_stack((X, LARGE)), np.where(np.arange(N) % 3, LARGE, X)
    assert RDCSelector(order=None).fit(features, LARGE).get_support().tolist()[1]
    RDCSelector().fit(features, series)
    for settings in ({"detrend": "difference"}, {"detrend": "linear"}, {"period": 4}):
        assert 0 <= renyi.independence_test(series, Y, time=True, **settings).pvalue <= 1
    beyond = {"a": X.astype(np.longdouble) * np.longdouble("1e400"), "b": Y}
    if np.dtype(np.longdouble).itemsize > 8:
        assert "beyond the range" in renyi.compare(beyond, beyond).skipped["a"]
        with pytest.raises(renyi.InputError, match=r"beyond the range|too large for floats"):
            RDCSelector(target_type="number").fit(features, beyond["a"])
    changed = {"a": LARGE / 3, "b": Y}, {"a": LARGE, "b": X}
    assert renyi.compare(*changed).columns is not None
    assert 0 <= ChangeDetector().fit(changed[0]).score(changed[1]) <= 1


def test_tables_without_a_common_type_are_not_the_same():
    found = renyi.compare({"a": LABELS, "b": LABELS}, {"a": X, "b": Y})
    assert not found.are_equal
    assert set(found.retyped) == {"a", "b"}
    with pytest.raises(renyi.InputError, match="by='a' left out"):
        renyi.compare(TABLE, by="a", types={"a": "skip"})


def test_dates_over_years_that_no_number_of_months_divides_have_ticks(tmp_path):
    dates = np.datetime64("2020-01-01") + np.linspace(0, 1270, N).astype(int)
    figure = renyi.transformations(dates, Y).plot()
    figure.savefig(tmp_path / "figure.png")


@pytest.mark.skipif(pl.__version__.startswith("1."), reason="Polars 1 ends in a panic, which is no exception")
def test_dates_that_python_does_not_have_are_no_labels():
    days = (np.datetime64("2020-01-01") + np.arange(N)).astype("M8[ms]") - np.timedelta64(12_000 * 366, "D")
    with pytest.raises(renyi.InputError, match="cannot be read"):
        renyi.categorical(pl.Series(days))


def test_labels_have_a_name_in_text():
    with pytest.raises(renyi.InputError, match="name must be text"):
        renyi.categorical(["a", "b"], name=pd.NA)
    assert len(renyi.categorical([datetime.date(2020, 1, 1)] * 2)) == 2


def test_a_name_longer_than_the_system_allows_is_refused():
    with pytest.raises(renyi.InputError, match="9999"):
        renyi.matrix("9" * 400 + ".csv")


def test_runs_of_arrow_are_read_as_their_cells(in_batches):
    runs = pa.compute.run_end_encode(pa.array(LABELS))
    batches = [pa.table({"a": X, "d": runs})] * 2
    found = renyi.matrix(iter(batches))
    assert found.values[0, 1] == renyi.matrix(iter([{"a": X, "d": LABELS}] * 2)).values[0, 1]
    assert renyi.rdc(renyi.categorical(runs), X) == renyi.rdc(renyi.categorical(LABELS), X)


def test_masked_cells_of_any_sequence_give_no_warning():
    cells = deque([np.ma.masked, *X[1:]])
    with pytest.raises(renyi.InputError, match="missing"):
        renyi.rdc(cells, Y)


def test_lazy_targets_of_estimators_and_long_floats_held_fixed_give_no_warning():
    with pytest.raises((TypeError, ValueError)):
        RDCSelector().fit(np.column_stack((X, Y)), pl.LazyFrame({"y": Z}))
    beyond = Z.astype(np.longdouble) * np.longdouble("1e300") ** 2
    assert renyi.conditional_test(X, Y, beyond).pvalue == pytest.approx(renyi.conditional_test(X, Y, Z).pvalue)


def test_a_setting_that_compares_with_nothing_is_refused_before_groups():
    with pytest.raises(renyi.InputError, match="missing="):
        renyi.matrix(TABLE | {"g": LABELS}, missing=pl.Series([1, 2]), groups="g")


def test_sparse_cells_of_pandas_are_read_as_plain_ones():
    stamps = list(pd.date_range("2020-02-27", periods=N, tz="UTC"))
    for gap, cells in ((np.nan, stamps), (0.0, X.tolist()), (np.nan, X.tolist())):
        plain = pd.Series([gap, *cells[1:4], gap, *cells[5:]], dtype=object if cells is stamps else float)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of pandas 2.2
            sparse = pd.Series(pd.arrays.SparseArray(plain, dtype=pd.SparseDtype(plain.dtype, gap)))
        table = pd.DataFrame({"a": sparse, "b": Y, "c": sparse})
        found = renyi.matrix(table)
        assert found.to_frame().equals(renyi.matrix(pd.DataFrame({"a": plain, "b": Y, "c": plain})).to_frame())
        if cells is not stamps:
            assert renyi.rdc(sparse, Y, missing="pairwise") == renyi.rdc(plain, Y, missing="pairwise")


def test_a_duration_is_no_level():
    result = renyi.independence_test(X, Y)
    with pytest.raises(renyi.InputError, match="confidence_level must be a number between 0 and 1"):
        result.confidence_interval(np.timedelta64(1, "s"))
    with pytest.raises(renyi.InputError, match="alpha must be"):
        RDCSelector(alpha=np.timedelta64(1, "s")).fit(np.column_stack((X, Y)), Z)


@pytest.mark.parametrize("dtype", [pl.Date, pl.Datetime("us"), pl.Datetime("ms", "UTC"), pl.Duration("ms")])
def test_dates_that_python_does_not_have(dtype, capfd):
    """Polars panics where it would make them, and prints a trace."""
    far = 2**31 - 1 if dtype == pl.Date else 2**63 - 1
    cells = pl.Series([far, -far, *range(2, N)], dtype=pl.Int32 if dtype == pl.Date else pl.Int64).cast(dtype)
    frame = pl.DataFrame({"a": X, "b": cells})
    for call in (lambda: renyi.categorical(cells), lambda: renyi.matrix(frame, groups="b")):
        with pytest.raises(renyi.InputError, match="Python does not have such dates or durations"):
            call()
    assert renyi.matrix(iter([frame[:30], frame[30:]])).values == pytest.approx(renyi.matrix(frame).values, abs=2e-3)
    with pytest.raises(renyi.InputError, match="stamps are irregular"):
        renyi.matrix(frame.with_columns(c=Z), time="b")
    assert passed(frame).result().n_rows == N
    assert "panicked" not in capfd.readouterr().err


def test_steps_of_whole_stamps_do_not_overflow():
    for stamps in (np.arange(-N, N, 2, dtype=np.int8), (np.arange(N) - N // 2) * 2**57):
        assert renyi.matrix(TABLE, time=stamps).n_rows == N
    halves = np.r_[np.arange(N // 2) - 128, np.arange(N // 2) + 90].astype(np.int8)
    with pytest.raises(renyi.InputError, match="are 189 apart, and most are 1: fill"):
        renyi.matrix(TABLE, time=halves)


def test_a_sample_is_of_any_size_and_weights_are_numbers():
    found = passed(TABLE, sample=2**64).result()
    assert (found.values == passed(TABLE).result().values).all()
    for weights in ([decimal.Decimal("sNaN")] * N, ["a"] * N):
        with pytest.raises(ValueError, match=r"read|convert|NaN"):
            RandomCopulaFeatures().fit(np.column_stack((X, Y)), sample_weight=weights)


def test_long_floats_among_labels_that_are_numbers():
    labels = np.array([np.longdouble("1e400"), *Z[1:]], dtype=object)
    for strict in (labels, labels.astype(str)):
        with pytest.raises(renyi.InputError, match=r"beyond the range|too large for floats"):
            RDCSelector(target_type="number").fit(np.column_stack((X, Y)), strict)


def test_batches_of_pandas_whose_cells_have_no_type_in_common_are_no_table():
    mixed = pd.DataFrame({"a": X, "b": pd.Series([b"u", np.datetime64("2020-01-01"), *[b"v"] * (N - 2)], dtype=object)})
    # Columns of which one has another type in the next batch are not put together, so batches stay what they are.
    batches = [mixed, pd.DataFrame({"a": X, "b": Y})]
    with pytest.raises(renyi.InputError, match="a batch is not a table"):
        renyi.compare(TABLE, batches)


def test_what_pandas_makes_no_column_of_is_refused_in_words():
    levels = pd.MultiIndex.from_arrays([LABELS, LABELS])
    assert "tuple" in renyi.matrix(TABLE | {"d": levels}).skipped["d"]
    sparse = pd.Series(pd.arrays.SparseArray(np.zeros(N, dtype=[("a", "f8"), ("b", "i4")])))
    with pytest.raises(renyi.InputError, match="'d' cannot be read"):
        renyi.matrix(TABLE | {"d": sparse})


@pytest.mark.parametrize("large", [10**400, Fraction(10**400, 7)], ids=["whole", "fraction"])
def test_numbers_beyond_floats_are_labels_or_refused(large):
    labels = renyi.categorical([large, "a", "b"] * (N // 3))
    assert renyi.matrix(TABLE | {"d": labels}).types["d"] == "category"
    with pytest.raises(renyi.InputError, match="make such cells missing"):
        renyi.matrix(TABLE | {"d": labels}, types={"d": "number"})
    with pytest.raises(renyi.InputError, match="too large for floats"):
        RDCSelector(target_type="number").fit(np.column_stack((X, Y)), np.array([large, 1] * (N // 2), dtype=object))


@pytest.mark.parametrize(
    "setting", [10**5000, type("Odd", (), {"__repr__": lambda self: 1 / 0})()], ids=["long", "odd"]
)
def test_settings_that_cannot_be_shown_are_refused(setting):
    with pytest.raises(renyi.InputError, match="that cannot be shown"):
        renyi.rdc(X, Y, k=setting)


def test_dates_with_a_zone_at_the_ends_of_the_calendar_are_left_out():
    zone = datetime.timezone(datetime.timedelta(hours=14))
    dates = [datetime.datetime.min.replace(tzinfo=zone), *[datetime.datetime(2020, 1, 1, tzinfo=zone)] * (N - 1)]
    for found in (renyi.matrix(TABLE | {"d": dates}), passed(TABLE | {"d": dates}).result()):
        assert "does not have in UTC" in found.skipped["d"]


def test_times_of_arrow_beyond_a_day_are_counted_in_batches():
    times = pa.array(2**30 + np.arange(N, dtype=np.int32) % 7).view(pa.time32("s"))
    assert passed(TABLE | {"d": times}).result().n_rows == N


def test_stamps_at_both_ends_of_what_floats_reach_give_no_warning():
    for stamps in (LARGE, np.sort(X) * 1e300, np.r_[-1.7e308, 1.7e308, np.arange(N - 2) * 5e-324]):
        with pytest.raises(renyi.InputError, match="stamp"):
            renyi.matrix(TABLE, time=stamps)


@pytest.mark.parametrize("unit", ["Y", "M"])
def test_durations_in_long_units_are_drawn(unit, tmp_path):
    spans = (np.arange(N) * 10**14).astype(f"m8[{unit}]")
    page = tmp_path / "report.html"
    renyi.matrix(TABLE | {"d": spans}).report(page)
    assert page.stat().st_size > 10_000
    renyi.transformations(spans, Y).plot()


def test_the_longest_durations_are_compared_without_a_warning():
    spans = np.array([2**63 - 1, 5 - 2**63, *range(N - 2)]).astype("m8[D]")
    detector = ChangeDetector().fit({"a": X, "d": spans})
    assert 0 <= detector.score({"a": Y, "d": spans}) <= 1


def test_batches_of_unions_are_no_tables():
    union = pa.UnionArray.from_dense(
        pa.array([0, 1] * (N // 2), pa.int8()), pa.array(np.arange(N) // 2, pa.int32()), [pa.array(X), pa.array(LABELS)]
    )
    with pytest.raises(renyi.InputError, match="a batch is not a table"):
        renyi.compare(TABLE, iter([{"a": X, "b": pa.table({"b": union})}] * 2))


def test_settings_of_any_numeric_type():
    assert renyi.rdc(X, Y, s=np.float16(0.5)) == renyi.rdc(X, Y, s=0.5)
    for large in (10**400, Fraction(10**400, 3)):
        for call in (
            lambda large=large: renyi.rdc(X, Y, s=large),
            lambda large=large: renyi.measure("hsic", width=large)(X, Y),
            lambda large=large: renyi.measure("kcca", regularisation=large)(X, Y),
            lambda large=large: renyi.compare(TABLE, TABLE).n_found(least=large),
        ):
            with pytest.raises(renyi.InputError, match=r"must be|is not a width"):
                call()
    for step in (np.uint64(2**63), 10**30):
        assert len(renyi.rolling(X, Y, 50, step).start) == 1


def test_pairs_of_a_report_and_flags_of_a_search_are_looked_at_once(tmp_path):
    found, page = renyi.matrix(TABLE), tmp_path / "report.html"
    for pairs in (np.array([]), pd.DataFrame(), (pair for pair in [("a", "b")])):
        found.report(page, pairs=pairs)
    with pytest.raises(renyi.InputError, match="was not compared"):
        found.report(page, pairs=(pair for pair in [("a", "none")]))
    features = np.column_stack((X, Y))
    for name, wrong in (("interactions", np.array([1, 2])), ("verbose", pd.NA), ("verbose", pd.DataFrame())):
        with pytest.raises(renyi.InputError, match=f"{name} must be True or False"):
            RDCSelector(**{name: wrong}).fit(features, Z)
    with pytest.raises(renyi.InputError, match="pass a place"):
        RDCSelector(categorical_features=[np.timedelta64(1, "s")]).fit(features, Z)


@pytest.mark.parametrize("pair", [None, 0.5, [], 99, np.uint64(2**63)])
def test_changes_of_pairs_are_asked_for_by_their_number(pair):
    with pytest.raises(renyi.InputError, match="pair must be an integer from 0 to 2"):
        renyi.compare(TABLE, TABLE).pair_words(pair)


def test_long_floats_are_drawn_and_dates_in_units_far_apart_are_groups(tmp_path):
    long = np.arange(N).astype(np.longdouble) * np.longdouble("1e307")
    beyond = list(long * 1000)
    renyi.matrix(TABLE | {"d": beyond}).report(tmp_path / "report.html")
    renyi.transformations(long, Y).plot()
    dates = np.array([np.datetime64(k % 3, ("ps", "Y", "D")[k % 3]) for k in range(N)] + [None], dtype=object)[:-1]
    assert renyi.matrix(TABLE, groups=dates).n_rows == N


def test_columns_of_a_matrix_are_of_their_type():
    spans = np.arange(N).astype("m8[s]")[:, None]
    assert renyi.matrix(TABLE | {"d": spans}).types["d"] == renyi.matrix(TABLE | {"d": spans[:, 0]}).types["d"]
    with pytest.raises(renyi.InputError, match="a duration, and the parts of a vector are numbers"):
        renyi.matrix(TABLE | {"d": spans}, vectors={"v": ["a", "d"]})


def test_categories_that_are_no_labels_are_left_out():
    records = pa.array([{"left": k % 3} for k in range(N)])
    column = pa.DictionaryArray.from_arrays(np.arange(N) % 3, records[:3])
    ordered = pa.DictionaryArray.from_arrays(np.arange(N) % 3, records[:3], ordered=True)
    with pytest.raises(renyi.InputError, match="whose levels are no labels"):
        renyi.matrix(TABLE | {"d": ordered}, types={"d": "category"})
    for found in (renyi.matrix(TABLE | {"d": column}), passed(TABLE | {"d": column}).result()):
        assert "d" in found.skipped


def test_the_largest_floats_are_standardised_in_batches_without_a_warning():
    for scale in (1.0, 1e-10):
        table = TABLE | {"d": np.where(X > 0.5, 1.7e308, -1.7e308) * scale}
        found, whole = passed(table).result(), renyi.matrix(table)
        assert found.values == pytest.approx(whole.values, abs=2e-3)
        assert found["a", "d"].pearson == pytest.approx(whole["a", "d"].pearson, abs=1e-9)
