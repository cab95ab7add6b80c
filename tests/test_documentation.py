"""What the README and the documentation show runs, and gives what they state."""

import ast
import contextlib
import importlib
import io
import itertools
import json
import re
import subprocess
import sys
import tokenize
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import renyi

ROOT = Path(__file__).parent.parent
ARCHITECTURE = ROOT / "docs/internals/architecture.md"
SCRIPTS = sorted((ROOT / "benchmarks").glob("*/*.py"))
ALL_PAGES = sorted(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts)
PAGES = [
    path.relative_to(ROOT).as_posix()
    for path in [ROOT / "README.md", *ALL_PAGES]
    if "\n```python\n" in path.read_text()
]
NOTEBOOKS = sorted((ROOT / "docs/examples").glob("*.ipynb"))
_NUMBER = r"-?(?:\d+\.\d+(?:e-?\d+)?|\d+(?:e-?\d+)?|nan)"
_STATED = re.compile(rf"[\[(]?({_NUMBER}(?:, {_NUMBER})*)(?=$|[\])]|[,:;] |: )|(True|False)\b")


@dataclass
class Block:
    """A fenced block of a page."""

    language: str
    text: str


def blocks_of(page):
    fenced = re.findall(r"^```(\w+)\n(.*?)^```$", (ROOT / page).read_text(), flags=re.DOTALL | re.MULTILINE)
    return [Block(language, text) for language, text in fenced]


def last_digit(number):
    """What one in the last digit of a printed number is worth."""
    digits, _, exponent = number.partition("e")
    return 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2]))


def check_number(value, printed):
    if printed == "nan":
        assert np.isnan(value)
    else:
        assert float(value) == pytest.approx(float(printed), abs=0.51 * last_digit(printed))


