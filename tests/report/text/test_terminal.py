"""What results say in a console, whatever the names are."""

import io

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

import renyi
from hostile import IN_A_TERMINAL as HOSTILE
from renyi.report.summary import Line, lines_of, number, remarks, width
from renyi.report.text.terminal import legend, table_of_lines


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, 300)
    return {
        "x": x,
        "square": x**2 + 0.1 * rng.standard_normal(300),
        "same": 2 * x + 1,
        "falls": -x + 0.5 * rng.standard_normal(300),
        "noise": rng.random(300),
        "constant": np.ones(300),
    }


@pytest.fixture(scope="module")
def matrix(table):
    return renyi.matrix(table)


@pytest.fixture(scope="module")
def hostile():
    rng = np.random.default_rng(2)
    x = rng.standard_normal(200)
    return renyi.matrix({name: x + 0.3 * rng.standard_normal(200) for name in HOSTILE} | {"\x07bell": np.ones(200)})


def rendered(lines, total=80, encoding="utf-8", **options):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(file=stream, width=total)
    console.print(table_of_lines(lines, console, **options))
    stream.flush()
    return stream.buffer.getvalue().decode(encoding)


def test_text_of_a_matrix_has_what_was_found_and_what_was_left_out(matrix):
    lines = repr(matrix).splitlines()
    assert lines[0] == (
        "DependenceMatrix: 300 rows, 5 columns, 10 tests: 6 dependences at a false discovery rate of 5 %"
    )
    assert lines[1].split() == ["x", "y", "strength", "trend", "p", "q", "n"]
    assert lines[2].split()[:4] == ["x", "=", "same", "1.000"]
    assert lines[-1] == "left out: constant: constant (always 1.0)"
    square = next(line for line in lines if " square " in line)
    assert square.endswith("nonlinear")
    falls = next(line for line in lines[2:] if " falls " in line and " x " in line)
    assert " -  " in falls
    assert "nan" not in repr(matrix).lower()


def test_columns_of_the_text_are_aligned(hostile):
    lines = repr(hostile).splitlines()[1:12]
    ends = {width(line[: line.index("200") + 3]) for line in lines[1:]}
    assert len(ends) == 1


def test_text_of_a_screening(table):
    lines = repr(renyi.screen(table, "square")).splitlines()
    assert lines[0].startswith("Screening: 300 rows, 4 columns against square, 4 tests: 3 dependences")
    assert lines[1].split()[0] == "column"
    assert {line.split()[0] for line in lines[2:5]} == {"x", "same", "falls"}
    given = repr(renyi.screen(table, "square", given="x"))
    assert "against square given x" in given
    assert "same: column 'same' is determined by column 'x'" in given


def test_text_of_nothing_found(rng):
    text = repr(renyi.matrix({"a": rng.random(100), "b": rng.random(100)}))
    assert text == "DependenceMatrix: 100 rows, 2 columns, 1 test: 0 dependences at a false discovery rate of 5 %"


def test_folding_tells_a_cluster_once(matrix):
    folded, unfolded = lines_of(matrix, 20), lines_of(matrix, 20, fold=False)
    assert len(unfolded) == 6
    assert (folded[0].x, folded[0].y) == ("x", "same")
    assert len(folded) == 4
    assert all("same" not in (line.x, line.y) for line in folded[1:])
    assert folded[0].sign == "="
    assert folded[1].sign == ""


@pytest.mark.parametrize("fold", [True, False])
def test_lines_are_those_of_top(matrix, fold):
    top = matrix.top(3, fold=fold)
    assert [line.value for line in lines_of(matrix, 3, fold=fold)] == list(top["strength"])
    assert [line.y for line in lines_of(matrix, 3, fold=fold)] == list(top["y"])


@pytest.mark.parametrize("total", [40, 60, 80, 200])
def test_table_fits_the_terminal(matrix, hostile, total):
    for found in (matrix, hostile):
        text = rendered(lines_of(found, 10), total)
        assert max(cell_len(line.rstrip()) for line in text.splitlines()) <= total
    if total >= 80:
        assert "nonlinear" in rendered(lines_of(matrix, 10), total)
        assert "█" in rendered(lines_of(matrix, 10), total)


