"""`renyi scan`: what it prints, what it writes for other programs, which files it refuses."""

import csv
import io
import json
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from command_line import command, refused, run
from contracts.lowering import as_if_large, lowered
from renyi.cli import app
from renyi.errors import InputError
from renyi.tables.api import matrix


def test_scan_prints_the_ranked_table(file):
    done = run("scan", file)
    lines = done.stdout.splitlines()
    assert lines[0].startswith("200 rows, 7 columns, 21 tests: ")
    assert lines[2].split() == ["x", "y", "strength", "p", "q", "n"]
    assert lines[4].split()[:5] == ["x", "=", "double", "1.000", "██████"]
    assert any(line.startswith("x ") and "square" in line and "nonlinear" in line for line in lines)
    assert "[bold]z[/]" in done.stdout
    assert "left out: constant: constant (always 1.0)" in done.stdout
    assert "nan" not in done.stdout.lower()
    assert max(map(len, lines[2:12])) <= 80


def test_names_are_cut_on_a_terminal_alone(tmp_path, rng, monkeypatch):
    x, long = rng.random(100), "a column whose name would not fit beside the numbers of a terminal"
    pl.DataFrame({long: x, f"{long} twice": x + 0.1 * rng.random(100)}).write_csv(tmp_path / "long.csv")
    monkeypatch.delenv("COLUMNS", raising=False)
    line = next(line for line in run("scan", tmp_path / "long.csv").stdout.splitlines() if "█" in line)
    assert f"{long} " in line
    assert f" {long} twice " in line
    monkeypatch.setenv("COLUMNS", "80")
    line = next(line for line in run("scan", tmp_path / "long.csv").stdout.splitlines() if "…" in line)
    assert len(line) <= 80


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


SPELLINGS = {"%Y-%m-%d": "", "%m/%d/%Y": "month/day/year", "%d.%m.%Y": "day.month.year", "%d/%m/%Y": "day/month/year"}


def write_rentals(path, form="%d/%m/%Y", **settings):
    """Rentals of bicycles by day, which go with the seasons."""
    rng = np.random.default_rng(3)
    days = np.datetime64("2011-01-01") + np.arange(500)
    rentals = np.cos(np.arange(500) / 58) + 0.3 * rng.standard_normal(500)
    cells = [day.strftime(form) for day in days.tolist()]
    pl.DataFrame({"day": cells, "rentals": rentals, "wind": rng.random(500)}).write_csv(path, **settings)


@pytest.fixture(params=["at once", "in batches"])
def sized(request):
    """Files as they are, or as if they did not fit into memory."""
    with lowered({} if request.param == "at once" else as_if_large(500, 6000)):
        yield request.param


def test_dates_have_one_strength_however_they_are_written(tmp_path, sized):
    records = {}
    for form, way in SPELLINGS.items():
        write_rentals(tmp_path / "rentals.csv", form)
        done = run("scan", tmp_path / "rentals.csv", "--any-order", "--json")
        records[form] = record = json.loads(done.stdout)
        assert record["columns"]["day"] == "date"
        said = f"column 'day' holds dates such as '{'01.01.2011' if '.' in form else '01/01/2011'}': read as {way}"
        assert record["notes"] == ([said] if way else [])
        # Once, and beside what other programs read.
        assert done.stderr.count(said) == bool(way)
    iso, *others = ([pair["debiased"] for pair in record["pairs"]] for record in records.values())
    assert iso[0] > 0.8
    assert all(found == pytest.approx(iso, abs=1e-9) for found in others)


def test_a_date_can_be_asked_for(tmp_path):
    write_rentals(tmp_path / "rentals.csv", "%Y%m%d")
    record = json.loads(run("scan", tmp_path / "rentals.csv", "--json", "--type", "day=date").stdout)
    assert record["columns"]["day"] == "date"
    write_rentals(tmp_path / "iso.csv", "%Y-%m-%d")
    assert record["pairs"] == json.loads(run("scan", tmp_path / "iso.csv", "--json").stdout)["pairs"]


def test_a_first_line_may_be_a_row(tmp_path, sized):
    write_rentals(tmp_path / "rows.csv", include_header=False)
    doubted = run("scan", tmp_path / "rows.csv")
    assert doubted.stdout.startswith("499 rows")
    assert "looks like a row and was read as names: if it is a row, pass --no-header" in doubted.stderr
    done = run("scan", tmp_path / "rows.csv", "--no-header", "--json")
    record = json.loads(done.stdout)
    assert record["rows"] == 500
    assert list(record["columns"]) == ["column 1", "column 2", "column 3"]
    assert "looks like a row" not in done.stderr


