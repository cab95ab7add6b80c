import numpy as np
import pandas as pd
import polars as pl
import pytest

import renyi


def common_cause(rng, n=500, noise=1.0):
    """x and y that have nothing in common but z."""
    z = rng.standard_normal(n)
    x, y = noise * rng.standard_normal((2, n))
    return z**2 + x, np.sin(2 * z) + z**2 + y, z


def pvalue(x, y, z, **settings):
    return renyi.conditional_test(x, y, z, **settings).pvalue


def test_a_common_cause_explains_strong_dependence(rng):
    x, y, z = common_cause(rng, noise=0.3)
    assert renyi.independence_test(x, y).pvalue < 1e-30
    result = renyi.conditional_test(x, y, z)
    assert result.pvalue > 0.01
    assert abs(result.debiased) < 0.25


def test_what_z_does_not_explain_is_found(rng):
    z, e, noise = rng.standard_normal((3, 500))
    x = z + e
    assert pvalue(x, z + e**2 + noise, z) < 1e-6
    assert pvalue(x, z + np.sin(3 * e) + 0.5 * noise, z) < 1e-6
    assert pvalue(x, z + e * z + 0.5 * noise, z) < 1e-6
    strong = renyi.conditional_test(x, z + e + 0.3 * noise, z)
    assert strong.debiased > 0.85
    low, high = strong.confidence_interval()
    assert low < strong.debiased < high
    assert strong.n_explained > 10
    assert strong.calibration == "theory"


def test_z_may_be_of_any_kind_and_number(rng):
    x, y, z = common_cause(rng)
    labels = rng.integers(0, 3, 500)
    category = renyi.categorical(labels)
    found = pvalue(x, y, [z, category])
    frame = pd.DataFrame({"z": z, "level": pd.Categorical(labels)})
    assert pvalue(x, y, (z, category)) == found
    assert pvalue(x, y, {"z": z, "level": category}) == found
    assert pvalue(x, y, frame) == found
    assert pvalue(x, y, pl.DataFrame({"z": z, "level": pl.Series(labels.astype(str), dtype=pl.Categorical)})) == found
    assert pvalue(x, y, list(z)) == pvalue(x, y, z) == pvalue(x, y, z[:, np.newaxis])
    wide = np.column_stack([z, rng.standard_normal((500, 4))])
    for given in (wide, category, pd.DataFrame(wide)):
        assert 0 < pvalue(x, y, given) <= 1
    assert pvalue(x, y, wide) > 1e-3


def test_x_and_y_may_be_of_any_kind(rng):
    x, y, z = common_cause(rng)
    plane = np.column_stack([x, rng.standard_normal(500)])
    levels = renyi.categorical(np.digitize(y, [0, 1, 2]))
    for pair in ((plane, y), (plane, levels), (x > 1, levels), (np.round(x), np.maximum(y, 0)), (levels, plane)):
        assert pvalue(*pair, z) > 1e-3
    # A variable still depends on its own levels.
    assert pvalue(y, levels, z) < 1e-9


def test_rows_sides_and_units_do_not_matter(rng):
    x, y, z = common_cause(rng)
    found = renyi.conditional_test(x, y, z).log_pvalue
    rows = rng.permutation(500)
    assert renyi.conditional_test(x[rows], y[rows], z[rows]).log_pvalue == pytest.approx(found, rel=1e-6)
    assert renyi.conditional_test(y, x, z).log_pvalue == pytest.approx(found, rel=1e-6)
    assert renyi.conditional_test(2 * x + 1, y / 7, 3 * z - 5).log_pvalue == pytest.approx(found, rel=1e-6)


def test_missing_values(rng):
    x, y, z = common_cause(rng)
    holes = z.copy()
    holes[rng.random(500) < 0.1] = np.nan
    seen = ~np.isnan(holes)
    assert pvalue(x, y, holes, missing="listwise") == pvalue(x[seen], y[seen], z[seen])
    with pytest.raises(renyi.InputError, match=r"z has .* missing values .* pass missing='listwise'"):
        pvalue(x, y, holes)
    with pytest.raises(renyi.InputError, match="'raise' or 'listwise'"):
        pvalue(x, y, holes, missing="pairwise")


