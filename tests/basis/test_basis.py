import numpy as np
import pytest

import reference
from renyi.basis import basis as module
from renyi.basis.basis import RANK_CUT, category_basis, restrict, scalar_basis, vector_basis
from renyi.basis.canonical import canonical_correlations, cross_products
from renyi.basis.orthonormal import principal_whitening, triangular_factor
from renyi.basis.random_features import Dense, draw, seeds
from renyi.basis.ranks import quantise
from renyi.experiments.gallery import GALLERY
from renyi.experiments.patterns import EXTRA_PATTERNS, PATTERNS

(FIXED,) = seeds(None, n_draws=1)
DEFAULT = draw(1, 10, 3.0, kind="auto", seed=FIXED)


def dense(basis):
    return basis.rows(0, basis.n_samples)


def columns(rng):
    x = rng.standard_normal(300)
    vectors = rng.standard_normal((300, 3))
    wide = draw(3, 17, 3.0, kind="auto", seed=FIXED)
    return {
        "scalar": scalar_basis(x, DEFAULT),
        "tied scalar": scalar_basis(np.round(x), DEFAULT),
        "long scalar": scalar_basis(rng.standard_normal(40_000), DEFAULT),
        "long tied scalar": scalar_basis(np.round(rng.standard_normal(40_000), 4), DEFAULT),
        "vector": vector_basis(vectors, wide),
        "category": category_basis(rng.choice(7, 300, p=np.arange(1, 8) / 28)),
    }


@pytest.mark.parametrize("name", columns(np.random.default_rng(0)))
def test_columns_are_centred_and_orthonormal(name, rng):
    q = dense(columns(rng)[name])
    n = len(q)
    assert q.mean(axis=0) == pytest.approx(np.zeros(q.shape[1]), abs=1e-9)
    assert q.T @ q / n == pytest.approx(np.eye(q.shape[1]), abs=1e-9)


def assert_same_span(ours, oracle):
    """Equal ranks, and all canonical correlations between the two are 1."""
    assert ours.shape == oracle.shape
    between = np.linalg.svd(ours.T @ oracle / len(ours), compute_uv=False)
    assert between == pytest.approx(np.ones(len(between)), abs=1e-9)


@pytest.mark.parametrize("s", [0.086, 0.2, 1.0, 3.0, 12.0, 50.0])
@pytest.mark.parametrize("decimals", [0, 1, 9])
def test_scalar_basis_spans_what_the_oracle_spans(s, decimals, rng):
    x = np.round(rng.standard_normal(120), decimals)
    projection = draw(1, 10, s, kind="auto", seed=FIXED)
    features = reference.features(reference.empirical_ranks(x), projection.weights, projection.phases)
    assert_same_span(dense(scalar_basis(x, projection)), reference.basis(features))


def test_vector_basis_spans_what_the_oracle_spans(rng):
    x = np.round(rng.standard_normal((150, 3)), 1)
    projection = draw(3, 12, 3.0, kind="auto", seed=FIXED)
    features = reference.features(reference.empirical_ranks(x), projection.weights, projection.phases)
    assert_same_span(dense(vector_basis(x, projection)), reference.basis(features))


def test_category_basis_is_the_closed_form_of_the_oracle(rng):
    codes = rng.choice(6, 200, p=[0.02, 0.3, 0.1, 0.4, 0.08, 0.1])
    ours = dense(category_basis(codes))
    assert_same_span(ours, reference.basis(reference.indicators(codes.tolist())))
    # Most frequent level first: the first column separates it from all others.
    assert len(np.unique(np.round(ours[codes != 3, 0], 9))) == 1


def test_categories_of_many_rows_do_not_overflow():
    codes = np.arange(5_000_000) % 2
    table = category_basis(codes).table
    assert table[:, 0] == pytest.approx([1, -1])


def test_unused_levels_add_no_rank(rng):
    codes = rng.choice([0, 3, 9], 50)
    assert category_basis(codes).dimension == 2


