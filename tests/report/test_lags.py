"""Dependence at many lags as plain data, and by `text/lags`, `html/lags`, `figures/lags` and `figures/rolling`."""

import json

import numpy as np
import pytest

import renyi


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    rain, noise, free = rng.standard_normal((3, 200))
    return {"rain": rain, "river": np.roll(rain, 3) + 0.4 * noise, "<free>": free}


@pytest.fixture(scope="module")
def found(table):
    return renyi.lags(table, max_lag=12)


def test_a_console_and_a_notebook_tell_who_leads(found, table):
    assert "1 of 3 pairs depends at some lag" in repr(found)
    assert "rain leads by 3" in repr(found)
    assert "rain leads river by 3" in found._repr_html_()
    assert "column  strongest" in repr(renyi.lags(table, "river", max_lag=12))
    nothing = renyi.lags({"a": table["rain"], "b": table["<free>"]}, max_lag=12)
    assert "0 of 1 pair depend at some lag" in repr(nothing)


def test_a_page_has_a_chart_of_every_pair(found, tmp_path):
    page = found.report(tmp_path / "lags.html", title="<b>", fdr=1.0).read_text()
    assert "&lt;b&gt;" in page
    assert "&lt;free&gt;" in page
    assert "<script" not in page
    assert page.count("<svg") == 3
    data = json.loads(found.report(tmp_path / "lags.json").read_text())
    assert (data["found"], data["tested"]) == (1, 3)
    assert len(data["pairs"][0]["curve"]) == 25
    assert data["pairs"][0]["band"] < data["pairs"][0]["strength"]


def test_plots(found, table):
    assert found.plot("river", "rain").axes[0].get_title(loc="left").startswith("rain leads river by 3")
    assert "leads" in found.plot().axes[1].get_ylabel()
    by_target = renyi.lags(table, "river", max_lag=12)
    assert by_target.plot().axes[1].get_ylabel() == "strength"
    assert by_target.plot("rain").axes[0].get_title(loc="left").startswith("rain leads")
    with pytest.raises(renyi.InputError, match="is not a column that was compared"):
        found.plot("rain", "snow")


def test_windows_below_005_are_filled(table):
    figure = renyi.rolling(table["rain"], np.roll(table["river"], -3), 50, 50).plot()
    assert (figure.axes[0].collections[0].get_facecolors()[:, 0] < 0.5).all()
    assert figure.axes[0].get_xlabel() == "last row of the window"
