import numpy as np
import pytest

from renyi.coefficients.pearson import Pearson
from renyi.experiments import power
from renyi.experiments.entries import Coefficient, Evidence, MultiScale
from renyi.pair.independence import independence_test
from small_experiments import PEARSON, PLAIN, run_power


def test_a_repetition_is_the_same_whatever_else_runs():
    one = power.repetition("circle", 7, 50, seed=1, number=3)
    again = power.repetition("circle", 7, 50, seed=1, number=3)
    assert all(np.array_equal(a, b) for a, b in zip(one, again, strict=True))
    others = [("circle", 7, 1, 4), ("circle", 7, 2, 3), ("circle", 8, 1, 3), ("linear", 7, 1, 3)]
    for pattern, level, seed, r in others:
        assert not np.array_equal(one.x, power.repetition(pattern, level, 50, seed=seed, number=r).x)


def test_the_null_redraws_x_and_keeps_y():
    seen = []

    class Watching:
        def evidence(self, xs, y, /):
            seen.append((*xs, y))
            return Evidence(np.zeros(2))

    power.power_of(Watching(), "linear", 0, n=400, repetitions=2, seed=0)
    for x, redrawn, y in seen:
        assert np.array_equal(x, y)
        assert not np.intersect1d(x, redrawn).size  # new values, not a permutation of the old ones
        assert abs(np.corrcoef(redrawn, y)[0, 1]) < 0.2
        assert 0 < redrawn.min() < redrawn.max() < 1


def test_power_is_1_where_dependence_is_plain_and_the_level_where_there_is_none():
    options = {"n": 50, "seed": 2}
    assert power.power_of(PEARSON, "linear", 1, repetitions=40, **options)["power"] == 1.0
    pure_noise = power.power_of(PEARSON, "linear", 1e6, repetitions=1000, **options)
    assert 0.025 < pure_noise["power"] < 0.08
    assert pure_noise["repetitions"] == 1000


def test_the_cut_is_the_95th_percentile_of_the_null():
    found = power.power_of(PLAIN, "quadratic", 5, n=40, repetitions=25, seed=3)
    pairs = [power.repetition("quadratic", 5, 40, seed=3, number=r) for r in range(25)]
    null = [np.corrcoef(p.redrawn, p.y)[0, 1] ** 2 for p in pairs]
    values = [np.corrcoef(p.x, p.y)[0, 1] ** 2 for p in pairs]
    assert found["cut"] == pytest.approx(np.quantile(null, 0.95), rel=1e-12)
    assert found["power"] == np.mean(values > np.quantile(null, 0.95))
    assert "rejected" not in found


def test_the_sign_of_a_coefficient_does_not_count():
    class Falling(Pearson):
        def combine(self, x, y, /):
            return -super().combine(x, y)

    found, mirrored = (
        power.power_of(Coefficient(m), "linear", 8, n=50, repetitions=30, seed=0) for m in (Pearson(), Falling())
    )
    assert found == mirrored
    assert found["power"] > 0.5


def test_the_test_is_judged_by_its_cut_and_by_its_pvalues():
    found = power.power_of(MultiScale(), "quadratic", 12, n=100, repetitions=15, seed=1)
    pairs = [power.repetition("quadratic", 12, 100, seed=1, number=r) for r in range(15)]
    assert found["rejected"] == np.mean([independence_test(p.x, p.y).pvalue <= 0.05 for p in pairs])
    assert found["rejected_of_redrawn"] == np.mean([independence_test(p.redrawn, p.y).pvalue <= 0.05 for p in pairs])


def test_seeds_reproduce_and_differ(tmp_path):
    first, again, other = (run_power(tmp_path / f"{i}.json", seed=s)[0].rows for i, s in enumerate((5, 5, 6)))
    assert first == again
    assert first != other


@pytest.mark.slow
def test_neither_order_nor_processes_nor_company_matter(tmp_path):
    first, _ = run_power(tmp_path / "a.json")
    others, _ = run_power(tmp_path / "b.json", [PLAIN, PEARSON], patterns=["circle", "linear"], jobs=2)
    alone, _ = run_power(tmp_path / "c.json", [PLAIN])
    assert first.rows == others.rows
    assert len(first.rows) == 8
    assert alone.rows == {key: row for key, row in first.rows.items() if key[2] == "plain"}


def test_slow_measures_do_less_and_say_so(tmp_path):
    sizes = power.Sizes(n=30, levels=(1, 2, 3), repetitions=9, slow_seconds=0.0, slow_levels=(3,), slow_repetitions=4)
    record, _ = run_power(tmp_path / "power.json", [PLAIN], sizes=sizes)
    assert [(row["level"], row["repetitions"]) for row in record.rows.values()] == [(3, 4), (3, 4)]
    assert record.plan["plain"]["seconds"] > 0
    (table,) = power.summarise(record)
    assert "over 1 levels of noise that all measures have; 30 rows and 4 repetitions" in table.notes