def test_a_first_line_may_be_a_row_of_a_pair(tmp_path):
    write_rentals(tmp_path / "rows.csv", include_header=False)
    pair = run("pair", tmp_path / "rows.csv", "column 1", "column 2", "--no-header")
    assert "500 of 500" in pair.stdout
    assert "read as day/month/year" in pair.stderr


def test_names_that_come_again_are_numbered(tmp_path):
    (tmp_path / "twice.csv").write_text("a,b,a\n" + "".join(f"{k},{k % 7},{k % 5}\n" for k in range(60)))
    done = run("scan", tmp_path / "twice.csv", "--json")
    assert list(json.loads(done.stdout)["columns"]) == ["a", "b", "a_2"]
    assert done.stderr == "columns of the same name are numbered: the next 'a' is 'a_2'\n"


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
        "file", "measure", "rows", "columns", "skipped", "pooled", "notes", "target", "given", "tests", "fdr", "found",
        "pairs",
    ]  # fmt: skip
    assert (record["file"], record["rows"], record["tests"], record["fdr"]) == (file, 200, 21, 0.01)
    pairs = record["pairs"]
    assert len(pairs) == record["found"] == matrix(frame).n_found(0.01)
    assert max(pair["q"] for pair in pairs) <= 0.01
    found = matrix(frame)
    assert [(pair["x"], pair["y"]) for pair in pairs] == [
        (found.names[found.edges.found.i[edge]], found.names[found.edges.found.j[edge]]) for edge in found.ranked(0.01)
    ]
    assert set(pairs[0]) == {
        "x", "y", "coefficient", "debiased", "strength", "pearson", "spearman", "nonlinear", "p", "log10_p", "q", "n",
        "remark",
    }  # fmt: skip
    assert len(json.loads(run("scan", file, "--json", "--top", 3).stdout)["pairs"]) == 3


def test_unknown_numbers_are_null_in_json(tmp_path):
    pl.DataFrame({"kind": ["a", "b", "c"] * 30, "x": [1, 2, 3] * 30}).write_csv(tmp_path / "a.csv")
    (pair,) = json.loads(run("scan", tmp_path / "a.csv", "--json").stdout)["pairs"]
    assert pair["pearson"] is pair["spearman"] is None


def test_csv_has_all_pairs(file, tmp_path):
    target = tmp_path / "pairs.csv"
    done = run("scan", file, "--csv", target)
    assert "strength" in done.stdout
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


ROWS = "a,b\n" + "\n".join(f"{i},{i * i % 7}" for i in range(50))


