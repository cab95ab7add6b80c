"""Every door gives the same answer, and refuses with a reason what it cannot do yet."""

from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from os import environ

import numpy as np
import pytest

import renyi
from contracts.answers import Answer, check_same
from contracts.doors import (
    BATCHES,
    BY_PAIRS,
    DOORS,
    IN_MEMORY,
    MOST_PAIRS,
    ON_DEVICES,
    REFERENCE,
    Door,
    as_dict,
    as_pandas,
    columns_alone,
)
from contracts.tables import Table
from contracts.zoo import TABLES

# From so many rows on products are taken in float32.
SINGLE_FROM = 4096


@cache
def expected(name: str) -> Answer:
    return REFERENCE.answer(TABLES[name])


def rounding(door: Door, table: Table):
    return door.rounding if table.n_rows < SINGLE_FROM else door.single


# Doors that differ from another in how they read alone take one of so many tables that are not about reading, each door
# others; all of them where RENYI_CONTRACTS is "all".
ONE_OF = 1 if environ.get("RENYI_CONTRACTS") == "all" else 3


def cases(doors, tables, *, reading=True):
    """Doors with the tables that they can hold."""
    found = []
    for d, door in enumerate(doors):
        for t, table in enumerate(filter(door.holds, tables)):
            is_whole = door.is_key or door.only or (reading and table.is_about_reading)
            if not is_whole and (d + t) % ONE_OF:
                continue
            is_slow = table.is_slow or door.only or not is_whole
            marks = [pytest.mark.slow] if is_slow else []
            if door.needs and find_spec(door.needs) is None:
                marks.append(pytest.mark.skip(reason=f"needs {door.needs}"))
            found.append(pytest.param(door, table, marks=marks, id=f"{door}-{table}"))
    return found


def some(*names):
    return [TABLES[name] for name in names]


@pytest.mark.parametrize(("door", "table"), cases([door for door in DOORS if door is not REFERENCE], TABLES.values()))
def test_all_pairs(door, table):
    refusal = door.refusal(table)
    if refusal:
        with pytest.raises(renyi.InputError, match=refusal):
            door.answer(table)
        return
    found, wanted = door.answer(table), expected(table.name)
    if not table.is_about_reading:
        # Text files have more to decide, such as what codes are.
        wanted = replace(wanted, notes=None)
    if door in BATCHES:
        wanted = wanted.of_vectors_in_batches()
    if door in BY_PAIRS and len(wanted.pairs) > MOST_PAIRS:
        assert len(found.pairs) > MOST_PAIRS / 2
        wanted = wanted.among(found.pairs.__contains__)
    check_same(found, wanted, rounding(door, table))


@pytest.mark.parametrize("door", [door for door in DOORS if door.holds(TABLES["no_association"])], ids=str)
def test_no_association_at_all_has_a_p_value_of_one(door):
    if door.refusal(TABLES["no_association"]):
        pytest.skip("not done by this door yet")
    assert door.answer(TABLES["no_association"]).pairs["a", "b"]["log p"] == 0.0


SCREENED = some("ties", "gaps", "labels_and_gaps", "rare_levels", "infinities", "whole_numbers")


@pytest.mark.parametrize(("door", "table"), cases(DOORS, SCREENED))
def test_pairs_of_a_target(door, table):
    target = list(table.columns)[1]
    asked_for = {"target": target if door.has_names else "x1"}
    if door.refusal(table):
        with pytest.raises(renyi.InputError, match=door.refusal(table)):
            door.answer(table, **asked_for)
        return
    check_same(door.answer(table, **asked_for), expected(table.name).towards(target), door.rounding)


# Two tables side by side.

HALVED = some("complete", "ties", "single_precision", "labels_and_gaps", "rare_levels", "dates", "wide_and_mixed")


