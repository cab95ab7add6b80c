"""`renyi compare` on files."""

import json

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from renyi.cli import app


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 500))
    pl.DataFrame({"x": x, "y": x + y, "part": np.arange(500) // 250}).write_csv(tmp_path / "before.csv")
    pl.DataFrame({"x": x + 2, "y": y - x, "part": np.arange(500) // 250}).write_csv(tmp_path / "after.csv")
    return str(tmp_path / "before.csv"), str(tmp_path / "after.csv")


def _run(*arguments):
    return CliRunner().invoke(app, ["compare", *arguments])


def test_changes_stop_a_pipeline_where_they_moved_far_enough(files, tmp_path):
    page = tmp_path / "change.html"
    found = _run(*files, "--fail-on", "any", "--html", str(page))
    assert found.exit_code == 3
    assert "turned" in found.output
    assert "shifted up" in page.read_text()
    assert _run(files[0], files[0], "--fail-on", "any").exit_code == 0
    assert _run(*files, "--fail-on", "columns", "--least", "0.95").exit_code == 0


def test_json_has_what_was_found(files):
    found = json.loads(CliRunner().invoke(app, ["compare", *files, "--json"]).stdout)
    assert found["pairs"][0]["kind"] == "turned"
    by_part = json.loads(CliRunner().invoke(app, ["compare", files[0], "--by", "part", "--json"]).stdout)
    assert [part["part"] for part in by_part["parts"]] == ["1"]


def test_one_table_without_parts_is_refused(files):
    assert "pass two tables" in str(_run(files[0]).exception)
