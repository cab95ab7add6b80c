import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import renyi
from renyi.compute.arrays import interpolated
from renyi.compute.eigenvalues import largest_eigenvalue, products_of_rows
from renyi.inference.multiscale import largest_root
from sample_tables import assert_same_table

torch = pytest.importorskip("torch")

from renyi.allpairs import stack as stacks  # noqa: E402
from renyi.allpairs.device import compare, ranking  # noqa: E402
from renyi.allpairs.device import stack as resident  # noqa: E402
from renyi.allpairs.device.ranking import upload  # noqa: E402
from renyi.compute import devices, fetching  # noqa: E402
from renyi.compute.devices import device_of, halves, multiplied, paired  # noqa: E402
from renyi.data.table import as_table  # noqa: E402
from renyi.selection import candidates  # noqa: E402
from renyi.selection import products as held  # noqa: E402
from renyi.sklearn import RDCSelector  # noqa: E402


def dependent(n, rng, n_columns=9):
    """Columns that depend on one another in many ways, among them copies, few values, zeros and rounded numbers."""
    values = rng.standard_normal((n, n_columns))
    values[:, 1] += values[:, 0]
    values[:, 2] = values[:, 0] ** 2 + 0.1 * values[:, 2]
    values[:, 3] = values[:, 4]
    values[:, 5] = np.round(2 * values[:, 5])
    values[:, 6] = np.where(values[:, 7] > 0, values[:, 7], 0.0)
    return values


def difference(found, expected, name):
    return np.nanmax(np.abs(getattr(found, name) - getattr(expected, name)))


# Tables.


@pytest.mark.slow
@pytest.mark.parametrize(("n", "tolerance"), [(60, 1e-9), (700, 1e-9), (5000, 1e-6), (34_000, 1e-6)])
def test_tensors_have_the_numbers_of_arrays(n, tolerance, rng):
    values = dependent(n, rng)
    expected, found = renyi.matrix(values), renyi.matrix(torch.tensor(values))
    for name in ("values", "pearson", "spearman", "debiased"):
        assert difference(found, expected, name) < tolerance * (10 if name == "debiased" else 1)
    by_law = ~np.isnan(expected.pvalues) & (expected.pvalues > 1e-290)
    if expected.n_shuffled:
        by_law[:] = False
        by_law[:3, :3] = ~np.eye(3, dtype=bool)
    assert np.log(found.pvalues[by_law]) == pytest.approx(
        np.log(expected.pvalues[by_law]), abs=30 * tolerance, rel=1e-5
    )
    assert (found.n_samples == expected.n_samples).all()
    assert found.n_shuffled == expected.n_shuffled
    assert found.names == expected.names


def test_the_values_cannot_be_written_to(rng):
    found = renyi.matrix(torch.tensor(rng.random((80, 3))))
    with pytest.raises(ValueError, match="read-only"):
        found.values[0, 1] = 0.0
    assert np.diagonal(found.values).tolist() == [1.0] * 3
    assert np.isnan(np.diagonal(found.pvalues)).all()


def test_results_of_tensors_show_and_rank_themselves(rng):
    values = dependent(600, rng)
    expected, found = renyi.matrix(values), renyi.matrix(torch.tensor(values))
    assert repr(found) == repr(expected)
    assert found.top(5)["y"].tolist() == expected.top(5)["y"].tolist()
    assert difference(found, expected, "qvalues") < 1e-9


def test_few_equal_values_on_many_rows_change_hardly_anything(rng):
    values = rng.standard_normal((6000, 5))
    values[:, 1] = values[:, 0] ** 2 + values[:, 1]
    for column in values.T:
        first, *others = rng.choice(6000, 3, replace=False)
        column[others] = column[first]
    expected, found = renyi.matrix(values), renyi.matrix(torch.tensor(values))
    assert all(variable.scales.equal_pairs == 0 for variable in found.edges.x)
    assert difference(found, expected, "values") < 1e-5
    assert difference(found, expected, "spearman") < 1e-5


def test_columns_that_say_nothing_are_left_out_with_the_reason_of_arrays(rng):
    values = rng.standard_normal((50, 5))
    values[:, 1], values[3, 2], values[:, 4] = 2.0, np.inf, np.nan
    found, expected = renyi.matrix(torch.tensor(values)), renyi.matrix(values)
    assert found.names == expected.names == ("x0", "x3")
    assert set(found.skipped) == set(expected.skipped) == {"x1", "x2", "x4"}
    assert found.skipped["x1"] == expected.skipped["x1"]
    assert "1 infinite value" in found.skipped["x2"]


