"""The maximal information coefficient and its kin."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
import renyi
from golden.samples import scalars
from renyi.coefficients.mic import EqualParts, Mic
from renyi.errors import InputError

SAMPLES = scalars()
KINDS = [
    {"estimator": estimator, "statistic": statistic}
    for estimator in ("mic_approx", "mic_e")
    for statistic in ("mic", "tic")
]


def golden_values():
    lines = (Path(__file__).parents[1] / "golden" / "mic.csv").read_text().splitlines()[1:]
    return list(csv.DictReader(lines, delimiter=";"))


@pytest.mark.slow
@pytest.mark.parametrize("row", golden_values(), ids=lambda row: "-".join(list(row.values())[:4]))
def test_agrees_with_minerva(row):
    # Where columns and rows are equally many, minerva's mic_e optimises y alone, and depends on the order of x and y;
    # here both orders count, for the estimator of 2011, which is symmetric, to no effect.
    x, y = SAMPLES[row["sample"]]
    chosen = {"alpha": float(row["alpha"]), "c": float(row["c"]), "estimator": row["estimator"]}
    mic, tic, swapped_mic, swapped_tic = (float(row[key]) for key in ("mic", "tic", "swapped mic", "swapped tic"))
    assert Mic(**chosen)(x, y) == pytest.approx(max(mic, swapped_mic), abs=1e-12)
    assert Mic(statistic="tic", **chosen)(x, y) == pytest.approx((tic + swapped_tic) / 2, abs=1e-12)


def test_golden_values_of_the_default_are_those_of_all_samples():
    seen = {row["sample"] for row in golden_values() if (row["alpha"], row["c"]) == ("0.6", "15")}
    assert seen == set(SAMPLES)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("n", [2, 3, 4, 5, 9, 17, 40])
@pytest.mark.parametrize("n_values", [2, 4, 1000])
def test_agrees_with_loops(kind, n, n_values):
    rng = np.random.default_rng(n)
    x, y = rng.integers(0, n_values, (2, n)).astype(float)
    x[:2] = y[:2] = 0.0, 1.0
    chosen = {"alpha": 0.9, "c": 2.0, "estimator": kind["estimator"]}
    oracle = getattr(reference, kind["statistic"])
    assert Mic(statistic=kind["statistic"], **chosen)(x, y) == pytest.approx(oracle(x, y, **chosen), abs=1e-12)


@given(
    sizes=st.lists(st.integers(1, 12), min_size=1, max_size=40),
    n_parts=st.integers(1, 20),
)
def test_equal_parts_are_those_of_the_greedy_rule(sizes, n_parts):
    edges = np.cumsum([0, *sizes])
    values = np.repeat(np.arange(len(sizes)), sizes)
    parts = np.searchsorted(EqualParts(edges).into(n_parts), np.arange(len(sizes)), side="right") - 1
    assert list(parts[values]) == reference.equal_rows(list(values), n_parts)


@pytest.mark.parametrize("kind", KINDS, ids=str)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), n=st.integers(2, 80), decimals=st.integers(0, 3))
def test_symmetric_invariant_and_in_range(kind, seed, n, decimals):
    rng = np.random.default_rng(seed)
    x, y = np.round(rng.standard_normal((2, n)), decimals)
    x[0], y[0] = 9.0, 9.0
    measure = Mic(**kind)
    value = measure(x, y)
    assert 0.0 <= value <= 1.0
    assert measure(y, x) == pytest.approx(value, abs=1e-14)
    assert measure(np.exp(x), y**3) == value
    rows = rng.permutation(n)
    assert measure(x[rows], y[rows]) == value


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("decimals", [1, 8])
def test_a_reordered_side_is_that_of_reordered_values(kind, decimals):
    rng = np.random.default_rng(4)
    x = rng.standard_normal(120)
    y = np.round(x**2 + 0.3 * rng.standard_normal(120), decimals)
    measure = Mic(**kind)
    a, b = measure.prepare(x), measure.prepare(y)
    orders = np.stack([rng.permutation(120) for _ in range(3)])
    expected = [measure(x, y[order]) for order in orders]
    assert len(set(expected)) == 3
    assert [measure.combine(a, measure.reordered(b, order)) for order in orders] == expected
    swapped = [measure.combine(measure.reordered(b, order), a) for order in orders]
    assert swapped == pytest.approx(expected, abs=1e-14)
    assert list(measure.permuted(a, b, orders)) == expected


def test_functions_are_found_and_noise_is_not():
    rng = np.random.default_rng(0)
    x, noise = rng.random((2, 400))
    for y in (x, -x, (x - 0.5) ** 2, np.sin(4 * np.pi * x)):
        assert renyi.measure("mic")(x, y) > 0.999
    assert renyi.measure("mic")(x, noise) < 0.25
    assert renyi.measure("mic", estimator="mic_e")(x, noise) < 0.1


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_scales_do_not_matter(scale):
    rng = np.random.default_rng(1)
    x, y = rng.random((2, 60))
    assert Mic()(scale * x, y) == Mic()(x, y)


def test_a_rare_value_is_a_row_of_its_own():
    x = np.arange(50.0)
    y = np.zeros(50)
    y[-1] = 1.0
    # The entropy of a share of 1/50 in bits: both grids of two columns see the rare value, and nothing else is there.
    share = np.array([0.02, 0.98])
    assert Mic()(x, y) == pytest.approx(-(share * np.log2(share)).sum(), abs=1e-12)


@pytest.mark.parametrize("block", [1, 7, 1000])
def test_sizes_of_blocks_do_not_matter(block, monkeypatch):
    x, y = SAMPLES["quadratic"]
    expected = Mic(alpha=0.75)(x, y)
    monkeypatch.setattr("renyi.coefficients.mic._BLOCK", block)
    monkeypatch.setattr("renyi.coefficients.mic._LABELS_AT_ONCE", 1000 * block)
    assert Mic(alpha=0.75)(x, y) == expected


def test_a_test_by_permutation():
    rng = np.random.default_rng(2)
    x, noise = rng.random((2, 150))
    found = renyi.measure("mic", estimator="mic_e", statistic="tic").test(
        x, (x - 0.5) ** 2 + 0.02 * noise, n_resamples=199
    )
    assert found.pvalue == pytest.approx(1 / 200)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_independent_pairs_are_found_as_often_as_the_level_says(kind):
    rng = np.random.default_rng(3)
    measure = Mic(**kind)
    pvalues = [measure.test(*rng.random((2, 40)), n_resamples=19, rng=i).pvalue for i in range(150)]
    # Few permutations and ties among values can make p-values larger, never smaller: four deviations above the level.
    for level in (0.05, 0.2):
        assert np.mean(np.array(pvalues) <= level + 1e-12) < level + 4 * np.sqrt(level * (1 - level) / 150)
    assert np.mean(np.array(pvalues) <= 0.5 + 1e-12) > 0.35


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alpha": 0.0}, "alpha must be a number above 0 and at most 1, got 0.0"),
        ({"alpha": 1.5}, "above 0 and at most 1"),
        ({"alpha": float("nan")}, "alpha must be .*, got nan"),
        ({"c": 0.5}, "of at least 1"),
        ({"c": float("inf")}, "c must be .*, got inf"),
        ({"c": "15"}, "c must be .*, got '15'"),
        ({"estimator": "mic"}, "estimator='mic' is unknown"),
        ({"statistic": "mas"}, "statistic='mas' is unknown"),
    ],
)
def test_invalid_settings_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        renyi.measure("mic", **settings)


@pytest.mark.slow
def test_grids_that_would_take_hours_are_refused_with_settings_that_do_not(rng):
    x, y = rng.random((2, 10_000))
    with pytest.raises(InputError, match=r"10,000 rows would take about \d+ minutes.*alpha=0\.\d+ or less") as refusal:
        Mic(alpha=1.0)(x, y)
    fits = float(re.search(r"alpha=(0\.\d+) or less", str(refusal.value)).group(1))
    Mic(alpha=fits).prepare(x)
    assert fits > 0.6
    Mic(alpha=1.0).prepare(x[:3900])
    Mic().prepare(rng.random(200_000))
    with pytest.raises(InputError, match=r"1,000,000 rows would take about \d+ minutes"):
        Mic()(*rng.random((2, 1_000_000)))
