"""What every measure has from its base, by measures that have nothing else."""

import math
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import pytest

import renyi
from odd_measures import Explained, Hungry, Plain, statement
from renyi.coefficients.base import Side, Tail
from renyi.coefficients.rows import Rows
from renyi.data.reader import as_column
from renyi.errors import InputError


@dataclass(frozen=True)
class Surprised(Plain):
    """Has a null distribution by which everything is next to impossible."""

    name = "surprised"
    statement = renyi.measure("pearson").statement

    def null_tail(self, x, y, value, /):
        return Tail(value, -1e6)


def sides(measure, *columns):
    return [measure.side(as_column(values, "x")) for values in columns]


def test_no_pvalue_of_a_null_distribution_is_below_that_of_the_only_order(rng):
    rare, many = np.repeat([0.0, 1.0], [58, 2]), rng.standard_normal(60)
    assert Surprised().test(many, rare).log_pvalue == pytest.approx(-math.log(math.comb(60, 2)), rel=1e-12)
    assert Surprised().test(many, rng.permutation(many)).log_pvalue == pytest.approx(-math.lgamma(61), rel=1e-12)


def test_ties_on_few_rows_are_permuted_whatever_the_null_distribution_says(rng):
    tied, many = np.round(rng.standard_normal(20)), rng.standard_normal(20)
    assert Surprised().by_theory(*sides(Surprised(), many, many), 0.5) is not None
    assert Surprised().by_theory(*sides(Surprised(), many, tied), 0.5) is None
    assert Plain().by_theory(*sides(Plain(), many, many), 0.5) is None


def test_pvalues_by_permutation_are_those_of_all_orders():
    x, y = np.array([0.0, 1.0, 2.5, 2.0, 7.0, 3.0]), np.array([1.0, 0.3, 2.0, 4.0, 4.5, 3.9])
    value = Plain()(x, y)
    of_all = np.mean([Plain()(x, y[list(order)]) >= value - 1e-12 for order in permutations(range(6))])
    found = Plain().test(x, y, n_resamples=9999)
    # Permuting ends at 100 values as large: a standard error of a tenth, of which four.
    assert found.pvalue == pytest.approx(of_all, rel=0.4)
    assert found.calibration == "permutation"


def test_permutations_know_neither_the_order_of_rows_nor_that_of_the_sides(rng):
    x, y = rng.standard_normal((2, 30))
    order = rng.permutation(30)
    expected = Plain().test(x, y, n_resamples=200).pvalue
    assert Plain().test(x[order], y[order], n_resamples=200).pvalue == expected
    assert Plain().test(y, x, n_resamples=200).pvalue == expected
    assert Plain().test(x, y, n_resamples=200, rng=1).pvalue != expected


def test_what_takes_too_much_memory_is_refused_before_it_is_prepared(monkeypatch, rng):
    monkeypatch.setattr(Hungry, "prepare", lambda *_: pytest.fail("it was prepared"))
    with pytest.raises(InputError, match=r"hungry on 1,000 rows would take 931\.3 GiB, and more than 4 are refused"):
        Hungry()(rng.random(1000), rng.random(1000))


def test_categories_are_indicators_of_the_levels_that_occur():
    three = as_column(renyi.categorical(["b", "a", "c", "a"]), "x")
    assert Explained().numbers_of(three).tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1], [1, 0, 0]]
    two = as_column(renyi.categorical(["b", "a", "b"]), "x")
    assert Explained().numbers_of(two).tolist() == Plain().numbers_of(two).tolist() == [1, 0, 1]
    with pytest.raises(InputError, match="x is a category of 3 levels, and plain takes numbers alone"):
        Plain().numbers_of(three)


def test_a_side_is_as_long_as_its_rows_and_a_name_has_its_settings():
    @dataclass(frozen=True)
    class Set(Plain):
        name = "set"
        statement = statement()
        width: float = 1.0
        way: str = "up"

    assert (str(Set()), str(Set(width=2.0)), str(Set(2.0, "down"))) == (
        "set",
        "set(width=2.0)",
        "set(width=2.0, way='down')",
    )
    assert len(Side(None, Rows(np.arange(5.0)))) == 5


def test_measures_say_what_tables_can_do_by_them():
    able = {
        name: (by.has_null, by.has_bias, by.in_batches, by.on_device)
        for name in renyi.measures()
        for by in [renyi.measure(name)]
    }
    assert able["rdc"] == (True, True, True, True)
    assert able["pearson"] == (True, False, False, False)
    assert able["mic"] == (False, False, False, False)
    assert [name for name in able if renyi.measure(name).features is not None] == ["rdc"]