@pytest.mark.parametrize("kind", ["float32", "int64", "int16"])
def test_tensors_of_other_types_have_their_numbers(kind, rng):
    values = (100 * rng.standard_normal((500, 4))).astype(kind)
    expected, found = renyi.matrix(values), renyi.matrix(torch.tensor(values))
    assert difference(found, expected, "values") < 1e-9
    assert difference(found, expected, "pearson") < 1e-9


def test_a_dict_of_tensors_keeps_its_names(rng):
    values = rng.random((200, 2))
    found = renyi.matrix({"a": torch.tensor(values[:, 0]), "b": torch.tensor(values[:, 1])})
    assert found.names == ("a", "b")
    assert found.values[0, 1] == pytest.approx(renyi.rdc(values[:, 0], values[:, 1]))


def test_two_tables_of_tensors(rng):
    values = dependent(400, rng)
    expected = renyi.matrix(
        {"a": values[:, 0], "b": values[:, 8]}, {"c": values[:, 2], "d": values[:, 5], "e": values[:, 7]}
    )
    found = renyi.matrix(torch.tensor(values[:, [0, 8]]), torch.tensor(values[:, [2, 5, 7]]))
    assert difference(found, expected, "values") < 1e-9
    assert found.pvalues == pytest.approx(expected.pvalues, rel=1e-6)
    assert difference(found, expected, "debiased") < 1e-9


def test_screening_of_tensors(rng):
    values = dependent(500, rng)
    expected, found = renyi.screen(values, "x0"), renyi.screen(torch.tensor(values), "x0")
    assert found.names == expected.names
    assert difference(found, expected, "values") < 1e-9
    assert found.qvalues == pytest.approx(expected.qvalues, rel=1e-6)


def test_rows_that_lack_a_value_can_be_dropped(rng):
    values = rng.standard_normal((300, 4))
    values[5, 0] = values[7, 2] = np.nan
    found = renyi.matrix(torch.tensor(values), missing="listwise")
    assert found.n_rows == 298
    assert difference(found, renyi.matrix(values, missing="listwise"), "values") < 1e-9


def test_pairs_without_a_law_are_shuffled_where_they_are(rng):
    values = np.zeros((400, 3))
    values[:5, 0] = values[100:106, 1] = 1.0
    values[:5, 2] = 1.0
    values[6, 2] = 1.0
    expected, found = renyi.matrix(values), renyi.matrix(torch.tensor(values))
    assert found.n_shuffled == expected.n_shuffled == 3
    assert found.pvalues[0, 2] == expected.pvalues[0, 2] == pytest.approx(1e-4)
    assert found.pvalues[0, 1] > 0.5


# What decides between two ways of computing, lowered so that a small table goes both.
CROSSED = {
    "strips": [(resident, "_FEWEST_OF_STRIP", 2)],
    "strips of one column": [(resident, "_FEWEST_OF_STRIP", 1), (resident, "_N_STRIPS", 100)],
    "chunks": [(resident, "_MOST_ROWS", 100)],
    "strips of chunks": [(resident, "_FEWEST_OF_STRIP", 3), (resident, "_MOST_ROWS", 100)],
    "blocks of functions": [(resident, "_EASY_WIDTH", 4)],
    "tiles": [(compare, "_MOST_COLUMNS", 5)],
    "strips of tiles": [(resident, "_FEWEST_OF_STRIP", 2), (compare, "_MOST_COLUMNS", 6)],
    "little room": [(devices, "_ROOM_ON_CPU", 2**17)],
    "no room": [(devices, "_ROOM_ON_CPU", 0), (resident, "_FEWEST_ROWS", 20), (resident, "_ALIGNED", 1)],
    "pairs of much room": [(compare, "_NUMBERS_OF_PAIR", 2**22)],
    "columns sorted one by one": [(ranking, "_BYTES_OF_SORTING", 2**30)],
    "matrices filled in memory": [(fetching, "_SHARE_OF_MATRICES", 0.0)],
    "matrices in pieces": [(fetching, "_PIECE", 40), (fetching, "_MOST_THREADS", 2)],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CROSSED)
