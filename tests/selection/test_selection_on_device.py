"""Selection on a device, through `candidates` and `products`: the choice of arrays, within the room there is."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import renyi

torch = pytest.importorskip("torch")

from renyi.allpairs.device import stack as device_stack  # noqa: E402
from renyi.compute import devices  # noqa: E402
from renyi.selection import candidates  # noqa: E402
from renyi.selection import products as selection_products  # noqa: E402
from renyi.sklearn import RDCSelector  # noqa: E402


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
@pytest.mark.parametrize("settings", [{}, {"n_features_to_select": 7}, {"interactions": False}])
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
    for target, settings in ((classes, {"target_type": "category"}), (outputs, {})):
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
def test_rare_levels_are_permuted_on_a_device(rng):
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
    multiply = device_stack.DeviceStack.products

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
    monkeypatch.setattr(selection_products, "_SHARE_AT_ONCE", 4e5 / 2**29)
    monkeypatch.setattr(candidates, "_SHARE_AT_ONCE", 5.5 * 24 * 5000 / 2**29)
    if not are_kept:
        monkeypatch.setattr(selection_products, "_SHARE_KEPT", 0.0)
        monkeypatch.setattr(candidates, "_SHARE_KEPT", 0.0)
    sizes = []
    monkeypatch.setattr(device_stack.DeviceStack, "products", full_beyond(len(X), sizes))
    assert_same_search(RDCSelector().fit(torch.tensor(X), torch.tensor(y)), expected, 1e-4)
    assert 1 < max(sizes) <= 4


@pytest.mark.slow
def test_a_full_device_holds_fewer_features_at_a_time(rng, monkeypatch):
    X, y = features(500, rng)
    sizes = []
    monkeypatch.setattr(device_stack.DeviceStack, "products", full_beyond(3, sizes))
    found = RDCSelector().fit(torch.tensor(X), torch.tensor(y))
    assert_same_search(found, RDCSelector().fit(X, y), 1e-9)
    assert 1 <= max(sizes) <= 3


def test_a_device_without_room_for_a_feature_is_an_error_that_says_so(rng, monkeypatch):
    class Properties:
        total_memory = 2**30

    X, y = features(200, rng)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: Properties)
    monkeypatch.setattr(device_stack.DeviceStack, "products", full_beyond(0, []))
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
    with pytest.raises(renyi.InputError, match="X is a tensor that cannot become an array"):
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
