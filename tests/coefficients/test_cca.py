"""Canonical correlation: beside R's cancor, what is redundant, what leaves no freedom."""

from pathlib import Path

import numpy as np
import pytest

import renyi
from golden.samples import vectors

GOLDEN = dict(
    line.split(";") for line in (Path(__file__).parents[1] / "golden" / "cca.csv").read_text().splitlines()[2:]
)
SAMPLES = vectors()


@pytest.fixture
def cca():
    return renyi.measure("cca")


@pytest.mark.parametrize("sample", SAMPLES)
def test_value_is_that_of_cancor(sample, cca):
    assert cca(*SAMPLES[sample]) == pytest.approx(float(GOLDEN[sample]), abs=1e-10)


def test_for_numbers_it_is_the_size_of_pearson_with_its_pvalue(cca, rng):
    x, y = rng.normal(size=(2, 80))
    pearson = renyi.measure("pearson").test(x, y - x)
    found = cca.test(x, y - x)
    assert found.coefficient == pytest.approx(abs(pearson.coefficient), abs=1e-12)
    assert found.log_pvalue == pytest.approx(pearson.log_pvalue, rel=1e-9)


def test_redundant_and_constant_coordinates_and_scales_change_nothing(cca):
    x, y = SAMPLES["noisy copy"]
    value = cca(x, y)
    padded = np.column_stack((x * [1e200, 1e-200, 1.0], x[:, 0] + x[:, 1], np.ones(len(x)), 1e9 + x[:, 2]))
    assert cca.prepare(padded).dimension == 3
    assert cca(padded, y) == pytest.approx(value, abs=1e-9)


def test_mixtures_of_coordinates_change_nothing(cca, rng):
    x, y = SAMPLES["rounded vectors"]
    assert cca(x @ rng.normal(size=(3, 3)), y) == pytest.approx(cca(x, y), abs=1e-10)


def test_ranks_that_fill_the_rows_are_refused(cca, rng):
    with pytest.raises(renyi.InputError, match="dimensions 3 and 4, and on 7 rows those correlate perfectly"):
        cca(rng.normal(size=(7, 3)), rng.normal(size=(7, 4)))
    with pytest.raises(renyi.InputError, match="dimensions 1 and 1, and on 2 rows"):
        cca([1, 2], [2, 1])


def test_categories_are_their_levels(cca, rng):
    codes = rng.integers(0, 4, 200)
    y = np.array([0.0, 1.0, 0.0, 2.0])[codes] + rng.normal(size=200)
    means = np.array([y[codes == level].mean() for level in range(4)])[codes]
    eta = np.std(means) / np.std(y)  # the correlation ratio
    assert cca(renyi.categorical(codes), y) == pytest.approx(eta, abs=1e-12)


def test_permuted_values_are_those_of_permuted_data(cca, rng):
    x, y = SAMPLES["one coordinate in common"]
    orders = np.stack([rng.permutation(len(x)) for _ in range(5)])
    found = cca.permuted(cca.prepare(x), cca.prepare(y), orders)
    assert found == pytest.approx([cca(x, y[order]) for order in orders], abs=1e-10)


def test_single_rows_far_from_all_others_are_permuted(cca, rng):
    x, y = rng.standard_cauchy(size=(2, 100, 2))
    assert cca.test(x, y).calibration == "permutation"
    assert cca.test(np.tanh(x), np.tanh(y)).calibration == "theory"


def test_more_coordinates_than_the_null_distribution_takes_are_permuted(cca, rng):
    x, y = rng.normal(size=(2, 500, 201))
    found = cca.test(x, y, n_resamples=19)
    assert found.calibration == "permutation"
    assert found.floor == 0.05