@pytest.mark.parametrize(
    ("door", "table"),
    cases([d for d in (*IN_MEMORY, *ON_DEVICES) if d.has_names and not d.name.startswith("duckdb")], HALVED),
)
def test_columns_of_two_tables(door, table, tmp_path):
    left, right = halves(table)
    if door.refusal(table):
        with pytest.raises(renyi.InputError, match=door.refusal(table)):
            door.answer(table)
        return
    (tmp_path / "other").mkdir()
    found = Answer.of(renyi.matrix(door.build(left, tmp_path), door.build(right, tmp_path / "other")))
    wanted = expected(table.name).among(lambda pair: pair[0] in left.columns and pair[1] in right.columns)
    check_same(found, wanted, door.rounding)


def halves(table):
    names = list(table.columns)
    return table.only(*names[: len(names) // 2]), table.only(*names[len(names) // 2 :])


OF_TENSORS = [door for door in ON_DEVICES if door.name.startswith("tensors")]


@pytest.mark.parametrize(("door", "table"), cases(OF_TENSORS, some("complete", "ties", "beyond_floats")))
def test_a_frame_beside_tensors(door, table, tmp_path):
    """What is in memory goes to the device of the other table."""
    left, right = halves(table)
    found = Answer.of(renyi.matrix(as_pandas(left), door.build(right, tmp_path)))
    wanted = REFERENCE.answer(table).among(lambda pair: pair[0] in left.columns and pair[1] in right.columns)
    check_same(found, wanted, door.rounding)


# What can be put side by side: rows that have an order, or the same partitions.
ENGINES = ("spark", "duckdb", "ibis")
BESIDE = [door for door in BATCHES if not door.name.startswith(("accumulators", *ENGINES))]


@pytest.mark.parametrize(("door", "table"), cases(BESIDE, some("complete", "labels_and_gaps", "dates")))
def test_columns_of_two_tables_in_batches(door, table, tmp_path):
    """Neither is cut where the other is, and both have a column of the same name."""
    left, right = halves(table)
    shared = next(iter(left.columns))
    right = replace(right, columns=right.columns | {shared: left.columns[shared]})
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
    other = door.build(right, tmp_path / "there")
    # Some doors hold how many rows there are, too.
    other = other[1] if isinstance(other, tuple) else other
    if isinstance(other, list):
        other = [as_pandas(right)]
    found = Answer.of(door.ask(door.build(left, tmp_path / "here"), other=other))
    wanted = Answer.of(renyi.matrix(as_pandas(left), as_pandas(right)))
    check_same(replace(found, notes=None), wanted, door.rounding)


@pytest.mark.usefixtures("in_batches")
@pytest.mark.parametrize("table", some("complete", "labels_and_gaps"), ids=str)
def test_a_frame_beside_a_stream(table):
    left, right = halves(table)
    wanted = Answer.of(renyi.matrix(as_pandas(left), as_pandas(right)))
    batches = [as_dict(right.rows(start, start + 31)) for start in range(0, right.n_rows, 31)]
    check_same(Answer.of(renyi.matrix(as_pandas(left), iter(batches))), wanted)
    turned = Answer.of(renyi.matrix(as_pandas(right), as_pandas(left)))
    check_same(Answer.of(renyi.matrix(batches, as_pandas(left))), turned)


NAMED = [door for door in (*IN_MEMORY, *BATCHES) if door.has_names]


@pytest.mark.parametrize(("door", "table"), cases(NAMED, some("complete", "vectors_with_gaps", "rare_levels")))
def test_columns_that_all_others_are_compared_with(door, table, tmp_path):
    *_, before, last = expected(table.name).types
    within = {part: vector for vector, parts in table.options.get("vectors", {}).items() for part in parts}
    right = [name for name in table.columns if within.get(name, name) in (before, last)]
    left = [name for name in table.columns if name not in right]
    settings = {"others": [before, last]} if door.name == "accumulators" else {"other": [before, last]}
    found = Answer.of(door.ask(door.build(table, tmp_path), **table.options, **settings))
    whole = renyi.matrix(as_pandas(table.only(*left)), as_pandas(table.only(*right)), **table.options)
    wanted = Answer.of(whole)
    check_same(found, wanted.of_vectors_in_batches() if door in BATCHES else wanted, door.rounding)


SCREENED_BY_VECTORS = some("complete", "gaps", "whole_numbers")


@pytest.mark.parametrize(("door", "table"), cases(BATCHES, SCREENED_BY_VECTORS))
def test_a_target_that_is_a_vector(door, table, tmp_path):
    target = list(table.columns)[:2]
    found = Answer.of(door.ask(door.build(table, tmp_path), target=target))
    wanted = Answer.of(renyi.screen(as_pandas(table), target))
    check_same(found, wanted.of_vectors_in_batches(), door.rounding)


# The strongest pairs.


BY_RATES = {
    "gaps": "bh",
    "rare_events": "bh",
    "constant_on_common_rows": "bh",
    "dozen_with_gaps": "by",
    "dozen": "bonferroni",
}


@pytest.mark.parametrize(("of_table", "correction"), BY_RATES.items())
def test_strongest_pairs(of_table, correction):
    table = TABLES[of_table]
    every = renyi.matrix(as_dict(table), correction=correction).to_long()
    found = renyi.pairs(as_dict(table), fdr=1.0, top=10**6, correction=correction).to_frame()
    is_there = ~np.isnan(every["coefficient"])
    for name, values in found.items():
        if name == "q":
            # Rates are read from a histogram of p-values: a little too large, never too small.
            assert (values >= every["q"][is_there] * (1 - 1e-12)).all()
            assert (values <= every["q"][is_there] * 1.0021).all()
        else:
            np.testing.assert_array_equal(values, every[name][is_there], err_msg=name)


@pytest.mark.parametrize(
    "settings", [{"top": 7}, {"threshold": 0.2}, {"top": 5, "threshold": 0.1, "fdr": 0.2}], ids=str
)
def test_the_strongest_of_the_strongest(settings):
    table = as_dict(TABLES["dozen_with_gaps"])
    whole, found = renyi.matrix(table).to_long(), renyi.pairs(table, **settings).to_frame()
    is_kept = (whole["q"] <= settings.get("fdr", 0.05)) & (whole["strength"] >= settings.get("threshold", 0.0))
    strongest = whole[is_kept].head(settings.get("top", len(whole)))
    assert len(found["x"]) > 2
    for name in ("x", "y", "coefficient", "debiased", "strength", "p", "n"):
        np.testing.assert_array_equal(found[name], strongest[name], err_msg=name)


@pytest.mark.parametrize("table", some("gaps", "vectors", "dozen", "dozen_with_gaps"), ids=str)
def test_what_is_found_has_a_strength(table):
    """Every door says the strength of these pairs, whose coefficient is below that of chance."""
    found = Answer.of(renyi.matrix(as_dict(table), **table.options)).pairs.values()
    hidden = [said for said in found if said["debiased"] < 0 and said["log p"] < np.log(0.03)]
    assert hidden
    assert all(0.1 < said["strength"] < 0.5 for said in hidden)
    assert not any(said["strength"] < 0 for said in found)


# Given others.


@pytest.mark.parametrize("table", some("gaps", "labels_and_gaps", "categories"), ids=str)
def test_a_screening_given_others_is_the_conditional_test(table):
    target, given, *others = table.columns
    alone = columns_alone(table)
    found = Answer.of(renyi.screen(as_pandas(table), target, given=given)).pairs
    assert {x for x, _ in found} == set(others)
    for name in others:
        test = renyi.conditional_test(alone[name], alone[target], alone[given], missing="listwise")
        said = found[name, target]
        assert (said["coefficient"], said["log p"], said["n"]) == (test.coefficient, test.log_pvalue, test.n_samples)
        assert (said["debiased"], said["strength"]) == (test.debiased, test.strength)


@pytest.mark.parametrize("door", [*BATCHES, *ON_DEVICES], ids=str)
def test_given_is_for_memory(door, tmp_path):
    if door.name == "accumulators":
        pytest.skip("an accumulator has no given")
    target, given = ("x", "wave") if door.has_names else ("x0", "x3")
    with pytest.raises(renyi.InputError, match=r"given is (for tables in memory|not for a device)"):
        door.ask(door.build(TABLES["complete"], tmp_path), target=target, given=given)