@pytest.mark.parametrize("n", [45, 300])
def test_no_threshold_of_a_device_moves_a_number(name, n, rng, monkeypatch):
    # On few rows ties would have p-values from shuffles, which take long without room.
    values = dependent(n, rng, n_columns=15) if n >= 50 else rng.standard_normal((n, 15))
    sides = values[:, ::3], values[:, 1::3]
    expected, of_sides = renyi.matrix(values), renyi.matrix(*sides)
    for module, constant, value in CROSSED[name]:
        monkeypatch.setattr(module, constant, value)
    assert_same_table(renyi.matrix(torch.tensor(values)), expected, 1e-10)
    assert_same_table(renyi.matrix(*map(torch.tensor, sides)), of_sides, 1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("n_columns", [255, 256, 300])
def test_wide_tables_have_the_numbers_of_arrays(n_columns, rng):
    values = rng.standard_normal((120, n_columns))
    assert_same_table(renyi.matrix(torch.tensor(values)), renyi.matrix(values), 1e-10)


@pytest.mark.parametrize("kinds", [("cuda",), ("cuda", "cpu")])
@pytest.mark.parametrize("strip", [3, 128])
def test_few_rows_in_single_precision_or_its_halves_have_nearly_the_same_numbers(kinds, strip, rng, monkeypatch):
    values = rng.standard_normal((300, 15))
    values[:, 1] += values[:, 0]
    expected = renyi.matrix(values)
    monkeypatch.setattr(stacks, "ROWS_FOR_FLOAT32", 100)
    monkeypatch.setattr(stacks, "_CELLS_FOR_FLOAT32", 100)
    monkeypatch.setattr(devices, "_IN_HALVES", kinds)
    monkeypatch.setattr(resident, "_FEWEST_OF_STRIP", strip)
    found = renyi.matrix(torch.tensor(values))
    assert 0.0 < difference(found, expected, "values") < 1e-6
    assert_same_table(found, expected, 3e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "value"), [("_PIECE", 40), ("_SHARE_OF_MATRICES", 0.0)])
def test_matrices_that_come_in_pieces_or_are_filled_in_memory_are_the_same(name, value, rng, monkeypatch):
    values = rng.standard_normal((300, 23))
    values[:, ::3] = np.round(values[:, ::3])
    expected = renyi.matrix(values)
    monkeypatch.setattr(fetching, name, value)
    monkeypatch.setattr(compare, "_MOST_COLUMNS", 5)
    found = renyi.matrix(torch.tensor(values))
    for part in ("values", "debiased", "pearson", "spearman"):
        assert difference(found, expected, part) < 1e-12
    assert difference(found, expected, "pvalues") < 1e-8
    parts = renyi.matrix(torch.tensor(values[:, :9]), torch.tensor(values[:, 9:]))
    assert np.abs(parts.values - expected.values[:9, 9:]).max() < 1e-12


# A full device.


class _FullBeyond:
    """Comparing that runs out of memory for more pairs than there is room for."""

    def __init__(self, most):
        self.most, self.sizes, self.compare = most, [], compare._compare

    def __call__(self, x, y):
        size = len(x.positions) * len(y.positions)
        if size > self.most:
            raise torch.OutOfMemoryError("out of memory")
        self.sizes.append(size)
        return self.compare(x, y)


def test_a_full_device_gets_smaller_tiles(rng, monkeypatch):
    values = torch.tensor(rng.standard_normal((100, 11)))
    expected = renyi.matrix(values)
    full = _FullBeyond(9)
    monkeypatch.setattr(compare, "_compare", full)
    found = renyi.matrix(values)
    assert max(full.sizes) <= 9
    assert difference(found, expected, "values") < 1e-12


def test_a_device_without_room_for_a_pair_is_an_error_that_says_so(rng, monkeypatch):
    class Properties:
        total_memory = 2**30

    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: Properties)
    monkeypatch.setattr(compare, "_compare", _FullBeyond(0))
    with pytest.raises(renyi.InputError, match=r"no room for one pair of columns: free its memory"):
        renyi.matrix(torch.tensor(rng.standard_normal((100, 3))))


def test_work_is_done_in_smaller_pieces_where_there_is_no_room():
    def work(size):
        if size > 3:
            raise torch.OutOfMemoryError
        return size

    assert devices.within_room(work, 20, torch.device("cpu"), "nothing") == 2


# One pair.


