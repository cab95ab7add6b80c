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
    assert len(figure.axes) == 6
    data, *_, beside = figure.axes
    # The function is drawn over the data where both have an axis, also where numbers are near the largest there are.
    is_over = bool(data.get_lines()) or len(data.collections) > 1
    assert is_over == (kind not in ("vector", "category", "many levels", "odd names"))
    assert beside.texts[0].get_text() == f"{beside.patches[0].get_width():.2f}"
    figure.savefig(tmp_path / "pair.png")
    assert (tmp_path / "pair.png").stat().st_size > 10_000


@pytest.mark.slow
def test_other_coefficients_beside_it_have_their_textbook_values(rng):
    # Most rows are tied: those that share the last rank instead of the mean have another correlation.
    x = rng.poisson(0.3, 400).astype(float)
    y = np.maximum(x + rng.standard_normal(400), 0.0)
    x[::9] = np.nan
    beside = renyi.transformations(x, y, missing="pairwise").plot().axes[-1]
    bars = dict(zip([label.get_text() for label in beside.get_yticklabels()], beside.patches, strict=True))
    assert bars["|Spearman|"].get_width() == pytest.approx(abs(spearmanr(x, y, nan_policy="omit").statistic))
    known = ~np.isnan(x)
    assert bars["|Pearson|"].get_width() == pytest.approx(abs(np.corrcoef(x[known], y[known])[0, 1]))


def test_f_over_the_data_is_as_near_to_them_as_it_can_be():
    x = np.linspace(0, 1, 300)
    for y in (3 - 2 * x, 2 + (2 * x - 1) ** 2):
        (line,) = renyi.transformations(x, y).plot().axes[0].get_lines()
        assert np.polyfit(line.get_ydata(), y, 1) == pytest.approx([1, 0], abs=1e-6)
        assert np.ptp(line.get_ydata()) > 0.5 * np.ptp(y)
