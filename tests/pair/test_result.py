import copy
import pickle

import numpy as np
import pandas as pd
import pytest

import renyi


def test_new_data_of_every_kind(parabola):
    x, y = parabola
    found = renyi.transformations(x, y)
    assert found.f([0.0, 1.0]).shape == (2,)
    assert found.f(pd.Series([0.0, np.nan]))[1] != found.f(pd.Series([0.0, np.nan]))[1]
    assert found.f([x.max() + 100]) == pytest.approx(found.f([x.max()]))
    for wrong in (np.zeros((3, 2)), ["a", "b"], [True, False]):
        with pytest.raises(renyi.InputError):
            found.f(wrong)


def test_missing_rows_are_left_out_and_stay_missing(parabola):
    x, y = parabola
    x[:50] = np.nan
    found = renyi.transformations(x, y, missing="pairwise")
    assert found.n_samples == 450
    assert np.isnan(found.f(x)[:50]).all()
    assert np.corrcoef(found.f(x[50:]), found.g(y[50:]))[0, 1] == pytest.approx(found.correlation, abs=1e-8)
    assert found.correlation == pytest.approx(renyi.rdc(x, y, missing="pairwise"), abs=1e-12)


def test_values_below_the_sample_are_its_smallest(rng):
    x = np.r_[np.zeros(30), np.arange(1, 31)]
    found = renyi.transformations(x, rng.standard_normal(60))
    assert found.f([-1.0]) == found.f([0.0])


def test_new_frames_are_read_by_name(rng):
    frame = pd.DataFrame(rng.standard_normal((300, 2)), columns=["a", "b"])
    found = renyi.transformations(frame, frame["a"] ** 2)
    assert np.array_equal(found.f(frame[["b", "a"]]), found.f(frame))
    with pytest.raises(renyi.InputError, match="columns a, b"):
        found.f(frame.rename(columns={"b": "c"}))


def test_new_dates_are_read_whatever_their_unit(rng):
    days = np.datetime64("2020-01-01", "ns") + rng.permutation(90).astype("m8[D]")
    found = renyi.transformations(days, rng.standard_normal(90))
    assert np.array_equal(found.f(days.astype("M8[us]")), found.f(days))
    for wrong in (np.arange(5.0), days - days[0]):
        with pytest.raises(renyi.InputError, match="dates"):
            found.f(wrong)


def test_new_ordered_labels_are_read_by_name(rng):
    sizes = pd.Series(pd.Categorical(["s", "m", "l"] * 30, categories=["s", "m", "l"], ordered=True), name="size")
    found = renyi.transformations(sizes, rng.standard_normal(90))
    other = pd.Series(pd.Categorical(["m", "l"], categories=["m", "l"], ordered=True))
    assert np.array_equal(found.f(other), found.f(sizes)[1:3])
    assert np.array_equal(found.f(["m", "l"]), found.f(sizes)[1:3])
    with pytest.raises(renyi.InputError, match="'xl'"):
        found.f(["xl"])


def test_results_do_not_change_with_the_users_arrays(parabola):
    x, y = parabola
    found = renyi.transformations(x, y)
    before = found.x.values.copy()
    x[:] = 0
    assert np.array_equal(found.x.values, before)


def test_it_says_what_it_holds(parabola):
    shown = repr(renyi.transformations(*parabola))
    assert "correlation=0.9" in shown
    assert "n_samples=500" in shown


def test_results_of_pairs_can_be_pickled_and_copied(rng):
    x, z = rng.normal(size=(2, 80))
    y, label = x**2 + z, renyi.categorical(np.where(x > 0, "up", "down"))
    for found in (
        renyi.independence_test(x, y),
        renyi.conditional_test(x, y, z),
        renyi.transformations(x, y),
        renyi.transformations(label, y),
    ):
        for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
            assert repr(again) == repr(found)
            assert again.debiased == found.debiased
    fixed = renyi.screen({"x": x, "y": y, "z": z}, "y", given="z")
    assert pickle.loads(pickle.dumps(fixed)).values == pytest.approx(fixed.values, abs=0)
