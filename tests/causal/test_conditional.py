import copy
import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

import renyi
from renyi.causal import ConditionalTest


@pytest.fixture
def table(rng):
    """a causes b and c, which cause d; a level and a text that go with a."""
    a = rng.standard_normal(300)
    b, c = a**2 + rng.standard_normal(300), np.cos(2 * a) + 0.5 * rng.standard_normal(300)
    return pd.DataFrame(
        {
            "a": a,
            "b": b,
            "c": c,
            "d": np.abs(b) + c + rng.standard_normal(300),
            "level": pd.Categorical(np.where(a + rng.standard_normal(300) > 0, "high", "low")),
            "day": pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 200, 300), unit="D"),
            "kind": np.array(["red", "green", "blue"])[rng.integers(0, 3, 300)],
        }
    )


def asked_of(names, sizes=(0, 1, 2)):
    """Pairs of columns and some of the others."""
    for x, y in itertools.combinations(names, 2):
        others = [name for name in names if name not in (x, y)]
        for size in sizes:
            yield x, y, others[:size]


def alone(columns, x, y, given):
    """The p-value as other calls give it."""
    x, y, *given = (columns[name] for name in (x, y, *given))
    return (renyi.conditional_test(x, y, given) if given else renyi.independence_test(x, y)).pvalue


def test_every_answer_is_that_of_a_single_test(table):
    test = ConditionalTest(table)
    columns = {name: table[name] for name in table} | {"kind": renyi.categorical(table["kind"])}
    for x, y, given in list(asked_of(list(table)))[::4]:
        assert test.pvalue(x, y, given) == alone(columns, x, y, given)


def test_sides_and_order_do_not_matter(table):
    test = ConditionalTest(table)
    found = test.pvalue("b", "d", ["a", "c"])
    assert test.pvalue("d", "b", ("c", "a")) == found
    assert ConditionalTest(table).pvalue("d", "b", {"c", "a"}) == found
    assert test.pvalue("b", "d", "a") == test.pvalue("b", "d", ["a"])
    result = test.test("b", "d", ["c", "a"])
    assert (result.pvalue, result.given) == (found, ("a", "c"))
    assert "given a and c" in result.summary() or "a, c" in result.summary()


@pytest.fixture
def made(monkeypatch):
    """What was held fixed whenever features were made."""
    made = []
    fixed = renyi.causal.conditional.Fixed

    def counted(columns):
        made.append([column.name for column in columns])
        return fixed(columns)

    monkeypatch.setattr(renyi.causal.conditional, "Fixed", counted)
    return made


def test_features_are_made_once_and_kept_within_memory(table, made):
    numbers = table[["a", "b", "c", "d"]]
    asked = list(asked_of(list(numbers), sizes=(1, 2)))
    test = ConditionalTest(numbers)
    found = [test.pvalue(*each) for each in asked]
    assert len(made) == len({tuple(given) for *_, given in asked})
    # An answer is not worked out again.
    assert [test.pvalue(*each) for each in asked] == found
    assert len(made) < len(asked)
    made.clear()
    tight = ConditionalTest(numbers, memory=1)
    assert [tight.pvalue(*each) for each in asked + asked] == found + found
    assert len(made) > len({tuple(given) for *_, given in asked})
    assert len(tight._kept._fixed) == 1


def test_gaps_are_left_out_test_by_test_or_from_all(table):
    numbers = table[["a", "b", "c", "d"]].mask(np.arange(1200).reshape(300, 4) % 29 == 0)
    numbers["c"] = table["c"]
    columns = {name: numbers[name] for name in numbers}
    test = ConditionalTest(numbers)
    for x, y, given in asked_of(list(numbers), sizes=(1, 2)):
        expected = renyi.conditional_test(columns[x], columns[y], [columns[name] for name in given], missing="listwise")
        assert test.test(x, y, given).n_samples == expected.n_samples < 300
        assert test.pvalue(x, y, given) == expected.pvalue
    assert test.pvalue("a", "b") == renyi.independence_test(columns["a"], columns["b"], missing="pairwise").pvalue
    complete = ConditionalTest(numbers, missing="listwise")
    assert complete.pvalue("a", "d", ["c"]) == ConditionalTest(numbers.dropna()).pvalue("a", "d", ["c"])
    with pytest.raises(renyi.InputError, match="3 columns with missing cells: 'a'"):
        ConditionalTest(numbers, missing="raise")


def test_where_no_test_can_be_made_edges_are_kept(table):
    test = ConditionalTest(table.assign(twice=2 * table["a"]))
    with pytest.warns(renyi.CalibrationWarning, match="is determined by"):
        assert np.isnan(test.pvalue("a", "b", ["twice"]))
    # Warned of once.
    assert test("a", "c", ["twice"]) is False
    assert np.isnan(test.p_value_)
    assert list(test.untested) == [("a", "b", ("twice",)), ("a", "c", ("twice",))]
    assert "2 of them without a p-value" in repr(test)
    with pytest.raises(renyi.InputError, match="is determined by"):
        test.test("a", "b", ["twice"])


def test_it_is_called_as_tests_of_pgmpy_are(table):
    test = ConditionalTest(table)
    assert test("b", "c", ["a"], significance_level=0.01) is True
    assert test("b", "c", [], significance_level=0.01) is False
    assert test.is_independent(X="b", Y="c", Z=("a",))
    result = test.test("b", "c", ["a"])
    assert test.run_test("b", "c", ["a"]) == (result.statistic, result.pvalue)
    assert (test.statistic_, test.p_value_, test.effect_size_) == (result.statistic, result.pvalue, result.strength)
    for other in (copy.deepcopy(test), pickle.loads(pickle.dumps(test))):
        assert other.pvalue("b", "d", ["a", "c"]) == test.pvalue("b", "d", ["a", "c"])


def test_threads_find_the_same(table):
    numbers = table[["a", "b", "c", "d"]]
    asked, one = list(asked_of(list(numbers))), ConditionalTest(numbers)
    many = ConditionalTest(numbers, memory=1)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda each: many.pvalue(*each), asked))
    assert found == pytest.approx([one.pvalue(*each) for each in asked], rel=1e-9)


def test_columns_are_named_or_placed(table):
    values = table[["a", "b", "c"]].to_numpy()
    array, turned = ConditionalTest(values), ConditionalTest(pd.DataFrame(values, columns=[2, 1, 0]))
    assert array.names == ("x0", "x1", "x2")
    assert array.pvalue(0, 1) == array.pvalue("x0", "x1") == array.pvalue(np.int64(1), 0)
    # A name goes before a place.
    assert turned.pvalue(2, 1) == array.pvalue(0, 1)
    assert ConditionalTest(values, types={"x2": "skip"}).names == ("x0", "x1")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("a", "z"), "the test names 'z', which is not a column of the table"),
        (("a", 8), "the place of a column must be an integer from 0 to 7, got 8"),
        (("a", "a"), "have a column in common"),
        (("a", "b", ["c", "b"]), "have a column in common"),
        (("a", "same"), "column 'same' cannot be tested: constant"),
    ],
)
def test_what_cannot_be_asked_is_told(table, asked, said):
    with pytest.raises(renyi.InputError, match=said):
        ConditionalTest(table.assign(same=1.0)).test(*asked)


def test_what_cannot_be_set_is_told(table):
    with pytest.raises(renyi.InputError, match="memory='much' is not an amount of memory"):
        ConditionalTest(table, memory="much")
    with pytest.raises(renyi.InputError, match="significance_level must be a number between 0 and 1, got 5"):
        ConditionalTest(table)("a", "b", [], 5)
