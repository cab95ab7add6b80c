import numpy as np
import pytest
from scipy.linalg import qr

from renyi.data.column import Column
from renyi.inference import multiscale
from renyi.inference.roy import log_sf
from renyi.selection import products as selection_products
from renyi.selection.candidates import as_candidates
from renyi.selection.gain import Gains


def number(name, values):
    return Column(name, "number", np.asarray(values, dtype=float))


def searched(columns, target, chosen=()):
    found = Gains(as_candidates(columns), target)
    found.of_singles(range(len(columns)))
    for j in chosen:
        found.add(j)
        found.of_singles([i for i in range(len(columns)) if i not in chosen])
    return found


def orthonormal(functions):
    return qr(functions, mode="economic")[0]


def naive_log_pvalue(candidate, target, span, partners, n):
    """By dense least squares: residuals on the span, canonical correlations of every block, their harmonic mean."""

    def residual(values):
        return values - span @ np.linalg.lstsq(span, values, rcond=None)[0]

    own, left = orthonormal(residual(candidate)), orthonormal(residual(target))
    looks = [(a, own[:, :a].T @ left[:, :b]) for a in (1, 3, 6) for b in (1, 2, 6)]
    if partners.size:
        looks.append((3, own[:, :3].T @ orthonormal(residual(partners * residual(target)[:, :1]))))
    freedom = n - span.shape[1] + 1
    blocks = [cross.shape for _, cross in looks]
    log_p = [
        log_sf(np.linalg.svd(cross, compute_uv=False)[0] ** 2, *shape, freedom)
        for (_, cross), shape in zip(looks, blocks, strict=True)
    ]
    log_mean = multiscale.log_harmonic_mean(multiscale.log_weights(blocks) - np.array(log_p))
    return multiscale.log_pvalue(log_mean, blocks, n=freedom, are_numbers=True, log_arrangements=np.inf)


@pytest.mark.parametrize("n_chosen", [0, 1, 2])
def test_gains_are_those_of_dense_least_squares(n_chosen):
    rng = np.random.default_rng(0)
    n = 400
    x = rng.normal(size=(n, 4))
    x[:, 3] += 0.5 * x[:, 0]
    y = x[:, 0] + np.sin(2 * x[:, 1]) + 0.3 * x[:, 3] * x[:, 0] + rng.normal(size=n)
    columns = [number(f"x{j}", x[:, j]) for j in range(4)]
    candidates = as_candidates(columns)
    functions = [one.functions().T for one in candidates]
    target = as_candidates([number("y", y)])[0].functions().T
    span, partners = np.ones((n, 1)), np.empty((n, 0))
    for j in range(n_chosen):
        products = [functions[j][:, [a]] * partners for a in range(2)]
        span = np.concatenate((span, functions[j], *products), axis=1)
        partners = np.concatenate((partners, functions[j][:, :2]), axis=1)
    found = searched(columns, number("y", y), range(n_chosen)).of_singles(range(n_chosen, 4))
    expected = [naive_log_pvalue(functions[j], target, span, partners, n) for j in range(n_chosen, 4)]
    assert found == pytest.approx(np.array(expected), rel=1e-6)


def test_dependence_never_falls_and_is_a_correlation():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(300, 6))
    y = x[:, 0] * x[:, 1] + x[:, 2] ** 2 + 0.1 * rng.normal(size=300)
    found = Gains(as_candidates([number("x", values) for values in x.T]), number("y", y))
    path = [found.dependence]
    for j in (3, 0, 1, 2, 4, 5):
        found.add(j)
        path.append(found.dependence)
    assert path[0] == 0.0
    assert np.all(np.diff(path) >= 0.0)
    assert path[4] > 0.9
    assert path[-1] <= 1.0


