"""The drawings of results, `curves` and `figures`."""

from dataclasses import replace

import pytest

from odd_measures import Explained, Hungry
from renyi.experiments import curves, figures, gallery, panels, selection, times
from renyi.experiments.entries import Coefficient
from renyi.experiments.runs import Run
from renyi.report.figures.style import BLUE, ORANGE
from small_experiments import PEARSON, run_power


def test_power_is_drawn_for_both_groups_of_patterns(tmp_path):
    record, _ = run_power(tmp_path / "power.json", patterns=["linear", "sine"])
    for extra, title in ((False, "linear"), (True, "sine")):
        figure = curves.plot_power(record, extra=extra)
        (ax,) = (ax for ax in figure.axes if ax.get_title(loc="left"))
        assert ax.get_title(loc="left") == title
        lines = [line for line in ax.get_lines() if not line.get_label().startswith("_")]
        assert [line.get_label() for line in lines] == ["Pearson", "plain"]
        assert list(lines[0].get_xdata()) == [1, 10]
    assert curves.plot_power(run_power(tmp_path / "b.json", patterns=["sine"])[0]) is None


def test_two_curves_are_coloured_and_named_and_the_others_are_grey(tmp_path):
    record, _ = run_power(tmp_path / "power.json", patterns=["linear", "sine"])
    rows = {(*key[:2], label): row for key, row in record.rows.items() for label in ("auto", "rdc", "xi", "dcor")}
    figure = curves.plot_power(replace(record, rows=rows))
    (ax,) = (ax for ax in figure.axes if ax.get_title(loc="left"))
    colours = {line.get_label(): line.get_color() for line in ax.get_lines() if not line.get_label().startswith("_")}
    assert colours == {
        "renyi's test (auto)": ORANGE,
        "RDC": BLUE,
        "dCor": curves._OTHERS,
        "Chatterjee's ξ": curves._OTHERS,
    }
    assert {text.get_text(): text.get_color() for text in ax.texts} == {"renyi's test (auto)": ORANGE, "RDC": BLUE}
    assert figure.get_supxlabel() == "grey: Chatterjee's ξ, dCor"
    assert not figure.legends


@pytest.mark.slow
def test_the_other_figures(tmp_path, table):
    limits = times.Limits(sizes=(300, 400), runs=1, seconds=1, cancelled_after=30)
    timed = curves.plot_times(times.measure_times(Run(tmp_path / "t.json"), [PEARSON], limits=limits))
    assert [len(ax.get_lines()[0].get_xdata()) for ax in timed.axes] == [2, 4]
    record = gallery.measure_gallery(Run(tmp_path / "g.json"), [PEARSON], n=50)
    texts = [text.get_text() for ax in figures.plot_all_measures(record).axes for text in ax.texts]
    assert len(texts) == 14
    assert texts[0] == "1.00"
    data = [panels.DataSet("a", table, tuple("abcdefy"))]
    chosen_by = selection.measure_selection(
        Run(tmp_path / "s.json"), [Explained()], data, sizes=selection.Sizes(splits=2, features=3, rows=40)
    )
    (ax,) = curves.plot_selection(chosen_by).axes
    assert ax.get_title() == "a"
    assert list(ax.get_lines()[0].get_xdata()) == [1, 2, 3]


@pytest.mark.slow
def test_times_without_a_single_run_are_drawn(tmp_path):
    limits = times.Limits(sizes=(1000,), runs=1, seconds=1, cancelled_after=30)
    record = times.measure_times(Run(tmp_path / "times.json"), [Coefficient(Hungry())], limits=limits)
    assert record.rows[1000, "hungry"]["seconds"] is None
    figure = curves.plot_times(record)
    assert not figure.legends
    figure.savefig(tmp_path / "times.png")
