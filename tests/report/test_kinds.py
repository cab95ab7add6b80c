"""Kinds of dependence in words: look-alikes of real pairs that were labelled by eye, and the paper's associations."""

import numpy as np
import pandas as pd
import pytest

import renyi
from renyi.data.reader import as_column
from renyi.experiments.gallery import GALLERY
from renyi.experiments.patterns import EXTRA_PATTERNS, PATTERNS
from renyi.report.kinds import _turns, kind_of
from renyi.report.summary import lines_of, trend_of

N = 1000
NO_TREND = "x and y have no trend: the spread changes, or the points form a ring or branches"
FALLS_RISES, RISES_FALLS = "y falls, then rises, along x", "y rises, then falls, along x"
WAVE = "y goes up and down along x"


def words(x, y):
    """What is said of two arrays beside their own coefficients."""
    edges = renyi.matrix({"x": x, "y": y}).edges
    linear = float(np.fmax(abs(edges.pearson[0]), abs(edges.spearman[0])))
    return kind_of(as_column(x, "x"), as_column(y, "y"), strength=float(edges.debiased[0]), linear=linear)


BY_EYE = {
    "normal, ρ = 1": "y rises with x",
    "normal, ρ = 0.8": "y rises with x",
    "normal, ρ = 0.4": "y rises with x",
    "normal, ρ = −0.4": "y falls with x",
    "normal, ρ = −0.8": "y falls with x",
    "normal, ρ = −1": "y falls with x",
    "W": WAVE,
    "square at 45°": NO_TREND,
    "parabola": FALLS_RISES,
    "two parabolas": NO_TREND,
    "circle": NO_TREND,
    "linear": "y rises with x",
    "quadratic": FALLS_RISES,
    "cubic": FALLS_RISES,
    "cosine": WAVE,
    "step": "y rises with x",
    "bell": RISES_FALLS,
    "two waves": NO_TREND,
    "sine": WAVE,
    "fourth root": "y rises with x",
    "logarithm": "y rises with x",
    "sine, period 1/2": WAVE,
    "sine, period 1/8": WAVE,
    "cubic, with a square": WAVE,
}


@pytest.mark.parametrize("association", [a for a in GALLERY if a.name in BY_EYE], ids=lambda a: a.name)
def test_associations_of_the_gallery_have_the_words_of_the_eye(association, rng):
    assert words(*association.sample(N, rng)) == BY_EYE[association.name]


@pytest.mark.parametrize("pattern", [*PATTERNS, *EXTRA_PATTERNS], ids=lambda pattern: pattern.name)
def test_patterns_have_the_words_of_the_eye(pattern, rng):
    assert words(*pattern.sample(N, 1, rng)).removesuffix(" on the whole") == BY_EYE[pattern.name]


def waiting_line(rng):
    """Delays over the hours of a day: most flights are on time, and the later the more are not."""
    hour = rng.integers(5, 24, N)
    return hour, np.round(np.where(rng.random(N) < hour / 40, rng.exponential(6.0 * hour), rng.normal(-3, 3, N)))


def spike(rng):
    """Salaries over home runs: pitchers have none, and earn anything; for all others there is a rise."""
    runs = np.where(rng.random(N) < 0.4, 0, rng.poisson(rng.gamma(1.2, 8.0, N)))
    usual = np.exp(14 + 0.03 * runs + 0.9 * rng.standard_normal(N))
    return runs, np.where((runs == 0) & (rng.random(N) < 0.6), 4e5, usual)


def clusters(rng):
    """Two species, within each of which y rises, and which lie to the right below: on the whole it falls."""
    x = rng.normal(0, 1, N)
    is_second = rng.random(N) < 0.6
    return x + 3.5 * is_second, 0.5 * x - 2.2 * is_second + 0.6 * rng.standard_normal(N)


def hours_over_age(rng):
    age = rng.integers(17, 80, N)
    return age, np.round(40 - 0.02 * (age - 47.0) ** 2 + 7 * rng.standard_normal(N))


def mileage(rng):
    power = rng.uniform(50, 220, N)
    return power, 2500 / power + 2 * rng.standard_normal(N)


REAL = {
    "a rise of few": (waiting_line, {"y rises with x", "y rises with x on the whole"}),
    "a spike": (spike, {"y rises with x", "y rises with x on the whole"}),
    "clusters": (clusters, {"y falls with x on the whole"}),
    "a hump": (hours_over_age, {RISES_FALLS}),
    "a curve that falls": (mileage, {"y falls with x"}),
    "ordinal": (
        lambda rng: (x := rng.integers(1, 6, N), np.clip(x + rng.integers(-1, 2, N), 1, 5)),
        {"y rises with x"},
    ),
    "a weak rise": (lambda rng: (x := rng.random(N), x + 2 * rng.standard_normal(N)), {"y rises with x"}),
    "sideways": (lambda rng: ((y := rng.standard_normal(N)) ** 2, y), {"x falls, then rises, along y"}),
    "branches": (lambda rng: (x := rng.standard_normal(N), x * rng.choice([-1.0, 1.0], N)), {NO_TREND}),
}


