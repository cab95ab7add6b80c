"""`renyi pair`: two columns of a table, in words and for other programs."""

import gc
import gzip
import io
import json
import os
import re
import tempfile

import numpy as np
import polars as pl
import pytest
from scipy.signal import lfilter
from scipy.stats import spearmanr

import renyi
from command_line import run
from renyi.errors import InputError


def test_pair_in_words(file):
    done = run("pair", file, "x", "square")
    said = dict(line.strip().split("  ", 1) for line in done.stdout.splitlines())
    assert list(said) == ["x", "y", "rows", "coefficient", "strength", "p", "kind", "Pearson", "Spearman"]
    assert said["kind"] == "square falls, then rises, along x"
    assert said["rows"] == "200 of 200"
    assert "(95 %: 0." in said["strength"]


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
    for name in ("coefficient", "debiased", "strength", "pearson", "n", "log10_p"):
        assert record[name] == pytest.approx(other[name], rel=1e-6)


def test_pair_says_what_reading_decided(tmp_path):
    rows = "".join(f"{k % 28 + 1}.{k % 12 + 1}.2021;{k % 7},{k % 900 + 100}\n" for k in range(80))
    (tmp_path / "a.csv").write_text(f"day;n\n{rows}")
    done = run("pair", tmp_path / "a.csv", "day", "n", "--json")
    notes = json.loads(done.stdout)["notes"]
    assert ["decimal commas" in notes[0], "read as day.month.year" in notes[1]] == [True, True]
    assert done.stderr.splitlines() == notes


def test_spearmans_correlation_of_a_pair_is_that_of_scipy_on_its_rows(tmp_path):
    rng = np.random.default_rng(5)
    x = rng.poisson(1.0, 300).astype(float)
    y = np.where(rng.random(300) < 0.4 * (x > 0), np.nan, x + rng.standard_normal(300))
    pl.DataFrame({"x": x, "y": y}).fill_nan(None).write_csv(tmp_path / "table.csv")
    record = json.loads(run("pair", tmp_path / "table.csv", "x", "y", "--json").stdout)
    expected = spearmanr(x, y, nan_policy="omit").statistic
    assert record["spearman"] == pytest.approx(expected, abs=1e-12)
    # Ranks over all rows of x would say something else.
    assert abs(renyi.matrix({"x": x, "y": y}).spearman[0, 1] - expected) > 1e-3


def test_pair_given_others(file):
    record = json.loads(run("pair", file, "square", "[bold]z[/]", "--given", "x", "--json").stdout)
    assert record["given"] == ["x"]
    assert record["p"] > 0.001
    assert record["pearson"] is None
    assert "Pearson" not in run("pair", file, "square", "[bold]z[/]", "--given", "x").stdout


@pytest.mark.slow
def test_pair_draws_a_picture(file, tmp_path):
    run("pair", file, "x", "square", "--plot", tmp_path / "pair.png")
    assert (tmp_path / "pair.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(os.listdir(tmp_path)) == ["pair.png", "table.csv"]


def test_a_picture_does_not_replace_what_is_read(file, tmp_path):
    (tmp_path / "pair.png").symlink_to(file)
    with pytest.raises(InputError, match=r"pair\.png is a file that is read"):
        run("pair", file, "x", "square", "--plot", tmp_path / "pair.png")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["x", "sqare"], "did you mean 'square'"),
        (["x", "square", "--given", "nois"], "did you mean 'noise'"),
        (["x", "x"], "one column twice"),
        (["x", "square", "--given", "x"], "one column twice"),
        (["x", "constant"], "'constant' cannot be measured: constant"),
        (["x", "square", "--type", "q=number"], "--type names 'q'"),
        (["x", "square", "--type", "x"], "--type x is not a type"),
        (["x", "square", "--plot", "a.xyz"], "does not name a kind of picture"),
    ],
)
def test_pairs_that_cannot_be_tested(file, arguments, message):
    with pytest.raises(InputError, match=message):
        run("pair", file, *arguments)


def test_the_kind_of_a_pair_does_not_contradict_the_table(tmp_path):
    """A line below fast waves, which the test sees better than the coefficient: a trend neither here nor there."""
    rng = np.random.default_rng(0)
    x = rng.random(4000)
    y = 0.7 * x + np.sin(16 * np.pi * x) + 0.5 * rng.standard_normal(4000)
    pl.DataFrame({"x": x, "y": y}).write_csv(tmp_path / "table.csv")
    (found,) = json.loads(run("scan", tmp_path / "table.csv", "--json").stdout)["pairs"]
    record = json.loads(run("pair", tmp_path / "table.csv", "x", "y", "--json").stdout)
    assert found["strength"] == pytest.approx(record["strength"], rel=1e-6)
    assert found["nonlinear"]
    assert "on the whole" not in record["words"] or "most of the dependence is another" in record["words"]


