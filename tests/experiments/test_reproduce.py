"""The paper's experiments in small: seeds, resuming, processes, cut-offs, and what the command says."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import renyi
from odd_measures import Broken, Dying, Explained, Failing, Hungry, Plain, Sleepy
from renyi.cli import app
from renyi.coefficients.pearson import Pearson
from renyi.errors import InputError, MissingExtraError, RenyiError
from renyi.experiments import curves, figures, gallery, panels, power, reproduce, selection, times
from renyi.experiments.entries import Coefficient, Evidence, MultiScale, chosen
from renyi.experiments.locks import locked
from renyi.experiments.panels import PANELS, prepared, read_panels
from renyi.experiments.runs import Record, open_record, read_record
from renyi.experiments.summary import Summary, number
from renyi.pair.independence import independence_test

SMALL = power.Sizes(n=60, levels=(1, 10), repetitions=20, slow_seconds=100.0)
PEARSON, PLAIN = Coefficient(Pearson()), Coefficient(Plain())


def run_power(path, entries=(PEARSON, PLAIN), **options):
    said = []
    settings = {"patterns": ["linear", "circle"], "sizes": SMALL, "seed": 5, "say": said.append} | options
    record = power.measure_power(path, entries, **settings)
    return record, said


def results(path):
    return json.loads(Path(path).read_text())["results"]


# Power.


def test_a_repetition_is_the_same_whatever_else_runs():
    one = power.repetition("circle", 7, 50, seed=1, number=3)
    again = power.repetition("circle", 7, 50, seed=1, number=3)
    assert all(np.array_equal(a, b) for a, b in zip(one, again, strict=True))
    others = [("circle", 7, 1, 4), ("circle", 7, 2, 3), ("circle", 8, 1, 3), ("linear", 7, 1, 3)]
    for pattern, level, seed, r in others:
        assert not np.array_equal(one.x, power.repetition(pattern, level, 50, seed=seed, number=r).x)


def test_the_null_redraws_x_and_keeps_y():
    seen = []

    class Watching:
        def evidence(self, xs, y, /):
            seen.append((*xs, y))
            return Evidence(np.zeros(2))

    power.power_of(Watching(), "linear", 0, n=400, repetitions=2, seed=0)
    for x, redrawn, y in seen:
        assert np.array_equal(x, y)
        assert not np.intersect1d(x, redrawn).size  # new values, not a shuffle of the old ones
        assert abs(np.corrcoef(redrawn, y)[0, 1]) < 0.2
        assert 0 < redrawn.min() < redrawn.max() < 1


def test_power_is_1_where_dependence_is_plain_and_the_level_where_there_is_none():
    options = {"n": 50, "seed": 2}
    assert power.power_of(PEARSON, "linear", 1, repetitions=40, **options)["power"] == 1.0
    pure_noise = power.power_of(PEARSON, "linear", 1e6, repetitions=1000, **options)
    assert 0.025 < pure_noise["power"] < 0.08
    assert pure_noise["repetitions"] == 1000


def test_the_cut_is_the_95th_percentile_of_the_null():
    found = power.power_of(PLAIN, "quadratic", 5, n=40, repetitions=25, seed=3)
    pairs = [power.repetition("quadratic", 5, 40, seed=3, number=r) for r in range(25)]
    null = [np.corrcoef(p.redrawn, p.y)[0, 1] ** 2 for p in pairs]
    values = [np.corrcoef(p.x, p.y)[0, 1] ** 2 for p in pairs]
    assert found["cut"] == pytest.approx(np.quantile(null, 0.95), rel=1e-12)
    assert found["power"] == np.mean(values > np.quantile(null, 0.95))
    assert "rejected" not in found


def test_the_sign_of_a_coefficient_does_not_count():
    class Falling(Pearson):
        def combine(self, x, y, /):
            return -super().combine(x, y)

    found, mirrored = (
        power.power_of(Coefficient(m), "linear", 8, n=50, repetitions=30, seed=0) for m in (Pearson(), Falling())
    )
    assert found == mirrored
    assert found["power"] > 0.5


def test_the_test_is_judged_by_its_cut_and_by_its_pvalues():
    found = power.power_of(MultiScale(), "quadratic", 12, n=100, repetitions=15, seed=1)
    pairs = [power.repetition("quadratic", 12, 100, seed=1, number=r) for r in range(15)]
    assert found["rejected"] == np.mean([independence_test(p.x, p.y).pvalue <= 0.05 for p in pairs])
    assert found["rejected_of_redrawn"] == np.mean([independence_test(p.redrawn, p.y).pvalue <= 0.05 for p in pairs])


def test_seeds_reproduce_and_differ(tmp_path):
    first, again, other = (run_power(tmp_path / f"{i}.json", seed=s)[0].rows for i, s in enumerate((5, 5, 6)))
    assert first == again
    assert first != other


def test_neither_order_nor_processes_nor_company_matter(tmp_path):
    first, _ = run_power(tmp_path / "a.json")
    others, _ = run_power(tmp_path / "b.json", [PLAIN, PEARSON], patterns=["circle", "linear"], jobs=2)
    alone, _ = run_power(tmp_path / "c.json", [PLAIN])
    assert first.rows == others.rows
    assert len(first.rows) == 8
    assert alone.rows == {key: row for key, row in first.rows.items() if key[2] == "plain"}


def test_slow_measures_do_less_and_say_so(tmp_path):
    sizes = power.Sizes(n=30, levels=(1, 2, 3), repetitions=9, slow_seconds=0.0, slow_levels=(3,), slow_repetitions=4)
    record, _ = run_power(tmp_path / "power.json", [PLAIN], sizes=sizes)
    assert [(row["level"], row["repetitions"]) for row in record.rows.values()] == [(3, 4), (3, 4)]
    assert record.plan["plain"]["seconds"] > 0
    (table,) = power.summarise(record)
    assert "over 1 levels of noise that all measures have; 30 rows and 4 repetitions" in table.notes


# Going on.


@dataclass
class Interrupted:
    """Pearson's correlation until somebody presses Ctrl-C."""

    calls: int

    def __str__(self):
        return str(PEARSON)

    def evidence(self, xs, y, /):
        self.calls -= 1
        if self.calls < 0:
            raise KeyboardInterrupt
        return PEARSON.evidence(xs, y)