def test_table_on_a_narrow_alphabet_has_no_bars(matrix):
    text = rendered(lines_of(matrix, 10), encoding="ascii")
    assert "+" in text
    assert "?" not in text


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_legend_names_the_signs_that_the_terminal_has(encoding):
    console = Console(file=io.TextIOWrapper(io.BytesIO(), encoding=encoding))
    rising = Line("a", "b", False, 0.5, 0.5, 1, 0.01, 0.02, 10, False)
    signs = {"utf-8": "arrows", "ascii": "+ and -"}[encoding]
    assert legend([rising], console) == [f"{signs}: rises or falls on the whole"]


def test_on_a_narrow_terminal_names_give_way_and_numbers_are_whole():
    line = Line("a name of a column", "another name of a column", True, 0.987, 0.98, 1, 1e-305, 1e-305, 891, True)
    text = rendered([line], 40)
    assert "0.987" in text
    assert "<1e-300" in text
    assert "strength" in text
    assert max(map(len, text.splitlines())) <= 40


def test_what_was_not_tested_takes_no_room():
    nan = float("nan")
    text = rendered([Line("a", "b", False, 0.5, 0.5, 0, nan, nan, 10, False)])
    assert "–" not in text
    assert " p " not in text


def test_names_are_shown_as_text(hostile):
    text = rendered(lines_of(hostile, 100, fold=False), 200)
    assert "[bold]x[/]" in text
    assert "<script>" in text
    assert "\\x1b[31mred" in text
    assert "two\\nlines\\tand\\ra tab" in text
    assert "\\u202eturned" in text
    assert "\\x07bell" in repr(hostile)
    assert not set(text + repr(hostile)) & set("\x1b\r\t\x07\u202e")


def test_table_against_a_target_has_one_name(table):
    lines = lines_of(renyi.screen(table, "x"), 10)
    text = rendered(lines, by_target=True)
    assert text.split()[0] == "column"
    assert "= " not in text
    assert not any("=" in said for said in legend(lines, Console(), by_target=True))
    assert any(said.startswith("= ") for said in legend(lines, Console()))


def test_legend_explains_only_what_is_there():
    line = Line("a", "b", False, 0.5, 0.5, 0, 0.01, 0.02, 10, False)
    assert legend([line], Console()) == []
    assert legend([Line("a", "b", False, 0.5, 0.5, 0, 0.01, 0.02, 10, True)], Console()) == [
        "nonlinear: Pearson and Spearman miss most of it"
    ]


def test_unknown_numbers_are_dashes(rng):
    assert number(float("nan")) == "–"
    x = rng.random(40)
    gaps = np.where(np.arange(40) < 20, np.nan, x), np.where(np.arange(40) >= 23, np.nan, x)
    found = renyi.matrix({"a": gaps[0], "b": gaps[1], "c": x})
    assert remarks(found) == ["not tested, too little to go by: a with b"]
    assert "nan" not in rendered(lines_of(found, 5)).lower()
    unknown = Line("a", "b", False, float("nan"), float("nan"), 0, float("nan"), float("nan"), 0, False)
    known = Line("a", "c", False, 0.5, 0.5, 0, 0.01, 0.02, 10, False)
    assert rendered([known, unknown]).count("–") == 3


def test_what_reading_decided_is_told_once_and_briefly():
    rng = np.random.default_rng(0)
    words = {f"{name * 100}": [*map(str, rng.random(200)), name] for name in "abcdefgh"}
    found = renyi.matrix(words | {"y": rng.random(201)})
    assert len(found.notes) == 8
    shown = repr(found).splitlines()
    told = [line for line in shown if "read as numbers" in line]
    assert len(told) == 6
    assert "2 more notes in .notes" in shown
    assert max(map(len, told)) <= 300
    screened = renyi.screen(words | {"y": rng.random(201)}, "y")
    assert screened.notes == found.notes
    assert told[0] in repr(screened)


def test_names_of_a_fold_are_shown_as_far_as_they_fit(rng):
    """Columns that all agree in a level, and what the sign says; the frame has all names."""
    has_line = rng.random(600) < 0.6
    services = {
        f"service no. {k}": np.where(has_line, np.where(rng.random(600) < 0.5, "yes", "no"), "no line")
        for k in range(5)
    }
    found = renyi.matrix(services)
    assert found.top()["y"][0].count(", ") == 3
    text = repr(found)
    assert "~ service no. 1 and 3 more" in text
    assert "\n~ all of them agree in some level" in text
    assert "~ all of them agree in some level" in found._repr_html_()
    assert lines_of(found, 5)[0].partner == "~ service no. 1 and 3 more"
