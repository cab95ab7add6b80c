import numpy as np
import pandas as pd
import pytest

import renyi
from renyi.allpairs.compare import FoundPairs
from renyi.allpairs.edges import Edges
from renyi.tables import top_pairs
from renyi.tables.top_pairs import TopPairs
from sample_tables import SOME, VECTORS, mixed, number

# What the pairs are of does not matter to what is kept.
VARIABLES = [number(np.arange(50.0)) for _ in range(2)]


def found(coefficient, pvalues):
    m = len(coefficient)
    return FoundPairs(
        i=np.zeros(m, dtype=int),
        j=np.ones(m, dtype=int),
        n=np.full(m, 1000),
        dimensions=np.full((m, 2), 1, dtype=np.int32),
        coefficient=np.asarray(coefficient, dtype=float),
        log_pvalue=np.log(pvalues),
        pearson=np.zeros(m),
        spearman=np.zeros(m),
        is_permuted=np.zeros(m, dtype=bool),
    )


def many(m, rng):
    """Strong ones among many weak ones, p-values that do not follow the coefficients closely."""
    coefficient = np.where(rng.random(m) < 0.1, rng.uniform(0.2, 0.9, m), rng.uniform(0.0, 0.2, m))
    return coefficient, np.exp(-30 * coefficient**2) * rng.random(m)


def kept(parts, **settings):
    settings = {"top": None, "threshold": None, "fdr": 1.0, "correction": "bh", **settings}
    collector = TopPairs(**settings)
    for part in parts:
        collector.update(Edges(VARIABLES, VARIABLES, part))
    edges, rates, counts = collector.result()
    assert counts[1] == np.count_nonzero(rates <= collector._fdr) or len(edges) < counts[1] <= counts[0]
    return edges, rates


@pytest.mark.parametrize("correction", ["bh", "by", "bonferroni"])
def test_rates_are_those_of_all_tests_and_never_too_small(correction, rng):
    coefficient, p = many(2000, rng)
    edges, rates = kept(
        [found(coefficient[a : a + 300], p[a : a + 300]) for a in range(0, 2000, 300)], correction=correction
    )
    expected = dict(zip(coefficient, renyi.adjust(p, correction), strict=True))
    ratio = rates / [expected[value] for value in edges.found.coefficient]
    assert len(edges) == 2000
    assert ratio.min() >= 1 - 1e-9
    assert ratio.max() <= 1.0021


def test_pairs_come_strongest_first_and_no_more_than_asked(rng):
    coefficient, p = many(500, rng)
    edges, _ = kept([found(coefficient, p)], top=20)
    assert edges.found.coefficient.tolist() == sorted(coefficient, reverse=True)[:20]


def test_only_those_at_the_rate_and_above_the_threshold_are_kept(rng):
    coefficient, p = many(1000, rng)
    edges, rates = kept([found(coefficient, p)], fdr=0.05)
    assert len(edges) == np.count_nonzero(renyi.adjust(p) <= 0.05 / 1.002)
    assert rates.max() <= 0.05
    edges, _ = kept([found(coefficient, p)], threshold=0.5)
    assert edges.debiased.min() >= 0.5
    # The tests that are not kept still count.
    _, alone = kept([found(coefficient[coefficient > 0.6], p[coefficient > 0.6])])
    _, among_all = kept([found(coefficient, p)], threshold=0.5)
    assert among_all[0] > 3 * alone[0]


def test_tests_that_were_not_made_do_not_count():
    p = np.array([1e-6, 0.02, np.nan, np.nan])
    edges, rates = kept([found([0.5, 0.4, 0.3, np.nan], p)])
    assert rates == pytest.approx([2e-6, 0.02], rel=0.003)
    assert len(edges) == 2


def test_what_is_dropped_on_the_way_could_not_have_been_in_the_end(monkeypatch, rng):
    monkeypatch.setattr(top_pairs, "_LEAST_TO_SORT", 50)
    monkeypatch.setattr(top_pairs, "MOST_LOOKED_AT", 5)
    coefficient, p = many(3000, rng)
    # The largest coefficients have p-values that miss the rate, and must not crowd out those that do not.
    coefficient[:200], p[:200] = rng.uniform(0.95, 0.99, 200), rng.uniform(0.03, 0.05, 200)
    parts = [found(coefficient[a : a + 100], p[a : a + 100]) for a in range(0, 3000, 100)]
    edges, rates = kept(parts, top=10, fdr=0.05)
    rate = renyi.adjust(p)
    expected = np.sort(coefficient[rate <= 0.05 / 1.002])[::-1][:10]
    assert edges.found.coefficient.tolist() == expected.tolist()
    assert expected[0] < 0.95
    collector = TopPairs(top=10, threshold=None, fdr=1.0, correction="bh")
    for part in parts:
        collector.update(Edges(VARIABLES, VARIABLES, part))
    assert collector._n_kept < 2500
    assert len(rates) == 10


