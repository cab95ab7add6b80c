import numpy as np
import pytest

from renyi.coefficients.pearson import Pearson
from renyi.experiments import gallery
from renyi.experiments.gallery import GALLERY, score_gallery
from renyi.experiments.runs import Run
from small_experiments import PEARSON, PLAIN


def test_gallery_has_the_papers_fourteen():
    assert len(GALLERY) == 14
    assert [association.dependent for association in GALLERY].count(False) == 2


@pytest.mark.slow
def test_gallery_scores_are_those_the_paper_asks_for():
    scored = {row.name: row for row in score_gallery(5000, seed=1)}
    for row in scored.values():
        assert (row.strength == "·") == (not row.is_found) == (not row.dependent)
        if not row.dependent:
            assert row.rdc < 0.1
            assert abs(row.debiased) < 0.06
        elif row.name.startswith("normal"):
            assert row.rdc == pytest.approx(abs(row.pearson), abs=0.04)
        else:
            assert row.rdc > 0.3
            assert abs(row.pearson) < 0.1


def test_gallery_depends_on_its_seed_alone():
    first, again, other = (score_gallery(200, seed=seed) for seed in (3, 3, 4))
    assert all(np.array_equal(a.x, b.x) and a.rdc == b.rdc for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first[0].x, other[0].x)


def test_gallery_values_are_those_of_the_samples(tmp_path):
    record = gallery.measure_gallery(Run(tmp_path / "gallery.json", seed=4), [PEARSON, PLAIN], n=100)
    assert len(record.rows) == 28
    for association, (x, y) in zip(gallery.GALLERY, gallery.gallery_samples(100, seed=4), strict=True):
        assert record.rows[association.name, "pearson"]["value"] == Pearson()(x, y)
    normals, shapes = gallery.summarise(record)
    assert normals.rows[0][1] == "1.00"
    assert shapes.header[-1] == "four clusters"