def test_units_and_offsets_do_not_matter(rng):
    x, y, z = common_cause(rng)
    found = pvalue(x, y, z)
    whole = np.round(z * 1e6).astype(np.int64)
    dates = (np.datetime64("2024-01-01", "ns").astype(np.int64) + whole).astype("M8[ns]")
    for same in (z * 1e-13, z * 1e150, whole, whole.astype(np.uint64) + np.uint64(2**63), dates):
        assert pvalue(x, y, same) == pytest.approx(found, rel=0.01)
    assert pvalue(x * 1e160, y, z) == pytest.approx(found, rel=1e-6)


@pytest.mark.slow
def test_size_for_levels_and_rare_events(rng):
    def levels(n, k):
        return renyi.categorical(rng.integers(0, k, n))

    nulls = {
        "20 levels": lambda: (levels(1000, 20), levels(1000, 20)),
        "rare events": lambda: (rng.random(1000) < 0.06, rng.random(1000) < 0.06),
        "counts": lambda: rng.poisson(0.2, (2, 500)).astype(float),
    }
    for name, null in nulls.items():
        found = np.array([pvalue(*null(), rng.standard_normal(len(null()[0]))) for _ in range(150)])
        assert np.mean(found <= 0.05) < 0.05 + 3.5 * np.sqrt(0.05 * 0.95 / 150), name
        assert found.min() > 1e-4, name


def test_sides_do_not_matter_for_levels_either(rng):
    x, y, z = common_cause(rng)
    level = renyi.categorical(np.digitize(y, [0, 1, 2]))
    zeros = np.maximum(y, 0)
    for a, b in ((x, level), (x, zeros), (level, zeros)):
        assert pvalue(a, b, z) == pytest.approx(pvalue(b, a, z), rel=1e-6)


def test_coordinates_that_z_determines_are_left_out(rng):
    x, y, z = common_cause(rng)
    found = renyi.conditional_test(x, y, z).pvalue
    for beside in (z, z**2, np.ones(500)):
        assert renyi.conditional_test(np.column_stack([x, beside]), y, z).pvalue == pytest.approx(found, rel=1e-6)


@pytest.mark.slow
def test_wide_and_many_levelled_data(rng):
    z = rng.standard_normal(1200)
    wide = renyi.conditional_test(rng.standard_normal((1200, 60)), rng.standard_normal(1200), z)
    assert 1e-3 < wide.pvalue <= 1
    assert wide.coefficient < 0.7
    levels = [renyi.categorical(rng.integers(0, 210, 12_000)) for _ in "xy"]
    assert 1e-3 < pvalue(*levels, rng.standard_normal(12_000)) <= 1
    with pytest.raises(renyi.InputError, match="fewer rare levels"):
        renyi.conditional_test(rng.random(1200) < 0.004, rng.random(1200) < 0.004, z)


def test_what_cannot_be_tested_is_refused(rng):
    x, y, z = common_cause(rng)
    frame = pd.DataFrame({"z": z}, index=np.arange(500)[::-1])
    for arguments, message in [
        ((z**3, y, z), "x is determined by z: 0.0%"),
        ((x, np.exp(z), z), "y is determined by z"),
        ((x, y, z[:100]), "z has 100 rows and x has 500"),
        ((x, y, [z, z[:9]]), r"z\[1\] has 9 rows"),
        ((x, y, {}), "z has no columns"),
        ((x, y, renyi.categorical(list(range(500)))), "merge levels"),
        ((x, y, [list(z), list(z)]), "read as rows"),
        ((np.where(x > 2, np.nan, x), y, z), "pass missing='listwise'"),
        ((x, pd.Series(y), {"z": pd.Series(z, index=np.arange(1, 501))}), "different indexes"),
        ((x[:15], y[:15], z[:15]), "too few"),
        ((np.ones(500), y, z), "x is constant"),
        ((x, y, np.array(["a"] * 500)), "renyi.categorical"),
        ((x, y, np.where(z > 2, np.inf, z)), "infinit"),
        ((pd.Series(x), y, frame), "different indexes"),
    ]:
        with pytest.raises(renyi.InputError, match=message):
            renyi.conditional_test(*arguments)
    with pytest.raises(renyi.InputError, match="choose one of 'auto'"):
        renyi.conditional_test(x, y, z, method="roy")


def pupils(rng, n=649, shared=0.5):
    """Three grades that follow one another, but for pupil 40, whose first is 0, and 41, whose last is 0."""
    ability, common = rng.standard_normal((2, n))
    noise = rng.standard_normal((2, n))
    second = np.clip(np.round(11.5 + 2.8 * ability), 4, 19)
    first = np.clip(np.round(11.4 + 2.5 * ability + noise[0] + shared * common), 4, 19)
    last = np.clip(np.round(11.9 + 2.9 * ability + 0.9 * noise[1] + shared * common), 5, 19)
    second[40:42], first[40], last[41] = 18, 0, 0
    return pd.DataFrame({"G1": first, "G2": second, "G3": last})


