import numpy as np
import pytest

from renyi.experiments.gallery import GALLERY, score_gallery
from renyi.experiments.patterns import EXTRA_PATTERNS, PATTERNS


def test_gallery_has_the_papers_fourteen():
    assert len(GALLERY) == 14
    assert [association.dependent for association in GALLERY].count(False) == 2


@pytest.mark.slow
def test_gallery_scores_are_those_the_paper_asks_for():
    scored = {row.name: row for row in score_gallery(5000, seed=1)}
    for row in scored.values():
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


@pytest.mark.parametrize("pattern", PATTERNS + EXTRA_PATTERNS, ids=lambda pattern: pattern.name)
def test_noise_of_a_pattern_grows_with_its_level(pattern):
    x, clean = pattern.sample(4000, 0, np.random.default_rng(0))
    again, noisy = pattern.sample(4000, 15, np.random.default_rng(0))
    assert np.array_equal(x, again)
    assert np.std(noisy - clean) == pytest.approx(1.5 * pattern.noise, rel=0.05)
    assert 0 <= x.min() <= x.max() <= 1