@pytest.mark.parametrize("n", [30, 300, 5000])
def test_a_pair_of_tensors_has_the_pvalue_of_arrays(n, rng):
    x = rng.standard_normal(n)
    y = 0.3 * x**2 + rng.standard_normal(n)
    expected, found = renyi.independence_test(x, y), renyi.independence_test(torch.tensor(x), torch.tensor(y))
    assert found.log_pvalue == pytest.approx(expected.log_pvalue, rel=1e-9)
    assert found.coefficient == pytest.approx(expected.coefficient)
    assert found.confidence_interval() == pytest.approx(expected.confidence_interval())


def test_missing_values_of_tensors_are_left_out(rng):
    x, y = rng.standard_normal((2, 200))
    x[3], y[8] = np.nan, np.nan
    expected = renyi.independence_test(x, y, missing="pairwise")
    found = renyi.independence_test(torch.tensor(x), torch.tensor(y), missing="pairwise")
    assert found.pvalue == pytest.approx(expected.pvalue)


def test_shuffles_on_a_device_are_as_good_as_others(rng):
    x, y = rng.standard_normal((2, 1000))
    settings = {"method": "permutation", "n_resamples": 3000}
    y += 0.12 * x
    by_law = renyi.independence_test(x, y, method="roy").pvalue
    found = [renyi.independence_test(torch.tensor(x), torch.tensor(y), **settings, rng=seed) for seed in (1, 1, 2)]
    assert found[0].pvalue == found[1].pvalue != found[2].pvalue
    for one in found:
        assert one.pvalue == pytest.approx(by_law, rel=0.5, abs=0.003)


# Selection.


def features(n, rng, n_columns=14):
    """Features of which some say something: rounded, of two values, with gaps, and two by their product alone."""
    values = rng.standard_normal((n, n_columns))
    values[:, 3] = np.round(2 * values[:, 3])
    values[:, 4] = values[:, 4] > 0.7
    y = values[:, 0] + 0.4 * values[:, 3] + values[:, 5] ** 2 + 1.5 * values[:, 1] * values[:, 2] + values[:, 4]
    values[rng.random(n) < 0.15, 5] = np.nan
    values[rng.random(n) < 0.15, 6] = np.nan
    return values, y + 0.5 * rng.standard_normal(n)


def assert_same_search(found, expected, tolerance, *, of_dependence=1e-9):
    """The same columns in the same order, what adds nothing among them, with the same p-values up to rounding."""
    assert [step.feature for step in found.path_] == [step.feature for step in expected.path_]
    for step, other in zip(found.path_, expected.path_, strict=True):
        assert step.dependence == pytest.approx(other.dependence, abs=of_dependence)
        assert np.log(step.pvalue + 1e-300) == pytest.approx(np.log(other.pvalue + 1e-300), rel=tolerance)
    assert found.skipped_ == expected.skipped_
    assert found.support_.tolist() == expected.support_.tolist()


# Below 4,096 rows products are in float64, above in float32.
SIZES = [(70, 1e-9), (900, 1e-9), (5000, 1e-4)]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "tolerance"), SIZES)
@pytest.mark.parametrize("settings", [{}, {"n_features_to_select": 7}, {"pairs": False}])
def test_a_selection_from_tensors_is_that_from_arrays(n, tolerance, settings, rng):
    X, y = features(n, rng)
    X[:, 9] = 3.0
    found = RDCSelector(**settings).fit(torch.tensor(X), torch.tensor(y))
    expected = RDCSelector(**settings).fit(X, y)
    assert_same_search(found, expected, tolerance)
    assert n == 70 or {0, 3, 5} <= {step.feature for step in found.path_}


@pytest.mark.slow
@pytest.mark.parametrize(("n", "tolerance"), SIZES)
def test_classes_and_several_outputs_are_selected_for_on_a_device(n, tolerance, rng):
    X, y = features(n, rng)
    classes = np.digitize(y, [0.0, 2.0])
    outputs = np.column_stack((y, X[:, 8] ** 2))
    for target, settings in ((classes, {"target": "category"}), (outputs, {})):
        found = RDCSelector(**settings).fit(torch.tensor(X), torch.tensor(target))
        assert_same_search(found, RDCSelector(**settings).fit(X, target), tolerance)
        assert found.path_


@pytest.mark.slow
@pytest.mark.parametrize(("n", "tolerance"), SIZES)
def test_a_frame_with_categories_is_selected_from_on_a_device(n, tolerance, rng):
    X, y = features(n, rng)
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    levels = rng.integers(0, 5, n)
    frame["level"] = pd.Categorical(np.array(list("abcde"))[levels])
    frame.loc[rng.random(n) < 0.1, "level"] = None
    y += 2.0 * (levels == 2)
    # The frame goes where the target is.
    assert_same_search(RDCSelector().fit(frame, torch.tensor(y)), RDCSelector().fit(frame, y), tolerance)


