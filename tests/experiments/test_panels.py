import polars as pl
import pytest

from renyi.errors import InputError
from renyi.experiments.panels import PANELS, prepared, read_panels


def test_data_are_numbers_without_gaps():
    frame = pl.DataFrame({
        "kind": ["a", "b", "c", "d"], "x": [1.0, None, 3.0, 5.0], "same": [2, 2, 2, 2], "target": [1, 2, 3, 8],
    })  # fmt: skip
    data = prepared("name", frame)
    assert data.columns == ("x", "target")
    assert data.left_out == ("column kind: text", "1 rows with missing cells", "column same: constant")
    assert data.values.mean(axis=0) == pytest.approx(0, abs=1e-12)
    assert data.values.std(axis=0) == pytest.approx(1)
    with pytest.raises(InputError, match="target of numbers"):
        prepared("name", frame.select("x", "kind"))


def test_files_that_are_absent_are_named(tmp_path):
    (tmp_path / "abalone.csv").write_text("a,target\n1,2\n2,3\n3,5\n")
    assert read_panels(tmp_path, names=["abalone"])[0].values.shape == (3, 2)
    with pytest.raises(InputError, match=r"lacks autoprice\.csv, .*whitewine\.csv"):
        read_panels(tmp_path)


def test_without_a_network_the_error_says_what_to_do(monkeypatch):
    import sklearn.datasets

    def offline(**_):
        raise OSError("no route to host")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", offline)
    with pytest.raises(InputError, match=r"abalone cannot be had from OpenML \(no route to host\): name .* data=DIR"):
        read_panels(None)


def test_data_from_openml_have_the_target_last(monkeypatch):
    import pandas as pd
    import sklearn.datasets

    frame = pd.DataFrame({"V30": [1.0, 2, 4], "V1": [3.0, 1, 2], "Class": pd.Categorical(["1", "2", "2"])})

    class Fetched:
        pass

    fetched = Fetched()
    fetched.frame, fetched.target = frame, frame["Class"]
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **_: fetched)
    (breast,) = read_panels(None, names=["breast"])
    assert breast.columns == ("V1", "V30")
    (wine,) = read_panels(None, names=["whitewine"])
    assert wine.columns == ("V30", "V1", "Class")
    with pytest.raises(InputError, match="OpenML does not have crime"):
        read_panels(None, names=["crime"])


def test_the_papers_twelve_panels():
    assert len(PANELS) == len({panel.file for panel in PANELS}) == 12