def comments_of(source):
    """The comment of every line that has one."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {token.start[0]: token.string.removeprefix("# ") for token in tokens if token.type == tokenize.COMMENT}


def check_value(value, comment):
    """Compare a value with what its comment begins with."""
    stated = _STATED.match(comment)
    if stated is None:
        return
    if stated[2]:
        assert str(bool(value)) == stated[2]
        return
    printed = stated[1].split(", ")
    for each, number in zip(np.ravel(value)[: len(printed)], printed, strict=True):
        check_number(each, number)


def run(source, names):
    """Run a block, compare the values of its expressions with their comments, and give what it prints."""
    comments, printed = comments_of(source), io.StringIO()
    with contextlib.redirect_stdout(printed):
        for statement in ast.parse(source).body:
            comment = comments.get(statement.end_lineno, "")
            if isinstance(statement, ast.Expr):
                check_value(eval(compile(ast.Expression(statement.value), "<page>", "eval"), names), comment)
            else:
                exec(compile(ast.Module([statement], []), "<page>", "exec"), names)
    return printed.getvalue()


def check_output(found, shown):
    """Words are the same, numbers to one in their last digit: libraries print with other widths and round otherwise."""
    found, shown = found.split(), shown.split()
    assert len(found) == len(shown), " ".join(found)
    for word, expected in zip(found, shown, strict=True):
        if re.fullmatch(_NUMBER, expected) and re.fullmatch(_NUMBER, word):
            assert float(word) == pytest.approx(float(expected), abs=1.01 * last_digit(expected), nan_ok=True)
        else:
            assert word == expected


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_python_of_a_page_runs_and_gives_what_it_states(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    blocks, names = blocks_of(page), {}
    assert any(block.language == "python" for block in blocks)
    for block, following in zip(blocks, [*blocks[1:], Block("", "")], strict=True):
        if block.language == "python":
            printed = run(block.text, names)
            if following.language == "text":
                check_output(printed, following.text)
    pyplot.close("all")


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_give_what_is_stored_in_them(path, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.syspath_prepend(ROOT / "docs")
    notebooks = importlib.import_module("notebooks")
    for cell, outputs in notebooks.run(json.loads(path.read_text())):
        assert len(outputs) == len(cell["outputs"]), cell["source"]
        for found, stored in zip(map(text_of, outputs), map(text_of, cell["outputs"]), strict=True):
            check_output(found, stored)


def text_of(output):
    """What an output of a notebook says, without its pictures."""
    return "".join(output["text"] if "text" in output else output["data"]["text/plain"])


@pytest.mark.slow
@pytest.mark.parametrize("page", ["README.md", "docs/tutorials/tour.md"])
def test_commands_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks, names = blocks_of(page), {}
    run(next(block.text for block in blocks if block.language == "python"), names)
    names["wine"].to_csv("wine.csv", index=False)
    lines = [line for block in blocks if block.language == "sh" for line in block.text.splitlines()]
    commands = [line.partition("#")[0].split()[1:] for line in lines if line.startswith(("renyi scan", "renyi pair"))]
    assert len(commands) >= 4
    for command in commands:
        subprocess.run([sys.executable, "-m", "renyi", *command], check=True, capture_output=True)
    assert next(tmp_path.glob("*.html")).stat().st_size > 50_000


@pytest.mark.slow
def test_commands_print_what_their_page_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = blocks_of("docs/how-to/command-line.md")
    run(next(block.text for block in blocks if block.language == "python"), {})
    shown = [pair for pair in itertools.pairwise(blocks) if (pair[0].language, pair[1].language) == ("sh", "text")]
    assert len(shown) >= 3
    for command, output in shown:
        program = [sys.executable, "-m", *command.text.split()]
        check_output(subprocess.run(program, check=True, capture_output=True, text=True).stdout, output.text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "script",
    [
        "docs/make_reference.py",
        "docs/make_features.py",
        "benchmarks comparison_tables",
        "benchmarks null_pvalues",
        "benchmarks scale_tables",
        "benchmarks selection_tables",
        "benchmarks lag_tables",
        "benchmarks change_page",
        "benchmarks time_tables",
        "benchmarks causal_tables",
    ],
)
def test_pages_made_from_code_are_up_to_date(script):
    made = subprocess.run([sys.executable, *script.split(), "--check"], cwd=ROOT, check=False)
    assert made.returncode == 0, f"run python {script}"


def test_every_public_name_is_in_the_api_reference():
    listed = set(re.findall(r"^\.\. auto\w+:: (\w+)", (ROOT / "docs/reference/api.md").read_text(), flags=re.MULTILINE))
    public = {*renyi.__all__, *renyi.causal.__all__, *renyi.sklearn.__all__, *renyi.experiments.__all__}
    assert listed == public - {"causal", "sklearn", "experiments"}


def test_architecture_names_every_module_in_its_room():
    rows = re.findall(r"^\| `([a-z_/]+)/` \|.*\|([^|]+)\|$", ARCHITECTURE.read_text(), flags=re.MULTILINE)
    named = {room: set(re.findall(r"`(\w+)`", modules)) for room, modules in rows}
    package, there = ROOT / "src" / "renyi", dict[str, set[str]]()
    for path in package.rglob("*.py"):
        room = path.parent.relative_to(package).as_posix()
        if room not in (".", "experiments") and path.stem != "__init__":
            there.setdefault(room, set()).add(path.stem)
    for room in named | there:
        assert named.get(room) == there.get(room), f"{ARCHITECTURE.name}, {room}"


def test_pages_name_no_file_that_is_not_there():
    """Sphinx checks links between pages; the README's, and scripts that pages name, are checked here."""
    pages = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "benchmarks/README.md")]
    pages += ALL_PAGES
    scripts = {path.stem for path in SCRIPTS}
    for page in pages:
        text = page.read_text()
        for script in re.findall(r"(?:benchmarks|docs|tests)/[a-z_/-]+\.(?:py|json|md|R|csv)\b", text):
            assert (ROOT / script).exists(), f"{page.name}: {script}"
        for script in re.findall(r"python\s+benchmarks\s+([a-z_]+)", text):
            assert script in scripts, f"{page.name}: {script}"
        for link in re.findall(r"\]\(([\w./-]+\.(?:md|png|svg|cff))(?:#[\w-]*)?\)", text):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_every_script_of_benchmarks_has_a_row_in_their_readme():
    rows = re.findall(r"^\| `([a-z_]+)", (ROOT / "benchmarks/README.md").read_text(), flags=re.MULTILINE)
    runnable = [path.stem for path in SCRIPTS if "__main__" in path.read_text()]
    assert sorted(rows) == sorted(runnable)
    assert len({path.stem for path in SCRIPTS}) == len(SCRIPTS), "scripts import one another by name"
