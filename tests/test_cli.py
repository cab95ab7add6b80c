"""The command line: what it prints, where, and with which exit code."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from renyi.cli import app
from renyi.data.column import Column
from renyi.errors import InputError
from renyi.experiments.demo import RELATED, demo_table, n_by_pearson
from renyi.pair.independence import independence_test
from renyi.report.files import check_writable, written_whole
from renyi.report.text.pair import PairFound
from renyi.tables.api import matrix


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, 200)
    kind = np.where(x > 0, "up", "down")
    y = x**2 + 0.3 * rng.standard_normal(200)
    gappy = np.where(rng.random(200) < 0.3, None, np.round(x + 0.5 * rng.standard_normal(200), 4))
    return pl.DataFrame({
        "x": x, "square": y, "double": 2 * x, "kind": kind, "gappy": gappy.astype(float), "noise": rng.random(200),
        "constant": np.ones(200), "[bold]z[/]": x + 0.5 * rng.standard_normal(200),
    })  # fmt: skip


@pytest.fixture
def file(frame, tmp_path):
    frame.fill_nan(None).write_csv(tmp_path / "table.csv")
    return str(tmp_path / "table.csv")


def run(*arguments, **options):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], **options)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def command(*arguments, **options):
    """The command as a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "renyi", *map(str, arguments)], capture_output=True, check=False, timeout=120, **options
    )


def refused(*arguments, **options):
    """The one line with which a command is refused."""
    done = command(*arguments, **options)
    assert (done.returncode, done.stdout) == (2, b"")
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("renyi: ")
    return line


# Scanning.


def test_scan_prints_the_ranked_table(file):
    done = run("scan", file)
    lines = done.stdout.splitlines()
    assert lines[0].startswith("200 rows, 7 columns, 21 tests: ")
    assert lines[2].split() == ["x", "y", "debiased", "p", "q", "n"]
    assert lines[4].split()[:5] == ["x", "=", "double", "1.000", "██████"]
    assert any(line.startswith("x ") and "square" in line and "nonlinear" in line for line in lines)
    assert "[bold]z[/]" in done.stdout
    assert "left out: constant: constant (always 1.0)" in done.stdout
    assert "nan" not in done.stdout.lower()
    assert max(map(len, lines[2:12])) <= 80


def test_scan_folds_unless_told(file):
    folded, unfolded = run("scan", file).stdout, run("scan", file, "--unfold", "--top", 100).stdout
    assert unfolded.count("double") > folded.count("double")


def test_scan_shows_as_many_as_asked(file):
    done = run("scan", file, "--top", 2)
    assert "the 2 strongest are shown" in done.stdout
    assert sum("█" in line for line in done.stdout.splitlines()) == 2
    assert "strongest are shown" not in run("scan", file).stdout


def test_scan_against_a_target(file):
    done = run("scan", file, "--target", "square")
    assert "6 columns against square" in done.stdout
    assert done.stdout.splitlines()[4].split()[0] in ("x", "double")
    given = run("scan", file, "--target", "square", "--given", "x", "--given", "noise").stdout
    assert "against square given x, noise" in given


def test_scan_of_independent_columns_says_so(tmp_path):
    rng = np.random.default_rng(1)
    pl.DataFrame({"a": rng.random(100), "b": rng.random(100)}).write_csv(tmp_path / "noise.csv")
    done = run("scan", tmp_path / "noise.csv")
    assert done.exit_code == 0
    assert done.stdout == "100 rows, 2 columns, 1 test: 0 dependences at a false discovery rate of 5 %\n"


def test_scan_notes_what_reading_decided_on_standard_error(tmp_path):
    (tmp_path / "a.csv").write_bytes("größe;b\n".encode("latin-1") + b"1;2\n2;1\n3;5\n4;4\n5;1\n6;2\n" * 5)
    done = run("scan", tmp_path / "a.csv", "--json")
    assert "not UTF-8" in done.stderr
    assert json.loads(done.stdout)["columns"] == {"größe": "number", "b": "number"}


def test_reading_options_reach_the_reader(tmp_path):
    rows = "\n".join(f"{i}!{(7 * i) % 13}!{i % 3}" if i % 5 else f"{i}!none!{i % 3}" for i in range(60))
    (tmp_path / "a.txt").write_bytes(f"ä!b!c\n{rows}\n".encode("utf-16-le"))
    options = ["--sep", "!", "--null", "none", "--encoding", "utf-16-le", "--type", "c=category", "--type", "ä=number"]
    record = json.loads(run("scan", tmp_path / "a.txt", "--json", *options).stdout)
    assert record["columns"] == {"ä": "number", "b": "number", "c": "category"}
    skipped = json.loads(run("scan", tmp_path / "a.txt", "--json", *options[:6], "--type", "c=skip").stdout)
    assert list(skipped["skipped"]) == ["c"]