def test_features_that_go_together_are_found_on_a_device(rng):
    X = rng.standard_normal((5000, 40))
    y = np.sign(X[:, 11] * X[:, 30]) + 0.3 * rng.standard_normal(5000)
    found = RDCSelector().fit(torch.tensor(X), torch.tensor(y))
    assert sorted(step.feature for step in found.path_) == [11, 30]
    assert_same_search(found, RDCSelector().fit(X, y), 1e-4)


@pytest.mark.slow
def test_rare_levels_are_shuffled_on_a_device(rng):
    X = (rng.random((3000, 20)) < 0.002).astype(float)
    y = rng.standard_normal(3000)
    y[X[:, 3] > 0] += 6.0
    found = RDCSelector().fit(torch.tensor(X), torch.tensor(y))
    assert [step.feature for step in found.path_] == [3]
    assert found.path_[0].pvalue == RDCSelector().fit(X, y).path_[0].pvalue


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["float32", "float16", "int64"])
def test_features_of_other_types_are_selected_from_as_arrays_are(kind, rng):
    values, y = features(300, rng)
    X = np.nan_to_num(20 * values).astype(kind)
    found, expected = RDCSelector().fit(torch.tensor(X), torch.tensor(y)), RDCSelector().fit(X, y)
    assert_same_search(found, expected, 1e-9)


@pytest.mark.slow
def test_declared_categories_of_a_tensor_are_read_in_memory(rng):
    X, y = features(900, rng)
    X[:, 7] = rng.integers(0, 6, 900)
    y += 2.0 * np.isin(X[:, 7], [1, 4])
    X[:, 8] = np.nan
    settings = {"categorical_features": [7, 3]}
    found, expected = RDCSelector(**settings).fit(torch.tensor(X), y), RDCSelector(**settings).fit(X, y)
    assert_same_search(found, expected, 1e-9)
    assert found.skipped_ == {"x8": "no observed value"}
    assert 7 in [step.feature for step in found.path_]
    assert (found.ranking_ == expected.ranking_).all()


@pytest.mark.slow
def test_equal_values_that_float32_has_by_chance_change_no_selection(rng):
    X, y = features(20_000, rng)
    X = X.astype(np.float32)
    assert any(len(np.unique(column)) < 20_000 for column in X[:, 7:].T)
    expected = RDCSelector().fit(X, y)
    # Ranks move by less than products are rounded, and the logarithms of p-values with them.
    assert_same_search(RDCSelector().fit(torch.tensor(X), torch.tensor(y)), expected, 1e-3, of_dependence=1e-6)


@pytest.mark.slow
def test_halves_of_digits_select_as_single_precision(rng, monkeypatch):
    X, y = features(6000, rng, n_columns=20)
    # What is left of the target is large in few rows.
    y[:40] += 300.0 * rng.standard_normal(40)
    expected = RDCSelector(n_features_to_select=8).fit(X, y)
    monkeypatch.setattr(devices, "_IN_HALVES", ("cpu",))
    found = RDCSelector(n_features_to_select=8).fit(torch.tensor(X), torch.tensor(y))
    assert_same_search(found, expected, 3e-4)


def full_beyond(most, sizes):
    """Products that run out of memory for more columns than there is room for."""
    multiply = resident.DeviceStack.products

    def products(stack, other):
        if len(stack) > most:
            raise torch.OutOfMemoryError("out of memory")
        sizes.append(len(stack))
        return multiply(stack, other)

    return products


@pytest.mark.slow
@pytest.mark.parametrize("are_kept", [True, False])
def test_blocks_of_features_select_as_all_at_once(are_kept, rng, monkeypatch):
    X, y = features(5000, rng)
    y = np.sign(X[:, 8] * X[:, 9]) + 0.1 * y
    expected = RDCSelector().fit(X, y)
    # Room for few columns at a time, whose cells and tables take 100 kB each.
    monkeypatch.setattr(held, "_SHARE_AT_ONCE", 4e5 / 2**29)
    monkeypatch.setattr(candidates, "_SHARE_AT_ONCE", 5.5 * 24 * 5000 / 2**29)
    if not are_kept:
        monkeypatch.setattr(held, "_SHARE_KEPT", 0.0)
        monkeypatch.setattr(candidates, "_SHARE_KEPT", 0.0)
    sizes = []
    monkeypatch.setattr(resident.DeviceStack, "products", full_beyond(len(X), sizes))
    assert_same_search(RDCSelector().fit(torch.tensor(X), torch.tensor(y)), expected, 1e-4)
    assert 1 < max(sizes) <= 4


