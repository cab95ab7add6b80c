import numpy as np
import pytest

import renyi
from renyi.allpairs.same import SAME, are_same_numbers
from renyi.report.summary import lines_of
from sample_tables import number

N = 1000


def same_pairs(table, **options):
    """Pairs of names that are taken for the same column."""
    edges = renyi.matrix(table, **options).edges
    i, j = edges.found.i.tolist(), edges.found.j.tolist()
    return {
        (edges.x[a].column.name, edges.y[b].column.name)
        for k, (a, b) in enumerate(zip(i, j, strict=True))
        if edges.is_alias(k)
    }


def numbers_and_levels(rng):
    x = rng.standard_normal(N)
    codes = rng.choice(16, N, p=np.arange(1, 17) / 136)
    names = np.array([f"level {'qwertyuiopasdfgh'[k]}" for k in codes])
    return {
        "x": x,
        "pounds": 2.2 * x,
        "rounded": np.round(x, 1),
        "falls": -np.exp(x),
        "codes": codes,
        "names": names,
        "other names": np.array([f"{'zyxwvutsrqponmlk'[k]}" for k in codes]),
        "flag": x > 0,
        "yes": np.where(x > 0, "yes", "no"),
    }


SAME_PAIRS = {
    *(("x", name) for name in ("pounds", "rounded", "falls")),
    ("pounds", "rounded"),
    ("pounds", "falls"),
    ("rounded", "falls"),
    ("codes", "names"),
    ("codes", "other names"),
    ("names", "other names"),
    ("flag", "yes"),
}


@pytest.mark.parametrize("measure", ["rdc", "pearson", "dcor", "mic", "hsic"])
def test_the_same_columns_are_those_for_every_measure(measure, rng):
    table = numbers_and_levels(rng)
    if measure in ("pearson", "mic"):  # these leave out categories of more than two levels
        table = {name: cells for name, cells in table.items() if "names" not in name}
    assert same_pairs(table, measure=measure) == {pair for pair in SAME_PAIRS if set(pair) <= set(table)}


def test_curves_are_not_the_columns_they_follow(rng):
    x = rng.standard_normal(N)
    table = {
        "x": x,
        "y": x**2,
        "side": np.where(x > 0, "right", "left"),
        "v": x**2 + rng.standard_normal(N),
        "u": x + rng.standard_normal(N),
    }
    found = renyi.matrix(table)
    assert found.values[0, 1] > 0.999
    assert same_pairs(table) == set()
    shown = {(line.x, line.y): line.value for line in lines_of(found, 20)}
    assert shown["y", "v"] == pytest.approx(found.debiased[1, 3])
    assert {("x", "y"), ("x", "v"), ("y", "v"), ("x", "u"), ("x", "side")} <= set(shown)


def test_waves_are_not_one_another(rng):
    t = rng.random(N)
    table = {"t": t, "sin": np.sin(2 * np.pi * t), "cos": np.cos(2 * np.pi * t), "slow": np.cos(np.pi * t)}
    # A falling function of t says what t says.
    assert same_pairs(table) == {("t", "slow")}


@pytest.mark.parametrize(("noise", "is_same"), [(0.03, True), (0.1, False), (0.3, False)])
def test_a_number_with_noise_is_another_one(noise, is_same, rng):
    x = rng.standard_normal(N)
    assert same_pairs({"x": x, "noisy": x + noise * rng.standard_normal(N)}) == ({("x", "noisy")} if is_same else set())


@pytest.mark.parametrize("share", [0.01, 0.05, 0.15])
def test_zeros_in_the_same_rows_do_not_make_two_numbers_the_same(share, rng):
    is_there = rng.permutation(2000) < 2000 * share
    amounts = rng.exponential(size=(2, 2000))
    first, second = np.where(is_there, amounts, 0.0)
    table = {
        "first": first,
        "cents": 100 * first,
        "rounded": np.ceil(first * 20),
        "second": second,
        "any": 1.0 * is_there,
    }
    assert abs(renyi.matrix(table).spearman[0, 3]) > SAME - 0.01
    assert same_pairs(table) == {("first", "cents"), ("first", "rounded"), ("cents", "rounded")}


