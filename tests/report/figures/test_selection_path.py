"""Pictures of forward selections."""

import math

import numpy as np

from renyi.report.figures.selection_path import plot_path
from renyi.selection.forward import Step


def test_every_step_has_its_place_its_name_and_its_pvalue():
    steps = [
        Step(4, "age", 0.5, 1e-9),
        Step(1, "a name that is longer than a label", 0.75, 0.0312),
        Step(0, "none", 0.8, math.nan),
    ]
    (axes,) = plot_path(steps).axes
    (line,) = axes.lines
    np.testing.assert_array_equal(line.get_xydata(), [[1, 0.5], [2, 0.75], [3, 0.8]])
    names = [label.get_text() for label in axes.get_xticklabels()]
    assert names == ["age", "a name that is longer t…", "none"]
    assert [text.get_text() for text in axes.texts] == ["p < 0.001", "p = 0.031"]


def test_a_selection_of_nothing_says_so():
    (axes,) = plot_path([]).axes
    assert [text.get_text() for text in axes.texts] == ["nothing was chosen"]
