import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

import reference
import renyi
from renyi.basis.basis import scalar_basis, vector_basis
from renyi.basis.canonical import canonical_correlations, cross_products
from renyi.basis.random_features import Dense, draw, seeds
from renyi.inference.roy import null_median

(FIXED,) = seeds(None, n_draws=1)

small_columns = hnp.arrays(np.int64, 40, elements=st.integers(-8, 8)).filter(lambda x: len(set(x.tolist())) > 1)


# Rényi's seven properties.


@settings(max_examples=60)
@given(x=small_columns, y=small_columns)
def test_1_to_3_defined_symmetric_and_in_the_unit_interval(x, y):
    value = renyi.rdc(x, y)
    assert 0 <= value <= 1
    assert renyi.rdc(y, x) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("kind", ["auto", "normal", "orthogonal", "fastfood"])
def test_2_symmetric_for_vectors_and_every_draw(kind, rng):
    x, y = rng.standard_normal((200, 3)), rng.standard_normal((200, 2))
    y[:, 0] += x[:, 0] ** 2
    for seed in (None, 5):
        forth, back = (renyi.rdc(*pair, k=8, frequencies=kind, rng=seed) for pair in ((x, y), (y, x)))
        assert forth == pytest.approx(back, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("n", [60, 500, 5000])
def test_4_small_under_independence_as_its_null_distribution_says(n, rng):
    values = np.array([renyi.rdc(*rng.random((2, n))) for _ in range(400)])
    found = renyi.transformations(*rng.random((2, n)))
    below = np.mean(values**2 <= null_median(*found.dimensions, n))
    # A share of 400 has a standard error of 0.025. The null distribution is that of normal data; for ranks it is a
    # limit in n.
    assert below == pytest.approx(0.5, abs=3.3 * 0.025 + 2 / n)


@settings(max_examples=40)
@given(x=small_columns, y=small_columns, power=st.sampled_from([1, 3, 5]))
def test_5_invariant_under_strictly_monotone_maps(x, y, power):
    value = renyi.rdc(x, y)
    assert renyi.rdc(np.exp(x / 3.0), y**power) == value
    assert renyi.rdc(3 * x - 7, np.arctan(y)) == value


@pytest.mark.parametrize("n", [500, 40_000])
def test_5_holds_on_the_grid_too(n, rng):
    x, y = rng.standard_normal((2, n))
    assert renyi.rdc(np.exp(5 * x), y**3) == renyi.rdc(x, y)


@pytest.mark.parametrize("n", [400, 40_000])
def test_5_holds_for_falling_maps_without_ties(n, rng):
    # Ranks u become 1 + 1/n − u, and sines and cosines of those are a rotation of the sines and cosines of u.
    x = rng.standard_normal(n)
    y = x**2 + rng.standard_normal(n)
    assert renyi.rdc(-x, y) == pytest.approx(renyi.rdc(x, y), abs=1e-9)


NOISE_FREE = {
    "exp": np.exp,
    "falling": lambda x: -x,
    "square": lambda x: (x - 0.5) ** 2,
    "absolute": lambda x: np.abs(x - 0.4),
    "cubic": lambda x: (x - 0.5) ** 3 - (x - 0.5) / 8,
    "five bends": lambda x: np.sin(5 * np.pi * x),
}


@pytest.mark.parametrize("name", NOISE_FREE)
def test_6_near_one_for_noise_free_functions(name, rng):
    x = rng.random(500)
    y = NOISE_FREE[name](x)
    projection = draw(1, 10, 3.0, kind="auto", seed=FIXED)
    raw = [reference.features(reference.empirical_ranks(v), projection.weights, projection.phases) for v in (x, y)]
    # Each feature of y is one function of y among those that count, and least squares on the features of x reaches a
    # multiple correlation with it: the coefficient is at least the largest of these.
    centred = [features - features.mean(axis=0) for features in raw]
    cut = reference.CUT * np.sqrt(len(x)) / np.linalg.norm(centred[0], 2)
    fitted = centred[0] @ np.linalg.lstsq(centred[0], centred[1], rcond=cut)[0]
    reached = np.sqrt(np.sum(fitted**2, axis=0) / np.sum(centred[1] ** 2, axis=0)).max()
    value = renyi.rdc(x, y)
    assert value > reached - 1e-6
    assert value > 0.98


def test_6_has_its_limits_where_the_documentation_says():
    x = (np.arange(2000) + 0.5) / 2000
    found = [renyi.rdc(x, y) for y in (x > 0.5, np.sin(6 * np.pi * x), np.sin(8 * np.pi * x))]
    assert found == pytest.approx([0.96, 0.87, 0.47], abs=0.005)


@pytest.mark.slow
@pytest.mark.parametrize("correlation", [0.3, 0.5, 0.8, -0.6, 0.95])
def test_7_near_the_correlation_of_normals(correlation, rng):
    n = 2000
    values = []
    for _ in range(40):
        x, noise = rng.standard_normal((2, n))
        values.append(renyi.rdc(x, correlation * x + np.sqrt(1 - correlation**2) * noise))
    # The sampling error of one value is (1 − ρ²)/√n; that of the mean of 40 is far below the 0.04 allowed.
    assert np.mean(values) == pytest.approx(abs(correlation), abs=0.04)
    spread = np.abs(np.array(values) - abs(correlation))
    assert np.mean(spread < 0.04 + 2 * (1 - correlation**2) / np.sqrt(n)) > 0.95


# The oracle.


@pytest.mark.parametrize("decimals", [0, 1, 9])
@pytest.mark.parametrize("dimensions", [(1, 1), (1, 3), (2, 2)])
def test_equal_to_the_slow_oracle(decimals, dimensions, rng):
    d, e = dimensions
    x = np.round(rng.standard_normal((150, d)), decimals)
    y = np.round(x[:, :1] ** 2 + rng.standard_normal((150, e)), decimals)
    projections = [draw(width, 6, 3.0, kind="auto", seed=FIXED) for width in dimensions]
    assert renyi.rdc(x, y, k=6) == pytest.approx(reference.rdc(x, y, *projections), abs=1e-8)


def test_categories_equal_the_oracle(rng):
    labels = rng.choice(["a", "b", "c", "d"], 120)
    other = rng.choice(3, 120)
    expected = reference.canonical_correlations(
        reference.basis(reference.indicators(labels.tolist())), reference.basis(reference.indicators(other.tolist()))
    )[0]
    assert renyi.rdc(renyi.categorical(labels), renyi.categorical(other)) == pytest.approx(expected, abs=1e-10)
    # Two binary columns: the absolute value of Pearson's phi.
    a, b = rng.random((2, 100)) < 0.4
    assert renyi.rdc(a, b) == pytest.approx(abs(np.corrcoef(a, b)[0, 1]), abs=1e-12)


# Traps that other code fell into.


@pytest.mark.slow
def test_a_million_independent_uniforms_are_independent():
    x, y = np.random.default_rng(0).random((2, 10**6))
    assert renyi.rdc(x, y, k=10, s=1.0) < 0.02


def test_a_rare_binary_column_does_not_depend_on_the_row_number(rng):
    n = 2000
    values = []
    for _ in range(200):
        rare = np.zeros(n)
        rare[rng.choice(n, n // 50, replace=False)] = 1
        values.append(renyi.rdc(rare, np.arange(n)))
    # Dimension 1 against 8: ρ² is Beta(4, (n − 9)/2), whose median lies within 1/n of 7.34/n.
    median = null_median(1, 8, n)
    assert np.mean(np.array(values) ** 2 <= median) == pytest.approx(0.5, abs=3.3 * np.sqrt(0.25 / 200))
    assert max(values) < 0.15


def test_identifiers_as_categories_are_refused():
    names = renyi.categorical([f"id {i}" for i in range(100)])
    with pytest.raises(renyi.InputError, match="fewer levels"):
        renyi.rdc(names, np.random.default_rng(0).random(100))


def test_the_smallest_scales_leave_the_ranks_themselves(rng):
    x, y = rng.standard_normal((2, 100))
    assert renyi.rdc(x, y, s=1e-6) == pytest.approx(abs(stats.spearmanr(x, y).statistic), abs=1e-6)


# The same number whatever the machine does.


def test_row_order_does_not_matter(rng):
    x, y = np.round(rng.standard_normal((2, 300)), 1)
    vectors = rng.standard_normal((300, 3))
    order = rng.permutation(300)
    assert renyi.rdc(x[order], y[order]) == pytest.approx(renyi.rdc(x, y), abs=1e-12)
    assert renyi.rdc(vectors[order], y[order]) == pytest.approx(renyi.rdc(vectors, y), abs=1e-9)


def test_layout_and_type_do_not_matter(rng):
    x, y = rng.integers(-1000, 1000, (2, 400))
    expected = renyi.rdc(x, y)
    both = np.stack((x, y), axis=1)
    assert renyi.rdc(both[:, 0], both[:, 1]) == expected
    assert renyi.rdc(x[::-1][::-1], np.asfortranarray(y)) == expected
    for dtype in (np.float64, np.float32, np.int16, np.int32, ">f8", "<i4"):
        assert renyi.rdc(x.astype(dtype), y.astype(dtype)) == expected
    vectors = rng.standard_normal((400, 5)).astype(np.float32)
    value = renyi.rdc(vectors, y)
    assert renyi.rdc(np.asfortranarray(vectors), y) == value
    assert renyi.rdc(vectors.astype(np.float64), y) == value


PROGRAM = """
import numpy as np, renyi
rng = np.random.default_rng(3)
x = rng.standard_normal((200_000, 2)); y = x[:, 0] ** 2 + rng.standard_normal(200_000)
v = rng.standard_normal((3000, 6)); w = v[:, :2] * v[:, 2:4]
print(repr([renyi.rdc(x[:, 0], y), renyi.rdc(np.round(x[:, 1], 2), y), renyi.rdc(v, w)]))
"""


@pytest.mark.slow
def test_thread_counts_do_not_matter():
    outcomes = []
    for threads in ("1", "2"):
        environment = os.environ | {"OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads}
        pin = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n" if threads == "1" else ""
        run = subprocess.run(
            [sys.executable, "-c", pin + PROGRAM], capture_output=True, text=True, check=True, env=environment
        )
        outcomes.append(eval(run.stdout))
    assert outcomes[0] == pytest.approx(outcomes[1], abs=1e-10)


# Conveniences.


def test_pandas_takes_it_as_a_method(rng):
    frame = pd.DataFrame(rng.standard_normal((100, 3)), columns=list("abc"))
    matrix = frame.corr(method=renyi.rdc)
    assert matrix.loc["a", "b"] == renyi.rdc(frame["a"], frame["b"])
    assert np.array_equal(matrix, matrix.T)


def test_few_rows_still_get_an_answer(rng):
    for n, k in ((5, 1), (8, 1), (12, 1), (30, 3)):
        x, y = rng.random((2, n))
        projection = draw(1, k, 3.0, kind="auto", seed=FIXED)
        assert renyi.rdc(x, y) == pytest.approx(reference.rdc(x, y, projection, projection), abs=1e-9)


def test_wide_vectors_work_with_fastfood(rng):
    n, d = 400, 2000
    x = rng.standard_normal((n, d))
    y = x[:, :50].sum(axis=1) + 0.1 * rng.standard_normal(n)
    wide, scalar = (draw(width, 40, 3.0, kind="fastfood", seed=FIXED) for width in (d, 1))
    # The frequencies as a plain matrix must give the same.
    weights = wide.angles(np.eye(d)) - wide.angles(np.zeros((1, d)))
    explicit = vector_basis(x, Dense(weights, wide.phases))
    expected = canonical_correlations(cross_products(explicit, scalar_basis(y, scalar)))[0]
    assert renyi.rdc(x, y, k=40, frequencies="fastfood") == pytest.approx(expected, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_ones"), [(40_000, 1), (100_000, 2), (1_000_000, 20)])
def test_a_rare_value_is_a_function_whichever_side_of_the_others_it_lies(n, n_ones, rng):
    flag, y = np.zeros(n), rng.random(n)
    flag[rng.choice(n, n_ones, replace=False)] = 1.0
    expected = renyi.rdc(flag > 0, y)
    assert renyi.rdc(flag, y) == pytest.approx(expected, abs=1e-9)
    assert renyi.rdc(-flag, y) == pytest.approx(expected, abs=1e-9)
    at_zero, at_one = renyi.transformations(flag, y).f([0.0, 1.0])
    # Standardised: mean 0, mean square 1.
    assert n_ones * at_one + (n - n_ones) * at_zero == pytest.approx(0.0, abs=1e-6 * n)
    assert n_ones * at_one**2 + (n - n_ones) * at_zero**2 == pytest.approx(n, rel=1e-9)


@pytest.mark.slow
def test_a_rare_value_is_tested_alone_and_in_tables(rng):
    n = 40_000
    flag, y = np.zeros(n), rng.random(n)
    flag[7] = 1.0
    alone = renyi.independence_test(flag, y)
    assert 0.0 < alone.pvalue <= 1.0
    table = {"flag": flag, "y": y, "place": np.where(np.arange(n) == 9, np.nan, flag)}
    found = renyi.matrix(table)
    assert not found.skipped
    assert found.pvalues[0, 1] == pytest.approx(alone.pvalue)
    batches = [{name: values[start : start + 20_000] for name, values in table.items()} for start in (0, 20_000)]
    assert renyi.matrix(iter(batches)).values == pytest.approx(found.values, abs=1e-6)
    rare = np.column_stack([flag, np.roll(flag, 1)])
    assert 0.0 < renyi.independence_test(rare, y).pvalue <= 1.0