@pytest.mark.slow
def test_a_full_device_holds_fewer_features_at_a_time(rng, monkeypatch):
    X, y = features(500, rng)
    sizes = []
    monkeypatch.setattr(resident.DeviceStack, "products", full_beyond(3, sizes))
    found = RDCSelector().fit(torch.tensor(X), torch.tensor(y))
    assert_same_search(found, RDCSelector().fit(X, y), 1e-9)
    assert 1 <= max(sizes) <= 3


def test_a_device_without_room_for_a_feature_is_an_error_that_says_so(rng, monkeypatch):
    class Properties:
        total_memory = 2**30

    X, y = features(200, rng)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: Properties)
    monkeypatch.setattr(resident.DeviceStack, "products", full_beyond(0, []))
    with pytest.raises(renyi.InputError, match=r"no room for one column of 200 rows: free its memory"):
        RDCSelector().fit(torch.tensor(X), torch.tensor(y))


def test_selected_features_of_a_tensor_stay_a_tensor(rng):
    X, y = features(400, rng)
    selector = RDCSelector(n_features_to_select=3).fit(torch.tensor(X), y)
    found = selector.transform(torch.tensor(X))
    assert isinstance(found, torch.Tensor)
    assert np.array_equal(found.numpy(), selector.transform(X), equal_nan=True)
    with pytest.raises(renyi.InputError, match=r"shape \(400, 5\), and 14 features were fitted"):
        selector.transform(torch.tensor(X[:, :5]))


def test_selectors_with_a_device_can_be_cloned_and_searched(rng):
    X, y = features(200, rng)
    selector = clone(RDCSelector(device="cpu", n_features_to_select=2))
    assert selector.get_params()["device"] == "cpu"
    assert_same_search(selector.fit(torch.tensor(X), y), RDCSelector(n_features_to_select=2).fit(X, y), 1e-9)
    assert_same_search(selector.fit(X, y), RDCSelector(n_features_to_select=2).fit(X, y), 1e-9)


