"""Every measure keeps what its statement promises."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import renyi
from golden.samples import scalars, vectors

ROOT = Path(__file__).parents[2]
MEASURES = {name: renyi.measure(name) for name in renyi.measures()}
ALL = pytest.mark.parametrize("m", MEASURES.values(), ids=MEASURES)
SCALARS, VECTORS = scalars(), vectors()
INCREASING = {"cube": lambda v: v**3, "exponential": np.exp, "scale": lambda v: 7.0 * v - 3.0}


def those(keep):
    """A mark that runs a test for the measures whose statement is such."""
    chosen = {name: m for name, m in MEASURES.items() if keep(m.statement)}
    return pytest.mark.parametrize("m", chosen.values(), ids=chosen)


def has_sign(stated):
    return stated.has_sign


def value_or_refusal(m, x, y):
    """A value, or None where the measure says clearly that it has none."""
    try:
        return m(x, y)
    except renyi.InputError:
        return None


def is_in_range(m, value):
    low, high = m.statement.range
    return isinstance(value, float) and low <= value <= high


@pytest.fixture
def curved(rng):
    x = rng.normal(size=200)
    return x, np.exp(x) + rng.normal(size=200)


# Values.


@pytest.mark.slow
@ALL
def test_samples_have_values_in_range(m):
    for x, y in SCALARS.values():
        if len(x) > 6:
            assert is_in_range(m, m(x, y))
        else:
            value = value_or_refusal(m, x, y)
            assert value is None or is_in_range(m, value)


numbers = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(-1e3, 1e3),
    st.sampled_from([1e300, -1e300, 1e-300, 5e-324, 1.7e308]),
)


@pytest.mark.slow
@ALL
@settings(max_examples=60)
@given(pairs=st.lists(st.tuples(numbers, numbers), min_size=2, max_size=40))
def test_any_numbers_have_a_value_in_range_or_a_clear_refusal(m, pairs):
    value = value_or_refusal(m, *np.array(pairs).T)
    assert value is None or is_in_range(m, value)


@ALL
@pytest.mark.parametrize("sample", ["normal 0.8", "rounded", "many zeros"])
def test_order_of_rows_changes_nothing(m, sample, rng):
    x, y = SCALARS[sample]
    order = rng.permutation(len(x))
    assert m(x[order], y[order]) == pytest.approx(m(x, y), abs=1e-9)


@ALL
@pytest.mark.parametrize("sample", ["normal 0.8", "quadratic", "rounded"])
def test_prepared_sides_can_be_reordered(m, sample, rng):
    x, y = SCALARS[sample]
    order = rng.permutation(len(x))
    expected = m(x, y[order])
    side = m.prepare(x)
    assert m.combine(side, m.reordered(m.prepare(y), order)) == pytest.approx(expected, abs=1e-9)
    assert m.permuted(side, m.prepare(y), order[np.newaxis]) == pytest.approx([expected], abs=1e-9)


# What is claimed.


@pytest.mark.slow
@those(lambda stated: stated.is_invariant)
@pytest.mark.parametrize("change", INCREASING.values(), ids=INCREASING)
def test_increasing_maps_change_nothing(m, change, curved):
    x, y = curved
    for a, b in (curved, (np.round(x), y), (np.round(x), np.round(y))):
        assert m(change(a), b) == pytest.approx(m(a, b), abs=1e-10)
        assert m(a, change(b / 4)) == pytest.approx(m(a, b), abs=1e-10)
    if m.statement.takes_vectors:
        for a, b in VECTORS.values():
            mapped = np.column_stack((change(a[:, 0]), a[:, 1:]))
            assert m(mapped, b) == pytest.approx(m(a, b), abs=1e-10)


@those(lambda stated: not stated.is_invariant)
def test_some_increasing_map_changes_something(m, curved):
    x, y = curved
    assert abs(m(np.exp(2 * x), y) - m(x, y)) > 1e-3


@pytest.mark.slow
@those(lambda stated: stated.is_symmetric)
def test_sides_may_change_places(m):
    for x, y in SCALARS.values():
        if len(x) > 6:
            assert m(x, y) == pytest.approx(m(y, x), abs=1e-9)


@those(lambda stated: not stated.is_symmetric)
def test_sides_may_not_change_places_but_in_the_undirected_version(m):
    # Not a parabola: transformations of both sides are found from either of them.
    x, y = SCALARS["fast sine"]
    assert abs(m(x, y) - m(y, x)) > 0.05
    assert m.undirected()(x, y) == pytest.approx(m.undirected()(y, x), abs=1e-9)


@those(has_sign)
def test_sign_is_that_of_the_trend(m):
    for name in ("normal 0.8", "linear", "fourth root", "rounded", "identity"):
        x, y = SCALARS[name]
        assert m(x, y) > 0.3
        assert m(x, -y) == pytest.approx(-m(x, y), abs=1e-10)
    assert m(*SCALARS["decreasing"]) < -0.9
    assert m.strength(m(*SCALARS["decreasing"])) > 0.9


def parabola():
    x = np.linspace(-1.0, 1.0, 300)
    return x, x**2


@pytest.mark.slow
@those(lambda stated: stated.is_nonlinear)
def test_a_parabola_scores_far_above_independent_data(m, rng):
    independent = np.array([m.strength(m(*rng.random((2, 300)))) for _ in range(20)])
    assert m.strength(m(*parabola())) > independent.mean() + 6 * independent.std()
    assert m.strength(m(*parabola())) > 2 * independent.max()


@those(lambda stated: not stated.is_nonlinear)
def test_a_parabola_is_not_seen(m):
    assert abs(m(*parabola())) < 0.2


# Kinds of data.


@those(lambda stated: stated.takes_vectors)
def test_vectors_and_categories_of_several_levels_are_taken(m, rng):
    for x, y in VECTORS.values():
        assert is_in_range(m, m(x, y))
    levels = renyi.categorical(rng.integers(0, 4, 200))
    assert is_in_range(m, m(levels, rng.normal(size=200)))


@those(lambda stated: not stated.takes_vectors)
def test_vectors_and_categories_of_several_levels_are_refused_with_a_way_out(m, rng):
    levels = renyi.categorical(rng.integers(0, 4, 120))
    refused = {"x is a vector of 3 coordinates": VECTORS["norm"][0]}
    if m.name != "mutual_info":  # which counts labels
        refused["x is a category of 4 levels"] = levels
    for what, x in refused.items():
        with pytest.raises(renyi.InputError, match=what) as refusal:
            m(x, rng.normal(size=120))
        named = set(re.findall(r"'(\w+)'", str(refusal.value)))
        assert "rdc" in named
        assert all(MEASURES[name].statement.takes_vectors for name in named & set(MEASURES))


@ALL
def test_a_vector_of_one_coordinate_is_a_number(m, curved):
    x, y = curved
    assert m(x[:, np.newaxis], y) == m(x, y)


@ALL
def test_categories_of_two_levels_are_taken(m, rng):
    y = rng.normal(size=100)
    labels = np.where(y + rng.normal(size=100) > 0, "yes", "no")
    for x in (renyi.categorical(labels), labels == "yes"):
        value = m(x, y)
        assert is_in_range(m, value)
        assert value == pytest.approx(m((labels == "yes").astype(float), y), abs=1e-9)


@ALL
def test_missing_values_are_refused_or_left_out(m, curved):
    x, y = (values.copy() for values in curved)
    x[3], y[[8, 9]] = np.nan, np.nan
    with pytest.raises(renyi.InputError, match=r"x has 1 missing value \(first in row 3\)"):
        m(x, y)
    common = np.delete(x, [3, 8, 9]), np.delete(y, [3, 8, 9])
    assert m(x, y, missing="listwise") == m(*common)
    # The RDC keeps the ranks among all rows that a side has.
    pairwise = renyi.rdc(x, y, missing="pairwise") if m.name == "rdc" else m(*common)
    assert m(x, y, missing="pairwise") == pairwise
    found = m.test(x, y, missing="pairwise", n_resamples=19)
    assert (found.coefficient, found.n_samples) == (pairwise, 197)


@ALL
def test_constants_and_single_rows_are_refused(m):
    with pytest.raises(renyi.InputError, match="y is constant"):
        m([1, 2, 3], [5, 5, 5])
    with pytest.raises(renyi.InputError, match="1 row"):
        m([1], [2])


# Tests.


@pytest.mark.slow
@ALL
def test_a_test_has_the_value_and_says_what_it_is(m, curved):
    found = m.test(*curved, n_resamples=99)
    statistic, pvalue = found
    assert found.coefficient == m(*curved)
    assert found.method == m.name
    assert (statistic, pvalue) == (found.statistic, found.pvalue)
    assert 0.0 < pvalue <= 0.02
    assert np.exp(found.log_pvalue) == pytest.approx(pvalue, rel=1e-9)
    if m.name != "rdc":
        assert found.debiased is None
        assert found.dimensions is None
        with pytest.raises(renyi.InputError, match="known for the RDC alone"):
            found.confidence_interval()


@ALL
def test_pvalues_come_from_where_the_statement_says(m, rng):
    found = m.test(*rng.normal(size=(2, 100)), n_resamples=19)
    assert found.calibration == ("permutation" if m.statement.null == "permutations" else "theory")


@ALL
def test_numbers_of_permutations_are_checked(m, curved):
    with pytest.raises(renyi.InputError, match=r"n_resamples must be an integer from 1 to .*, got 0"):
        m.test(*curved, n_resamples=0)


@pytest.mark.slow
@those(lambda stated: stated.null != "permutations")
@pytest.mark.parametrize("data", ["normal", "rounded"])
def test_independent_data_are_rejected_as_often_as_the_level_says(m, data):
    rng = np.random.default_rng(20131205)
    samples = rng.normal(size=(500, 2, 100))
    samples = np.round(samples) if data == "rounded" else samples
    size = np.mean([m.test(x, y, n_resamples=199).pvalue <= 0.05 for x, y in samples])
    four_errors = 4 * np.sqrt(0.05 * 0.95 / 500)
    assert size <= 0.05 + four_errors
    # A null distribution that stays below its level on purpose says so.
    assert size >= 0.05 - four_errors or "conservative" in m.statement.null


# The registry and the page.


def test_names_are_those_of_the_measures():
    assert {name: m.name for name, m in MEASURES.items()} == {name: name for name in MEASURES}
    in_order = [
        "pearson",
        "spearman",
        "kendall",
        "cca",
        "kcca",
        "ace",
        "mic",
        "dcor",
        "hsic",
        "chsic",
        "rdc",
        "xi",
        "mutual_info",
    ]
    assert list(MEASURES) == [name for name in in_order if name in MEASURES]


@ALL
def test_statements_are_whole(m):
    stated = m.statement
    assert all((stated.title, stated.parameters, stated.cost, stated.null))
    assert stated.range[0] < stated.range[1]
    assert re.search(r"\d{4}, https://doi\.org/10\.\S+$", stated.reference)
    assert str(m) == m.name
    assert type(m).__doc__


def test_unknown_names_and_settings_are_refused():
    with pytest.raises(renyi.InputError, match="there is no measure 'Pearsn': did you mean 'pearson'"):
        renyi.measure("Pearsn")
    with pytest.raises(renyi.InputError, match="there is no measure None: choose one of"):
        renyi.measure(None)
    with pytest.raises(renyi.InputError, match="pearson has no setting 'k': it has none"):
        renyi.measure("pearson", k=3)
    with pytest.raises(renyi.InputError, match="rdc has no setting 'K': its settings are k, s"):
        renyi.measure("rdc", K=3)


def test_settings_that_differ_are_shown(curved):
    assert str(renyi.measure("rdc", k=5, debias=True)) == "rdc(k=5, debias=True)"
    for m in (renyi.measure("rdc", k=5), renyi.measure("dcor", unbiased=True), renyi.measure("xi", symmetric=True)):
        assert m.test(*curved).method == str(m) != m.name


def test_settings_may_be_numbers_of_numpy(curved):
    for name, chosen in {
        "dcor": {"unbiased": np.True_, "exponent": np.float32(1.5)},
        "hsic": {"normalised": np.False_, "width": np.int64(2)},
        "mic": {"c": np.int32(5)},
        "rdc": {"k": np.int64(5), "debias": np.True_},
        "xi": {"symmetric": np.True_},
    }.items():
        plain = {setting: value.item() for setting, value in chosen.items()}
        m = renyi.measure(name, **chosen)
        assert m == renyi.measure(name, **plain)
        assert str(m) == str(renyi.measure(name, **plain))
        assert m(*curved) == renyi.measure(name, **plain)(*curved)


@pytest.mark.slow
def test_the_table_of_the_docs_is_up_to_date():
    run = subprocess.run([sys.executable, ROOT / "benchmarks", "measure_tables", "--check"], check=False)
    assert run.returncode == 0, "run python benchmarks measure_tables"


# Numbers that floats of 64 bits do not hold.


@those(lambda stated: stated.is_invariant)
@pytest.mark.parametrize("dtype", [np.int64, np.uint64, "datetime64[ns]", np.longdouble])
def test_ranks_are_those_of_the_exact_numbers(m, dtype, rng):
    steps = rng.permutation(60)
    # Neighbours are 1 apart, and far from the smallest: all are one number to a float.
    exact = np.concatenate(([0], 2**62 + steps)).astype(dtype)
    places = np.concatenate(([0], 1 + steps)).astype(float)
    y = places + 5 * rng.normal(size=61)
    assert m(exact, y) == pytest.approx(m(places, y), abs=1e-12)
    if m.statement.takes_vectors and dtype != "datetime64[ns]":
        zeros = np.zeros(61)
        both = np.column_stack((exact, exact[::-1]))
        assert m(both, y) == pytest.approx(m(np.column_stack((places, places[::-1])), y), abs=1e-12)
        assert m(np.column_stack((exact, zeros.astype(dtype))), y) == pytest.approx(
            m(np.column_stack((places, zeros)), y), abs=1e-12
        )


@those(lambda stated: stated.takes_vectors)
def test_every_coordinate_of_whole_numbers_keeps_its_digits(m, rng):
    x = rng.integers(0, 1000, size=(80, 2))
    y = x[:, 1] + rng.integers(0, 300, 80)
    far = x + np.array([0, 2**61])
    assert m(far, y) == pytest.approx(m(x, y), abs=1e-9)


@ALL
def test_long_floats_are_measured_or_refused(m, rng):
    if np.finfo(np.longdouble).eps >= np.finfo(np.float64).eps:
        pytest.skip("there are no longer floats here")
    steps = rng.permutation(80)
    y = steps + rng.normal(size=80)
    near = np.longdouble(1) + steps.astype(np.longdouble) * np.longdouble(2) ** -60
    assert m(near, y) == pytest.approx(m(steps, y), abs=1e-9)
    for power, message in ((4000, "beyond the range"), (-4000, "varies by less")):
        far = steps.astype(np.longdouble) * np.longdouble(10) ** power
        if m.statement.is_invariant:
            assert m(far, y) == pytest.approx(m(steps, y), abs=1e-12)
        else:
            with pytest.raises(renyi.InputError, match=message):
                m(far, y)


@pytest.mark.parametrize("name", [name for name, m in MEASURES.items() if m.statement.takes_vectors and name != "rdc"])
def test_memory_of_indicators_is_counted(name):
    levels = renyi.categorical(np.repeat(np.arange(5000), 25))
    with pytest.raises(renyi.InputError, match=r"would take .* GiB"):
        MEASURES[name](levels, np.arange(125_000.0))
