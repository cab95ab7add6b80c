"""The campaign itself: nothing public is left out, a call is the same again, and mistakes are noticed."""

import os
import re
import time
import warnings
from pathlib import Path

import pytest

import renyi

from . import drawing, judging, orders
from .drawing import MAKERS, Call
from .judging import judged, public_names
from .workers import outcomes

PAGE = Path(__file__).parents[2] / "docs/reference/api.md"


def test_nothing_public_is_left_out():
    assert set(MAKERS) == public_names()


@pytest.mark.skipif(not PAGE.exists(), reason="the documentation is not here")
def test_methods_on_the_page_of_the_api_are_called():
    named = re.findall(r"autoclass:: (\w+)(?:\(\))?\n   :members: (.*)", PAGE.read_text())
    listed = {kind: tuple(members.split(", ")) for kind, members in named}
    for kind, methods in orders.METHODS.items():
        assert set(listed.pop(kind)) == set(methods), kind
    assert set(listed) == {"ConditionalTest", "RDCSelector", "ChangeDetector", "RandomCopulaFeatures"}


def test_a_call_is_the_same_again():
    for number in range(8):
        first, again = judged(7, number), judged(7, number)
        assert (
            (first.name, first.kind, first.wrong)
            == (again.name, again.kind, "")
            == (again.name, again.kind, again.wrong)
        )


def _wrong(monkeypatch, run, inputs=()):
    """What is said of a call that does this."""
    monkeypatch.setattr(judging, "made", lambda *_: ("made up", Call("", run, inputs), drawing.Draw(None, Path())))
    monkeypatch.setattr(drawing.Draw, "chance", lambda *_: True)
    return judged(0, 0).wrong


def refusing():
    raise renyi.InputError("this cannot be")


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (refusing, ""),
        (renyi.rdc, ""),  # arguments that do not fit are a TypeError of Python's own
        (lambda: 1 / 0, "ZeroDivisionError"),
        (lambda: warnings.warn("something below", stacklevel=1), "something below"),
        (lambda: warnings.warn("said on purpose", renyi.CalibrationWarning, stacklevel=1), ""),
        (time.perf_counter_ns, "not the same twice"),
    ],
)
def test_mistakes_are_noticed(monkeypatch, run, said):
    wrong = _wrong(monkeypatch, run)
    assert re.search(said, wrong) if said else not wrong


def test_a_changed_input_is_noticed(monkeypatch):
    table = {"a": [1.0, 2.0]}
    assert "changed its input" in _wrong(monkeypatch, lambda: table["a"].append(3.0), (table,))


def test_type_errors_from_within_are_mistakes(monkeypatch):
    monkeypatch.setattr("renyi.tables.accumulator.Rows.of", len)
    assert "TypeError" in _wrong(monkeypatch, lambda: renyi.Accumulator().update(3))


def dying(seed, numbers, pipe, log):
    """Ends at its second call, and hangs at the fourth."""
    for number in numbers:
        if number == 1:
            os._exit(9)
        time.sleep(1000 * (number == 3))
        pipe.send((number, seed))


def test_calls_that_end_their_process_or_hang_are_told():
    found = list(outcomes(7, range(5), work=dying, patience=1.0, start="fork"))
    assert [number for number, _, _ in found] == list(range(5))
    assert [outcome for _, outcome, _ in found] == [7, None, 7, None, 7]
    assert [reason for _, _, reason in found if reason] == ["ended its process, with exit code 9", "no answer in 1 s"]
