"""Which pairs a page opens with, and which are told as one."""

import numpy as np

from renyi.report.document import ReportOptions, document_of
from renyi.report.pictures import Lines, pictures_of
from renyi.tables.api import matrix


def chosen(ends, *, found=None, missed=(), speaker=None, signs=None):
    n = len(ends)
    lines = Lines(np.arange(n) if speaker is None else np.array(speaker), signs or [""] * n)
    is_found = np.arange(n) < (n if found is None else found)
    return pictures_of(ends, lines, is_found, np.isin(np.arange(n), list(missed)))


def test_strongest_first_and_every_column_before_any_comes_again():
    ends = [(0, 1), (0, 2), (0, 3), (2, 3), (4, 5), (6, 7), (8, 9), (10, 11), (12, 13)]
    assert chosen(ends, missed=[7, 8]) == {"strongest": [0, 3, 4, 5, 6, 7], "missed": [8]}
    # Where there is nothing else, columns come again.
    assert chosen([(0, 1), (0, 2), (1, 2), (0, 3)], found=3) == {"strongest": [0, 1, 2], "missed": []}


def test_no_more_than_twelve_and_nothing_that_is_no_finding():
    ends = [(2 * k, 2 * k + 1) for k in range(40)]
    assert chosen(ends)["strongest"] == list(range(12))
    both = chosen(ends, missed=range(10, 40))
    assert both == {"strongest": list(range(6)), "missed": list(range(10, 16))}
    assert chosen(ends, found=0) == {"strongest": [], "missed": []}


def test_a_line_has_one_picture_and_the_same_column_none():
    ends = [(0, 1), (2, 3), (2, 4), (5, 6)]
    assert chosen(ends, speaker=[0, 1, 1, 3], signs=["=", "", "", ""])["strongest"] == [1, 3]


def test_a_finding_is_not_told_by_a_pair_that_is_none(rng):
    x = rng.standard_normal(400)
    y = 0.35 * x + rng.standard_normal(400)
    # The first of two columns that are nearly the same has few rows in common with the other one.
    table = {"first": np.where(np.arange(400) < 205, x, np.nan), "again": x, "y": y}
    table["y"][:190] = np.nan
    written = document_of(matrix(table), ReportOptions())
    found = {k for k, is_found in enumerate(written["pairs"]["found"]) if is_found}
    assert written["folded"]
    assert {line for place, line in written["folded"] if place in found} <= found