def test_an_interrupted_run_goes_on_to_the_same_results(tmp_path):
    whole, _ = run_power(tmp_path / "whole.json")
    with pytest.raises(KeyboardInterrupt):
        run_power(tmp_path / "part.json", [Interrupted(7 + 20 + 5), PLAIN])
    assert len(results(tmp_path / "part.json")) == 1
    record, said = run_power(tmp_path / "part.json")
    assert "1 finished tasks: the run goes on" in said[0]
    assert record.rows == whole.rows
    assert results(tmp_path / "part.json") == results(tmp_path / "whole.json")
    assert sorted(os.listdir(tmp_path)) == ["part.json", "whole.json"]


def test_finished_tasks_are_not_done_again(tmp_path):
    run_power(tmp_path / "power.json", [PEARSON])
    record, _ = run_power(tmp_path / "power.json", [Interrupted(0), PLAIN])
    assert len(record.rows) == 8


@pytest.mark.parametrize("changed", [{"seed": 6}, {"sizes": power.Sizes(n=61, levels=(1,), repetitions=3)}])
def test_other_settings_start_anew_and_lose_nothing(tmp_path, changed):
    path = tmp_path / "power.json"
    run_power(path, [PLAIN])
    before = path.read_text()
    _, said = run_power(path, [PLAIN], **changed)
    assert "was made with other settings" in said[0]
    assert next(iter(changed)) == "sizes" or "seed 5, now 6" in said[0]
    assert (tmp_path / "power-before.json").read_text() == before
    assert path.read_text() != before


def test_what_was_set_aside_is_never_lost(tmp_path):
    path, before = tmp_path / "power.json", []
    for seed in (5, 6, 7, 8):
        _, said = run_power(path, [PLAIN], seed=seed)
        before.append(path.read_text())
    assert "it is kept as power-before-3.json" in said[0]
    kept = [tmp_path / f"power-before{ending}.json" for ending in ("", "-2", "-3")]
    assert [other.read_text() for other in kept] == before[:3]