def test_what_the_chosen_determine_adds_nothing():
    rng = np.random.default_rng(2)
    x, z = rng.normal(size=(2, 500))
    found = searched([number("x", x), number("x again", np.exp(x)), number("z", z)], number("y", x + z), [0])
    again, other = found.of_singles([1, 2])
    assert again == 0.0
    assert other < -100


def test_a_target_that_is_explained_leaves_nothing():
    x = np.random.default_rng(3).normal(size=(300, 2))
    found = searched([number("x", x[:, 0]), number("z", x[:, 1])], Column("y", "category", (x[:, 0] > 0).astype(int)))
    assert not found.is_explained
    found = searched([Column("x", "category", (x[:, 0] > 0).astype(int)), number("z", x[:, 1])],
                     Column("y", "category", (x[:, 0] > 0).astype(int)), [0])  # fmt: skip
    assert found.is_explained
    assert found.of_singles([1]).tolist() == [0.0]
    assert found.of_pairs([0, 1]) is None


def test_missing_rows_do_not_matter_where_they_are_missing():
    rng = np.random.default_rng(4)
    x = rng.normal(size=600)
    y = x + rng.normal(size=600)
    gaps = rng.random(600) < 0.4
    holes = Column("x", "number", np.where(gaps, 0.0, x), gaps)
    with_gaps = Gains(as_candidates([holes]), number("y", y)).of_singles([0])[0]
    alone = Gains(as_candidates([number("x", x[~gaps])]), number("y", y[~gaps])).of_singles([0])[0]
    # Ranks of y are those of all rows in one case, of the rows left in the other.
    assert with_gaps == pytest.approx(alone, rel=0.02)


def test_float32_serves_on_many_rows(monkeypatch):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(5000, 5))
    y = x[:, 0] + 0.2 * x[:, 1] ** 2 + rng.normal(size=5000)
    columns, target = [number("x", values) for values in x.T], number("y", y)
    fast = searched(columns, target, [0]).of_singles([1, 2, 3, 4])
    monkeypatch.setattr(selection_products, "_MANY_ROWS", 10**6)
    exact = searched(columns, target, [0]).of_singles([1, 2, 3, 4])
    assert fast != pytest.approx(exact, rel=1e-13)
    assert fast == pytest.approx(exact, rel=1e-4)


def test_functions_that_find_no_room_are_read_again(monkeypatch):
    rng = np.random.default_rng(6)
    x = rng.normal(size=(300, 3))
    columns, target = [number("x", values) for values in x.T], number("y", x[:, 1] + rng.normal(size=300))
    kept = searched(columns, target, [1]).of_singles([0, 2])
    monkeypatch.setattr(selection_products, "_MOST_BYTES", 0)
    assert searched(columns, target, [1]).of_singles([0, 2]) == pytest.approx(kept, rel=1e-12)


def test_pairs_are_found_by_their_product_alone():
    rng = np.random.default_rng(7)
    x = rng.uniform(-1, 1, (500, 30))
    y = x[:, 4] * x[:, 17]
    found = Gains(as_candidates([number("x", values) for values in x.T]), number("y", y))
    pair, log_p = found.of_pairs(range(30))
    assert pair == (4, 17)
    assert log_p < -50


@pytest.mark.slow
def test_pvalues_of_noise_are_uniform_also_where_the_spread_depends_on_the_chosen():
    log_p = []
    for seed in range(150):
        rng = np.random.default_rng([seed, 8])
        z = rng.normal(size=300)
        y = z + np.exp(z) * rng.normal(size=300)
        x = rng.normal(size=(20, 300))
        columns = [number("z", z), *(number("x", values) for values in x)]
        log_p.append(searched(columns, number("y", y), [0]).of_singles(range(1, 21)))
    p = np.exp(np.concatenate(log_p))
    # Columns of a table share y: 3,000 p-values, of which the standard error is at most 1.5 times that of binomials.
    assert np.mean(p < 0.05) == pytest.approx(0.05, abs=0.018)
    assert np.mean(p < 0.005) < 0.005 + 0.005
