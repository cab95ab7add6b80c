import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

import renyi


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    ["numbers", "long", "category", "vector", "many levels", "missing", "dates", "durations", "ordered", "odd names"],
)
def test_every_kind_of_pair_can_be_drawn(kind, rng, tmp_path):
    n = 6000 if kind == "long" else 300
    x = rng.standard_normal(n)
    y = x**2 + rng.standard_normal(n)
    if kind == "category":
        y = renyi.categorical(np.where(y > 1, "large", "small"), name="size")
    if kind == "many levels":
        y = renyi.categorical(rng.integers(0, 30, n))
    if kind == "vector":
        x = pd.DataFrame({"one": x, "two": rng.standard_normal(n)})
    if kind == "missing":
        x[:9] = np.nan
    if kind == "dates":
        x = np.datetime64("2026-01-01") + np.arange(n)
    if kind == "durations":
        x = rng.permutation(n).astype("m8[h]")
    if kind == "ordered":
        x = pd.Series(pd.Categorical(["s", "m", "l"] * (n // 3), categories=["s", "m", "l"], ordered=True))
    if kind == "odd names":
        x = pd.Series(x * 1e200, name="price $ and \\frac$" + "long " * 60)
        y = renyi.categorical(np.where(y > 1, "<$10_000$", "^$" * 90))
    figure = renyi.transformations(x, y, missing="pairwise").plot()
    assert len(figure.axes) == 5
    figure.savefig(tmp_path / "pair.png")
    assert (tmp_path / "pair.png").stat().st_size > 10_000


@pytest.mark.slow
def test_the_title_has_the_textbook_value_of_spearmans_correlation(rng):
    # Most rows are tied: those that share the last rank instead of the mean have another correlation.
    x = rng.poisson(0.3, 400).astype(float)
    y = np.maximum(x + rng.standard_normal(400), 0.0)
    x[::9] = np.nan
    title = renyi.transformations(x, y, missing="pairwise").plot().get_suptitle()
    assert f"Spearman {spearmanr(x, y, nan_policy='omit').statistic:+.2f}" in title