def test_a_failing_task_does_not_take_the_others_with_it(tmp_path):
    for jobs in (1, 2):
        path = tmp_path / f"{jobs}.json"
        with pytest.raises(RenyiError, match=r"1 of 8 tasks failed, the first \(linear, 10, failing.*too large for me"):
            run_power(path, [Coefficient(Failing(above=2.0)), PLAIN], jobs=jobs)
        assert len(results(path)) == 7


def test_a_file_of_something_else_is_left_alone(tmp_path):
    for content in ("{}", "no json", '{"results": 3}'):
        (tmp_path / "power.json").write_text(content)
        with pytest.raises(InputError, match="holds no results"):
            open_record(tmp_path / "power.json", "power", {}, named_by=(), say=print)
        assert (tmp_path / "power.json").read_text() == content
    run_power(tmp_path / "other.json", [PLAIN])
    with pytest.raises(InputError, match="results of 'power', not of 'times'"):
        read_record(tmp_path / "other.json", "times")


def test_the_file_states_counts_versions_and_the_machine(tmp_path):
    run_power(tmp_path / "power.json", [PLAIN])
    found = json.loads((tmp_path / "power.json").read_text())
    assert found["settings"]["seed"] == 5
    assert found["machine"]["cores"] == os.cpu_count()
    assert {"python", "renyi", "numpy", "scipy"} <= set(found["versions"])
    assert set(found["results"][0]) == {"pattern", "level", "measure", "n", "repetitions", "cut", "power"}


# Times.


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_slow_run_is_cancelled_and_more_rows_are_not_tried(tmp_path):
    diary = tmp_path / "diary"
    limits = times.Limits(sizes=(250, 300, 350), runs=3, seconds=60, cancelled_after=0.5)
    sleepy = Coefficient(Sleepy(n=300, diary=str(diary)))
    record = times.measure_times(tmp_path / "times.json", [sleepy], limits=limits)
    fast, slow, lost = record.rows.values()
    assert fast["runs"] == 3
    assert 0 < fast["least"] <= fast["seconds"] < 0.5
    assert (slow["runs"], slow["seconds"], slow["reason"]) == (0, None, "cancelled after 0.5 s")
    assert (lost["runs"], lost["seconds"], lost["lost_at"]) == (0, None, 300)
    assert not is_alive(int(diary.read_text()))
    (table,) = times.summarise(record)
    assert table.rows[0][2:4] == ("–", "–")
    assert f"{sleepy} at n = 300: cancelled after 0.5 s" in table.notes


def test_a_refusal_and_a_death_are_reasons(tmp_path):
    limits = times.Limits(sizes=(1000,), runs=2, seconds=1, cancelled_after=30)
    assert "refused: hungry on 1,000 rows would take" in times.times_of(
        Coefficient(Hungry()), 1000, limits=limits, seed=0
    )["reason"]  # fmt: skip
    assert "ended with code 9" in times.times_of(Coefficient(Dying()), 1000, limits=limits, seed=0)["reason"]


def test_a_failure_is_no_result_and_is_tried_again(tmp_path):
    limits = times.Limits(sizes=(300, 400), runs=2, seconds=1, cancelled_after=30)
    path = tmp_path / "times.json"
    with pytest.raises(RenyiError, match=r"2 of 4 tasks failed, the first \(300, broken\) .*: ZeroDivisionError"):
        times.measure_times(path, [Coefficient(Broken()), PEARSON], limits=limits)
    assert [row["measure"] for row in results(path)] == ["pearson", "pearson"]
    assert times.measure_times(path, [PEARSON], limits=limits).rows.keys() == {(300, "pearson"), (400, "pearson")}