def test_rank_is_explicit_and_has_no_rounding_noise():
    x = np.arange(500.0)
    dimensions = [
        scalar_basis(x, draw(1, 10, s, kind="auto", seed=FIXED)).dimension for s in (0.001, 0.086, 1.0, 3.0, 12.0, 50.0)
    ]
    assert dimensions == [1, 3, 6, 8, 14, 20]
    # A direction below the cut is dropped however cleanly it is computed, and one above it is kept.
    for size, kept in ((0.8 * RANK_CUT, 1), (1.2 * RANK_CUT, 2)):
        features = np.column_stack((np.tile([1.0, -1.0], 250), size * np.repeat([1.0, -1.0], 250)))
        factor = triangular_factor([(features, np.full(500, 500**-0.5))])
        assert principal_whitening(factor, cut=RANK_CUT)[0].shape[1] == kept


def test_default_rank_is_the_same_for_every_length():
    assert {scalar_basis(np.arange(n), DEFAULT).dimension for n in (100, 137, 500, 5000, 40_000)} == {8}


def test_columns_run_from_smooth_to_rough():
    rows = dense(scalar_basis(np.arange(1000.0), DEFAULT))
    crossings = np.count_nonzero(np.diff(np.sign(rows), axis=0), axis=0)
    assert crossings.tolist() == list(range(1, 9))


def test_vectors_do_not_depend_on_the_size_of_chunks(rng, monkeypatch):
    x = rng.standard_normal((900, 4))
    projection = draw(4, 10, 3.0, kind="auto", seed=FIXED)
    whole = dense(vector_basis(x, projection))
    monkeypatch.setattr(module, "_CHUNK_BYTES", 8 * 20 * 64)
    assert_same_span(dense(vector_basis(x, projection)), whole)


def test_tie_free_columns_share_one_table(rng):
    a, b = scalar_basis(rng.random(200), DEFAULT), scalar_basis(rng.standard_cauchy(200), DEFAULT)
    assert a.table is b.table
    assert a.in_order() is b.in_order()
    assert scalar_basis(np.round(rng.random(200), 1), DEFAULT).table is not a.table