@pytest.mark.parametrize("name", REAL)
def test_look_alikes_of_real_pairs_have_the_words_of_the_eye(name, rng):
    sample, expected = REAL[name]
    assert words(*sample(rng)) in expected


def test_words_do_not_contradict_the_arrow_of_a_scan(rng):
    samples = [sample(rng) for sample, _ in REAL.values()] + [pattern.sample(N, 3, rng) for pattern in PATTERNS]
    for x, y in samples:
        (line,) = lines_of(renyi.matrix({"x": x, "y": y}), 1)
        verb = {1: "rises with", -1: "falls with", 0: ""}[line.trend]
        assert verb in words(x, y)
        assert not (line.trend and line.is_nonlinear)


def test_a_curve_with_one_end_beyond_has_no_trend_of_its_outliers(rng):
    x = np.append(rng.uniform(-1, 1, 40), 8.0)
    found = renyi.matrix({"x": x, "y": x**2}).edges
    assert found.pearson[0] > 0.5 * found.debiased[0]
    assert words(x, x**2) == FALLS_RISES
    assert [line.trend for line in lines_of(renyi.matrix({"x": x, "y": x**2}), 1)] == [0]


@pytest.mark.parametrize("name", ["linear", "quadratic", "cosine", "circle"])
def test_without_a_known_strength_the_columns_have_their_own(name, rng):
    pattern = next(pattern for pattern in PATTERNS if pattern.name == name)
    x, y = (as_column(side, letter) for side, letter in zip(pattern.sample(N, 1, rng), "xy", strict=True))
    assert kind_of(x, y, strength=np.nan, linear=np.nan) == BY_EYE[name]


def test_most_of_a_dependence_may_be_beyond_its_trend(rng):
    x = rng.standard_normal(N)
    y = as_column(0.3 * x + rng.standard_normal(N), "y")
    assert kind_of(as_column(x, "x"), y, strength=0.9, linear=0.3).endswith("most of the dependence is another")


# Categories.


def columns_of(rng):
    x = rng.standard_normal(N)
    grades = pd.Categorical(
        np.array(["low", "mid", "top"])[np.digitize(x, [-0.5, 0.5])], ["low", "mid", "top"], ordered=True
    )
    return pd.DataFrame(
        {
            "x": x + rng.standard_normal(N),
            "flag": x > 0,
            "zero one": (x > 0.2).astype(int),
            "text": np.where(x > 0, "b", "a"),
            "grade": grades,
        }
    )


def test_names_have_no_direction_and_flags_have_one(rng):
    frame = columns_of(rng)
    lines = {frozenset((line.x, line.y)): line.trend for line in lines_of(renyi.matrix(frame), 20, fold=False)}
    assert len(lines) == 10
    for pair, trend in lines.items():
        assert trend == (0 if "text" in pair else 1), pair


def test_names_have_no_direction_beside_other_measures(rng):
    frame = columns_of(rng)[["x", "flag", "text"]]
    lines = {
        line.y: line.trend for line in lines_of(renyi.matrix(frame, measure="pearson"), 20, fold=False) if line.x == "x"
    }
    assert lines == {"flag": 1, "text": 0}


def test_groups_differ_in_level_or_in_distribution(rng):
    groups = renyi.categorical(rng.choice(list("uvw"), N), name="g")
    level = groups.values + rng.standard_normal(N)
    spread = (1 + 3.0 * groups.values) * rng.standard_normal(N)
    for x, trait in ((level, "level"), (spread, "distribution")):
        expected = f"the {trait} of x differs between the groups of g"
        assert kind_of(groups, as_column(x, "x"), strength=0.5, linear=np.nan) == expected
        assert kind_of(as_column(x, "x"), groups, strength=0.5, linear=np.nan) == expected
    assert kind_of(groups, groups, strength=1.0, linear=np.nan) == "levels of g and of g go together"


def test_vectors_have_no_shape(rng):
    vector = as_column(rng.random((N, 2)), "v")
    said = kind_of(vector, as_column(vector.values[:, 0], "x"), strength=0.9, linear=np.nan)
    assert said == "functions of v and of x go together"


def test_trends_need_to_see_half_and_more_than_little(rng):
    x = as_column(rng.random(9), "x")
    assert trend_of(x, x, -0.3, 0.5) == -1
    assert trend_of(x, x, 0.3, 0.61) == 0
    assert trend_of(x, x, 0.05, 0.01) == 0
    assert trend_of(x, x, np.nan, 0.5) == 0


@pytest.mark.parametrize(
    ("heights", "turns"),
    [
        ([0, 1, 2, 3], []),
        ([0, 3, 0], [1]),
        ([3, 0, 3], [-1]),
        ([0, 3, 0, 3], [1, -1]),
        ([0, 1, 0.9, 3], []),
        ([3, 2.9, 3, 0, 0.1], []),
        ([1, 1], []),
    ],
)
def test_turns_are_those_that_come_back_far(heights, turns):
    assert _turns(np.array(heights, dtype=float)) == turns