def test_a_death_is_told_and_tried_again(tmp_path):
    limits = times.Limits(sizes=(300, 400), runs=1, seconds=1, cancelled_after=30)
    said = []
    for _ in range(2):
        record = times.measure_times(tmp_path / "times.json", [Coefficient(Dying())], limits=limits, say=said.append)
        died, lost = record.rows.values()
        assert "ended with code 9" in died["reason"]
        assert lost["lost_at"] == 300
    (table,) = times.summarise(record)
    assert any("ended with code 9" in note for note in table.notes)
    assert record.rows[300, "dying"] is died


def test_times_without_a_single_run_are_drawn(tmp_path):
    limits = times.Limits(sizes=(1000,), runs=1, seconds=1, cancelled_after=30)
    record = times.measure_times(tmp_path / "times.json", [Coefficient(Hungry())], limits=limits)
    assert record.rows[1000, "hungry"]["seconds"] is None
    figure = curves.plot_times(record)
    assert not figure.legends
    figure.savefig(tmp_path / "times.png")


def test_no_run_begins_after_its_time():
    limits = times.Limits(sizes=(300,), runs=1000, seconds=0.0, cancelled_after=30)
    assert times.times_of(PEARSON, 300, limits=limits, seed=0)["runs"] == 1


def test_the_papers_times_stand_beside_ours(tmp_path):
    limits = times.Limits(sizes=(1000,), runs=2, seconds=1, cancelled_after=30)
    record = times.measure_times(tmp_path / "times.json", [PEARSON], limits=limits)
    (table,) = times.summarise(record)
    assert table.header == ("measure", "n = 1,000", "paper, n = 1,000")
    assert table.rows[0][::2] == ("pearson", "0.0001")


# The gallery.


def test_gallery_values_are_those_of_the_samples(tmp_path):
    record = gallery.measure_gallery(tmp_path / "gallery.json", [PEARSON, PLAIN], n=100, seed=4)
    assert len(record.rows) == 28
    for association, (x, y) in zip(gallery.GALLERY, gallery.gallery_samples(100, seed=4), strict=True):
        assert record.rows[association.name, "pearson"]["value"] == Pearson()(x, y)
    normals, shapes = gallery.summarise(record)
    assert normals.rows[0][1] == "1.00"
    assert shapes.header[-1] == "four clusters"


# Feature selection.


@pytest.fixture
def table(rng):
    x = rng.standard_normal((200, 6))
    return np.column_stack([x, 3 * x[:, 4] + 2 * x[:, 1] + x[:, 3] + 0.1 * rng.standard_normal(200)])


def test_features_are_added_by_what_they_add(table):
    assert selection.forward(Explained(), table[:, :6], table[:, 6], most=3) == [4, 1, 3]
    twice = np.column_stack([table[:, 4], table[:, :6]])
    chosen_first = selection.forward(Explained(), twice, table[:, 6], most=2)
    assert chosen_first == [0, 2]  # the copy of a chosen feature adds nothing


def test_constant_columns_are_never_chosen(table):
    features = table[:, :6].copy()
    features[:, 2] = 1.0
    assert sorted(selection.forward(Explained(), features, table[:, 6], most=9)) == [0, 1, 3, 4, 5]


def test_the_regressor_is_the_one_that_is_stated(table):
    learn, judge = table[:80], table[80:]
    squares = ((learn[:, None, :2] - learn[None, :, :2]) ** 2).sum(axis=2)
    apart = squares[np.triu_indices(80, 1)]
    sigma = (1 / np.quantile(apart, 0.1) + 1 / np.quantile(apart, 0.9)) / 2
    weights = np.linalg.solve(np.exp(-sigma * squares) + np.eye(80), learn[:, 6])
    across = ((judge[:, None, :2] - learn[None, :, :2]) ** 2).sum(axis=2)
    expected = np.mean((np.exp(-sigma * across) @ weights - judge[:, 6]) ** 2) / np.var(judge[:, 6])
    found = selection.normalised_error((learn[:, :2], learn[:, 6]), (judge[:, :2], judge[:, 6]))
    assert found == pytest.approx(expected, rel=1e-9)


