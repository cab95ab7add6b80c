import numpy as np
import pytest

from odd_measures import Explained
from renyi.errors import InputError
from renyi.experiments import panels, selection
from renyi.experiments.runs import Run


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


@pytest.mark.slow
def test_selection_of_a_small_table(table, tmp_path):
    data = [panels.DataSet("a", table / table.std(axis=0), tuple("abcdefy"), ("column z: text",))]
    sizes = selection.Sizes(splits=3, features=4, rows=40)
    record = selection.measure_selection(Run(tmp_path / "s.json"), [Explained()], data, sizes=sizes)
    again = selection.measure_selection(Run(tmp_path / "t.json", jobs=2), [Explained()], data, sizes=sizes)
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


def test_selection_takes_measures_of_vectors():
    with pytest.raises(InputError, match="pearson is not a measure of vectors"):
        selection.compared(["pearson"])
