import numpy as np
import pytest

import reference
import renyi
from renyi.basis.random_features import draw, seeds

(FIXED,) = seeds(None, n_draws=1)


@pytest.mark.parametrize("pattern", ["at random", "only the largest"])
def test_pairwise_missing_is_defined_as_stated(pattern, rng):
    x = rng.standard_normal(400)
    y = x**2 + rng.standard_normal(400)
    if pattern == "at random":
        x[rng.random(400) < 0.2], y[rng.random(400) < 0.2] = np.nan, np.nan
    else:
        y[x < np.quantile(x, 0.85)] = np.nan  # most of the basis of x does not vary on what is left
    projection = draw(1, 10, 3.0, kind="auto", seed=FIXED)
    common = ~np.isnan(x) & ~np.isnan(y)
    bases = []
    for values in (x, y):
        own = ~np.isnan(values)
        ranks = reference.empirical_ranks(values[own])
        whole = reference.basis(reference.features(ranks, projection.weights, projection.phases))
        bases.append(reference.basis(whole[common[own]], cut=1e-2))
    expected = reference.canonical_correlations(*bases)[0]
    assert renyi.rdc(x, y, k=10, missing="pairwise") == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(("n", "options"), [(10, {"k": 10, "s": 50.0}), (41, {"k": 10, "s": 50.0})])
def test_too_little_freedom_is_refused(n, options, rng):
    x, y = rng.random((2, n))
    if n == 10:
        with pytest.raises(renyi.InputError, match="smaller k"):
            renyi.rdc(x, y, **options)
    else:
        assert 0.5 < renyi.rdc(x, y, **options) < 1


def test_a_scale_without_variation_is_refused(rng):
    flag = np.arange(40_000) == 7
    with pytest.raises(renyi.InputError, match="larger s"):
        renyi.rdc(flag.astype(float), rng.random(40_000), s=1e-9)


def test_the_rank_of_one_side_does_not_depend_on_the_other(rng):
    x = np.round(rng.standard_normal(200), 1)
    dimensions = {renyi.transformations(x, y).dimensions[0] for y in (x**2, rng.random(200), np.arange(200), -x)}
    assert len(dimensions) == 1