def test_rows_that_would_decide_alone_are_left_out_and_told(rng):
    table = pupils(rng)
    found = renyi.conditional_test(table["G1"], table["G3"], table["G2"])
    assert set(found.left_out) & {40, 41}
    assert len(found.left_out) <= 2
    assert found.n_samples == 649 - len(found.left_out)
    assert f"left_out={found.left_out}" in repr(found)
    usual = table.drop(index=list(found.left_out))
    expected = renyi.conditional_test(usual["G1"], usual["G3"], usual["G2"])
    assert expected.left_out == ()
    assert "left_out" not in repr(expected)
    assert found.log_pvalue == expected.log_pvalue < -10
    # Rows are those of the data that were passed, also where others are missing.
    holes = table.assign(G2=table["G2"].mask(table.index == 7))
    assert set(renyi.conditional_test(table["G1"], table["G3"], holes["G2"], missing="listwise").left_out) & {40, 41}


def test_messages_name_the_columns_of_the_user(rng):
    table = pupils(rng)
    first, second, last = table["G1"], table["G2"], table["G3"]
    arrays = {"a": second.to_numpy(), "b": last.to_numpy()}
    for arguments, message in [
        ((first < 4, last < 4, second), "in what column 'G2' leaves of column 'G1' and column 'G3' on 649 rows"),
        ((second + 1, last, second), "^column 'G2' is determined by column 'G2'"),
        ((second + 1, first, table[["G2", "G3"]]), "^column 'G2' is determined by column 'G2' and column 'G3'"),
        ((second + 1, first, arrays), "^column 'G2' is determined by column 'a' and column 'b'"),
        ((first, last, second[:100]), "^column 'G2' has 100 rows and column 'G1' has 649"),
        ((first[:15], last[:15], second[:15]), "^holding column 'G2' fixed takes"),
        ((first, last[:4], second), "^column 'G1' has 649 rows and column 'G3' has 4"),
        ((first.mask(first > 5), last, second), "^column 'G1' has .* missing values"),
    ]:
        with pytest.raises(renyi.InputError, match=message) as caught:
            renyi.conditional_test(*arguments)
        assert not set(str(caught.value).replace(":", " ").split()) & {"x", "y", "z"}


# Size in brief; benchmarks/studies/conditional.py is the long version.


@pytest.mark.slow
@pytest.mark.parametrize("d", [1, 5])
@pytest.mark.parametrize("noise", [1.0, 0.3])
def test_size(d, noise, rng):
    found = []
    for _ in range(150):
        z = rng.standard_normal((500, d))
        shared = z.sum(axis=1) / np.sqrt(d)
        x = np.tanh(shared + noise * rng.standard_normal(500))
        y = np.cos(2 * z[:, 0]) + shared + noise * rng.standard_normal(500)
        found.append(pvalue(x, y, z))
    # The study has 0.03 to 0.08; here plus 3.5 Monte Carlo errors.
    assert np.mean(np.array(found) <= 0.05) < 0.05 + 3.5 * np.sqrt(0.05 * 0.95 / 150)


@pytest.mark.parametrize("effect", ["of two categories", "of three categories", "of a line", "of a curve"])
def test_what_levels_do_to_one_another_and_to_numbers_is_explained(effect, rng):
    found = []
    for _ in range(8):
        levels, z = rng.integers(0, 3, (3, 600)), rng.standard_normal(600)
        a, *others = (renyi.categorical(each) for each in levels)
        cells = 1.5 * rng.standard_normal((3, 3, 3))
        causes, shared = {
            "of two categories": ([a, others[0]], cells[levels[0], levels[1], 0]),
            "of three categories": ([a, *others], cells[tuple(levels)]),
            "of a line": ([a, z], 2.0 * (levels[0] - 1) * z),
            "of a curve": ([a, z], np.where(levels[0] == 1, z**2, (levels[0] - 1) * np.abs(z))),
        }[effect]
        x, y = shared + 0.7 * rng.standard_normal((2, 600))
        found.append(pvalue(x, y, causes))
    # Nearly all were below 0.05 where levels counted one by one.
    assert np.median(found) > 0.05
