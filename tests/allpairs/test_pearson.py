import numpy as np
import pandas as pd
import pytest

import renyi
from renyi.allpairs import pearson
from renyi.allpairs.pearson import pearson_of, standardised
from renyi.data.column import Column
from sample_tables import category, number


@pytest.mark.parametrize(
    "values",
    [
        np.array([3.0, -1.0, 2.5, 0.0]),
        np.array([3e307, -9e307, 1e308, 0.0]),
        np.array([3e-310, 1e-310, 2e-310, 0.0]),
        np.array([2**62 + 1, 2**62 + 5, 2**62 + 2, 2**62]),
        np.array([250, 3, 7, 0], dtype=np.uint8),
        np.array([100, 3, 7, -100], dtype=np.int8),
        np.array([2**62, 3, 2**61, -(2**63)]),
        np.array([2**64 - 1, 2**63, 2**62, 0], dtype=np.uint64),
        np.array(["2020-01-01", "2021-05-05", "2020-02-01", "1999-01-01"], dtype="datetime64[ns]"),
    ],
)
def test_standardised_values_have_mean_0_and_variance_1_and_keep_their_order(values):
    found = standardised(Column("x", "number", values))
    assert found.mean() == pytest.approx(0, abs=1e-12)
    assert found.std() == pytest.approx(1)
    assert np.argsort(found).tolist() == np.argsort(values).tolist()


def test_large_whole_numbers_keep_their_digits():
    values = 2**62 + np.array([0, 1, 2, 3, 40])
    expected = (values - 2**62 - np.mean([0, 1, 2, 3, 40])) / np.std([0, 1, 2, 3, 40])
    assert standardised(Column("x", "number", values)) == pytest.approx(expected.astype(float))


def test_missing_cells_are_zero_and_levels_without_order_nan(rng):
    gaps = np.array([False, True, False, False])
    found = standardised(Column("x", "number", np.array([1.0, 99.0, 2.0, 3.0]), gaps))
    assert found.tolist() == pytest.approx([-(1.5**0.5), 0.0, 0.0, 1.5**0.5])
    assert np.isnan(standardised(Column("c", "category", np.array([0, 1, 2]), None, ("a", "b", "c")))).all()
    assert np.isnan(standardised(Column("v", "vector", rng.random((3, 2))))).all()
    # Of three levels two are left where the third is missing.
    two = standardised(
        Column("c", "category", np.array([0, 1, 2, 1]), np.array([0, 0, 1, 0], dtype=bool), tuple("abc"))
    )
    assert two[0] < 0 < two[1]


@pytest.mark.parametrize("most", [1, 3, 512])
@pytest.mark.parametrize("gaps", [0.0, 0.4])
def test_correlations_of_any_pairs_are_those_of_pandas(most, gaps, rng, monkeypatch):
    monkeypatch.setattr(pearson, "_MOST_COLUMNS", most)
    frame = pd.DataFrame(rng.standard_normal((150, 7)) @ rng.standard_normal((7, 7)))
    frame = frame.mask(rng.random(frame.shape) < gaps)
    variables = [number(column.fillna(0.0).to_numpy(), column.isna().to_numpy()) for _, column in frame.items()]
    i, j = (index.ravel() for index in np.indices((7, 7)))
    some = rng.permutation(len(i))[:30]
    found = pearson_of(variables, variables, i[some], j[some])
    np.testing.assert_allclose(found, frame.corr().to_numpy()[i[some], j[some]], atol=1e-12)
    np.testing.assert_allclose(
        pearson_of(variables[:2], variables[2:], np.array([0, 1, 1]), np.array([4, 0, 2])),
        [frame[0].corr(frame[6]), frame[1].corr(frame[2]), frame[1].corr(frame[4])],
        atol=1e-12,
    )
    assert len(pearson_of(variables, variables, i[:0], j[:0])) == 0


def test_levels_without_order_have_no_correlation(rng):
    variables = [number(rng.standard_normal(60)), category(rng.integers(0, 3, 60)), category(rng.integers(0, 2, 60))]
    found = pearson_of(variables, variables, np.array([0, 0, 1]), np.array([1, 2, 2]))
    assert np.isnan(found).tolist() == [True, False, True]


def test_numbers_far_from_zero_keep_their_digits_as_in_one_pair(rng):
    far = {name: 1e12 + rng.standard_normal(200) for name in ("x", "y")}
    assert renyi.matrix(far).pearson[0, 1] == pytest.approx(renyi.measure("pearson")(far["x"], far["y"]), abs=1e-14)