@pytest.mark.parametrize("option", ["--csv", "--html"])
@pytest.mark.parametrize("read", ["data", "data/*.csv", "data/a.csv", "link.csv"])
@pytest.mark.parametrize("written", ["data/a.csv", "data/../data/a.csv", "link.csv", "hard.csv"])
def test_no_output_replaces_what_is_read(option, read, written, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    for name in ("a", "b"):
        (tmp_path / f"data/{name}.csv").write_text(ROWS)
    (tmp_path / "link.csv").symlink_to("data/a.csv")
    os.link("data/a.csv", "hard.csv")
    with pytest.raises(InputError, match=f"{option} {written} is a file that is read, which would be lost"):
        run("scan", read, option, written)
    assert (tmp_path / "data/a.csv").read_text() == ROWS
    assert (tmp_path / "link.csv").is_symlink()


def test_two_outputs_are_two_files(file, tmp_path):
    (tmp_path / "link.html").symlink_to(tmp_path / "out.html")
    for other in ("out.html", "link.html", "OUT.html"):
        with pytest.raises(InputError, match="are one file, so one would be lost: name two"):
            run("scan", file, "--csv", tmp_path / other, "--html", tmp_path / "out.html")
    assert not (tmp_path / "out.html").exists()


def test_an_output_may_lie_beside_what_is_read(tmp_path):
    (tmp_path / "a.csv").write_text(ROWS)
    run("scan", tmp_path, "--csv", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().startswith("x,y,")
    assert (tmp_path / "a.csv").read_text() == ROWS


def test_unrelated_files_of_a_folder_are_refused_by_name(file, tmp_path):
    (tmp_path / "unrelated.csv").write_text(ROWS)
    with pytest.raises(
        InputError, match=r"unrelated\.csv has other columns than .*table\.csv, it lacks .* and has 'a'"
    ):
        run("scan", tmp_path)


@pytest.mark.slow
def test_standard_input(file):
    done = command("scan", "-", "--json", input=Path(file).read_bytes())
    record = json.loads(done.stdout)
    assert (done.returncode, record["file"], record["rows"]) == (0, "-", 200)


# Bad input, each one line and exit code 2.


BAD_FILES = {
    "empty": (b"", "is empty"),
    "header only": (b"a,b\n", "no rows"),
    "ragged": (b"a,b\n1,2\n3\n", "row 2"),
    "binary": (bytes(range(256)) * 20, "NUL byte"),
    "one column": (b"a\n1\n2\n3\n", "1 column to compare"),
    "nothing left": (b"a,b\n1,2\n1,2\n1,2\n", "0 columns to compare"),
}


@pytest.mark.slow
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


@pytest.mark.slow
def test_files_that_are_none(tmp_path):
    assert "does not exist" in refused("scan", tmp_path / "none.csv")
    assert "is a folder" in refused("scan", tmp_path)


def test_parquet_cut_short(frame, tmp_path):
    frame.write_parquet(tmp_path / "whole.parquet")
    content = (tmp_path / "whole.parquet").read_bytes()
    assert run("scan", tmp_path / "whole.parquet").exit_code == 0
    (tmp_path / "cut.parquet").write_bytes(content[: len(content) // 2])
    assert "cut.parquet" in refused("scan", tmp_path / "cut.parquet")


@pytest.mark.slow
def test_wrong_encoding(file):
    assert "encoding klingon" in refused("scan", file, "--encoding", "klingon")
    Path(file).write_bytes("ä,b\n1,2\n".encode("latin-1"))
    assert "encoding utf-8" in refused("scan", file, "--encoding", "utf-8")


class TestCommand:
    @pytest.fixture
    def file(self, tmp_path):
        x = np.linspace(-1, 1, 200)
        pl.DataFrame({"x": x, "square": x**2, "kind": np.where(x > 0, "up", "down")}).write_csv(tmp_path / "table.csv")
        return tmp_path / "table.csv"

    def run(self, *arguments):
        result = CliRunner().invoke(app, ["scan", *map(str, arguments)])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    def test_writes_a_page_of_a_file_that_is_read_in_batches(self, file, tmp_path):
        with lowered(as_if_large(500, 6000)):
            self.run(file, "--html", tmp_path / "report.html", "--sample", "100")
            with pytest.raises(InputError, match="--sample 0 keeps none: pass more, or leave --html out"):
                self.run(file, "--html", tmp_path / "none.html", "--sample", "0")
        page = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert "Pictures are drawn from 100 rows, a random sample of all" in page
        assert not (tmp_path / "none.html").exists()

    def test_writes_a_page(self, file, tmp_path):
        result = self.run(file, "--html", tmp_path / "report.html", "--fdr", "0.01")
        page = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert "table.csv" in page
        assert "rate of 1 %" in page
        assert f"Report: {tmp_path / 'report.html'}" in result.stderr
        assert "square" in result.stdout

    def test_of_one_target(self, file, tmp_path):
        self.run(file, "--target", "square", "--html", tmp_path / "report.html", "--json")
        assert 'id="ranking"' in (tmp_path / "report.html").read_text(encoding="utf-8")

    def test_has_the_ending_of_one(self, file, tmp_path):
        with pytest.raises(InputError, match="does not name a kind of report"):
            self.run(file, "--html", tmp_path / "x.pdf", "--type", "nonsense")

    def test_is_not_printed(self, file):
        with pytest.raises(InputError, match="name a file"):
            self.run(file, "--html", "-")


def test_dependences_stop_a_pipeline_where_they_are_strong_enough(file):
    stopped = run("scan", file, "--fail-on", "any", "--least", "0.9")
    assert stopped.exit_code == 3
    assert "of 21 dependences are found with a strength of 0.9 or more" in stopped.stderr
    assert run("scan", file, "--target", "noise", "--fail-on", "pairs", "--least", "1").exit_code == 0
    with pytest.raises(InputError, match="columns is unknown"):
        run("scan", file, "--fail-on", "columns")
    with pytest.raises(InputError, match="without testing"):
        run("scan", file, "--fail-on", "any", "--measure", "ace")