def test_halves_are_disjoint_and_the_same_for_all():
    halves = selection.split(101, seed=1, number=0)
    assert sorted([*halves.learn, *halves.judge]) == list(range(101))
    assert abs(len(halves.learn) - len(halves.judge)) == 1
    assert np.array_equal(halves.learn, selection.split(101, seed=1, number=0).learn)
    assert not np.array_equal(halves.learn, selection.split(101, seed=1, number=1).learn)


def test_selection_of_a_small_table(table, tmp_path):
    data = [panels.DataSet("a", table / table.std(axis=0), tuple("abcdefy"), ("column z: text",))]
    sizes = selection.Sizes(splits=3, features=4, rows=40)
    record = selection.measure_selection(tmp_path / "s.json", [Explained()], data, sizes=sizes)
    again = selection.measure_selection(tmp_path / "t.json", [Explained()], data, sizes=sizes, jobs=2)
    assert record.rows == again.rows
    for row in record.rows.values():
        assert (row["rows"], row["learned_from"], row["judged_by"]) == (40, 40, 100)
        assert row["chosen"][:2] == [4, 1]
        assert row["nmse"][1] < row["nmse"][0] < 1
    means, spread, n_splits = selection.curves(record, "a", "explained")
    assert n_splits == 3
    assert means[0] == np.mean([row["nmse"][0] for row in record.rows.values()])
    assert spread[0] == pytest.approx(np.std([row["nmse"][0] for row in record.rows.values()], ddof=1))
    (summary,) = selection.summarise(record)
    assert summary.rows[0][0] == "a"
    assert "a: column z: text left out" in summary.notes


def test_data_are_numbers_without_gaps():
    frame = pl.DataFrame({
        "kind": ["a", "b", "c", "d"], "x": [1.0, None, 3.0, 5.0], "same": [2, 2, 2, 2], "target": [1, 2, 3, 8],
    })  # fmt: skip
    data = prepared("name", frame)
    assert data.columns == ("x", "target")
    assert data.left_out == ("column kind: text", "1 rows with missing cells", "column same: constant")
    assert data.values.mean(axis=0) == pytest.approx(0, abs=1e-12)
    assert data.values.std(axis=0) == pytest.approx(1)
    with pytest.raises(InputError, match="target of numbers"):
        prepared("name", frame.select("x", "kind"))


def test_files_that_are_absent_are_named(tmp_path):
    (tmp_path / "abalone.csv").write_text("a,target\n1,2\n2,3\n3,5\n")
    assert read_panels(tmp_path, names=["abalone"])[0].values.shape == (3, 2)
    with pytest.raises(InputError, match=r"lacks autoprice\.csv, .*whitewine\.csv"):
        read_panels(tmp_path)


def test_without_a_network_the_error_says_what_to_do(monkeypatch):
    import sklearn.datasets

    def offline(**_):
        raise OSError("no route to host")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", offline)
    with pytest.raises(InputError, match=r"abalone cannot be had from OpenML \(no route to host\): name .* data=DIR"):
        read_panels(None)


def test_data_from_openml_have_the_target_last(monkeypatch):
    import pandas as pd
    import sklearn.datasets

    frame = pd.DataFrame({"V30": [1.0, 2, 4], "V1": [3.0, 1, 2], "Class": pd.Categorical(["1", "2", "2"])})

    class Fetched:
        pass

    fetched = Fetched()
    fetched.frame, fetched.target = frame, frame["Class"]
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **_: fetched)
    (breast,) = read_panels(None, names=["breast"])
    assert breast.columns == ("V1", "V30")
    (wine,) = read_panels(None, names=["whitewine"])
    assert wine.columns == ("V30", "V1", "Class")
    with pytest.raises(InputError, match="OpenML does not have crime"):
        read_panels(None, names=["crime"])


def test_the_papers_twelve_panels():
    assert len(PANELS) == len({panel.file for panel in PANELS}) == 12


# Who takes part.


def test_entries_by_name():
    assert [str(entry) for entry in chosen(["auto", "pearson", "auto"])] == ["auto", "pearson"]
    assert str(chosen(None)[-1]) == "auto"
    with pytest.raises(InputError, match=r"measures=person: .*pearson"):
        chosen(["person"])


