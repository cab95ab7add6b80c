"""Experiments from Python: what is run, written and drawn."""

import numpy as np
import pytest

import renyi
from renyi.coefficients.pearson import Pearson
from renyi.errors import InputError, MissingExtraError
from renyi.experiments import gallery, reproduce
from renyi.experiments.runs import Record


def test_without_matplotlib_there_are_numbers(tmp_path, monkeypatch):
    def missing(_):
        raise MissingExtraError("matplotlib is not installed")

    monkeypatch.setattr(reproduce, "_figures", missing)
    said = []
    request = reproduce.Request("gallery", tmp_path, quick=True, measures=["pearson"], jobs=1)
    found = reproduce.reproduce(request, say=said.append)
    assert said == ["no figure: matplotlib is not installed"]
    assert [path.name for path in found.paths] == ["gallery-quick.json", "gallery-quick.md"]
    assert len(found.summaries) == 2
    with pytest.raises(MissingExtraError):
        reproduce.reproduce(reproduce.Request("gallery", tmp_path, quick=True, draw_only=True), say=said.append)


@pytest.mark.slow
def test_experiments_run_from_python(tmp_path):
    said = []
    settings = {"quick": True, "measures": ["pearson", "rdc"], "jobs": 1, "seed": np.int64(3), "say": said.append}
    found = renyi.experiments.run_experiment("gallery", str(tmp_path), **settings)
    assert found.settings == {"seed": 3, "n": 500}
    assert len(found.results) == 28
    x, y = gallery.gallery_samples(500, seed=3)[0]
    assert found.results[0] == {
        "association": gallery.GALLERY[0].name, "measure": "pearson", "value": Pearson()(x, y),
    }  # fmt: skip
    assert [path.name for path in found.paths] == ["gallery-quick.json", "gallery-quick.md", "gallery-quick.png"]
    assert found.summaries[0].rows[0][0] == "pearson"
    found.paths[-1].unlink()
    drawn = renyi.experiments.draw_experiment("gallery", tmp_path, quick=True)
    assert drawn.results == found.results
    assert drawn.paths[-1].exists()
    with pytest.raises(InputError, match="no experiment 'powr'"):
        renyi.experiments.run_experiment("powr", tmp_path)
    for settings, message in (
        ({"measures": "pearson"}, "pass a list of names"),
        ({"seed": -1}, "seed must be an integer of at least 0, got -1"),
        ({"jobs": 2.5}, r"jobs must be an integer of at least 1, got 2\.5"),
    ):
        with pytest.raises(InputError, match=message):
            renyi.experiments.run_experiment("gallery", tmp_path, **settings)
    with pytest.raises(InputError, match="nothing to draw"):
        renyi.experiments.draw_experiment("power", tmp_path)


def test_a_record_without_results_is_not_drawn(tmp_path):
    Record(tmp_path / "selection.json", "selection", {"splits": 2, "features": 3, "rows": 9}, ("data",)).write()
    with pytest.raises(InputError, match="has no results yet"):
        renyi.experiments.draw_experiment("selection", tmp_path)