def test_missing_reaches_the_table(file):
    pairwise, listwise = (run("scan", file, "--json", "--missing", way).stdout for way in ("pairwise", "listwise"))
    assert json.loads(pairwise)["rows"] == 200 > json.loads(listwise)["rows"]
    with pytest.raises(InputError, match="missing"):
        run("scan", file, "--missing", "raise")


# For other programs.


def test_json_is_strict_and_in_order(file, frame):
    def refuse(constant):
        raise AssertionError(constant)

    record = json.loads(run("scan", file, "--json", "--fdr", "0.01").stdout, parse_constant=refuse)
    assert list(record) == [
        "file", "measure", "rows", "columns", "skipped", "pooled", "target", "given", "tests", "fdr", "found", "pairs",
    ]  # fmt: skip
    assert (record["file"], record["rows"], record["tests"], record["fdr"]) == (file, 200, 21, 0.01)
    pairs = record["pairs"]
    assert len(pairs) == record["found"] == matrix(frame).n_found(0.01)
    assert max(pair["q"] for pair in pairs) <= 0.01
    strengths = [pair["debiased"] for pair in pairs]
    assert strengths == sorted(strengths, reverse=True)
    assert set(pairs[0]) == {
        "x", "y", "coefficient", "debiased", "pearson", "spearman", "nonlinear", "p", "log10_p", "q", "n",
    }  # fmt: skip
    assert len(json.loads(run("scan", file, "--json", "--top", 3).stdout)["pairs"]) == 3


def test_unknown_numbers_are_null_in_json(tmp_path):
    pl.DataFrame({"kind": ["a", "b", "c"] * 30, "x": [1, 2, 3] * 30}).write_csv(tmp_path / "a.csv")
    (pair,) = json.loads(run("scan", tmp_path / "a.csv", "--json").stdout)["pairs"]
    assert pair["pearson"] is pair["spearman"] is None


def test_csv_has_all_pairs(file, tmp_path):
    target = tmp_path / "pairs.csv"
    done = run("scan", file, "--csv", target)
    assert "debiased" in done.stdout
    rows = list(csv.DictReader(io.StringIO(target.read_text(encoding="utf-8"))))
    assert len(rows) == 21
    assert "NaN" not in target.read_text()
    assert sorted(os.listdir(tmp_path)) == ["pairs.csv", "table.csv"]
    printed = run("scan", file, "--csv", "-").stdout
    assert list(csv.DictReader(io.StringIO(printed))) == rows
    screened = list(csv.DictReader(io.StringIO(run("scan", file, "--target", "x", "--csv", "-").stdout)))
    assert {row["y"] for row in screened} == {"x"}


def test_csv_and_json_do_not_mix(file):
    with pytest.raises(InputError, match="--csv - and --json"):
        run("scan", file, "--csv", "-", "--json")


def test_standard_input(file):
    done = command("scan", "-", "--json", input=Path(file).read_bytes())
    record = json.loads(done.stdout)
    assert (done.returncode, record["file"], record["rows"]) == (0, "-", 200)


# Files appear whole or not at all.


def test_a_file_is_left_alone_when_writing_fails(tmp_path):
    target = tmp_path / "out.csv"
    target.write_text("old")
    with pytest.raises(UnicodeEncodeError), written_whole(target) as part:
        part.write_text("ä", encoding="ascii")
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.csv"]
    with written_whole(target) as part:
        part.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"


def test_devices_and_links_stay_what_they_are(tmp_path):
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    os.mkfifo(tmp_path / "pipe")
    with written_whole(tmp_path / "link.csv") as part:
        part.write_text("new")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == "new"
    with written_whole(tmp_path / "pipe") as part:
        assert part == tmp_path / "pipe"
    assert (tmp_path / "pipe").is_fifo()


def test_paths_that_cannot_be_written_are_refused(tmp_path):
    for path in (tmp_path, tmp_path / "no" / "where.csv"):
        with pytest.raises(InputError, match=str(path)):
            check_writable(path)


# One pair.


def test_pair_in_words(file):
    done = run("pair", file, "x", "square")
    said = dict(line.strip().split("  ", 1) for line in done.stdout.splitlines())
    assert list(said) == ["x", "y", "rows", "coefficient", "debiased", "p", "kind", "Pearson", "Spearman"]
    assert said["kind"] == "curved or more complex (4 functions of x, 4 of square)"
    assert said["rows"] == "200 of 200"
    assert "(95 %: 0." in said["debiased"]


