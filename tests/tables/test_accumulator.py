import decimal
import pickle
import re

import numpy as np
import pytest

import renyi

FIELDS = ("values", "debiased", "pearson", "spearman")


def table(n, rng, *, gaps=True):
    x = rng.normal(size=n)
    columns = {
        "x": x,
        "y": x**2 + rng.normal(size=n),
        "steps": np.round(rng.normal(size=n) + 0.1 * x, 1),
        "zeros": np.where(rng.random(n) < 0.6, 0.0, rng.exponential(size=n)),
        "flag": x + rng.normal(size=n) > 0,
        "level": np.array(list("abcdefgh"), dtype=object)[np.minimum(rng.geometric(0.4, n) - 1, 7)],
    }
    if gaps:
        columns["y"] = np.where(rng.random(n) < 0.2, np.nan, columns["y"])
        columns["steps"] = np.where(x > 1, np.nan, columns["steps"])
    return columns


def cut(columns, cuts):
    n = len(next(iter(columns.values())))
    return [{k: v[a:b] for k, v in columns.items()} for a, b in zip([0, *cuts], [*cuts, n], strict=True)]


def accumulated(batches, **settings):
    first = renyi.Accumulator(**settings)
    for batch in batches:
        first.update(batch)
    second = first.second_pass()
    for batch in batches:
        second.update(batch)
    return second.result()


def check_equal(found, expected, *, atol=1e-6):
    assert found.names == expected.names
    assert dict(found.types) == dict(expected.types)
    assert np.array_equal(found.n_samples, expected.n_samples)
    for name in FIELDS:
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=atol, err_msg=name)
    np.testing.assert_allclose(np.log(found.pvalues), np.log(expected.pvalues), atol=100 * atol)


