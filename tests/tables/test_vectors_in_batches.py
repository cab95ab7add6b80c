"""Vectors, and two tables side by side, where rows come in batches; `contracts` compares every door."""

import pickle
from itertools import pairwise

import numpy as np
import pytest

import renyi

pytestmark = pytest.mark.usefixtures("in_batches")


def cut(columns, cuts):
    edges = [0, *cuts, len(next(iter(columns.values())))]
    return [{name: cells[a:b] for name, cells in columns.items()} for a, b in pairwise(edges)]


def check_equal(found, expected):
    assert (found.names, dict(found.types)) == (expected.names, dict(expected.types))
    for name in ("values", "debiased", "strength", "pvalues", "pearson", "spearman", "n_samples"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-8, err_msg=name)


def places(n, rng):
    x = rng.normal(size=n)
    columns = {"lat": np.where(rng.random(n) < 0.1, np.nan, x), "lon": rng.normal(size=n)}
    return columns | {"y": x * columns["lon"] + rng.normal(size=n), "flag": x > 1, "noise": rng.normal(size=n)}


def test_vectors_take_one_more_pass_that_travels_and_merges(rng):
    columns, vectors = places(3000, rng), {"place": ["lat", "lon"]}
    batches = cut(columns, [10, 1700, 1700])
    done = renyi.Accumulator(vectors=vectors)
    said = [repr(done)]
    for batch in batches:
        done.update(batch)
    assert done.rank_errors == dict.fromkeys(["lat", "lon", "y", "noise"], 0.0)
    while not done.is_last:
        with pytest.raises(renyi.InputError, match="second_pass"):
            done.result()
        step = done.second_pass()
        said.append(repr(step))
        parts = [pickle.loads(pickle.dumps(step)) for _ in batches]
        for part, batch in zip(parts, batches, strict=True):
            part.update(batch)
        done = parts[2].copy()
        for k in (3, 0, 1):
            done.merge(pickle.loads(pickle.dumps(parts[k])))
    assert [text.split(":")[0].split(", ")[1] for text in said] == ["first pass", "pass for vectors", "second pass"]
    check_equal(done.result(), renyi.matrix(columns, vectors=vectors))
    with pytest.raises(renyi.InputError, match="like with like"):
        done.merge(renyi.Accumulator(vectors=vectors))


def test_a_pass_for_vectors_needs_the_rows_too(rng):
    columns = places(300, rng)
    first = renyi.Accumulator(vectors={"place": ["lat", "lon"]})
    first.update(columns)
    (vectors,) = first.second_passes()
    with pytest.raises(renyi.InputError, match="pass for vectors has seen no rows"):
        vectors.second_pass()
    vectors.update({name: cells[:100] for name, cells in columns.items()})
    with pytest.raises(renyi.InputError, match="saw 300 rows and the second 100"):
        vectors.second_pass()


def test_pairs_of_vectors_that_would_be_permuted_have_no_p_value_and_say_why(rng):
    columns = places(40, rng)
    found, expected = (renyi.matrix(rows, vectors={"place": ["lat", "lon"]}) for rows in (cut(columns, [13]), columns))
    is_permuted = expected.edges.is_permuted & (expected.edges.found.i == 0)
    assert is_permuted.any()
    assert np.array_equal(np.isnan(found.edges.pvalues), is_permuted)
    np.testing.assert_allclose(found.values, expected.values, atol=1e-9)
    assert "cannot be permuted" in found.edges.reason(int(is_permuted.argmax()))
    assert found.edges.reason(int(np.argmin(is_permuted))) == "too little to go by"
    assert np.isfinite(found.strength).all()


def test_a_second_table_is_taken_with_the_first(rng):
    columns = places(600, rng) | {"level": np.array(list("abc"))[rng.integers(0, 3, 600)].astype(object)}
    left, right = ({name: columns[name] for name in names} for names in (("lat", "y", "flag"), ("y", "lon", "level")))
    first = renyi.Accumulator()
    for a, b in zip(cut(left, [70, 300]), cut(right, [70, 300]), strict=True):
        first.update(a, b)
    second = first.second_pass()
    second.update(left, other=right)
    found, expected = second.result(), renyi.matrix(left, right)
    check_equal(found, expected)
    assert found.other_names == expected.other_names == ("y", "lon", "level")
    with pytest.raises(renyi.InputError, match="600 rows and other has 599"):
        second.update(left, {name: cells[1:] for name, cells in right.items()})
    with pytest.raises(renyi.InputError, match=r"a batch lacks 'level', 'lon', 'y \(other\)'"):
        second.update(left)