def test_a_column_that_is_missing_in_most_rows_is_not_the_complete_one(rng):
    x = rng.standard_normal(N)
    table = {f"{kept:.0%}": np.where(rng.random(N) < kept, x, np.nan) for kept in (0.3, 0.8)}
    assert same_pairs({"x": x} | table) == {("x", "80%")}
    # Both lack the same rows: they are the same wherever they are.
    gaps = np.where(rng.random(N) < 0.3, x, np.nan)
    assert same_pairs({"kilo": gaps, "pounds": 2.2 * gaps, "noise": rng.random(N)}) == {("kilo", "pounds")}


@pytest.mark.parametrize(("n_wrong", "is_same"), [(2, True), (40, False)])
def test_levels_are_the_same_on_nearly_all_rows(n_wrong, is_same, rng):
    codes = rng.integers(0, 6, N)
    wrong = np.where(np.arange(N) < n_wrong, (codes + 1) % 6, codes)
    table = {"code": codes, "letter": np.array(list("pqrstu"))[wrong], "word": np.array(list("FEDCBA"))[codes]}
    expected = {("code", "word")} | ({("code", "letter"), ("letter", "word")} if is_same else set())
    assert same_pairs(table) == expected


def test_a_level_or_value_more_is_another_column(rng):
    codes = rng.choice(4, N, p=[0.7, 0.2, 0.06, 0.04])
    table = {
        "code": codes,
        "name": np.array(list("abcd"))[codes],
        "coarse": np.array(list("abcc"))[codes],
        "fine": 2 * codes + rng.integers(0, 2, N),
        "rare": np.where(codes == 3, "d", "other"),
    }
    assert same_pairs(table) == {("code", "name")}


def test_many_levels_do_not_explain_by_being_many(rng):
    groups = rng.integers(0, 150, 400)
    x = groups + 0.1 * rng.random(400)
    found = same_pairs(
        {"group": np.array([f"g{k}" for k in groups]), "x": x, "noise": rng.random(400)},
        types={"group": "category"},
    )
    assert found == set()


def test_vectors_are_not_folded(rng):
    x, y = rng.random((2, N))
    table = {"a": x, "b": y, "c": x, "d": y, "e": rng.random(N)}
    assert same_pairs(table, vectors={"first": ["a", "b"], "second": ["c", "d"]}) == set()


def test_ranks_beyond_a_frequent_value_count_for_themselves(rng):
    half = np.where(rng.random(N) < 0.9, 0.0, rng.random(N))
    x, flag = number(half), number((half > 0).astype(float))
    assert 0.0 < x.detail < 0.01
    assert flag.detail == 0.0
    assert number(rng.random(N)).detail == 1.0
    assert are_same_numbers(flag, flag, 0.998)
    assert not are_same_numbers(x, flag, 0.998)
    assert are_same_numbers(x, x, -1.0)


def levels_of(*columns):
    found = renyi.matrix({f"c{k}": np.array([f"{v}" for v in column]) for k, column in enumerate(columns)})
    return [found.edges.agrees(edge) for edge in range(len(found.edges))]


def test_categories_agree_where_a_level_is_the_same_rows(rng):
    none = rng.random(900) < 0.3
    tv, films = (np.where(none, 9, rng.integers(0, 2, 900)) for _ in range(2))
    assert levels_of(tv, films) == [True]
    assert levels_of(tv, np.where(rng.random(900) < 0.02, 1, films)) == [False]


def test_what_follows_from_another_does_not_agree_with_it(rng):
    """A city has a state: the coefficient is 1, and no level is one of the other."""
    state = rng.integers(0, 12, 3000)
    city, region = state * 5 + rng.integers(0, 5, 3000), state // 3
    assert levels_of(city, state, region) == [False, False, False]


def test_categories_that_have_few_rows_in_common_do_not_agree(rng):
    none = rng.random(900) < 0.3
    tv, films = (np.where(none, "none", rng.choice(["yes", "no"], 900)).astype(object) for _ in range(2))
    tv[:500], films[450:] = None, None
    found = renyi.matrix({"tv": tv, "films": films, "x": rng.random(900)})
    assert not found.edges.agrees(0)
