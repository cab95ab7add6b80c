"""The RDC as a measure: the same numbers as `renyi.rdc` and `renyi.independence_test`."""

import numpy as np
import pytest

import renyi

SETTINGS = [
    {},
    {"k": 4, "s": 1.5},
    {"s": "median"},
    {"frequencies": "normal", "repeats": 3},
    {"debias": True},
]


@pytest.fixture
def curved(rng):
    x = rng.normal(size=120)
    return x, x**2 + 0.3 * rng.normal(size=120)


@pytest.mark.parametrize("settings", SETTINGS)
def test_value_is_that_of_rdc_also_by_parts(settings, curved, rng):
    m = renyi.measure("rdc", **settings)
    x, y = curved
    vectors = rng.normal(size=(2, 120, 3))
    for pair in (curved, vectors, (np.round(x), vectors[0])):
        expected = renyi.rdc(*pair, **settings)
        assert m(*pair) == expected
        assert m.combine(*(m.prepare(side) for side in pair)) == expected
    order = rng.permutation(120)
    assert m.combine(m.prepare(x), m.reordered(m.prepare(y), order)) == renyi.rdc(x, y[order], **settings)


def test_categories_stay_categories(curved):
    x, y = curved
    levels = renyi.categorical(np.digitize(y, [0.5, 1.0, 2.0]))
    assert renyi.measure("rdc")(x, levels) == renyi.rdc(x, levels)


@pytest.mark.parametrize("settings", SETTINGS)
def test_test_is_that_of_every_scale_with_the_coefficient_of_the_settings(settings, curved):
    found, expected = renyi.measure("rdc", **settings).test(*curved), renyi.independence_test(*curved)
    assert (found.pvalue, found.statistic, found.scale) == (expected.pvalue, expected.statistic, expected.scale)
    assert found.coefficient == renyi.rdc(*curved, **settings)
    assert found.method == str(renyi.measure("rdc", **settings))
    if {"repeats", "debias"} & set(settings):
        assert found.debiased is None
        assert found.dimensions is None
    else:
        assert found.debiased == renyi.rdc(*curved, **settings, debias=True)


def test_rng_of_the_test_leaves_the_coefficient_alone(rng):
    x, y = rng.normal(size=(2, 150, 3))
    m = renyi.measure("rdc")
    assert m.test(x, y, rng=5).pvalue == renyi.independence_test(x, y, rng=5).pvalue
    assert m.test(x, y, rng=5).coefficient == m(x, y)
    assert m.test(x, y, rng=5).coefficient != renyi.rdc(x, y, rng=5)


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"k": 0}, "k must be an integer from 1 to 20,000, got 0"), ({"s": -1}, "s must be .*, got -1"),
     ({"repeats": 0}, "repeats must be an integer from 1 to 10,000, got 0"),
     ({"debias": 1}, "debias must be True or False, got 1"), ({"frequencies": "odd"}, "frequencies='odd' is unknown")],
)  # fmt: skip
def test_settings_are_checked(settings, message):
    with pytest.raises(renyi.InputError, match=message):
        renyi.measure("rdc", **settings)


def test_a_side_without_freedom_is_refused(rng):
    m = renyi.measure("rdc", s=1e-9)
    with pytest.raises(renyi.InputError, match="does not vary enough"):
        m.prepare((np.arange(40_000) == 7).astype(float))
    m = renyi.measure("rdc", k=10, s=50)
    with pytest.raises(renyi.InputError, match="correlate perfectly whatever the data"):
        m.combine(*(m.prepare(side) for side in rng.random((2, 30))))
