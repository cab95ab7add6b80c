"""A picture of a forward selection."""

from collections.abc import Sequence
from typing import Any

from renyi.report.figures.style import BLUE, ORANGE, in_style, shortened
from renyi.selection.forward import Step

_LONGEST_NAME = 24


@in_style
def plot_path(pyplot: Any, steps: Sequence[Step], /) -> Any:
    """The dependence after each step as a line, and below it how surprising each step was."""
    figure, axes = pyplot.subplots(figsize=(max(4.0, 0.55 * len(steps) + 2.0), 4.0), layout="constrained")
    places = list(range(1, len(steps) + 1))
    axes.plot(places, [step.dependence for step in steps], color=BLUE, marker="o")
    axes.margins(x=0.12)  # room for the p-value of the first and the last step
    axes.set(ylim=(0.0, 1.05), ylabel="dependence of the target on the set", title="forward selection")
    names = [shortened(step.name, _LONGEST_NAME) for step in steps]
    axes.set_xticks(places, names, rotation=45, ha="right")
    for place, step in zip(places, steps, strict=True):
        if step.pvalue == step.pvalue:  # NaN where none was computed
            said = "p < 0.001" if step.pvalue < 0.001 else f"p = {step.pvalue:.3f}"
            axes.annotate(
                said, (place, step.dependence), (0, -14), textcoords="offset points", ha="center", fontsize=8,
                color=ORANGE,
            )  # fmt: skip
    if not steps:
        axes.text(0.5, 0.5, "nothing was chosen", transform=axes.transAxes, ha="center")
    return figure
