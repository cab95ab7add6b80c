"""`renyi lags` on files."""

import json

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from renyi.cli import app


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(0)
    x, noise = rng.standard_normal((2, 200))
    day = np.datetime64("2024-01-01") + np.arange(200)
    pl.DataFrame({"day": day, "x": x, "y": np.roll(x, 2) + 0.3 * noise}).write_csv(tmp_path / "series.csv")
    return str(tmp_path / "series.csv")


def _run(*arguments):
    return CliRunner().invoke(app, ["lags", *arguments])


def test_a_lead_is_told_and_written(file, tmp_path):
    page, csv = tmp_path / "lags.html", tmp_path / "lags.csv"
    found = _run(file, "--time", "day", "--max-lag", "6", "--html", str(page), "--csv", str(csv))
    assert found.exit_code == 0
    assert "x leads by 2" in found.stdout
    assert "x leads y by 2" in page.read_text()
    long = pl.read_csv(csv)
    assert long["lag"].to_list() == list(range(-6, 7))
    assert long.sort("p")["lag"][0] == 2


def test_json_has_what_was_found(file):
    settings = ("--target", "y", "--period", "7", "--detrend", "difference")
    found = json.loads(_run(file, "--time", "day", "--max-lag", "6", *settings, "--json").stdout)
    assert found["pairs"][0]["direction"] == "x leads y by 2"
    assert len(found["pairs"][0]["curve"]) == 13
    assert any("period of 7 rows" in note for note in found["notes"])


def test_what_makes_no_sense(file):
    assert "max_lag=60 is too long" in str(_run(file, "--max-lag", "60").exception)
    assert "time names 'date'" in str(_run(file, "--max-lag", "6", "--time", "date").exception)
    assert "both write to standard output" in str(_run(file, "--max-lag", "6", "--csv", "-", "--json").exception)
