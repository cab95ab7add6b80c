import os

import pytest

from odd_measures import Broken, Dying, Hungry, Sleepy
from renyi.errors import RenyiError
from renyi.experiments import times
from renyi.experiments.entries import Coefficient
from renyi.experiments.runs import Run
from small_experiments import PEARSON, results


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
def test_a_slow_run_is_cancelled_and_more_rows_are_not_tried(tmp_path):
    diary = tmp_path / "diary"
    limits = times.Limits(sizes=(250, 300, 350), runs=3, seconds=60, cancelled_after=0.5)
    sleepy = Coefficient(Sleepy(n=300, diary=str(diary)))
    record = times.measure_times(Run(tmp_path / "times.json"), [sleepy], limits=limits)
    fast, slow, lost = record.rows.values()
    assert fast["runs"] == 3
    assert 0 < fast["least"] <= fast["seconds"] < 0.5
    assert (slow["runs"], slow["seconds"], slow["reason"]) == (0, None, "cancelled after 0.5 s")
    assert (lost["runs"], lost["seconds"], lost["lost_at"]) == (0, None, 300)
    assert not is_alive(int(diary.read_text()))
    (table,) = times.summarise(record)
    assert table.rows[0][2:4] == ("–", "–")
    assert f"{sleepy} at n = 300: cancelled after 0.5 s" in table.notes


@pytest.mark.slow
def test_a_refusal_and_a_death_are_reasons(tmp_path):
    limits = times.Limits(sizes=(1000,), runs=2, seconds=1, cancelled_after=30)
    assert "refused: hungry on 1,000 rows would take" in times.times_of(
        Coefficient(Hungry()), 1000, limits=limits, seed=0
    )["reason"]  # fmt: skip
    assert "ended with code 9" in times.times_of(Coefficient(Dying()), 1000, limits=limits, seed=0)["reason"]


@pytest.mark.slow
def test_a_failure_is_no_result_and_is_tried_again(tmp_path):
    limits = times.Limits(sizes=(300, 400), runs=2, seconds=1, cancelled_after=30)
    path = tmp_path / "times.json"
    with pytest.raises(RenyiError, match=r"2 of 4 tasks failed, the first \(300, broken\) .*: ZeroDivisionError"):
        times.measure_times(Run(path), [Coefficient(Broken()), PEARSON], limits=limits)
    assert [row["measure"] for row in results(path)] == ["pearson", "pearson"]
    assert times.measure_times(Run(path), [PEARSON], limits=limits).rows.keys() == {(300, "pearson"), (400, "pearson")}


@pytest.mark.slow
def test_a_death_is_told_and_tried_again(tmp_path):
    limits = times.Limits(sizes=(300, 400), runs=1, seconds=1, cancelled_after=30)
    said = []
    for _ in range(2):
        record = times.measure_times(
            Run(tmp_path / "times.json", say=said.append), [Coefficient(Dying())], limits=limits
        )
        died, lost = record.rows.values()
        assert "ended with code 9" in died["reason"]
        assert lost["lost_at"] == 300
    (table,) = times.summarise(record)
    assert any("ended with code 9" in note for note in table.notes)
    assert record.rows[300, "dying"] is died


@pytest.mark.slow
def test_no_run_begins_after_its_time():
    limits = times.Limits(sizes=(300,), runs=1000, seconds=0.0, cancelled_after=30)
    assert times.times_of(PEARSON, 300, limits=limits, seed=0)["runs"] == 1


def test_the_papers_times_stand_beside_ours(tmp_path):
    limits = times.Limits(sizes=(1000,), runs=2, seconds=1, cancelled_after=30)
    record = times.measure_times(Run(tmp_path / "times.json"), [PEARSON], limits=limits)
    (table,) = times.summarise(record)
    assert table.header == ("measure", "n = 1,000", "paper, n = 1,000")
    assert table.rows[0][::2] == ("pearson", "0.0001")
