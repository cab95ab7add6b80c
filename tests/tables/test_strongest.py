import json
import pickle

import pandas as pd

import renyi
from sample_tables import mixed


def test_pairs_are_a_result_as_the_others(rng, tmp_path):
    frame = mixed(150, rng).assign(constant=1.0)
    found, whole = renyi.pairs(frame, top=4), renyi.matrix(frame)
    assert (found.n_tests, found.skipped, found.types) == (whole.n_tests, whole.skipped, whole.types)
    assert (found.names, found.notes, found.pooled, len(found)) == (whole.names, whole.notes, whole.pooled, 4)
    assert found.n_all_found == whole.n_found() > found.n_found() == 4
    assert f"the 4 strongest of {whole.n_found()} dependences" in repr(found)
    assert "4 strongest" in found._repr_html_()
    pd.testing.assert_frame_equal(found.to_frame(), found.to_long())
    strongest = whole.to_long().head(4)
    pd.testing.assert_frame_equal(found.to_frame().drop(columns="q"), strongest.drop(columns="q"))
    assert found.strength.tolist() == found.to_frame()["strength"].tolist()
    assert len(found.top(2)) == 2
    written = json.loads(found.report(tmp_path / "report.json").read_text())
    assert (written["tests"], written["n_pairs"], written["heatmap"]) == (whole.n_tests, 4, None)
    assert found.report(tmp_path / "report.html").stat().st_size > 10_000
    assert repr(pickle.loads(pickle.dumps(found))) == repr(found)


def test_the_rate_that_was_asked_for_is_that_of_the_result(rng):
    frame = mixed(150, rng)[["plain", "curve", "noise", "rounded"]]
    found = renyi.pairs(frame, fdr=1.0)
    assert (found.fdr, found.n_found(), found.n_found(0.05)) == (1.0, 6, renyi.matrix(frame).n_found())
    assert "6 dependences at a false discovery rate of 100 %" in repr(found)
    by_mic = renyi.pairs(frame, measure="mic", top=2)
    assert "not tested" in repr(by_mic)
    assert len(by_mic) == len(by_mic.to_frame()) == 2
