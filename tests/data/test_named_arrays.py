"""Tables of xarray and AnnData."""

import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import renyi

N = 120
x = np.random.default_rng(0).normal(size=N)
TIMES = pd.date_range("2026-01-01", periods=N)
TABLE = pd.DataFrame({"x": x, "y": x**2, "side": np.where(x > 0, "left", "right")})
DATASET = xr.Dataset({name: ("time", TABLE[name].to_numpy()) for name in TABLE}, {"time": TIMES})
ARRAY = xr.DataArray(TABLE[["x", "y"]].to_numpy(), {"time": TIMES, "what": ["x", "y"]}, ("time", "what"))
IN_BATCHES = [DATASET.isel(time=slice(0, 60)), DATASET.isel(time=slice(60, None))]


@pytest.mark.parametrize(
    ("table", "same_as"),
    [
        (DATASET, TABLE),
        (DATASET.assign(mapping=3), TABLE),
        (ARRAY, TABLE[["x", "y"]]),
        (ARRAY.drop_vars("what"), TABLE[["x", "y"]].to_numpy()),
        (ARRAY.to_dataset("what"), TABLE[["x", "y"]]),
    ],
)
@pytest.mark.parametrize(
    "call",
    [renyi.matrix, renyi.pairs, lambda table: renyi.compare(table, table), lambda table: renyi.matrix(table, table)],
)
def test_is_read_as_the_frame_of_the_same_columns(call, table, same_as):
    assert repr(call(table)) == repr(call(same_as))


def test_columns_in_time():
    found = renyi.matrix(DATASET, time=DATASET["time"])
    assert found.names == ("x", "y", "side")
    assert np.array_equal(found.pvalues, renyi.matrix(TABLE, time=TIMES).pvalues, equal_nan=True)
    assert repr(renyi.lags(ARRAY, max_lag=2)) == repr(renyi.lags(TABLE[["x", "y"]], max_lag=2))


def test_in_batches_and_as_target(in_batches):
    found = renyi.matrix(iter(IN_BATCHES))
    assert np.allclose(found.coefficient, renyi.matrix(TABLE).coefficient)
    assert renyi.screen(DATASET, DATASET["y"]).names[0] in ("x", "y")


def test_variables_of_a_second_dimension_are_vectors():
    wind = np.column_stack([np.cos(x), np.sin(x)])
    found = renyi.matrix(DATASET.assign(wind=(("axis", "time"), wind.T)))
    assert found.types["wind"] == "vector"
    assert found["x", "wind"].coefficient == pytest.approx(
        renyi.matrix({"x": x, "wind": wind})["x", "wind"].coefficient
    )


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (xr.Dataset({"a": (("lat", "lon"), np.eye(9)), "b": (("lat", "lon"), np.eye(9))}), r"'lon'\), 2 of them"),
        (xr.Dataset({"a": ("lat", x), "b": ("lon", x)}), "0 of them in common, and rows lie along one"),
        (xr.Dataset(), "has no columns"),
        (ARRAY[:, 0], r"the shape \(120,\)"),
    ],
)
def test_what_is_no_table_is_refused(table, words):
    with pytest.raises(renyi.InputError, match=words):
        renyi.matrix(table)


def test_rows_in_another_order_are_refused():
    turned = DATASET.isel(time=slice(None, None, -1))
    for call in (
        lambda: renyi.rdc(DATASET["x"], turned["y"]),
        lambda: renyi.matrix(ARRAY, turned[["y"]].to_dataframe()),
        lambda: renyi.screen(DATASET, turned["y"]),
        lambda: renyi.matrix(DATASET, time=turned["time"]),
    ):
        with pytest.raises(renyi.InputError, match="different indexes"):
            call()
    assert renyi.rdc(DATASET["x"], DATASET["y"].to_numpy()) == renyi.rdc(DATASET["x"], DATASET["y"])


def test_anndata_has_observations_as_rows():
    anndata = pytest.importorskip("anndata")
    names = pd.Index([f"cell {i}" for i in range(N)])
    table = TABLE[["x", "y"]].set_index(names)
    with warnings.catch_warnings():
        # Of pandas, about how AnnData asks it for an option.
        warnings.simplefilter("ignore")
        cells = anndata.AnnData(table, obs=pd.DataFrame({"side": TABLE["side"].to_numpy()}, index=names))
    assert repr(renyi.matrix(cells)) == repr(renyi.matrix(table))
    assert renyi.screen(cells, cells.obs["side"]).names == ("x", "y")
    with pytest.raises(renyi.InputError, match="different indexes"):
        renyi.screen(cells, cells.obs["side"][::-1])