def test_what_a_selector_cannot_do_on_a_device_is_refused(rng, monkeypatch):
    X, y = features(80, rng)
    with pytest.raises(renyi.InputError, match="measure='dcor' is not for a device: pass measure=None"):
        RDCSelector(measure="dcor").fit(torch.tensor(X), y)
    with pytest.raises(renyi.InputError, match="X is a tensor that is no array"):
        RDCSelector().fit(torch.tensor(np.nan_to_num(X)).to_sparse(), y)
    with pytest.raises(renyi.InputError, match=r"shape \(80, 0\): pass at least one feature"):
        RDCSelector().fit(torch.tensor(X[:, :0]), y)
    with pytest.raises(ValueError, match="Expected 2D array"):
        RDCSelector().fit(torch.tensor(X[:, 0]), y)
    with pytest.raises(renyi.InputError, match="device='gpu' is unknown"):
        RDCSelector(device="gpu").fit(X, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        RDCSelector().fit(torch.tensor(X), torch.tensor(y[:70]))
    X[3, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        RDCSelector().fit(torch.tensor(X), torch.tensor(y))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.cuda, "is_built", lambda: True)
    with pytest.raises(renyi.InputError, match=r"'cuda' is not there .*: pass device=None to run on the processor"):
        RDCSelector(device="cuda").fit(X, y)


# Which device.


@pytest.mark.parametrize("device", ["gpu", 3.5, "cuda:x"])
def test_an_unknown_device_is_refused(device, rng):
    with pytest.raises(renyi.InputError, match="pass 'cuda', 'cuda:1', 'cpu' or None"):
        renyi.matrix(rng.random((50, 2)), device=device)


@pytest.mark.skipif(torch.backends.cuda.is_built(), reason="torch has CUDA")
def test_a_torch_without_cuda_is_named(rng):
    x, y = rng.random((2, 50))
    with pytest.raises(renyi.InputError, match=r"needs a torch with CUDA, and .* has none: install another build"):
        renyi.independence_test(x, y, device="cuda")


def test_a_device_that_is_not_there_is_named(rng, monkeypatch):
    monkeypatch.setattr(torch.backends.cuda, "is_built", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(renyi.InputError, match=r"'cuda:2' is not there .torch sees 2 of them.: pass device=None"):
        renyi.screen({"a": rng.random(50), "b": rng.random(50)}, "a", device="cuda:2")


def test_a_torch_that_is_too_old_is_named(monkeypatch):
    monkeypatch.setattr(torch, "__version__", "2.1.0+cu118")
    with pytest.raises(renyi.InputError, match=r"torch is 2.1.0\+cu118, and this needs 2.8 or later"):
        device_of("cuda")


def test_without_torch_the_extra_is_named(rng, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(renyi.MissingExtraError, match=r"pip install 'renyi\[gpu\]'"):
        renyi.matrix(rng.random((50, 2)), device="cuda")


def test_arrays_stay_with_numpy_where_the_processor_is_asked_for(rng):
    values = rng.random((100, 3))
    assert device_of("cpu", values) is None
    assert (renyi.matrix(values, device="cpu").values == renyi.matrix(values).values).all()


# What is not for a device yet.


def test_what_a_device_cannot_do_is_refused_and_not_done_elsewhere(rng):
    values = rng.standard_normal((80, 3))
    gaps = values.copy()
    gaps[2, 1] = np.nan
    with pytest.raises(renyi.InputError, match="'x1' has 1 missing cell, which are not compared on a device yet"):
        renyi.matrix(torch.tensor(gaps))
    with pytest.raises(renyi.InputError, match="measure='dcor' is not for a device"):
        renyi.matrix(torch.tensor(values), measure="dcor")
    with pytest.raises(renyi.InputError, match="given is not for a device yet"):
        renyi.screen(torch.tensor(values), "x0", given="x1")
    with pytest.raises(renyi.InputError, match="types and vectors"):
        renyi.matrix(torch.tensor(values), vectors={"v": ["x0", "x1"]})
    with pytest.raises(renyi.InputError, match="convert it to floats"):
        renyi.matrix(torch.tensor(values > 0))
    with pytest.raises(renyi.InputError, match="a table has rows and columns"):
        renyi.matrix(torch.tensor(values[:, 0]))
    with pytest.raises(renyi.InputError, match=r"x is a tensor of the shape \(80, 3\)"):
        renyi.independence_test(torch.tensor(values), torch.tensor(values[:, 0]))
    with pytest.raises(renyi.InputError, match="blocks are not shuffled on a device yet"):
        renyi.independence_test(*torch.tensor(values[:, :2]).T, blocks=np.arange(80) // 8)


# Arithmetic that NumPy and torch share.


def matrices(size, rng):
    """Random matrices, and some whose largest singular values are equal, nearly so, or 0."""
    random = rng.standard_normal((300, size, size))
    turns = np.linalg.qr(rng.standard_normal((40, size, size)))[0]
    spectra = [
        [1.0] * size,
        [1.0] * (size // 2) + [0.0] * (size - size // 2),
        [0.5, 0.5] + [0.1] * (size - 2),
        [0.1, 0.1 - 1e-7] + [0.05] * (size - 2),
        [0.0] * size,
    ]
    return np.concatenate([random, *(turns * np.sqrt(spectrum) for spectrum in spectra)])


@pytest.mark.parametrize("size", [3, 4, 8, 12])
@pytest.mark.parametrize(("kind", "tolerance"), [("float64", 1e-12), ("float32", 4e-6)])
def test_the_largest_eigenvalue_by_planes_is_that_of_lapack(size, kind, tolerance, rng):
    found = matrices(size, rng)
    expected = np.linalg.eigvalsh(found @ found.swapaxes(1, 2))[:, -1]
    planes = np.moveaxis(found, 0, -1).astype(kind)
    by_numpy = largest_eigenvalue(products_of_rows(planes))
    by_torch = largest_root(torch.tensor(found.astype(kind))).numpy()
    assert by_numpy == pytest.approx(expected, rel=tolerance, abs=tolerance**2)
    assert by_torch == pytest.approx(expected, rel=tolerance, abs=tolerance**2)


def test_wide_matrices_have_the_root_of_tall_ones(rng):
    cross = rng.standard_normal((20, 6, 2))
    for block in (cross, cross.swapaxes(1, 2), cross[:, :1], cross[:, :, :1]):
        assert largest_root(torch.tensor(block)).numpy() == pytest.approx(largest_root(block))


def test_lines_between_knots_are_those_of_numpy(rng):
    knots, values = np.cumsum(rng.random(20)), rng.random(20)
    at = np.concatenate((rng.uniform(-1, knots[-1] + 1, 200), knots))
    assert interpolated(torch.tensor(at), knots, values).numpy() == pytest.approx(np.interp(at, knots, values))


def test_two_halves_of_digits_multiply_as_single_precision(rng):
    x, y = rng.standard_normal((2, 30, 4000)).astype(np.float32)
    x[:, 0] = 60.0
    found = multiplied(*paired(halves(torch.tensor(x.T)), halves(torch.tensor(y.T)))).numpy() / 4000
    exact = x.astype(np.float64) @ y.T.astype(np.float64) / 4000
    assert np.abs(found - exact).max() < 2e-7
    # The leading digits alone would not do.
    assert np.abs(np.float32(np.float16(x)) @ np.float32(np.float16(y)).T / 4000 - exact).max() > 2e-6


def test_stacks_of_unlike_precision_multiply_in_double(rng):
    x, y = torch.tensor(rng.standard_normal((2, 5, 100)))
    found = multiplied(*paired(halves(x.T.float()), (y.T,)))
    assert found.dtype == torch.float64
    assert torch.allclose(found, x @ y.T, atol=1e-4)


def test_functions_of_any_size_multiply_in_halves(rng, monkeypatch):
    monkeypatch.setattr(devices, "_IN_HALVES", ("cpu",))
    table, codes = rng.standard_normal((50, 3)), rng.integers(0, 50, (4000, 4))
    table[0] = 900.0
    functions = rng.standard_normal((5, 4000)) * np.logspace(-12, 3, 5)[:, np.newaxis]
    values = table[codes]
    stack = resident.DeviceStack.of([table], torch.tensor(codes.astype(np.int32)), dtype=torch.float32)
    others = resident.DeviceRows.of(torch.tensor(functions), dtype=torch.float32)
    found = stack.products(others)[:, :5, :, 0].numpy().swapaxes(1, 2) * others.sizes
    lengths = np.sqrt((values**2).sum(axis=0))[..., np.newaxis] * np.sqrt((functions**2).sum(axis=1))
    assert np.abs((found - np.einsum("nca,fn->caf", values, functions)) / lengths).max() < 1e-6
    weighted = resident.Weighted.of(stack, torch.tensor(functions[4]))
    found = weighted.products(stack).numpy() * weighted.size
    expected = np.einsum("nca,n,ndb->cdab", values, functions[4], values)
    assert np.abs(found - expected).max() < 1e-6 * np.abs(expected).max()


def test_large_whole_numbers_beside_floats_keep_their_digits_or_are_refused(rng):
    steps = rng.permutation(400)
    y = np.cos(steps / 50)
    expected = renyi.matrix({"x": steps, "y": y})
    for x in (2**62 + steps, -(2**62) + steps, 2**53 + steps):
        for other in (torch.tensor(y), torch.tensor((1e9 * y).astype(np.int64))):
            found = renyi.matrix({"x": torch.tensor(x), "y": other})
            assert difference(found, expected, "values") < 1e-9
            assert difference(found, expected, "pearson") < 1e-7
    apart = torch.tensor(np.where(steps == 0, -(2**62), 2**62 + steps))
    with pytest.raises(renyi.InputError, match="'x' in the table has whole numbers that floats beside it would round"):
        renyi.matrix({"x": apart, "y": torch.tensor(y)})
    assert renyi.matrix({"x": apart, "y": torch.tensor((1e9 * y).astype(np.int64))}).values[0, 1] > 0.9


def test_what_floats_cannot_keep_apart_is_not_sent_to_a_device(rng):
    steps = rng.permutation(400)
    cpu = torch.device("cpu")
    assert len(upload(as_table({"x": 2**62 + steps, "y": steps}), cpu).numbers[0].unique()) == 400
    far = np.where(steps == 0, 0, 2**62 + steps)
    for x in (far, far.astype(np.uint64), far.astype("M8[ns]"), far.astype(np.longdouble)):
        with pytest.raises(renyi.InputError, match=r"x has numbers that 64-bit floats cannot keep apart.*device=None"):
            upload(as_table({"x": x, "y": steps}), cpu)