def test_selection_takes_measures_of_vectors():
    with pytest.raises(InputError, match="pearson is no measure of vectors"):
        selection.compared(["pearson"])


# Tables and figures.


def test_markdown():
    summary = Summary("Title", ("a|b", "n"), [("x", "1")], ("told once",))
    assert summary.markdown() == "### Title\n\n| a\\|b | n |\n| --- | ---: |\n| x | 1 |\n\nTold once.\n"
    assert [number(value) for value in (None, float("nan"), -0.001, -0.5)] == ["–", "–", "0.00", "−0.50"]


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


def test_the_other_figures(tmp_path, table):
    limits = times.Limits(sizes=(300, 400), runs=1, seconds=1, cancelled_after=30)
    timed = curves.plot_times(times.measure_times(tmp_path / "t.json", [PEARSON], limits=limits))
    assert [len(ax.get_lines()[0].get_xdata()) for ax in timed.axes] == [2, 4]
    record = gallery.measure_gallery(tmp_path / "g.json", [PEARSON], n=50)
    texts = [text.get_text() for ax in figures.plot_all_measures(record).axes for text in ax.texts]
    assert len(texts) == 14
    assert texts[0] == "1.00"
    data = [panels.DataSet("a", table, tuple("abcdefy"))]
    chosen_by = selection.measure_selection(
        tmp_path / "s.json", [Explained()], data, sizes=selection.Sizes(splits=2, features=3, rows=40)
    )
    (ax,) = curves.plot_selection(chosen_by).axes
    assert ax.get_title() == "a"
    assert list(ax.get_lines()[0].get_xdata()) == [1, 2, 3]


def test_without_matplotlib_there_are_numbers(tmp_path, monkeypatch):
    def missing(_):
        raise MissingExtraError("matplotlib is not installed")

    drawn = reproduce.Experiment(reproduce.EXPERIMENTS["gallery"].run, gallery.summarise, missing)
    monkeypatch.setitem(reproduce.EXPERIMENTS, "gallery", drawn)
    said = []
    request = reproduce.Request("gallery", tmp_path, quick=True, measures=["pearson"], jobs=1)
    found = reproduce.reproduce(request, say=said.append)
    assert said == ["no figure: matplotlib is not installed"]
    assert [path.name for path in found.paths] == ["gallery-quick.json", "gallery-quick.md"]
    assert len(found.summaries) == 2
    with pytest.raises(MissingExtraError):
        reproduce.reproduce(reproduce.Request("gallery", tmp_path, quick=True, draw_only=True), say=said.append)


# From Python.


def test_experiments_run_from_python(tmp_path):
    said = []
    settings = {"quick": True, "measures": ["pearson", "rdc"], "jobs": 1, "seed": np.int64(3), "say": said.append}
    found = renyi.experiments.run_experiment("gallery", str(tmp_path), **settings)
    assert found.settings == {"seed": 3, "n": 500}
    assert len(found.results) == 28
    x, y = gallery.gallery_samples(500, seed=3)[0]
    assert found.results[0] == {
        "association": gallery.GALLERY[0].name, "measure": "pearson", "value": Pearson()(x, y),
    }  # fmt: skip
    assert [path.name for path in found.paths] == ["gallery-quick.json", "gallery-quick.md", "gallery-quick.png"]
    assert found.summaries[0].rows[0][0] == "pearson"
    found.paths[-1].unlink()
    drawn = renyi.experiments.draw_experiment("gallery", tmp_path, quick=True)
    assert drawn.results == found.results
    assert drawn.paths[-1].exists()
    with pytest.raises(InputError, match="no experiment 'powr'"):
        renyi.experiments.run_experiment("powr", tmp_path)
    for settings, message in (
        ({"measures": "pearson"}, "pass a list of names"),
        ({"seed": -1}, "seed=-1 makes no sense"),
        ({"jobs": 2.5}, r"jobs=2\.5 makes no sense"),
    ):
        with pytest.raises(InputError, match=message):
            renyi.experiments.run_experiment("gallery", tmp_path, **settings)
    with pytest.raises(InputError, match="nothing to draw"):
        renyi.experiments.draw_experiment("power", tmp_path)


