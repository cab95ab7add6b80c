import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import renyi
from renyi.report.figures.style import BLUE


@pytest.fixture
def frame(rng):
    x = rng.standard_normal(300)
    return pd.DataFrame({"x": x, "square": x**2, "line": x + rng.standard_normal(300), "noise": rng.random(300)})


def written(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def test_bars_are_the_strengths_and_findings_alone_have_numbers(frame):
    found = renyi.screen(frame, "x")
    figure = found.plot()
    (axes,) = figure.axes
    assert [bar.get_width() for bar in axes.patches] == found.strength.tolist()
    assert [label.get_text() for label in axes.get_yticklabels()] == list(found.names) == ["square", "line", "noise"]
    is_blue = [np.allclose(bar.get_facecolor(), plt.matplotlib.colors.to_rgba(BLUE)) for bar in axes.patches]
    assert is_blue == [True, True, False]
    numbers = [f"{value:.2f}" for value in found.strength[:2]]
    assert [text for text in written(figure) if text[:1].isdigit()] == numbers
    assert written(figure).count("◆") == 1
    assert axes.get_title(loc="left") == "x: 2 dependences in 3 tests"
    assert any("pale: no finding at an FDR of 5 %" in text for text in written(figure))
    plt.close(figure)


def test_it_draws_where_it_is_told_to_and_of_very_many_the_strongest(rng):
    figure, axes = plt.subplots()
    values = rng.standard_normal((100, 60))
    assert renyi.screen(values, "x0").plot(ax=axes) is figure
    assert len(axes.patches) == 40
    assert any("the 40 strongest of 59 columns" in text for text in written(figure))
    untested = renyi.screen(values[:, :4], "x0", measure="mic").plot()
    assert untested.axes[0].get_xlabel() == "mic"
    plt.close("all")
