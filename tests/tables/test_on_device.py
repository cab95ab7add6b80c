"""Tables on a device, by what is read and refused there; numbers are in `allpairs/device` and in the contracts."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import renyi  # noqa: E402
from renyi.errors import InputError  # noqa: E402
from renyi.tables.arguments import Question  # noqa: E402
from renyi.tables.dependent_rows import Design  # noqa: E402
from renyi.tables.on_device import TableOnDevice  # noqa: E402


def on_device(measure="rdc", missing="pairwise", types=None, vectors=None):
    return TableOnDevice(
        torch.device("cpu"), Question(measure, missing, types, vectors, 1000, "bh", "1GB", 0, False, Design())
    )


def test_both_sides_of_a_screening_lose_the_same_rows(rng):
    values = rng.standard_normal((60, 3))
    values[:9, 0], values[50:, 2], values[20:26, 1] = np.nan, np.nan, np.nan
    name, fixed, table, edges = on_device(missing="listwise").screen(torch.tensor(values), "x1", None)
    assert (name, fixed) == ("x1", ())
    assert [column.name for column in table.columns] == ["x0", "x2"]
    assert edges.found.n.tolist() == [35, 35]


def test_two_tables_of_unequal_rows_are_refused(rng):
    x, y = torch.tensor(rng.random((30, 2))), torch.tensor(rng.random((29, 2)))
    with pytest.raises(InputError, match="the table has 30 rows and other has 29"):
        on_device().matrix(x, y)
    with pytest.raises(InputError, match="'listwise' would drop different rows of two tables"):
        on_device(missing="listwise").matrix(x, x)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ([], "target names no column"),
        ("x9", "target names 'x9'"),
        (["x0", "x9"], "names 'x9', which is not a column of the table: it has"),
    ],
)
def test_targets_are_columns_of_the_table(target, message, rng):
    with pytest.raises(InputError, match=message):
        on_device().screen(torch.tensor(rng.random((30, 3))), target, None)


@pytest.mark.parametrize("target", ["x1", ["x1", "x2"]])
@pytest.mark.parametrize("missing", ["pairwise", "listwise"])
def test_a_screening_with_gaps_is_that_of_memory(target, missing, rng):
    values = rng.standard_normal((90, 5))
    values[:, 3] = np.round(values[:, 3] + values[:, 1])
    values[rng.random(values.shape) < 0.15] = np.nan
    expected, found = (renyi.screen(one, target, missing=missing) for one in (values, torch.tensor(values)))
    assert (found.names, found.target) == (expected.names, expected.target)
    assert found.n_samples.tolist() == expected.n_samples.tolist()
    assert found.values == pytest.approx(expected.values, rel=1e-9)
    assert np.log(found.pvalues) == pytest.approx(np.log(expected.pvalues), rel=1e-7, abs=1e-9)


def test_a_target_that_says_nothing_is_told(rng):
    values = torch.tensor(rng.random((30, 3)))
    values[:, 1] = 2.5
    with pytest.raises(InputError, match=r"target 'x1' cannot be measured, it was left out: constant \(always 2\.5\)"):
        on_device().screen(values, "x1", None)


def test_types_and_vectors_are_for_frames_and_for_tensors(rng):
    values = rng.random((40, 4))
    values[:, 2] = rng.integers(0, 3, 40)
    settings = {"types": {"c": "category", "d": "skip"}, "vectors": {"v": ["a", "b"]}}
    columns = dict(zip("abcd", values.T, strict=True))
    tensors = {name: torch.tensor(part) for name, part in columns.items()}
    expected = renyi.matrix(columns, **settings)
    for data in (columns, tensors):
        table, other, edges = on_device(**settings).matrix(data, None)
        assert other is None
        assert [(column.name, column.kind) for column in table.columns] == [("v", "vector"), ("c", "category")]
        assert table.skipped == expected.skipped
        assert edges.found.coefficient == pytest.approx(expected.edges.found.coefficient, rel=1e-9)
    found = renyi.matrix(torch.tensor(values), types={"x2": "category"}, vectors={"v": ["x0", "x1"]})
    assert found.values == pytest.approx(
        renyi.matrix(values, types={"x2": "category"}, vectors={"v": ["x0", "x1"]}).values, rel=1e-9
    )


def test_what_is_asked_of_a_column_that_is_not_there_is_refused_as_in_memory(rng):
    values = rng.random((40, 3))
    for settings in ({"types": {"x9": "skip"}}, {"vectors": {"v": ["x0", "x9"]}}, {"types": {"x0": "odd"}}):
        messages = []
        for data in (values, torch.tensor(values)):
            with pytest.raises(InputError) as error:
                renyi.matrix(data, **settings)
            messages.append(str(error.value))
        assert messages[0] == messages[1]


def test_a_target_may_be_values_beside_the_table(rng):
    values, target = rng.standard_normal((70, 3)), rng.standard_normal(70)
    target[:9] = np.nan
    labels = rng.integers(0, 3, 70).astype(str)
    for own in (target, labels, np.column_stack((target, values[:, 0] ** 2))):
        for missing in ("pairwise", "listwise"):
            expected = renyi.screen(values, own, missing=missing)
            tables = torch.tensor(values), {f"x{j}": torch.tensor(part) for j, part in enumerate(values.T)}
            targets = (own,) if own is labels else (own, torch.tensor(own))
            for found in (renyi.screen(a, b, missing=missing) for a in tables for b in targets):
                assert (found.target, found.names) == ("target", expected.names)
                assert found.n_samples.tolist() == expected.n_samples.tolist()
                assert found.values == pytest.approx(expected.values, rel=1e-9)
                assert np.log(found.pvalues) == pytest.approx(np.log(expected.pvalues), rel=1e-7, abs=1e-9)


def test_both_of_two_tables_have_their_own_types(rng):
    a, b, c, d = rng.standard_normal((4, 60))
    c, settings = np.round(c), {"types": {"a": "number", "c": "category"}, "vectors": {"v": ["d", "e"]}}
    x, y = {"a": a, "b": b}, {"c": c, "d": d, "e": a * b}
    x["a"][3:9] = np.nan
    expected = renyi.matrix(x, y, **settings)
    tensors = {name: torch.tensor(part) for name, part in x.items()}
    for other in (y, {name: torch.tensor(part) for name, part in y.items()}):
        found = renyi.matrix(tensors, other, **settings)
        assert [v.column.name for v in found.edges.y] == ["c", "v"]
        assert found.values == pytest.approx(expected.values, rel=1e-9)
        assert np.log(found.pvalues) == pytest.approx(np.log(expected.pvalues), rel=1e-7, abs=1e-9)
        assert found.n_samples.tolist() == expected.n_samples.tolist()
    with pytest.raises(
        InputError, match=r"1 column with missing cells: .a. \(6, first in row 3\), and missing=.raise."
    ):
        renyi.matrix(tensors, y, missing="raise")
