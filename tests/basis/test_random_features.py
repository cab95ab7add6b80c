import numpy as np
import pytest
from scipy import stats

import renyi
from renyi.basis.random_features import FIXED_DRAW, default_projections, draw, median_scale, seeds, sines_and_cosines

(FIXED,) = seeds(None, n_draws=1)
(SEEDED,) = seeds(7, n_draws=1)
KINDS = ["normal", "orthogonal", "fastfood"]


def weights_of(projection, d):
    """The frequencies of any projection, read off its angles."""
    return (projection.angles(np.eye(d)) - projection.angles(np.zeros((1, d)))).T


def test_the_fixed_draw_of_scalars_is_the_documented_one():
    projection = draw(1, 4, 3.0, kind="auto", seed=FIXED)
    expected = 3.0 * stats.norm.ppf([9 / 16, 11 / 16, 13 / 16, 15 / 16])
    assert projection.weights[0] == pytest.approx(expected, abs=1e-13)
    assert not projection.phases.any()


def test_the_fixed_draw_of_vectors_never_changes():
    projection = draw(3, 4, 1.0, kind="auto", seed=FIXED)
    assert projection.weights[:, 0] == pytest.approx(
        [-0.09200155468515, -0.63278036864021, -0.23456766001997], abs=1e-12
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 2, 5, 8])
def test_frequencies_have_the_null_distribution_they_claim(kind, d):
    k, s = 4000, 2.5
    weights = weights_of(draw(d, k, s, kind=kind, seed=SEEDED), d)
    sd = s / np.sqrt(d)
    # Fastfood rows share their normals within a block, so a block counts once for the mean of their squares.
    assert np.sqrt(np.mean(weights**2)) == pytest.approx(sd, rel=0.1)
    assert abs(weights.mean()) < 4 * sd / np.sqrt(k)
    if kind == "normal":
        assert stats.kstest(weights.ravel() / sd, "norm").pvalue > 1e-3
    if kind == "orthogonal":
        assert stats.kstest(np.sum((weights / sd) ** 2, axis=1), "chi2", args=(d,)).pvalue > 1e-3


@pytest.mark.parametrize("kind", KINDS)
def test_frequencies_run_from_smooth_to_rough(kind):
    projection = draw(4, 64, 3.0, kind=kind, seed=SEEDED)
    lengths = np.linalg.norm(weights_of(projection, 4), axis=1)
    assert np.all(np.diff(lengths) >= -1e-9)
    assert projection.roughest == pytest.approx(lengths[-1])


def test_orthogonal_frequencies_are_orthogonal_in_blocks_and_less_noisy():
    # With k = d all directions are orthogonal whatever their order.
    weights = weights_of(draw(6, 6, 1.0, kind="orthogonal", seed=SEEDED), 6)
    gram = weights @ weights.T
    assert gram == pytest.approx(np.diag(np.diag(gram)), abs=1e-12)
    # The kernel that the features stand for: its error is smaller than with independent frequencies.
    u, v = np.zeros(16), np.full(16, 0.25)
    exact = np.exp(-0.5 * np.sum((u - v) ** 2) * 2.0**2 / 16)

    def error(kind):
        estimates = [
            np.mean(np.cos(weights_of(draw(16, 16, 2.0, kind=kind, seed=seed), 16) @ (u - v)))
            for seed in seeds(3, n_draws=300)
        ]
        return np.sqrt(np.mean((np.array(estimates) - exact) ** 2))

    assert error("orthogonal") < 0.8 * error("normal")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", ["one coordinate", "all coordinates"])
def test_features_stand_for_the_gaussian_kernel(kind, shape):
    d, s = 16, 4.0
    step = np.full(d, 0.2) if shape == "all coordinates" else np.eye(d)[3]
    exact = np.exp(-0.5 * s**2 * np.sum(step**2) / d)
    means = [
        np.mean(np.cos(weights_of(draw(d, 32, s, kind=kind, seed=seed), d) @ step)) for seed in seeds(11, n_draws=400)
    ]
    error = np.std(means) / np.sqrt(len(means))
    assert np.mean(means) == pytest.approx(exact, abs=4 * error + 0.005)


