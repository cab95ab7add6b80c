"""Every threshold is there, switches something, and changes no answer."""

import ast
import sys
import threading
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

import renyi
from contracts.answers import SINGLE, check_same
from contracts.doors import BATCHES, DOORS, ON_DEVICES, PAIR_BY_PAIR, REFERENCE, STRONGEST
from contracts.tables import TABLES
from contracts.test_same_answer import cases, expected, some
from contracts.thresholds import THRESHOLDS, lowered

BY_NAME = {str(door): door for door in (*DOORS, STRONGEST)}
CONSTANTS = sorted({where for threshold in THRESHOLDS for where in threshold.values if where.startswith("renyi")})
TREES = {file: ast.parse(file.read_text()) for file in Path(renyi.__file__).parent.rglob("*.py")}


@pytest.mark.parametrize("where", CONSTANTS)
def test_a_threshold_is_a_constant_of_its_module(where):
    module, name = where.split(":")
    tree = TREES[Path(import_module(module).__file__)]
    targets = [target for node in tree.body if isinstance(node, ast.Assign) for target in ast.walk(node)]
    assert name in {
        target.id for target in targets if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store)
    }


@pytest.mark.parametrize("where", CONSTANTS)
def test_a_threshold_is_read_when_it_is_needed(where):
    """Neither imported by its name nor bound as the default of an argument, where nobody could lower it."""
    module, name = where.split(":")
    for tree in TREES.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module == module:
                assert name not in {alias.name for alias in node.names}
    for node in ast.walk(TREES[Path(import_module(module).__file__)]):
        if isinstance(node, ast.FunctionDef):
            defaults = [default for default in (*node.args.defaults, *node.args.kw_defaults) if default is not None]
            assert name not in {
                part.id for default in defaults for part in ast.walk(default) if isinstance(part, ast.Name)
            }


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


@pytest.mark.parametrize(
    "threshold", [pytest.param(t, id=str(t), marks=[pytest.mark.slow] * TABLES[t.table].is_slow) for t in THRESHOLDS]
)
def test_a_threshold_switches_a_way_and_changes_no_answer(threshold):
    door, table = BY_NAME[threshold.door], TABLES[threshold.table]
    before = door.answer(table)
    ways = []
    for values in ({}, {}, threshold.values):
        with lowered(values, threshold.caches):
            found, way = way_taken(lambda: door.answer(table), threshold.modules)
            ways.append(way)
            if values and threshold.moves:
                before = (BATCHES[-2] if door in BATCHES else REFERENCE).answer(table)
    assert ways[0] == ways[1], "what was remembered has an effect on the way"
    assert ways[2] != ways[1], "the way is the same"
    check_same(found, before, SINGLE if threshold.single else door.rounding)


# All of them at once, behind every door.

TOGETHER = {
    where: value for t in THRESHOLDS if not (t.moves or t.single or t.alone) for where, value in t.values.items()
}
CACHES = tuple({cache for threshold in THRESHOLDS for cache in threshold.caches})
CROSSING = some("ties", "labels_and_gaps", "rare_numbers", "dozen", "dozen_with_gaps")


@pytest.mark.parametrize(("door", "table"), cases(DOORS, CROSSING, reading=False))
def test_all_thresholds_at_once(door, table):
    if door.refusal(table):
        pytest.skip("not done by this door yet")
    wanted = expected(table.name)
    with lowered(TOGETHER):
        check_same(door.answer(table), wanted, door.rounding)


# Numbers that move, move alike behind every door.

SINGLE_PRECISION = next(threshold for threshold in THRESHOLDS if threshold.single)


@pytest.mark.parametrize(("door", "table"), cases(DOORS, some("ties", "dozen", "dozen_with_gaps"), reading=False))
def test_products_in_single_precision(door, table):
    if door.refusal(table):
        pytest.skip("not done by this door yet")
    wanted = expected(table.name)
    with lowered(SINGLE_PRECISION.values):
        check_same(door.answer(table), wanted, SINGLE)


MOVING = [threshold for threshold in THRESHOLDS if threshold.moves and threshold.door == str(REFERENCE)]


@pytest.mark.parametrize("threshold", MOVING, ids=str)
@pytest.mark.parametrize("door", [*BATCHES[-2:], *ON_DEVICES, PAIR_BY_PAIR], ids=str)
def test_what_moves_numbers_moves_them_everywhere(door, threshold):
    table = TABLES[threshold.table]
    if not door.holds(table) or door.refusal(table):
        pytest.skip("not done by this door yet")
    with lowered(threshold.values, threshold.caches):
        check_same(door.answer(table), REFERENCE.answer(table), door.rounding)