def test_feature_map_serves_new_ranks(rng):
    x = rng.standard_normal(250)
    basis = scalar_basis(x, DEFAULT)
    u = quantise(x)
    assert basis.feature_map(u.ranks[u.codes][:, np.newaxis]) == pytest.approx(dense(basis), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", columns(np.random.default_rng(0)))
def test_restricted_bases_are_orthonormal_on_their_rows_and_span_the_same(name, rng):
    basis = columns(rng)[name]
    rows = rng.random(basis.n_samples) < 0.7
    part = restrict(basis, rows)
    q, before = dense(part), dense(basis)[rows]
    assert part.n_samples == rows.sum()
    assert q.T @ q / len(q) == pytest.approx(np.eye(part.dimension), abs=1e-9)
    assert q.mean(axis=0) == pytest.approx(np.zeros(part.dimension), abs=1e-9)
    centred = before - before.mean(axis=0)
    assert q @ (q.T @ centred) / len(q) == pytest.approx(centred, abs=1e-7)


def test_restricted_feature_map_follows(rng):
    x = rng.standard_normal(250)
    basis, rows = scalar_basis(x, DEFAULT), rng.random(250) < 0.6
    u = quantise(x)
    part = restrict(basis, rows)
    assert part.feature_map(u.ranks[u.codes][rows][:, np.newaxis]) == pytest.approx(dense(part), abs=1e-8)


def test_levels_lost_to_missing_rows_leave_the_basis():
    basis = category_basis(np.array([0, 0, 1, 1, 2, 2, 0, 1]))
    part = restrict(basis, np.array([True, True, True, True, False, False, True, True]))
    assert part.dimension == 1


def grid_deviation(x, y, projection, n_cells):
    """Change of the coefficient when ranks are put into cells."""
    exact = [quantise(values) for values in (x, y)]
    values = []
    for cells in (None, n_cells):
        tables = []
        for column, copula in zip((x, y), exact, strict=True):
            grid = copula if cells is None else quantise(column, n_cells=cells)
            table, feature_map = module._whiten_cells(grid.ranks, grid.counts, projection)
            tables.append(module.Basis(table, grid.codes, feature_map))
        values.append(canonical_correlations(cross_products(*tables))[0])
    return abs(values[0] - values[1])


@pytest.mark.slow
@pytest.mark.parametrize(("s", "n"), [(3.0, 32_768), (3.0, 100_000), (12.0, 32_768), (50.0, 131_072)])
def test_the_grid_is_used_only_where_it_moves_nothing(s, n, rng):
    projection = draw(1, 10, s, kind="auto", seed=FIXED)
    n_cells = module.grid_cells(n, projection.roughest)
    assert n_cells is not None
    assert module.grid_cells(n - 1 if n in (32_768, 131_072) else 9, projection.roughest) is None
    pairs = [association.sample(n, rng) for association in GALLERY]
    pairs += [pattern.sample(n, level, rng) for pattern in PATTERNS + EXTRA_PATTERNS for level in (0, 3)]
    # Of many rows a third of them: what a cell moves goes by its width, hardly by the pair.
    worst = max(grid_deviation(x, y, projection, n_cells) for x, y in pairs[:: 1 if n < 50_000 else 3])
    assert worst < 2e-5


def test_rough_frequencies_get_a_finer_grid():
    assert module.grid_cells(10**6, 5.0) == 8192
    assert module.grid_cells(10**6, 50.0) == 16_384
    assert module.grid_cells(10**6, 10_000.0) is None


def test_frequencies_given_by_hand_need_no_order(rng):
    x = rng.standard_normal(100)
    weights, phases = rng.normal(0, 12, (1, 3)), rng.uniform(-3, 3, 3)
    basis = scalar_basis(x, Dense(weights, phases))
    flipped = scalar_basis(x, Dense(weights[:, ::-1], phases[::-1]))
    assert canonical_correlations(cross_products(basis, flipped)) == pytest.approx(np.ones(6), abs=1e-9)


def test_parts_of_a_basis_are_those_of_its_rows(rng):
    for basis in (
        scalar_basis(rng.standard_normal(90), DEFAULT),
        scalar_basis(np.round(rng.standard_normal(90)), DEFAULT),
        vector_basis(rng.standard_normal((90, 2)), draw(2, 4, 3.0, kind="auto", seed=FIXED)),
        category_basis(rng.integers(0, 4, 90)),
    ):
        rows, direction, values = dense(basis), rng.standard_normal(basis.dimension), rng.standard_normal(90)
        assert dense(basis.leading(2)) == pytest.approx(rows[:, :2])
        assert basis.column(1) == pytest.approx(rows[:, 1])
        assert basis.along(direction) == pytest.approx(rows @ direction)
        assert basis.project(values) == pytest.approx(rows.T @ values / 90)
        assert basis.largest_leverage == pytest.approx(np.max(np.sum(rows**2, axis=1)) / 90)


def test_loadings_rebuild_the_features(rng):
    x, labels = rng.standard_normal(90), rng.integers(0, 4, 90)
    projection = draw(1, 3, 12.0, kind="auto", seed=FIXED)
    features = reference.features(reference.empirical_ranks(x), projection.weights, projection.phases)
    basis = scalar_basis(x, projection)
    assert dense(basis) @ basis.loadings == pytest.approx(features - features.mean(axis=0), abs=1e-9)
    levels, indicators = category_basis(labels), np.eye(4)[labels]
    assert dense(levels) @ levels.loadings == pytest.approx(indicators - indicators.mean(axis=0), abs=1e-9)