@pytest.mark.parametrize("kind", KINDS)
def test_phases_are_uniform(kind):
    phases = np.concatenate([draw(3, 50, 1.0, kind=kind, seed=seed).phases for seed in seeds(2, n_draws=40)])
    assert stats.kstest(phases, "uniform", args=(-np.pi, 2 * np.pi)).pvalue > 1e-3


def test_fastfood_permutations():
    permutations = draw(16, 64, 1.0, kind="fastfood", seed=SEEDED).permutations
    assert not any(np.array_equal(row, np.arange(16)) for row in permutations)
    assert np.array_equal(np.sort(permutations, axis=1), np.tile(np.arange(16), (4, 1)))


def test_orthogonal_directions_point_everywhere():
    directions = np.concatenate(
        [draw(3, 3, 1.0, kind="orthogonal", seed=seed).weights.T for seed in seeds(5, n_draws=400)]
    )
    cosines = (directions / np.linalg.norm(directions, axis=1, keepdims=True))[:, 0]
    # The height of a point on the sphere is uniform.
    assert stats.kstest(cosines, "uniform", args=(-1, 2)).pvalue > 1e-3


def test_dimensions_have_draws_of_their_own():
    assert (
        draw(2, 5, 1.0, kind="normal", seed=SEEDED).phases[0] != draw(3, 5, 1.0, kind="normal", seed=SEEDED).phases[0]
    )


def test_fastfood_is_its_matrix_product():
    d, k = 5, 20
    projection = draw(d, k, 2.0, kind="fastfood", seed=SEEDED)
    ranks = np.random.default_rng(0).random((7, d))
    hadamard = np.array([[1]])
    while len(hadamard) < 8:
        hadamard = np.block([[hadamard, hadamard], [hadamard, -hadamard]])
    rows = []
    for signs, permutation, normals, lengths in zip(
        projection.signs, projection.permutations, projection.normals, projection.lengths, strict=True
    ):
        product = hadamard @ np.diag(normals) @ np.eye(8)[permutation] @ hadamard @ np.diag(signs)
        assert np.linalg.norm(product, axis=1) == pytest.approx(np.sqrt(8) * np.linalg.norm(normals))
        rows.append(lengths[:, np.newaxis] * product / (np.sqrt(8) * np.linalg.norm(normals)))
    matrix = np.concatenate(rows)[projection.order, :d]
    assert projection.angles(ranks) == pytest.approx(ranks @ matrix.T + projection.phases, abs=1e-10)


def test_features_are_sines_and_cosines_in_turn():
    projection = draw(2, 3, 4.0, kind="normal", seed=SEEDED)
    ranks = np.random.default_rng(1).random((5, 2))
    features = sines_and_cosines(projection, ranks)
    angles = ranks @ projection.weights + projection.phases
    assert features[:, 0::2] == pytest.approx(np.sin(angles), abs=0)
    assert features[:, 1::2] == pytest.approx(np.cos(angles), abs=0)


def test_seeds_give_other_draws_and_the_same_again(rng):
    x, y = rng.standard_normal((2, 300))
    assert renyi.rdc(x, y, rng=1) == renyi.rdc(x, y, rng=1)
    assert renyi.rdc(x, y, rng=1) != renyi.rdc(x, y, rng=2)
    assert renyi.rdc(x, y, rng=1) != renyi.rdc(x, y)
    vectors = rng.standard_normal((300, 2))
    assert renyi.rdc(vectors, y, rng=2013) != renyi.rdc(vectors, y)
    generator = np.random.default_rng(5)
    first, second = renyi.rdc(x, y, rng=generator), renyi.rdc(x, y, rng=generator)
    assert first != second
    assert renyi.rdc(x, y, rng=np.random.default_rng(5)) == first
    assert renyi.rdc(x, y, rng=np.int64(1)) == renyi.rdc(x, y, rng=1)