@pytest.mark.slow
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("n", [60, 3000])
def test_batches_give_what_the_table_gives(n, gaps, rng):
    columns = table(n, rng, gaps=gaps)
    expected = renyi.matrix(columns)
    check_equal(accumulated(cut(columns, [n // 7, n // 7, n // 2])), expected)


@pytest.mark.slow
def test_a_grid_is_the_same_one(rng):
    columns = {name: values for name, values in table(40_000, rng).items() if name in ("x", "y", "steps")}
    check_equal(accumulated(cut(columns, [5, 20_000])), renyi.matrix(columns))


def test_a_sketched_grid_is_close(rng):
    columns = {name: values for name, values in table(40_000, rng).items() if name in ("x", "y", "steps")}
    first = renyi.Accumulator(memory="4MB")
    first.update(columns)
    assert 0 < max(first.rank_errors.values()) < 1e-3
    second = first.second_pass()
    second.update(columns)
    np.testing.assert_allclose(second.result().values, renyi.matrix(columns).values, atol=1e-4)


def test_parts_that_say_nothing_or_come_late_have_no_effect(rng):
    columns = table(3000, rng)
    columns["y"][:1000] = np.nan  # a whole batch
    columns["level"][-1000:][columns["level"][-1000:] == "a"] = "late"
    expected = renyi.matrix(columns)
    empty = {name: values[:0] for name, values in columns.items()}
    batches = cut(columns, [1000, 2000])
    check_equal(accumulated([empty, *batches, empty]), expected)
    check_equal(accumulated(batches[::-1]), expected)


def test_accumulators_merge_in_any_order_and_travel(rng):
    columns = table(3000, rng)
    batches = cut(columns, [10, 1700, 1700])

    def merged(make, order):
        parts = []
        for batch in batches:
            part = pickle.loads(pickle.dumps(make()))
            part.update(batch)
            parts.append(pickle.loads(pickle.dumps(part)))
        total = make()
        for k in order:
            total.merge(parts[k])
        return total

    expected = renyi.matrix(columns)
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        second = merged(renyi.Accumulator, order).second_pass()
        check_equal(merged(second.empty, order).result(), expected)


def test_a_target_gives_a_screening(rng):
    columns = table(2000, rng)
    found, expected = accumulated(cut(columns, [300]), target="y"), renyi.screen(columns, "y")
    assert found.names == expected.names
    np.testing.assert_allclose(found.values, expected.values, atol=1e-6)


def test_rare_events_are_permuted_from_counts_alone(rng):
    columns = {"a": rng.random(3000) < 0.003, "b": rng.random(3000) < 0.003, "x": rng.normal(size=3000)}
    found, expected = accumulated(cut(columns, [100])), renyi.matrix(columns)
    assert found.n_permuted == expected.n_permuted > 0
    check_equal(found, expected)


def test_copies_are_told_as_one(rng):
    columns = table(1000, rng, gaps=False)
    columns["again"] = np.array([f"level {v}" for v in columns["level"]], dtype=object)
    assert accumulated(cut(columns, [400])).top()["y"].tolist() == renyi.matrix(columns).top()["y"].tolist()


def test_columns_that_say_nothing_are_left_out_with_the_reason(rng):
    columns = {"x": rng.normal(size=500), "y": rng.normal(size=500), "one": np.ones(500), "none": np.full(500, np.nan)}
    columns["id"] = np.array([f"row {k}" for k in range(500)], dtype=object)
    columns["infinite"] = np.where(np.arange(500) == 3, np.inf, 1.0 * np.arange(500))
    skipped = accumulated(cut(columns, [250])).skipped
    assert skipped["one"] == "constant (always 1.0)"
    assert skipped["none"] == "no observed value"
    assert "identifier" in skipped["id"]
    assert skipped["infinite"].startswith("has 1 infinite value")


def test_memory_does_not_grow_with_rows(rng):
    def size(n_batches):
        first = renyi.Accumulator(memory="8MB")
        for _ in range(n_batches):
            first.update({"x": rng.normal(size=20_000), "y": rng.normal(size=20_000)})
        second = first.second_pass()
        return len(pickle.dumps(first)), len(pickle.dumps(second))

    few, many = size(4), size(16)
    assert many[0] < 1.3 * few[0]
    assert many[1] < 1.3 * few[1]


def test_what_cannot_work_is_refused(rng):
    columns = table(200, rng)
    acc = renyi.Accumulator()
    with pytest.raises(renyi.InputError, match="second_pass"):
        acc.result()
    acc.update(columns)
    with pytest.raises(renyi.InputError, match="lacks 'x'"):
        acc.update({k: v for k, v in columns.items() if k != "x"})
    second = acc.second_pass()
    with pytest.raises(renyi.InputError, match="no rows"):
        second.result()
    with pytest.raises(renyi.InputError, match="like with like"):
        acc.merge(second)
    second.update({k: v[:100] for k, v in columns.items()})
    with pytest.raises(renyi.InputError, match="200 rows and the second 100"):
        second.result()
    second.update({k: v[:100] for k, v in columns.items()})
    with pytest.raises(renyi.InputError, match="values of the first pass"):
        second.result()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"missing": "listwise"}, "listwise"),
        ({"measure": "pearson"}, "load the table"),
        ({"memory": "lots"}, "not an amount of memory"),
        ({"measure": renyi.measure("rdc", s="median")}, "median"),
        ({"types": {"x": "colour"}}, "types"),
    ],
)
def test_settings_that_cannot_be_met_are_refused(settings, message):
    with pytest.raises(renyi.InputError, match=message):
        renyi.Accumulator(**settings)


def test_a_budget_that_is_too_small_says_what_is_enough():
    with pytest.raises(renyi.InputError, match="2MB or more"):
        renyi.Accumulator(memory="500KB").update({"x": np.arange(9.0), "y": np.arange(9.0)})


def test_types_that_change_between_batches_are_refused(rng):
    acc = renyi.Accumulator()
    acc.update({"x": rng.normal(size=9), "y": rng.normal(size=9)})
    with pytest.raises(renyi.InputError, match="a number in one batch and a category in another"):
        acc.update({"x": np.array(list("abcabcabc"), dtype=object), "y": rng.normal(size=9)})


def columns_with_gaps(rng, n=9000):
    """Missing cells leave counts for every cell and pair behind, which take much memory."""
    return {f"x{j}": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)) for j in range(12)}


def test_a_budget_too_small_for_all_sums_says_what_is_enough(rng):
    first = renyi.Accumulator(memory="13MB")
    first.update(columns_with_gaps(rng))
    with pytest.raises(
        renyi.InputError, match=r"sums of 12 columns at once: pass [0-9]+MB or more, or .*second_passes"
    ):
        first.second_pass()


@pytest.mark.slow
def test_several_passes_over_blocks_of_pairs_find_what_one_finds(rng):
    columns = columns_with_gaps(rng)
    found = []
    for memory in ("13MB", "1GB"):
        first = renyi.Accumulator(memory=memory)
        first.update(columns)
        passes = first.second_passes()
        for second in passes:
            second.update(columns)
        found.append((len(passes), passes[0].result(*passes[1:])))
    (several, by_blocks), (one, at_once) = found
    assert several > 2
    assert one == 1
    np.testing.assert_allclose(by_blocks.values, at_once.values, atol=5e-3)  # fewer parts of values fit, too


