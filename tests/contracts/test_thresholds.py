"""Every threshold is there, switches something, and changes no answer."""

import ast
import sys
import threading
from collections import Counter
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import renyi
from contracts.answers import check_same
from contracts.doors import BATCHES, DOORS, ON_DEVICES, PAIR_BY_PAIR, REFERENCE, STRONGEST
from contracts.lowering import lowered
from contracts.test_same_answer import cases, expected, some
from contracts.thresholds import THRESHOLDS
from contracts.zoo import TABLES

pytestmark = pytest.mark.slow

ACCUMULATORS = next(door for door in BATCHES if str(door) == "accumulators")
BY_NAME = {str(door): door for door in (*DOORS, STRONGEST)}
CONSTANTS = sorted({where for threshold in THRESHOLDS for where in threshold.values if where.startswith("renyi")})


@cache
def syntax(module):
    return ast.parse(Path(import_module(module).__file__).read_text())


@cache
def imported():
    """Everything that some module of the package imports by its name from another, as module:name."""
    files = Path(renyi.__file__).parent.rglob("*.py")
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text()))]
    return {f"{n.module}:{alias.name}" for n in nodes if isinstance(n, ast.ImportFrom) for alias in n.names}


def names_in(nodes, context):
    return {
        part.id for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name) and type(part.ctx) is context
    }


@pytest.mark.parametrize("where", CONSTANTS)
def test_a_threshold_is_a_constant_that_is_read_when_it_is_needed(where):
    """Not imported by its name, nor bound as the default of an argument, where nobody could lower it."""
    module, name = where.split(":")
    assert name in names_in([node for node in syntax(module).body if isinstance(node, ast.Assign)], ast.Store)
    assert where not in imported()
    functions = [node.args for node in ast.walk(syntax(module)) if isinstance(node, ast.FunctionDef)]
    defaults = [default for given in functions for default in (*given.defaults, *given.kw_defaults) if default]
    assert name not in names_in(defaults, ast.Load)


def way_taken(call, modules):
    """What came out, and how often every line of some modules was gone through for it, in all threads."""
    lines, files = Counter(), {import_module(module).__file__ for module in modules}

    def in_frame(frame, event, _):
        if event == "line":
            lines[frame.f_code.co_filename, frame.f_lineno] += 1
        return in_frame

    def enter(frame, *_):
        # How often one looks whether work is done depends on the time that it takes.
        is_waiting = frame.f_code.co_name == "_outcome"
        return in_frame if frame.f_code.co_filename in files and not is_waiting else None

    before = sys.gettrace()
    threading.settrace(enter)
    sys.settrace(enter)
    try:
        return call(), lines
    finally:
        sys.settrace(before)
        threading.settrace(before)


EACH = [pytest.param(t, id=str(t)) for t in THRESHOLDS]


@pytest.mark.parametrize("threshold", EACH)
def test_a_threshold_switches_a_way_and_changes_no_answer(threshold):
    """And nothing but a threshold switches it: without one the way is the same again."""
    door, table = BY_NAME[threshold.door], TABLES[threshold.table]
    wanted, ways = door.answer(table), []
    # How work is shared among threads also depends on which of them is free.
    for _ in range(1 if threshold.seen_in == "renyi.compute.threads" else 2):
        with lowered(threshold.within, threshold.caches):
            ways.append(way_taken(lambda: door.answer(table), threshold.modules)[1])
    # How often, too, unless two threads make at the same time what is made once.
    assert ways[0].keys() == ways[-1].keys()
    with lowered({**threshold.within, **threshold.values}, threshold.caches):
        found, way = way_taken(lambda: door.answer(table), threshold.modules)
        if threshold.moves:
            wanted = (ACCUMULATORS if door in BATCHES else REFERENCE).answer(table)
    assert way not in ways
    check_same(found, wanted, door.single if threshold.single else door.rounding)


# All of them at once, behind every door.

TOGETHER = {
    where: value for t in THRESHOLDS if not (t.moves or t.single or t.alone) for where, value in t.values.items()
}
CROSSING = some("rare_numbers", "dozen", "dozen_with_gaps")


@pytest.mark.parametrize(("door", "table"), cases(DOORS, CROSSING, reading=False))
def test_all_thresholds_at_once(door, table):
    if door.refusal(table):
        pytest.skip("not done by this door yet")
    wanted = expected(table.name)
    with lowered(TOGETHER):
        check_same(door.answer(table), wanted, door.rounding)


# Numbers that move, move alike behind every door.

SINGLE_PRECISION = next(threshold for threshold in THRESHOLDS if threshold.single)


@pytest.mark.parametrize(("door", "table"), cases(DOORS, some("dozen", "dozen_with_gaps"), reading=False))
def test_products_in_single_precision(door, table):
    if door.refusal(table):
        pytest.skip("not done by this door yet")
    wanted = expected(table.name)
    with lowered(SINGLE_PRECISION.values):
        check_same(door.answer(table), wanted, door.single)


MOVING = [threshold for threshold in THRESHOLDS if threshold.moves and threshold.door == str(REFERENCE)]


@pytest.mark.parametrize("threshold", MOVING, ids=str)
@pytest.mark.parametrize("door", [*BATCHES[-2:], *ON_DEVICES, PAIR_BY_PAIR], ids=str)
def test_what_moves_numbers_moves_them_everywhere(door, threshold):
    table = TABLES[threshold.table]
    if not door.holds(table) or door.refusal(table):
        pytest.skip("not done by this door yet")
    with lowered(threshold.values, threshold.caches):
        wanted = REFERENCE.answer(table)
        check_same(door.answer(table), wanted.of_vectors_in_batches() if door in BATCHES else wanted, door.rounding)
