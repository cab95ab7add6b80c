"""Categories of many levels keep their strength in tables, as `renyi.rdc` has it (`tables.api`, `data.types`)."""

import numpy as np
import pytest

import renyi


def mean_of_level(n_levels, n=20_000, noise=0.3):
    rng = np.random.default_rng(n_levels)
    level = rng.integers(0, n_levels, n)
    means = rng.normal(size=n_levels)
    means = (means - means.mean()) / means.std()
    return level, means[level] + noise * rng.normal(size=n)


@pytest.mark.parametrize("n_levels", [2, 31, 50, 100, 500])
def test_the_strength_of_a_category_does_not_fade_with_its_levels(n_levels):
    level, y = mean_of_level(n_levels)
    text = np.array([f"{k:03}" for k in level])
    found = renyi.matrix({"level": text, "y": y})
    assert found.pooled == {}
    assert found.values[0, 1] == pytest.approx(renyi.rdc(renyi.categorical(level), y), abs=1e-6)
    assert found.debiased[0, 1] == pytest.approx(1 / np.sqrt(1.09), abs=0.01)
    fewer = renyi.matrix({"level": text, "y": y}, max_levels=8)
    assert fewer.debiased[0, 1] < found.debiased[0, 1] or n_levels <= 8
    assert fewer.pooled == ({"level": n_levels - 8} if n_levels > 8 else {})


def test_chance_is_taken_off_categories_of_many_levels():
    rng = np.random.default_rng(0)
    columns = {f"c{k}": np.array([f"{j:03}" for j in rng.integers(0, 300, 8000)]) for k in range(3)}
    found = renyi.matrix(columns | {"x": rng.normal(size=8000)})
    above = np.triu_indices(4, 1)
    assert np.all(found.values[above] > 0.2)
    assert np.all(np.abs(found.debiased[above]) < 0.1)
    assert np.all(found.pvalues[above] > 1e-3)
    assert found.n_permuted == 0


def test_screening_pairs_and_gaps_have_the_same_strength():
    level, y = mean_of_level(120, 6000)
    text = np.array([f"{k:03}" for k in level], dtype=object)
    whole = renyi.matrix({"level": text, "y": y}).values[0, 1]
    assert renyi.screen({"level": text, "y": y}, "y").values[0] == pytest.approx(whole, abs=1e-6)
    assert renyi.pairs({"level": text, "y": y}).to_frame()["coefficient"][0] == pytest.approx(whole, abs=1e-6)
    gaps = np.random.default_rng(1).random(6000) < 0.1
    found = renyi.matrix({"level": np.where(gaps, None, text), "y": y})
    assert found.values[0, 1] == pytest.approx(
        renyi.rdc(renyi.categorical(level[~gaps]), y[~gaps]), abs=5e-3
    )  # ranks are over the column's own rows
    assert found.n_samples[0, 1] == np.count_nonzero(~gaps)


@pytest.mark.parametrize("n_levels", [30, 45, 150, 300])
def test_the_strength_of_two_categories_is_no_larger_than_their_coefficient(n_levels):
    """The test of many levels adds up very many cells, and its p-value is no correlation."""
    rng = np.random.default_rng(n_levels)
    x = rng.integers(0, n_levels, 12_000)
    y = np.where(rng.random(12_000) < 0.3, x, rng.integers(0, n_levels, 12_000))
    found = renyi.matrix({name: np.array([f"{k:03}" for k in codes]) for name, codes in {"x": x, "y": y}.items()})
    pair = renyi.independence_test(renyi.categorical(x), renyi.categorical(y))
    assert found.strength[0, 1] == pytest.approx(pair.strength, abs=1e-6)
    assert found.pvalues[0, 1] < 1e-100
    assert 0.25 < pair.strength <= pair.coefficient
    if n_levels > 40:
        assert pair.strength == pair.debiased
    low, high = pair.confidence_interval()
    assert 0.0 < low < 0.35 < high