def test_a_result_needs_the_passes_over_all_blocks_of_pairs(rng):
    columns = columns_with_gaps(rng)
    first = renyi.Accumulator(memory="13MB")
    first.update(columns)
    part = first.second_passes()[0]
    part.update(columns)
    with pytest.raises(renyi.InputError, match="some pairs are lacking"):
        part.result()


@pytest.mark.usefixtures("in_batches")
def test_ranks_that_would_be_off_are_refused_with_the_way_out(rng, monkeypatch):
    def crowded(n, share, scale):
        """Values close together, and a share of any size."""
        return np.where(rng.random(n) < share, np.exp(20 * rng.normal(size=n)), 1 + scale * rng.normal(size=n))

    rows = [{name: crowded(20_000, 0.3, 0.003) for name in "abc"} for _ in range(2)]
    with pytest.raises(
        renyi.InputError, match=r"'a' would be off by 0\.1.*4,096 parts: pass memory='\d+MB'"
    ) as refused:
        renyi.matrix(rows, memory="4MB")
    enough = re.search("memory='(.*)'", str(refused.value))[1]
    assert renyi.matrix(rows, memory=enough).n_rows == 40_000
    rows = [{name: crowded(300_000, 0.7, 1e-9) for name in "ab"}]
    with pytest.raises(renyi.InputError, match="131,072 parts: pass ranks in place of values"):
        renyi.matrix(rows)


@pytest.mark.parametrize("draw", [lambda n: np.full(n, 2.5), lambda n: 1e15 + np.arange(n) % 7])
def test_columns_of_few_neighbouring_values_are_counted_over_many_batches(draw, rng):
    x = rng.normal(size=60_000)
    batches = [{"x": part, "y": part**2, "c": draw(len(part))} for part in np.array_split(x, 10)]
    found = renyi.matrix(batches, memory="8MB")
    whole = renyi.matrix({name: np.concatenate([batch[name] for batch in batches]) for name in "xyc"})
    assert found.names == whole.names
    assert found.skipped.keys() == whole.skipped.keys()
    np.testing.assert_allclose(found.values, whole.values, atol=1e-3)


def test_second_passes_that_do_not_fit_together_are_not_merged(rng):
    batch = {f"x{j}": rng.normal(size=200) for j in range(4)}
    seconds = []
    for memory in ("100MB", "50MB"):
        first = renyi.Accumulator(memory=memory)
        first.update(batch)
        second = first.second_pass()
        second.update(batch)
        seconds.append(second)
    with pytest.raises(renyi.InputError, match="with another budget"):
        seconds[0].merge(seconds[1])


@pytest.mark.usefixtures("in_batches")
def test_a_report_of_rows_that_are_gone_is_refused(rng, tmp_path):
    found = renyi.matrix([{"x": rng.normal(size=200), "y": rng.normal(size=200)}], sample=0)
    with pytest.raises(
        renyi.InputError, match=r"were not kept \(sample=0\): pass sample=10_000, or write the pairs by"
    ):
        found.report(tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


# Whole numbers and times that lie between floats, from their steps; as floats they would be a few values, or one.
FAR = {
    "int64": lambda k: 2**62 + k,
    "negative": lambda k: -(2**62) - k,
    "uint64": lambda k: np.uint64(2**63) + k.astype(np.uint64),
    "dates": lambda k: np.datetime64("2024-01-01", "ns") + k.astype("m8[ns]"),
    "durations": lambda k: np.timedelta64(2**61, "ns") + k.astype("m8[ns]"),
    "long floats": lambda k: np.longdouble(2) ** 62 + k,
    "objects": lambda k: np.array([2**62 + int(v) for v in k], dtype=object),
    "objects of 64 bits": lambda k: np.array([2**63 + int(v) for v in k], dtype=object),
    "decimals": lambda k: np.array([decimal.Decimal(10**17 + int(v)) for v in k], dtype=object),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FAR)
def test_whole_numbers_between_floats_are_exact_in_batches(name, rng):
    steps = rng.permutation(900)
    y, g = np.cos(steps / 100), np.where(rng.random(900) < 0.2, np.nan, rng.normal(size=900) + steps / 500)
    expected = renyi.matrix({"x": -steps if name == "negative" else steps, "y": y, "g": g})
    columns = {"x": FAR[name](steps), "y": y, "g": g}
    first = renyi.Accumulator()
    for batch in cut(columns, [1, 300, 300]):
        first.update(batch)
    assert first.rank_errors["x"] == 0.0
    for found in (
        accumulated(cut(columns, [1, 300, 300])),
        renyi.matrix(iter(cut(columns, [450]))),
        renyi.matrix(columns),
    ):
        for field in FIELDS:
            np.testing.assert_allclose(getattr(found, field), getattr(expected, field), atol=1e-6, err_msg=field)
        assert "x" in found.types


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 1, 0, 2]])
def test_whole_numbers_between_floats_merge_in_any_order(order, rng):
    steps = rng.permutation(900)
    columns = {"x": 2**62 + steps, "y": np.cos(steps / 100)}
    batches = cut(columns, [10, 300, 300])

    def merged(make):
        total = make()
        for k in order:
            part = make()
            part.update(batches[k])
            total.merge(pickle.loads(pickle.dumps(part)))
        return total

    second = merged(renyi.Accumulator).second_pass()
    check_equal(merged(second.empty).result(), renyi.matrix(columns))


