import numpy as np
import pytest
from rich.cells import cell_len

import renyi
from hostile import IN_A_TERMINAL as HOSTILE
from renyi.report.summary import number, pvalue, remarks, short, told_apart, width


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "<1e-300"),
        (1e-305, "<1e-300"),
        (3.2e-20, "3e-20"),
        (9.7e-4, "1e-3"),
        (0.0123, "0.012"),
        (float("nan"), "–"),
    ],
)
def test_pvalues_as_people_read_them(value, text):
    assert pvalue(value) == text


@pytest.mark.parametrize(("value", "text"), [(-0.0004, "0.000"), (-0.0006, "-0.001"), (0.5, "0.500"), (None, "–")])
def test_what_is_rounded_to_zero_has_no_sign(value, text):
    assert number(value) == text


def test_remarks_are_short():
    constants = {f"constant {j}": np.full(50, j) for j in range(30)}
    found = renyi.matrix({"a": np.arange(50.0), "b": np.arange(50.0)[::-1].copy()} | constants)
    (said,) = remarks(found)
    assert said.endswith("and 27 more reasons")
    assert len(said) < 300


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("limit", [5, 12, 31])
def test_short_names_keep_both_ends(name, limit):
    shown = short(name, limit)
    assert width(shown) <= limit
    assert shown.isprintable() or "\u200d" in shown
    assert "…" in shown or shown == short(name, 10**6)
    assert width(shown) == cell_len(shown) or "\u200d" in shown


def test_names_that_read_the_same_when_cut_are_told_apart():
    names = ["games played in the regular season, home", "games played in the regular season, away", "runs"]
    far = ["x" * 50 + letter + "y" * 50 for letter in "ab"]
    for kept in (22, 30):
        cut = told_apart([*names, *far], kept)
        assert len(set(cut)) == 5
        assert max(map(len, cut)) <= kept
    assert told_apart(names, 60) == names
    assert told_apart(["x" * 99, "x" * 99], 10) == ["xxxxx…xxxx"] * 2
    # No place shows what tells all three apart.
    both = ["p" * 40 + a + "q" * 40 + b + "r" * 40 for a, b in ("ab", "aB", "Ab")]
    assert len(set(told_apart(both, 20))) == 3