def test_a_record_without_results_is_not_drawn(tmp_path):
    Record(tmp_path / "selection.json", "selection", {"splits": 2, "features": 3, "rows": 9}, ("data",)).write()
    with pytest.raises(InputError, match="has no results yet"):
        renyi.experiments.draw_experiment("selection", tmp_path)


# One run at a time.

HOLDER = """
import sys, time
from pathlib import Path
from renyi.experiments.locks import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_two_runs_do_not_share_results(tmp_path):
    path = tmp_path / "gallery-quick.json"
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE)
    try:
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(InputError, match=rf"written by another run \(process {holder.pid}\): wait"):
            renyi.experiments.run_experiment("gallery", tmp_path, quick=True, measures=["pearson"], jobs=1)
        assert not path.exists()
        with locked(tmp_path / "power.json"):  # another experiment is no matter
            pass
    finally:
        holder.kill()
        holder.communicate()
    # Nobody could tidy up behind a process that was killed, and its lock is gone all the same.
    assert (tmp_path / ".gallery-quick.lock").exists()
    renyi.experiments.run_experiment("gallery", tmp_path, quick=True, measures=["pearson"], jobs=1)
    assert sorted(os.listdir(tmp_path)) == ["gallery-quick.json", "gallery-quick.md", "gallery-quick.png"]


def test_a_lock_is_free_after_an_error(tmp_path):
    for _ in range(2):
        with pytest.raises(KeyError), locked(tmp_path / "a.json"):
            raise KeyError
    assert os.listdir(tmp_path) == []


# The command.


def test_the_command_writes_and_tells(tmp_path):
    arguments = ["reproduce", "gallery", "--quick", "--measures", "pearson", "--jobs", "1", "--out", str(tmp_path)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0
    assert "pearson" in done.stdout
    assert sorted(os.listdir(tmp_path)) == ["gallery-quick.json", "gallery-quick.md", "gallery-quick.png"]
    (tmp_path / "gallery-quick.png").unlink()
    before = (tmp_path / "gallery-quick.json").read_text()
    drawn = CliRunner().invoke(app, ["reproduce", "gallery", "--quick", "--out", str(tmp_path), "--draw-only"])
    assert drawn.exit_code == 0
    assert (tmp_path / "gallery-quick.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "gallery-quick.json").read_text() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["powr"], "no experiment 'powr': choose one of power, times, gallery, selection"),
        (["power", "--measures", "person"], "no such measure"),
        (["power", "--data", "."], "makes its own data"),
        (["power", "--draw-only"], "nothing to draw"),
        (["times", "--jobs", "2"], "would disturb the times"),
        (["selection", "--data", "nowhere"], "data=nowhere is no folder"),
        (["power", "--measures", ","], "measures names none: choose from pearson"),
        (["gallery", "--measures", " "], "measures names none: choose from pearson"),
        (["selection", "--measures", ","], "measures names none: choose from cca"),
        (["power", "--draw-only", "--measures", "rdc"], "whatever --measures would be: leave it out"),
        (["power", "--draw-only", "--seed", "3", "--jobs", "2"], "whatever --jobs and --seed would be"),
    ],
)
def test_what_cannot_be_met_is_refused(arguments, message, tmp_path):
    result = CliRunner().invoke(app, ["reproduce", *arguments, "--out", str(tmp_path / "out")])
    assert isinstance(result.exception, InputError)
    assert message in str(result.exception)


def test_a_place_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        done = subprocess.run(
            [sys.executable, "-m", "renyi", "reproduce", "power", "--out", str(out)],
            capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"renyi: --out {out} cannot be written to")
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
def test_ctrl_c_leaves_results_to_go_on_with(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "renyi", "reproduce", "power", "--measures", "pearson", "--out", str(tmp_path)],
        stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not (tmp_path / "power.json").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # a terminal tells all processes of the group
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said == b""
    assert 0 < len(results(tmp_path / "power.json")) < 420
    assert os.listdir(tmp_path) == ["power.json"]
