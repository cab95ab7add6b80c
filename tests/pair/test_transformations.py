import numpy as np
import pytest

import renyi


def test_functions_attain_the_coefficient(parabola):
    x, y = parabola
    found = renyi.transformations(x, y)
    f, g = found.f(x), found.g(y)
    assert np.corrcoef(f, g)[0, 1] == pytest.approx(found.correlation, abs=1e-9)
    assert found.correlation == pytest.approx(renyi.rdc(x, y), abs=1e-12)
    for values in (f, g):
        assert values.mean() == pytest.approx(0, abs=1e-8)
        assert values.var() == pytest.approx(1, abs=1e-8)
    assert found.correlations.shape == (min(found.dimensions),)
    assert np.all(np.diff(found.correlations) <= 0)
    assert found.dimensions == (8, 8)
    assert found.n_samples == 500


def test_functions_have_the_shape_of_the_dependence(parabola):
    x, y = parabola
    found = renyi.transformations(x, y)
    grid = np.linspace(-1.5, 1.5, 31)
    f = found.f(grid)
    assert np.corrcoef(f, grid**2)[0, 1] > 0.9
    rising = renyi.transformations(x, -np.exp(x))
    assert np.corrcoef(rising.f(grid), grid)[0, 1] > 0.9
    assert np.corrcoef(rising.g(-np.exp(grid)), grid)[0, 1] > 0.9


def test_long_columns_agree_with_their_functions(rng):
    x = rng.standard_normal(50_000)
    y = np.round(np.cos(2 * x) + rng.standard_normal(50_000), 2)
    found = renyi.transformations(x, y)
    assert np.corrcoef(found.f(x), found.g(y))[0, 1] == pytest.approx(found.correlation, abs=2e-5)


def test_categories_get_scores(rng):
    labels = rng.choice(["low", "mid", "high"], 300)
    y = np.select([labels == "low", labels == "mid"], [0.0, 1.0], 2.0) + 0.1 * rng.standard_normal(300)
    found = renyi.transformations(renyi.categorical(labels), y)
    assert set(found.f.scores) == {"low", "mid", "high"}
    assert np.corrcoef(found.f(labels), found.g(y))[0, 1] == pytest.approx(found.correlation, abs=1e-9)
    low, mid, high = found.f(["low", "mid", "high"])
    assert low < mid < high
    assert np.isnan(found.f(["low", None])[1])
    with pytest.raises(renyi.InputError, match="'huge'"):
        found.f(["low", "huge"])


def test_vectors_and_booleans(rng):
    x = rng.standard_normal((400, 3))
    y = x[:, 0] * x[:, 1] > 0
    found = renyi.transformations(x, y)
    assert np.corrcoef(found.f(x), found.g(y))[0, 1] == pytest.approx(found.correlation, abs=1e-8)
    with pytest.raises(renyi.InputError):
        found.f(x[:, :2])


def test_debiased_value_is_that_of_the_coefficient(parabola):
    assert renyi.transformations(*parabola).debiased == pytest.approx(renyi.rdc(*parabola, debias=True), abs=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_functions_rise_with_the_variable_that_has_a_trend(seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(300)
    even = renyi.transformations(x, x**2 + 0.3 * rng.standard_normal(300))
    assert even.g(np.array([0.0, 4.0])) @ [-1, 1] > 0
    assert even.f(np.array([-2.0, 0.0, 2.0])) @ [1, -2, 1] > 0
    falling = renyi.transformations(x, -x + 0.3 * rng.standard_normal(300))
    assert falling.f(np.array([-2.0, 2.0])) @ [-1, 1] > 0