@pytest.mark.parametrize(
    ("scale", "words"),
    [
        ((1, 1), "a monotone trend"),
        ((3, 1), "b follows a curve over a"),
        ((1, 6), "a follows a curve over b"),
        ((2, 2), "the spread changes, or the points form a ring"),
    ],
)
def test_scales_in_words(scale, words):
    x = np.arange(50.0)
    result = replace(independence_test(x, x), scale=scale)
    columns = [Column(name, "number", x) for name in "ab"]
    found = PairFound(*columns, {"a": "number", "b": "number"}, result, 50)
    assert found.in_words() == words
    assert replace(found, result=replace(result, pvalue=0.4)).in_words() == f"nothing clear (loudest: {words})"


def test_pair_of_a_category_and_one_with_gaps(file):
    said = run("pair", file, "kind", "gappy").stdout
    assert "the level of gappy differs between the groups of kind" in said
    assert "(category of 2 levels)" in said
    assert " of 200" in said
    assert "nan" not in said
    assert "nothing clear" in run("pair", file, "x", "noise").stdout


def test_pair_agrees_with_scan(file):
    record = json.loads(run("pair", file, "x", "gappy", "--json").stdout)
    scanned = json.loads(run("scan", file, "--json").stdout)["pairs"]
    other = next(pair for pair in scanned if (pair["x"], pair["y"]) == ("x", "gappy"))
    for name in ("coefficient", "debiased", "pearson", "spearman", "n", "log10_p"):
        assert record[name] == pytest.approx(other[name], rel=1e-6)


def test_pair_given_others(file):
    record = json.loads(run("pair", file, "square", "[bold]z[/]", "--given", "x", "--json").stdout)
    assert record["given"] == ["x"]
    assert record["p"] > 0.001
    assert record["pearson"] is None
    assert "Pearson" not in run("pair", file, "square", "[bold]z[/]", "--given", "x").stdout


def test_pair_draws_a_picture(file, tmp_path):
    run("pair", file, "x", "square", "--plot", tmp_path / "pair.png")
    assert (tmp_path / "pair.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(os.listdir(tmp_path)) == ["pair.png", "table.csv"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["x", "sqare"], "did you mean 'square'"),
        (["x", "square", "--given", "nois"], "did you mean 'noise'"),
        (["x", "x"], "one column twice"),
        (["x", "square", "--given", "x"], "one column twice"),
        (["x", "constant"], "'constant' cannot be measured: constant"),
        (["x", "square", "--type", "q=number"], "--type names 'q'"),
        (["x", "square", "--type", "x"], "--type x is no type"),
        (["x", "square", "--plot", "a.xyz"], "does not name a kind of picture"),
    ],
)
def test_pairs_that_cannot_be_tested(file, arguments, message):
    with pytest.raises(InputError, match=message):
        run("pair", file, *arguments)


# Bad input, each one line and exit code 2.

