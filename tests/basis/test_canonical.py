import csv
from pathlib import Path

import numpy as np
import pytest

import reference
import renyi
from renyi.basis.basis import category_basis, scalar_basis, vector_basis
from renyi.basis.canonical import (
    canonical_correlations,
    canonical_directions,
    corner_and_edges,
    cross_products,
    largest_correlation,
)
from renyi.basis.random_features import Dense


def golden_cases():
    """Data, frequencies and correlations of every case that golden/cancor.R printed."""
    numbers = {}
    with (Path(__file__).parents[1] / "golden" / "cancor.csv").open() as lines:
        assert next(lines).startswith("# R version")
        for line in csv.DictReader(lines):
            cells = numbers.setdefault(line["case"], {}).setdefault(line["quantity"], {})
            cells[int(line["row"]), int(line["column"])] = float(line["value"])
    return {case: {name: as_matrix(cells) for name, cells in by.items()} for case, by in numbers.items()}


def as_matrix(cells):
    matrix = np.empty(np.max(list(cells), axis=0) + 1)
    for place, value in cells.items():
        matrix[place] = value
    return matrix


GOLDEN = golden_cases()


@pytest.mark.parametrize("case", GOLDEN)
def test_equal_to_the_cancor_of_r(case):
    golden = GOLDEN[case]
    bases = []
    for side in "xy":
        values, projection = golden[side], Dense(golden["w" + side][:-1], golden["w" + side][-1])
        bases.append(
            scalar_basis(values[:, 0], projection) if values.shape[1] == 1 else vector_basis(values, projection)
        )
        assert bases[-1].dimension == 2 * projection.n_projections, "the case must have full numerical rank"
    correlations = canonical_correlations(cross_products(*bases))
    assert correlations == pytest.approx(golden["cor"][:, 0], abs=1e-8)


def test_equal_to_the_oracle_by_eigenvalues(rng):
    x = rng.standard_normal(200)
    y = np.round(x**2 + rng.standard_normal(200), 1)
    projection = Dense(rng.normal(0, 4, (1, 8)), rng.uniform(-3, 3, 8))
    ours = canonical_correlations(cross_products(scalar_basis(x, projection), scalar_basis(y, projection)))
    assert ours[0] == pytest.approx(reference.rdc(x, y, projection, projection), abs=1e-9)


def test_products_are_taken_over_all_rows(rng):
    x, y = rng.standard_normal((2, 9001))
    projection = Dense(rng.normal(0, 4, (1, 3)), np.zeros(3))
    a, b = scalar_basis(x, projection), scalar_basis(y, projection)
    expected = a.rows(0, 9001).T @ b.rows(0, 9001) / 9001
    assert cross_products(a, b) == pytest.approx(expected, abs=1e-13)


def test_directions_attain_the_correlations(rng):
    cross = rng.uniform(-0.3, 0.3, (4, 3))
    left, values, right = canonical_directions(cross)
    assert left.T @ cross @ right == pytest.approx(np.diag(values), abs=1e-13)
    assert values == pytest.approx(canonical_correlations(cross))


def test_low_ranks_on_which_lapack_gives_up():
    # NumPy's divide-and-conquer SVD does not converge on the factor of these features.
    x = (np.random.default_rng(1192).random((500, 10)) < 0.05).astype(float)
    assert 0 < renyi.rdc(x, np.arange(500)) < 1


def test_rounding_never_leaves_the_unit_interval():
    assert canonical_correlations(np.eye(3) * (1 + 1e-15)).max() == 1.0


def test_corner_and_edges_are_part_of_the_products(rng):
    projection = Dense(rng.normal(0, 9, (1, 6)), rng.uniform(-3, 3, 6))
    for x in (rng.standard_normal(300), np.round(rng.standard_normal(300), 1)):
        a, b = scalar_basis(x, projection), scalar_basis(rng.standard_normal(300), projection)
        whole, part = cross_products(a, b), corner_and_edges(a, b, corner=3)
        needed = np.zeros_like(whole, dtype=bool)
        needed[:3, :3] = needed[:, 0] = needed[0, :] = True
        assert part == pytest.approx(np.where(needed, whole, 0.0), abs=1e-12)


@pytest.mark.parametrize("other", ["number", "category", "vector"])
def test_products_of_many_levels_are_those_of_the_rows(other, rng):
    """Sums over cells first, whichever side has them."""
    x = category_basis(rng.integers(0, 60, 900))
    projection = Dense(rng.normal(size=(1, 8)), np.zeros(8))
    y = {
        "number": lambda: scalar_basis(rng.normal(size=900), projection),
        "category": lambda: category_basis(rng.integers(0, 50, 900)),
        "vector": lambda: vector_basis(rng.normal(size=(900, 2)), Dense(rng.normal(size=(2, 8)), np.zeros(8))),
    }[other]()
    assert x.is_wide
    wanted = x.rows(0, 900).T @ y.rows(0, 900) / 900
    assert cross_products(x, y) == pytest.approx(wanted, abs=1e-12)
    assert cross_products(y, x) == pytest.approx(wanted.T, abs=1e-12)


@pytest.mark.parametrize("n_levels", [60, 200])
def test_the_largest_correlation_of_few_and_of_many_levels(n_levels, rng):
    cross = cross_products(*(category_basis(rng.integers(0, n_levels, 3000)) for _ in range(2)))
    assert largest_correlation(cross) == pytest.approx(canonical_correlations(cross)[0], rel=1e-9)
