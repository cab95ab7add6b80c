"""Products of the functions of candidates with others, wherever the functions are held."""

import numpy as np
import pytest

from renyi.data.column import Column
from renyi.selection import products
from renyi.selection.candidates import as_candidates
from renyi.selection.products import ProductsInMemory, ProductsOnDevice

N = 200


@pytest.fixture
def candidates(rng):
    gaps = rng.random(N) < 0.2
    numbers = [Column(f"x{k}", "number", rng.standard_normal(N), gaps if k == 2 else None) for k in range(5)]
    rare = [Column(name, "category", (np.arange(N) < 3).astype(int), gone, ("a", "b")) for name, gone in _gone(rng)]
    levels = Column("c", "category", rng.integers(0, 3, N), None, ("a", "b", "c"))
    return as_candidates([*numbers, levels, *rare])


def _gone(rng):
    return ("complete", None), ("gappy", (np.arange(N) > 2) & (rng.random(N) < 0.03))


@pytest.fixture(params=["in memory", "in batches", "on a device", "on a device in blocks"])
def selection_products(request, candidates, monkeypatch):
    if "device" not in request.param:
        if request.param == "in batches":
            monkeypatch.setattr(products, "_BATCH", N)
            monkeypatch.setattr(products, "_MOST_BYTES", 0)
        return ProductsInMemory(candidates, N, n_threads=2)
    torch = pytest.importorskip("torch")
    if "blocks" in request.param:
        monkeypatch.setattr(products, "_SHARE_AT_ONCE", 0.0)
        monkeypatch.setattr(products, "_SHARE_KEPT", 0.0)
    return ProductsOnDevice(candidates, N, torch.device("cpu"))


def test_functions_are_those_of_the_candidates(selection_products, candidates):
    for k, one in enumerate(candidates):
        np.testing.assert_array_equal(np.asarray(selection_products.functions(k)), one.functions())


@pytest.mark.parametrize("members", [[0, 1, 2, 3, 4], [3, 0], [5]])
def test_products_are_sums_over_the_rows(selection_products, candidates, members, rng):
    # Of any size, as residuals are that are nearly explained.
    sizes = np.array([1.0, 1e-12, 1e3, 1.0])
    others = rng.standard_normal((4, N)) * sizes[:, None]
    found = selection_products.products(members, selection_products.placed(others))
    for one, k in zip(found, members, strict=True):
        np.testing.assert_allclose(one / sizes, candidates[k].functions() @ others.T / sizes, atol=1e-9)


@pytest.mark.parametrize("ratio", [0, 16, np.inf])
@pytest.mark.parametrize("members", [[0, 1, 2, 3, 4], [5], [6, 7]])
def test_permuted_products_are_those_of_rows_that_moved(selection_products, candidates, members, ratio, monkeypatch):
    # All rows, or those outside of the most frequent cell alone: of a rare level and of gaps here.
    monkeypatch.setattr(products, "_TIMES_AS_LONG", ratio)
    rng = np.random.default_rng(0)
    others, orders = rng.standard_normal((3, N)) + 1.0, np.stack([rng.permutation(N) for _ in range(4)])
    found = selection_products.permuted(members, selection_products.placed(others))(orders)
    for one, order in zip(found, orders, strict=True):
        own = np.concatenate([candidates[k].functions() for k in members])
        np.testing.assert_allclose(one, own @ others[:, order].T, atol=1e-9)


def test_rare_levels_are_followed_by_the_few_rows_that_have_them(candidates, rng, monkeypatch):
    monkeypatch.delattr(products, "_permuted")
    products_in_memory, others = ProductsInMemory(candidates, N), rng.standard_normal((3, N))
    assert products_in_memory.permuted([6], others)(np.arange(N)[np.newaxis]).shape == (1, 1, 3)
    with pytest.raises(NameError):
        products_in_memory.permuted([0], others)


def test_pairs_are_scored_by_the_products_of_their_functions(selection_products, candidates, rng):
    residuals, which = rng.standard_normal((2, N)), [0, 2, 3, 5]
    found = selection_products.pair_scores(which, selection_products.placed(residuals), 2)
    for a, i in enumerate(which):
        for b, j in enumerate(which[a + 1 :], a + 1):
            x, y = candidates[i].functions(2), candidates[j].functions(2)
            expected = (np.einsum("an,bn,rn->rab", x, y, residuals) ** 2).sum()
            assert found[a, b] == pytest.approx(expected, rel=1e-4)


def test_what_was_chosen_is_let_go_and_can_be_read_again(selection_products, candidates, rng):
    others = selection_products.placed(rng.standard_normal((2, N)))
    before = selection_products.products([0, 1], others)
    selection_products.forget(0)
    np.testing.assert_allclose(selection_products.products([0, 1], others), before, atol=1e-12)


def test_functions_are_kept_where_there_is_room_for_all(candidates, rng, monkeypatch):
    others = rng.standard_normal((2, N))
    for most, n_kept in ((2**30, 2), (100, 0)):
        monkeypatch.setattr(products, "_MOST_BYTES", most)
        selection_products = ProductsInMemory(candidates, N)
        selection_products.products([0, 1], others)
        assert len(selection_products._kept) == n_kept
    assert ProductsInMemory(candidates, products._MANY_ROWS)._dtype == np.float32