@pytest.fixture
def series(tmp_path):
    """Two series that know nothing of one another, in another order than that of their days."""
    rng = np.random.default_rng(0)
    a, b = lfilter([1], [1, -0.95], rng.standard_normal((2, 300)))
    days = (np.datetime64("2024-01-01") + np.arange(300)).astype(str).tolist()
    frame = pl.DataFrame({"day": days, "a": a, "b": b, "unit": ["u"] * 150 + ["v"] * 150})
    frame[rng.permutation(300).tolist()].write_csv(tmp_path / "series.csv")
    frame.drop("day").write_csv(tmp_path / "ordered.csv")
    return tmp_path


def test_pair_of_series(series):
    record = json.loads(run("pair", series / "series.csv", "a", "b", "--time", "day", "--json").stdout)
    ordered = json.loads(run("pair", series / "ordered.csv", "a", "b", "--in-order", "--json").stdout)
    assert record["p"] == pytest.approx(ordered["p"])
    assert record["calibration"] == "shifts"
    scanned = json.loads(
        run("scan", series / "series.csv", "--time", "day", "--type", "unit=skip", "--fdr", 1, "--json").stdout
    )
    assert scanned["pairs"][0]["log10_p"] == pytest.approx(record["log10_p"])
    assert "independent rows" in run("pair", series / "series.csv", "a", "b", "--time", "day").stdout
    said = run("pair", series / "ordered.csv", "a", "b", "--groups", "unit").stdout
    assert "permutations" in said
    assert "resemble their own previous row" in run("pair", series / "ordered.csv", "a", "b").stdout
    scan = run("scan", series / "ordered.csv")
    assert "resemble their own previous row" in scan.stderr
    assert "previous row" not in run("scan", series / "ordered.csv", "--any-order").stderr
    for wrong, message in (
        (("--time", "days"), "--time names 'days'"),
        (("--time", "day", "--in-order"), "two ways to order rows"),
        (("--period", "24"), "detrend and period are for series"),
        (("--given", "unit", "--groups", "unit"), "groups, detrend and period"),
    ):
        with pytest.raises(InputError, match=message):
            run("pair", series / "series.csv", "a", "b", *wrong)


@pytest.fixture(scope="module")
def wide():
    """A table of which two columns are loaded within 5 MB, and not all of them."""
    rng = np.random.default_rng(8)
    columns = {f"x{k}": rng.standard_normal(24_000).round(3) for k in range(12)}
    return pl.DataFrame(columns | {"y": columns["x3"] ** 2 + rng.standard_normal(24_000).round(3)})


def _content(form, frame):
    written = io.BytesIO()
    getattr(frame, f"write_{form.removesuffix('.gz')}")(written)
    return gzip.compress(written.getvalue(), 1) if form.endswith(".gz") else written.getvalue()


@pytest.mark.parametrize("form", ["csv", "csv.gz", "parquet", "ipc", "ipc_stream"])
@pytest.mark.parametrize("place", ["file", "standard input"])
def test_of_a_large_table_only_two_columns_are_loaded(form, place, wide, tmp_path, monkeypatch):
    (tmp_path / "rows").write_bytes(content := _content(form, wide))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    whole = json.loads(run("pair", tmp_path / "rows", "y", "x3", "--json").stdout)
    named, options = (tmp_path / "rows", {}) if place == "file" else ("-", {"input": content})
    part = json.loads(run("pair", named, "y", "x3", "--json", "--memory", "5MB", **options).stdout)
    assert part == whole | {"file": str(named)}
    given = ("y", "x3", "--given", "x4", "--given", "x5", "--memory")
    with pytest.raises(InputError, match=r"the columns of this pair do not fit into --memory 5MB: pass more"):
        run("pair", named, *given, "5MB", **options)
    scanned = json.loads(run("scan", named, "--target", "y", "--json", "--memory", "13MB", **options).stdout)
    assert (scanned["rows"], scanned["pairs"][0]["x"]) == (24_000, "x3")
    gc.collect()
    assert os.listdir(tmp_path / "temporary") == []


def test_names_of_columns_that_are_not_read_are_known(wide, tmp_path):
    wide.write_parquet(tmp_path / "rows.parquet")
    asked = ("pair", tmp_path / "rows.parquet", "y", "x3", "--memory", "5MB")
    assert json.loads(run(*asked, "--json", "--type", "x7=category").stdout)["n"] == 24_000
    for options, message in (
        (("--type", "x70=category"), "--type names 'x70', which is not a column of the table: did you mean 'x7'"),
        (("--time", "day"), "--time names 'day', which is not a column of the table: it has 'x0'"),
        (("--given", "X4"), "--given names 'X4', which is not a column of the table: did you mean 'x4'"),
    ):
        with pytest.raises(InputError, match=re.escape(message)):
            run(*asked, *options)
