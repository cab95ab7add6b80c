import io
import sys

import numpy as np
import pytest

import renyi
from renyi.compute.progress import watched


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_items_come_unchanged_whether_watched_or_not(monkeypatch):
    for stream, shown in ((io.StringIO(), True), (Terminal(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        assert list(watched(iter(range(5)), 5, "Counting", shown=shown)) == list(range(5))
        assert stream.getvalue() == ""


def test_in_a_terminal_there_is_a_bar_on_standard_error(monkeypatch, capsys):
    pytest.importorskip("rich")
    terminal = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal)
    assert list(watched(iter(range(5)), 5, "Counting", shown=True)) == list(range(5))
    assert "Counting" in terminal.getvalue()
    assert capsys.readouterr().out == ""


def test_without_rich_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setitem(sys.modules, "rich", None)
    with pytest.raises(renyi.MissingExtraError, match=r"renyi\[cli\]"):
        list(watched([1], 1, "Counting", shown=True))


def test_a_bar_changes_no_number(monkeypatch, rng):
    pytest.importorskip("rich")
    table = rng.random((60, 4))
    silent = renyi.matrix(table)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    shown = renyi.matrix(table, progress=True)
    np.testing.assert_array_equal(shown.pvalues, silent.pvalues)
    assert "Comparing pairs" in terminal.getvalue()


def test_a_selection_shows_its_steps_when_asked_to(monkeypatch, rng):
    pytest.importorskip("rich")
    selector = pytest.importorskip("renyi.sklearn").RDCSelector
    x = rng.random((80, 4))
    said = {}
    for verbose in (False, True):
        terminal = Terminal()
        monkeypatch.setattr(sys, "stderr", terminal)
        chosen = selector(n_features_to_select=2, verbose=verbose).fit(x, x[:, 1]).path_
        said[verbose] = terminal.getvalue(), chosen
    assert said[False][0] == ""
    assert "Choosing features" in said[True][0]
    assert said[True][1] == said[False][1]