def test_repeats_take_the_median_over_draws(rng):
    x, y = rng.standard_normal((2, 300))
    draws = seeds(4, n_draws=3)
    from renyi.basis.canonical import canonical_correlations, cross_products
    from renyi.data.align import as_pair
    from renyi.pair.bases import pair_of_bases
    from renyi.pair.settings import Settings

    pair = as_pair(x, y, missing="raise")
    bases = [pair_of_bases(pair, Settings(None, 3.0, "auto"), seed) for seed in draws]
    values = [canonical_correlations(cross_products(*sides))[0] for sides in bases]
    assert len(set(values)) == 3
    assert renyi.rdc(x, y, rng=4, repeats=3) == np.median(values)


def test_stratified_draws_add_less_noise_than_independent_ones(rng):
    x = rng.standard_normal(400)
    y = x**2 + rng.standard_normal(400)

    def spread(kind):
        return np.std([renyi.rdc(x, y, frequencies=kind, rng=seed) for seed in range(60)])

    assert spread("auto") < 0.7 * spread("normal")


def test_wide_vectors_take_fastfood_and_fit(rng):
    d, k, n = 10_000, 1000, 64
    projection = draw(d, k, 3.0, kind="auto", seed=FIXED)
    assert type(projection).__name__ == "Fastfood"
    held = sum(a.nbytes for a in (projection.signs, projection.permutations, projection.normals, projection.lengths))
    assert held < 1_000_000
    angles = projection.angles(rng.random((n, d)))
    assert angles.shape == (n, k)
    # w·u has the variance s²·E|u|²/d over the draw of w, with E u² = 1/3.
    assert (angles - projection.phases).std() == pytest.approx(3.0 * np.sqrt(1 / 3), rel=0.15)


def test_k_grows_with_the_root_of_the_dimension_and_yields_to_few_rows():
    assert [default_projections(d, 10**6) for d in (1, 2, 5, 50, 10_000)] == [10, 15, 23, 71, 1000]
    assert [default_projections(1, n) for n in (5, 19, 50, 100)] == [1, 1, 5, 10]
    assert [default_projections(2, n) for n in (5, 240, 600, 1200)] == [1, 4, 10, 15]
    assert [default_projections(20, n) for n in (240, 480, 2400)] == [10, 20, 45]


def test_median_scale_is_the_papers(rng):
    n = 800
    ranks = (rng.permutation(n)[:, np.newaxis] + 1) / n
    assert median_scale(ranks) == pytest.approx((1 - np.sqrt(0.5)) ** 2, abs=2e-3)
    vectors = rng.random((300, 3))
    pairs = [np.sum((a - b) ** 2) for i, a in enumerate(vectors) for b in vectors[:i]]
    assert median_scale(vectors) == pytest.approx(np.median(pairs), abs=1e-12)
    assert median_scale(vectors[::-1]) == median_scale(vectors)
    assert median_scale(np.repeat(vectors, 20, axis=0)) == pytest.approx(np.median(pairs), rel=0.1)


def test_median_scale_reaches_the_coefficient(rng):
    x = rng.standard_normal(300)
    y = x**2 + 0.1 * rng.standard_normal(300)
    assert renyi.rdc(x, y, s="median") == pytest.approx(renyi.rdc(x, y, s=(1 - np.sqrt(0.5)) ** 2), abs=1e-4)
    with pytest.raises(renyi.InputError, match="s='median' is 0"):
        renyi.rdc(np.append(np.zeros(50), 1.0), np.arange(51), s="median")


def test_permutations_are_drawn_from_the_number_of_rows_and_the_seed():
    (one,) = seeds(1, n_draws=1)
    assert one.for_rows(10) == one.for_rows(10) != one.for_rows(11)
    assert FIXED_DRAW.for_rows(10) != one.for_rows(10)
    assert seeds(None, n_draws=1) == [FIXED_DRAW]