BAD_FILES = {
    "empty": (b"", "is empty"),
    "header only": (b"a,b\n", "no rows"),
    "ragged": (b"a,b\n1,2\n3\n", "row 2"),
    "binary": (bytes(range(256)) * 20, "NUL byte"),
    "twice": (b"a,a\n1,2\n2,3\n", "same name"),
    "one column": (b"a\n1\n2\n3\n", "1 column to compare"),
    "nothing left": (b"a,b\n1,2\n1,2\n1,2\n", "0 columns to compare"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files_are_one_line(name, tmp_path):
    content, message = BAD_FILES[name]
    (tmp_path / "bad.csv").write_bytes(content)
    done = command("scan", tmp_path / "bad.csv")
    assert (done.returncode, done.stdout) == (2, b"")
    *notes, line = done.stderr.decode().splitlines()
    assert line.startswith("renyi: ")
    assert message in line
    assert not any("Traceback" in note for note in notes)


def test_files_that_are_none(tmp_path):
    assert "does not exist" in refused("scan", tmp_path / "none.csv")
    assert "is a folder" in refused("scan", tmp_path)


def test_parquet_cut_short(frame, tmp_path):
    frame.write_parquet(tmp_path / "whole.parquet")
    content = (tmp_path / "whole.parquet").read_bytes()
    assert run("scan", tmp_path / "whole.parquet").exit_code == 0
    (tmp_path / "cut.parquet").write_bytes(content[: len(content) // 2])
    assert "cut.parquet" in refused("scan", tmp_path / "cut.parquet")


def test_wrong_encoding(file):
    assert "encoding klingon" in refused("scan", file, "--encoding", "klingon")
    Path(file).write_bytes("ä,b\n1,2\n".encode("latin-1"))
    assert "encoding utf-8" in refused("scan", file, "--encoding", "utf-8")


def test_bad_usage_is_one_line(file, tmp_path):
    assert "did you mean 'square'" in refused("scan", file, "--target", "sqare")
    assert "--target" in refused("scan", file, "--given", "x")
    assert "no false discovery rate" in refused("scan", file, "--fdr", "0")
    assert "--measure mic, which ranks pairs without testing" in refused(
        "scan", file, "--measure", "mic", "--fdr", "0.1"
    )
    assert "there is no measure 'rcd': did you mean 'rdc'?" in refused("scan", file, "--measure", "rcd")
    assert "--nonsense" in refused("scan", file, "--nonsense")
    assert "FILE" in refused("scan")
    assert "its folder does not exist" in refused("scan", file, "--csv", tmp_path / "no" / "a.csv")
    assert "separator" in refused("scan", file, "--sep", "ab")


def test_messages_name_options_and_not_arguments(tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text("a,b\n1,2\n,3\n4,5\n2,1\n")
    assert "--missing pairwise or --missing listwise" in refused("scan", path, "--missing", "raise")
    path.write_text("a,b\n1,2\n1,3\n1,5\n1,1\n")
    assert "--type name=category" in refused("scan", path)


def test_a_closed_standard_input_is_told():
    done = subprocess.run(
        [sys.executable, "-m", "renyi", "scan", "-"], capture_output=True, check=False, preexec_fn=lambda: os.close(0)
    )
    assert done.returncode == 2
    assert b"standard input is closed" in done.stderr


def test_debug_shows_where_it_came_from(tmp_path):
    done = command("scan", tmp_path / "none.csv", "--debug")
    assert done.returncode == 2
    assert b"Traceback" in done.stderr
    assert done.stderr.splitlines()[-1].startswith(b"renyi: ")


@pytest.mark.parametrize("debug", [True, False])
def test_unexpected_failures(file, debug):
    program = (
        "import sys, renyi.tables.api\n"
        "def broken(*a, **k): raise ZeroDivisionError('two\\nlines')\n"
        "renyi.tables.api.matrix = broken\n"
        f"sys.argv = ['renyi', 'scan', {file!r}, *{['--debug'] * debug}]\n"
        "from renyi.__main__ import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert ("Traceback" in done.stderr) == debug
    last = done.stderr.splitlines()[-1]
    assert last == "renyi: unexpected failure (ZeroDivisionError: two lines), run with --debug for the traceback"
    assert len(done.stderr.splitlines()) == 1 or debug


# Other ends.


@pytest.mark.parametrize("options", ["", "--csv -", "--json"])
def test_a_reader_that_stops_is_no_failure(file, options):
    done = subprocess.run(
        f"{sys.executable} -m renyi scan {file} {options} | true", shell=True, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_interruption_is_quiet():
    process = subprocess.Popen(
        [sys.executable, "-m", "renyi", "scan", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    # More than a pipe holds: it has begun to read when all of this is written, and then waits for the rest.
    process.stdin.write(b"a,b\n" + b"1,2\n" * 100_000)
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"")


def test_bare_command_shows_help():
    done = command()
    assert done.returncode == 0
    assert b"Usage: renyi" in done.stdout
    assert all(name in done.stdout for name in (b"scan", b"pair", b"demo", b"gallery"))
    assert command("--version").stdout.startswith(b"renyi 0.")


# The demonstration.


def test_demo_shows_what_pearson_misses():
    done = run("demo")
    assert done.stdout.count("nonlinear") == 5  # four lines, and the legend
    assert "renyi found 5 of them and 0 others" in " ".join(done.stdout.split())
    assert done.stdout.rstrip().endswith("finds 1.")


def test_demo_table_is_what_it_says():
    table = demo_table(500, seed=7)
    again, other = demo_table(500, seed=7), demo_table(500, seed=8)
    assert all(np.array_equal(table[name], again[name], equal_nan=table[name].dtype.kind == "f") for name in table)
    assert not np.array_equal(table["height"], other["height"])
    assert {name for pair in RELATED for name in pair} <= set(table)
    assert 0.1 < np.isnan(table["weight"]).mean() < 0.3
    found = matrix(table)
    at = found.names.index
    assert all(found.qvalues[at(x), at(y)] < 1e-6 for x, y in RELATED)
    assert n_by_pearson(found) <= 3


def test_csv_does_not_replace_what_is_read(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n" + "\n".join(f"{i},{i * i % 7}" for i in range(50)))
    before = path.read_text()
    with pytest.raises(InputError, match="the file that is read"):
        CliRunner().invoke(app, ["scan", str(path), "--csv", str(path)], catch_exceptions=False)
    assert path.read_text() == before
