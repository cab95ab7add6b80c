"""Runs that are interrupted, repeated or made with other settings lose nothing."""

import json
import os
from dataclasses import dataclass

import pytest

from odd_measures import Failing
from renyi.errors import InputError, RenyiError
from renyi.experiments import power
from renyi.experiments.entries import Coefficient
from renyi.experiments.runs import Run, read_record
from small_experiments import PEARSON, PLAIN, results, run_power


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


@pytest.mark.slow
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
            Run(tmp_path / "power.json").record("power", {}, named_by=())
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