def test_very_small_pvalues_have_rates_too():
    tiny = found([0.9, 0.8], [0.5, 0.5])
    tiny.log_pvalue[:] = [-5000.0, -740.0]
    edges, rates = kept([tiny], fdr=0.01)
    assert len(edges) == 2
    assert (rates < 1e-300).all()


def test_nothing_at_all_is_no_error():
    edges, rates = kept([found([0.1], [0.9])], fdr=0.01)
    assert len(edges) == len(rates) == 0
    edges, rates = kept([found([], [])])
    assert len(edges) == len(rates) == 0


@pytest.mark.slow
@pytest.mark.parametrize("correction", ["bh", "by", "bonferroni"])
@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_pairs_are_the_top_of_all_edges(gaps, correction, rng):
    frame = mixed(150, rng, gaps=gaps)[SOME]
    edges = renyi.matrix(frame, correction=correction).to_long()
    found = renyi.pairs(frame, fdr=1.0, correction=correction).to_frame()
    tested = edges[edges["p"].notna()].reset_index(drop=True)
    assert found.columns.tolist() == edges.columns.tolist()
    pd.testing.assert_frame_equal(found.drop(columns="q"), tested.drop(columns="q"))
    # Rates come from a histogram: too large by 0.3 % at most, never too small.
    ratio = found["q"] / tested["q"]
    assert ratio.between(1 - 1e-9, 1.003).all()
    few = renyi.pairs(frame, top=5, fdr=1.0, correction=correction).to_frame()
    pd.testing.assert_frame_equal(few, found.head(5))


@pytest.mark.slow
def test_pairs_keep_to_the_rate_and_to_the_threshold(rng):
    frame = mixed(150, rng)
    edges = renyi.matrix(frame).to_long()
    found = renyi.pairs(frame).to_frame()
    expected = edges[edges["q"] <= 0.05]
    assert found[["x", "y"]].to_numpy().tolist() == expected[["x", "y"]].to_numpy().tolist()
    assert 3 < len(found) < len(edges)
    strong = renyi.pairs(frame, threshold=0.5, fdr=1.0).to_frame()
    assert len(strong) == (edges["debiased"] >= 0.5).sum() > 0
    assert strong["debiased"].min() >= 0.5
    weak = renyi.pairs(frame, threshold=-1.0, fdr=1.0).to_frame()
    assert len(weak) == len(edges)
    assert len(renyi.pairs(frame, threshold=0.5, top=2)) == 2


def test_without_a_pair_at_the_rate_there_is_an_empty_frame(rng):
    found = renyi.pairs(pd.DataFrame(rng.random((100, 3)), columns=list("abc")), fdr=1e-6).to_frame()
    assert len(found) == 0
    assert {"x", "y", "debiased", "q"} <= set(found.columns)


def test_pairs_give_vectors_and_types_as_the_matrix_does(rng):
    frame = mixed(150, rng)
    found = renyi.pairs(frame, fdr=1.0, vectors=VECTORS, types={"five": "skip"}).to_frame()
    names = set(found["x"]) | set(found["y"])
    assert "place" in names
    assert not {"lat", "five"} & names


def test_rates_of_the_strongest_pairs_are_not_below_their_pvalues(rng):
    x = rng.standard_normal(3000)
    found = renyi.pairs({"a": x, "b": x, "c": x**3, "d": rng.standard_normal(3000)}, fdr=1).to_frame()
    assert len(found["q"]) == 6
    assert (found["q"] >= found["p"]).all()
    assert (found["q"] > 0).all()


@pytest.mark.parametrize("n_columns", [40, 300])
def test_pairs_that_bounds_leave_out_are_none_of_the_strongest(n_columns, rng):
    values = rng.standard_normal((90, n_columns))
    values[:, 1] = values[:, 0] ** 2 + 0.5 * values[:, 1]
    values[:, 3] += 2 * values[:, 2]
    every, found = (
        renyi.pairs(values, **settings).to_frame() for settings in ({"top": 50_000, "fdr": 1.0}, {"top": 10})
    )
    few = np.flatnonzero(every["q"] <= 0.05)
    assert len(few) > 0
    for name in ("x", "y"):
        assert found[name].tolist() == every[name][few].tolist()
    for name in ("p", "q", "coefficient"):
        assert found[name].tolist() == pytest.approx(every[name][few].tolist(), rel=1e-6)