def test_whole_numbers_between_floats_are_sketched_where_they_are_many(rng):
    steps = rng.permutation(40_000)
    columns = {"x": 2**62 + steps, "y": np.round(np.cos(steps / 4000), 3)}
    first = renyi.Accumulator(memory="4MB")
    first.update(columns)
    assert 0 < first.rank_errors["x"] < 1e-3
    second = first.second_pass()
    second.update(columns)
    np.testing.assert_allclose(second.result().values, renyi.matrix(columns).values, atol=1e-3)


def test_whole_numbers_and_floats_of_other_batches_go_together_where_floats_hold_them(rng):
    steps = rng.permutation(600)
    y = np.cos(steps / 100)
    whole = [{"x": steps[:300], "y": y[:300]}, {"x": np.where(steps < 9, np.nan, steps)[300:], "y": y[300:]}]
    check_equal(
        accumulated(whole), renyi.matrix({"x": np.where((steps < 9) & (np.arange(600) > 299), np.nan, steps), "y": y})
    )
    far = np.where(np.arange(600) < 300, 2**62 + steps, steps)
    halves = [{"x": far[:300], "y": y[:300]}, {"x": far[300:] / 1.0, "y": y[300:]}]
    check_equal(accumulated(halves), renyi.matrix({"x": far, "y": y}))


@pytest.mark.parametrize("order", [1, -1])
def test_whole_numbers_and_floats_that_may_have_rounded_such_are_left_out(order, rng):
    steps, y = rng.permutation(600), rng.normal(size=600)
    far = [(2**62 + steps)[:300], (2**62 + steps)[300:].astype(np.float64)]
    batches = [{"x": far[k], "y": y[a:b], "z": y[a:b]} for k, a, b in ((0, 0, 300), (1, 300, 600))][::order]
    found = accumulated(batches)
    assert "whole numbers beyond 2⁵³ in one batch and floats as large in another" in found.skipped["x"]
    parts = []
    for batch in batches:
        parts.append(renyi.Accumulator())
        parts[-1].update(batch)
    parts[0].merge(parts[1])
    assert dict(parts[0].second_pass()._decided.tables[0].skipped) == dict(found.skipped)


def test_numbers_with_more_digits_than_floats_are_left_out_of_batches_with_the_reason(rng):
    steps, y = rng.permutation(400), rng.normal(size=400)
    columns = {
        "wide": np.array([2**70 + int(k) for k in steps], dtype=object),
        "thirds": np.array([decimal.Decimal(int(k)) / 3 for k in steps], dtype=object),  # apart in one batch
        "tenths": np.array([decimal.Decimal(int(k)) / 10 for k in steps], dtype=object),
        "y": y,
    }
    found = accumulated(cut(columns, [100]))
    assert found.names == ("tenths", "y")
    assert all("more digits than 64-bit floats keep apart" in found.skipped[name] for name in ("wide", "thirds"))
    whole = renyi.matrix(columns)
    assert whole.names == ("thirds", "tenths", "y")
    assert whole.skipped["wide"] == found.skipped["wide"]


def test_times_of_other_units_are_refused(rng):
    days = np.datetime64("2024-01-01", "D") + rng.permutation(300)
    first = renyi.Accumulator()
    first.update({"t": days[:100], "y": rng.normal(size=100)})
    with pytest.raises(renyi.InputError, match="'t' is counted in D in one batch and in us in another"):
        first.update({"t": days[100:].astype("M8[us]"), "y": rng.normal(size=200)})
