import numpy as np
import pytest

import renyi
from renyi.compute.arrays import interpolated
from renyi.compute.eigenvalues import largest_eigenvalue, products_of_rows
from renyi.inference.multiscale import largest_root
from sample_tables import assert_same_table

torch = pytest.importorskip("torch")

from renyi.allpairs import edges  # noqa: E402
from renyi.allpairs import stack as stacks  # noqa: E402
from renyi.allpairs.device import compare, ranking, rows  # noqa: E402
from renyi.allpairs.device import stack as device_stack  # noqa: E402
from renyi.allpairs.device.groups import groups_on_device  # noqa: E402
from renyi.allpairs.device.ranking import ranked  # noqa: E402
from renyi.allpairs.device.reading import read_table  # noqa: E402
from renyi.compute import devices, fetching  # noqa: E402
from renyi.compute.devices import halves, in_digits, multiplied, paired  # noqa: E402
from renyi.pair.prepare import DEFAULT_SETTINGS  # noqa: E402


def dependent(n, rng, n_columns=9):
    """Columns that depend on one another in many ways, among them copies, few values, zeros and rounded numbers."""
    values = rng.standard_normal((n, n_columns))
    values[:, 1] += values[:, 0]
    values[:, 2] = values[:, 0] ** 2 + 0.1 * values[:, 2]
    values[:, 3] = values[:, 4]
    values[:, 5] = np.round(2 * values[:, 5])
    values[:, 6] = np.where(values[:, 7] > 0, values[:, 7], 0.0)
    return values


def difference(found, expected, name):
    return np.nanmax(np.abs(getattr(found, name) - getattr(expected, name)))


# Tables.


@pytest.mark.slow
@pytest.mark.parametrize(("n", "tolerance"), [(60, 1e-9), (700, 1e-9), (5000, 1e-6), (34_000, 1e-6)])
def test_tensors_have_the_numbers_of_arrays(n, tolerance, rng):
    values = dependent(n, rng)
    expected, found = renyi.matrix(values), renyi.matrix(torch.tensor(values))
    for name in ("values", "pearson", "spearman", "debiased"):
        assert difference(found, expected, name) < tolerance * (10 if name == "debiased" else 1)
    by_theory = ~np.isnan(expected.pvalues) & (expected.pvalues > 1e-290)
    if expected.n_permuted:
        by_theory[:] = False
        by_theory[:3, :3] = ~np.eye(3, dtype=bool)
    assert np.log(found.pvalues[by_theory]) == pytest.approx(
        np.log(expected.pvalues[by_theory]), abs=30 * tolerance, rel=1e-5
    )
    assert (found.n_samples == expected.n_samples).all()
    assert found.n_permuted == expected.n_permuted
    assert found.names == expected.names


def test_the_values_cannot_be_written_to(rng):
    found = renyi.matrix(torch.tensor(rng.random((80, 3))))
    with pytest.raises(ValueError, match="read-only"):
        found.values[0, 1] = 0.0
    assert np.diagonal(found.values).tolist() == [1.0] * 3
    assert np.isnan(np.diagonal(found.pvalues)).all()


def test_results_of_tensors_show_and_rank_themselves(rng):
    values = dependent(600, rng)
    expected, found = renyi.matrix(values), renyi.matrix(torch.tensor(values))
    assert repr(found) == repr(expected)
    assert found.top(5)["y"].tolist() == expected.top(5)["y"].tolist()
    assert difference(found, expected, "qvalues") < 1e-9


def test_few_equal_values_on_many_rows_change_hardly_anything(rng):
    values = rng.standard_normal((12_000, 5))
    values[:, 1] = values[:, 0] ** 2 + values[:, 1]
    for column in values.T:
        first, *others = rng.choice(12_000, 3, replace=False)
        column[others] = column[first]
    expected, found = renyi.matrix(values), renyi.matrix(torch.tensor(values))
    assert all(variable.scales.equal_pairs == 0 for variable in found.edges.x)
    assert difference(found, expected, "values") < 1e-5
    assert difference(found, expected, "spearman") < 1e-5


def test_columns_that_say_nothing_are_left_out_with_the_reason_of_arrays(rng):
    values = rng.standard_normal((50, 5))
    values[:, 1], values[3, 2], values[:, 4] = 2.0, np.inf, np.nan
    found, expected = renyi.matrix(torch.tensor(values)), renyi.matrix(values)
    assert found.names == expected.names == ("x0", "x3")
    assert set(found.skipped) == set(expected.skipped) == {"x1", "x2", "x4"}
    assert found.skipped["x1"] == expected.skipped["x1"]
    assert "1 infinite value" in found.skipped["x2"]


@pytest.mark.parametrize("kind", ["float32", "int64", "int16"])
def test_tensors_of_other_types_have_their_numbers(kind, rng):
    values = (100 * rng.standard_normal((500, 4))).astype(kind)
    expected, found = renyi.matrix(values), renyi.matrix(torch.tensor(values))
    assert difference(found, expected, "values") < 1e-9
    assert difference(found, expected, "pearson") < 1e-9


def test_a_dict_of_tensors_keeps_its_names(rng):
    values = rng.random((200, 2))
    found = renyi.matrix({"a": torch.tensor(values[:, 0]), "b": torch.tensor(values[:, 1])})
    assert found.names == ("a", "b")
    assert found.values[0, 1] == pytest.approx(renyi.rdc(values[:, 0], values[:, 1]))


def test_two_tables_of_tensors(rng):
    values = dependent(400, rng)
    expected = renyi.matrix(
        {"a": values[:, 0], "b": values[:, 8]}, {"c": values[:, 2], "d": values[:, 5], "e": values[:, 7]}
    )
    found = renyi.matrix(torch.tensor(values[:, [0, 8]]), torch.tensor(values[:, [2, 5, 7]]))
    assert difference(found, expected, "values") < 1e-9
    assert found.pvalues == pytest.approx(expected.pvalues, rel=1e-6)
    assert difference(found, expected, "debiased") < 1e-9


def test_screening_of_tensors(rng):
    values = dependent(500, rng)
    expected, found = renyi.screen(values, "x0"), renyi.screen(torch.tensor(values), "x0")
    assert found.names == expected.names
    assert difference(found, expected, "values") < 1e-9
    assert found.qvalues == pytest.approx(expected.qvalues, rel=1e-6)


def test_rows_that_lack_a_value_can_be_dropped(rng):
    values = rng.standard_normal((300, 4))
    values[5, 0] = values[7, 2] = np.nan
    found = renyi.matrix(torch.tensor(values), missing="listwise")
    assert found.n_rows == 298
    assert difference(found, renyi.matrix(values, missing="listwise"), "values") < 1e-9


def test_pairs_without_a_null_distribution_are_permuted_where_they_are(rng):
    values = np.zeros((400, 3))
    values[:5, 0] = values[100:106, 1] = 1.0
    values[:5, 2] = 1.0
    values[6, 2] = 1.0
    expected, found = renyi.matrix(values), renyi.matrix(torch.tensor(values))
    assert found.n_permuted == expected.n_permuted == 3
    assert found.pvalues[0, 2] == expected.pvalues[0, 2] == pytest.approx(1e-4)
    assert found.pvalues[0, 1] > 0.5


# What decides between two ways of computing, lowered so that a small table goes both.
CROSSED = {
    "strips": [(device_stack, "_FEWEST_OF_STRIP", 2)],
    "strips of one column": [(device_stack, "_FEWEST_OF_STRIP", 1), (device_stack, "_N_STRIPS", 100)],
    "chunks": [(device_stack, "_MOST_ROWS", 100)],
    "strips of chunks": [(device_stack, "_FEWEST_OF_STRIP", 3), (device_stack, "_MOST_ROWS", 100)],
    "functions that are filled up": [(device_stack, "_EASY_WIDTH", 4)],
    "tiles": [(compare, "_MOST_COLUMNS", 5)],
    "strips of tiles": [(device_stack, "_FEWEST_OF_STRIP", 2), (compare, "_MOST_COLUMNS", 6)],
    "little room": [(devices, "_ROOM_ON_CPU", 2**17)],
    "no room": [(devices, "_ROOM_ON_CPU", 0), (device_stack, "_FEWEST_ROWS", 20), (device_stack, "_ALIGNED", 1)],
    "pairs of much room": [(compare, "_NUMBERS_OF_PAIR", 2**22)],
    "columns sorted one by one": [(ranking, "_BYTES_OF_SORTING", 2**30)],
    "matrices filled in memory": [(fetching, "_SHARE_OF_MATRICES", 0.0)],
    "matrices in pieces": [(fetching, "_PIECE", 40), (fetching, "_MOST_THREADS", 2)],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CROSSED)
@pytest.mark.parametrize("n", [45, 300])
def test_no_threshold_of_a_device_moves_a_number(name, n, rng, monkeypatch):
    # On few rows ties would have p-values from permutations, which take long without room.
    values = dependent(n, rng, n_columns=15) if n >= 50 else rng.standard_normal((n, 15))
    sides = values[:, ::3], values[:, 1::3]
    expected, of_sides = renyi.matrix(values), renyi.matrix(*sides)
    for module, constant, value in CROSSED[name]:
        monkeypatch.setattr(module, constant, value)
    assert_same_table(renyi.matrix(torch.tensor(values)), expected, 1e-10)
    assert_same_table(renyi.matrix(*map(torch.tensor, sides)), of_sides, 1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("n_columns", [255, 256, 300])
def test_wide_tables_have_the_numbers_of_arrays(n_columns, rng, monkeypatch):
    monkeypatch.setattr(stacks, "COLUMNS_FOR_FLOAT32", 10_000)
    values = rng.standard_normal((120, n_columns))
    assert_same_table(renyi.matrix(torch.tensor(values)), renyi.matrix(values), 1e-10)


@pytest.mark.parametrize("kinds", [("cuda",), ("cuda", "cpu")])
@pytest.mark.parametrize("strip", [3, 128])
def test_few_rows_in_single_precision_or_its_halves_have_nearly_the_same_numbers(kinds, strip, rng, monkeypatch):
    values = rng.standard_normal((300, 15))
    values[:, 1] += values[:, 0]
    expected = renyi.matrix(values)
    monkeypatch.setattr(stacks, "ROWS_FOR_FLOAT32", 100)
    monkeypatch.setattr(stacks, "_CELLS_FOR_FLOAT32", 100)
    monkeypatch.setattr(devices, "_IN_HALVES", kinds)
    monkeypatch.setattr(device_stack, "_FEWEST_OF_STRIP", strip)
    found = renyi.matrix(torch.tensor(values))
    assert 0.0 < difference(found, expected, "values") < 1e-6
    assert_same_table(found, expected, 3e-6)


@pytest.mark.parametrize("has_gaps", [False, True])
@pytest.mark.parametrize("are_two", [False, True])
def test_strong_pairs_are_multiplied_again_in_float64(has_gaps, are_two, rng, monkeypatch):
    values = rng.standard_normal((400, 9))
    values[:, 7] = values[:, 1] + 0.1 * values[:, 7]
    values[:, 2] = values[:, 4] ** 2 + 0.05 * values[:, 2]
    values = np.where(rng.random(values.shape) < 0.1, np.nan, values) if has_gaps else values
    sides = (values[:, :4], values[:, 4:]) if are_two else (values,)
    expected = renyi.matrix(*sides)
    monkeypatch.setattr(stacks, "ROWS_FOR_FLOAT32", 100)
    monkeypatch.setattr(stacks, "_CELLS_FOR_FLOAT32", 100)
    monkeypatch.setattr(devices, "_IN_HALVES", ("cpu",))
    monkeypatch.setattr(rows, "_STRONG_AT_ONCE", 1)
    whole = device_stack.multiplied

    def cut_off(left, right, *, onto):
        # What has digits that are cut off is too small; counts are exact.
        is_rough = left.dtype == torch.float16 and len(left) > 1
        return whole(left, right, onto=onto) * (1.0 - 1e-4 * is_rough)

    monkeypatch.setattr(device_stack, "multiplied", cut_off)
    found = renyi.matrix(*map(torch.tensor, sides))
    logs = [side._laid_out("log_pvalues", np.nan) for side in (found, expected)]
    apart = np.abs(logs[0] - logs[1]) / np.abs(logs[1])
    strong = (expected.values > 0.95) & np.isfinite(logs[1])
    assert strong.sum() == (2 if are_two else 4)
    assert apart[strong].max() < 1e-5
    assert np.abs(found.values - expected.values)[strong].max() < 1e-6
    assert np.nanmax(apart[~strong]) > 2e-5
    monkeypatch.setattr(rows, "_STRONG", 2.0)
    rough = renyi.matrix(*map(torch.tensor, sides))._laid_out("log_pvalues", np.nan)
    assert (np.abs(rough - logs[1]) / np.abs(logs[1]))[strong].min() > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize(("name", "value"), [("_PIECE", 40), ("_SHARE_OF_MATRICES", 0.0)])
def test_matrices_that_come_in_pieces_or_are_filled_in_memory_are_the_same(name, value, rng, monkeypatch):
    values = rng.standard_normal((300, 23))
    values[:, ::3] = np.round(values[:, ::3])
    expected = renyi.matrix(values)
    monkeypatch.setattr(fetching, name, value)
    monkeypatch.setattr(compare, "_MOST_COLUMNS", 5)
    found = renyi.matrix(torch.tensor(values))
    for part in ("values", "debiased", "pearson", "spearman"):
        assert difference(found, expected, part) < 1e-12
    assert difference(found, expected, "pvalues") < 1e-8
    parts = renyi.matrix(torch.tensor(values[:, :9]), torch.tensor(values[:, 9:]))
    assert np.abs(parts.values - expected.values[:9, 9:]).max() < 1e-12


# Tables with gaps.


def gaps_in(values, rng, share=0.1):
    return np.where(rng.random(values.shape) < share, np.nan, values)


@pytest.mark.parametrize("n", [40, 300])
def test_tensors_with_gaps_have_the_numbers_of_arrays(n, rng):
    # On few rows ties would have p-values from permutations.
    values = gaps_in(dependent(n, rng, n_columns=12) if n >= 50 else rng.standard_normal((n, 12)), rng)
    assert_same_table(renyi.matrix(torch.tensor(values)), renyi.matrix(values), 1e-8)
    sides = values[:, ::3], values[:, 1::3]
    assert_same_table(renyi.matrix(*map(torch.tensor, sides)), renyi.matrix(*sides), 1e-8)


@pytest.mark.parametrize("kinds", [("cuda",), ("cpu", "cuda")])
def test_many_rows_with_gaps_have_the_log_pvalues_of_arrays_to_four_digits(kinds, rng, monkeypatch):
    values = gaps_in(dependent(5000, rng, n_columns=12), rng)
    expected = renyi.matrix(values)
    monkeypatch.setattr(devices, "_IN_HALVES", kinds)
    found = renyi.matrix(torch.tensor(values))
    assert {group.dtype for group in stacks_of(values)} >= {torch.float32}
    assert (found.n_samples == expected.n_samples).all()
    assert difference(found, expected, "values") < 1e-5
    of_table, known = (one.edges for one in (found, expected))
    orders = [np.lexsort((edges.found.j, edges.found.i)) for edges in (of_table, known)]
    log_p, known_log_p = of_table.log_pvalues[orders[0]], known.log_pvalues[orders[1]]
    # Of copies 1 − coefficient² is what single precision has left, in memory too.
    is_meant = ~known.is_permuted[orders[1]] & (known.found.coefficient[orders[1]] < 0.9999)
    assert is_meant.sum() >= 60
    assert np.abs(log_p / known_log_p - 1.0)[is_meant].max() < 1e-4


def stacks_of(values):
    ranks = ranked(read_table(torch.tensor(values), torch.device("cpu")), DEFAULT_SETTINGS)
    return [group.coefficient for group in groups_on_device(ranks, has_gaps=True)]


def test_pairs_that_are_not_wanted_need_not_be_kept(rng):
    values = gaps_in(dependent(200, rng), rng)
    found, expected = (renyi.pairs(one, top=7).to_frame() for one in (torch.tensor(values), values))
    assert found["x"].tolist() == expected["x"].tolist()
    assert found["y"].tolist() == expected["y"].tolist()
    assert found["strength"].tolist() == pytest.approx(expected["strength"].tolist(), abs=1e-7)


# Where pairs are.


@pytest.mark.parametrize("is_square", [True, False])
def test_pairs_are_found_at_their_places(is_square, rng):
    shape = (7, 7) if is_square else (4, 6)
    matrices = {"coefficient": rng.random(shape)}
    found = compare.FoundMatrix(matrices, 50, (np.full(shape[0], 8), np.full(shape[1], 3)), is_square, [(2, 3)])
    pairs = list(zip(found.i.tolist(), found.j.tolist(), strict=True))
    assert len(pairs) == (21 if is_square else 24)
    assert found.places(pairs).tolist() == list(range(len(pairs)))
    assert found.places([]).tolist() == []
    if is_square:
        assert found.places([(j, i) for i, j in pairs]).tolist() == list(range(len(pairs)))
    assert found.coefficient.tolist() == [matrices["coefficient"][pair] for pair in pairs]
    assert np.flatnonzero(found.is_permuted).tolist() == [pairs.index((2, 3))]
    assert found.n.tolist() == [50] * len(pairs)
    assert found.dimensions.tolist() == [[8, 3]] * len(pairs)
    assert found.heavier is None
    assert found.matrix("coefficient") is matrices["coefficient"]
    assert found.matrix("n") is None


# A full device.


class _FullBeyond:
    """Comparing that runs out of memory for more pairs than there is room for."""

    def __init__(self, most):
        self.most, self.sizes, self.compare = most, [], compare.compare

    def __call__(self, x, y, *settings):
        size = len(x.positions) * len(y.positions)
        if size > self.most:
            raise torch.OutOfMemoryError("out of memory")
        self.sizes.append(size)
        return self.compare(x, y, *settings)


def test_a_full_device_gets_smaller_tiles(rng, monkeypatch):
    values = torch.tensor(rng.standard_normal((100, 11)))
    expected = renyi.matrix(values)
    full = _FullBeyond(9)
    monkeypatch.setattr(compare, "compare", full)
    found = renyi.matrix(values)
    assert max(full.sizes) <= 9
    assert difference(found, expected, "values") < 1e-12


def test_a_device_without_room_for_a_pair_is_an_error_that_says_so(rng, monkeypatch):
    class Properties:
        total_memory = 2**30

    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: Properties)
    monkeypatch.setattr(compare, "compare", _FullBeyond(0))
    with pytest.raises(renyi.InputError, match=r"no room for one pair of columns: free its memory"):
        renyi.matrix(torch.tensor(rng.standard_normal((100, 3))))


def test_work_is_done_in_smaller_pieces_where_there_is_no_room():
    def work(size):
        if size > 3:
            raise torch.OutOfMemoryError
        return size

    assert devices.within_room(work, 20, torch.device("cpu"), "nothing") == 2


# What is not for a device.


def test_what_a_device_cannot_do_is_refused_and_not_done_elsewhere(rng):
    values = rng.standard_normal((80, 3))
    with pytest.raises(renyi.InputError, match="measure='dcor' is not for a device"):
        renyi.matrix(torch.tensor(values), measure="dcor")
    with pytest.raises(renyi.InputError, match="given is not for a device"):
        renyi.screen(torch.tensor(values), "x0", given="x1")
    with pytest.raises(renyi.InputError, match="a table has rows and columns"):
        renyi.matrix(torch.tensor(values[:, 0]))
    with pytest.raises(renyi.InputError, match="groups are not permuted on a device yet"):
        renyi.independence_test(*torch.tensor(values[:, :2]).T, groups=np.arange(80) // 8)


# Arithmetic that NumPy and torch share.


def matrices(size, rng):
    """Random matrices, and some whose largest singular values are equal, nearly so, or 0."""
    random = rng.standard_normal((300, size, size))
    turns = np.linalg.qr(rng.standard_normal((40, size, size)))[0]
    spectra = [
        [1.0] * size,
        [1.0] * (size // 2) + [0.0] * (size - size // 2),
        [0.5, 0.5] + [0.1] * (size - 2),
        [0.1, 0.1 - 1e-7] + [0.05] * (size - 2),
        [0.0] * size,
    ]
    return np.concatenate([random, *(turns * np.sqrt(spectrum) for spectrum in spectra)])


@pytest.mark.parametrize("size", [3, 4, 8, 12])
@pytest.mark.parametrize(("kind", "tolerance"), [("float64", 1e-12), ("float32", 4e-6)])
def test_the_largest_eigenvalue_by_planes_is_that_of_lapack(size, kind, tolerance, rng):
    found = matrices(size, rng)
    expected = np.linalg.eigvalsh(found @ found.swapaxes(1, 2))[:, -1]
    planes = np.moveaxis(found, 0, -1).astype(kind)
    by_numpy = largest_eigenvalue(products_of_rows(planes))
    by_torch = largest_root(torch.tensor(found.astype(kind))).numpy()
    assert by_numpy == pytest.approx(expected, rel=tolerance, abs=tolerance**2)
    assert by_torch == pytest.approx(expected, rel=tolerance, abs=tolerance**2)


def test_wide_matrices_have_the_root_of_tall_ones(rng):
    cross = rng.standard_normal((20, 6, 2))
    for block in (cross, cross.swapaxes(1, 2), cross[:, :1], cross[:, :, :1]):
        assert largest_root(torch.tensor(block)).numpy() == pytest.approx(largest_root(block))


def test_lines_between_knots_are_those_of_numpy(rng):
    knots, values = np.cumsum(rng.random(20)), rng.random(20)
    at = np.concatenate((rng.uniform(-1, knots[-1] + 1, 200), knots))
    assert interpolated(torch.tensor(at), knots, values).numpy() == pytest.approx(np.interp(at, knots, values))


def test_two_halves_of_digits_multiply_as_single_precision(rng):
    x, y = rng.standard_normal((2, 30, 4000)).astype(np.float32)
    x[:, 0] = 60.0
    digits = (in_digits(*halves(torch.tensor(side.T))) for side in (x, y))
    found = multiplied(*paired(*digits)).numpy() / 4000
    exact = x.astype(np.float64) @ y.T.astype(np.float64) / 4000
    assert np.abs(found - exact).max() < 2e-7
    # The leading digits alone would not do.
    assert np.abs(np.float32(np.float16(x)) @ np.float32(np.float16(y)).T / 4000 - exact).max() > 2e-6


def test_stacks_of_unlike_precision_multiply_in_double(rng):
    x, y = torch.tensor(rng.standard_normal((2, 5, 100)))
    found = multiplied(*paired(in_digits(*halves(x.T.float())), y.T[None]))
    assert found.dtype == torch.float64
    assert torch.allclose(found, x @ y.T, atol=1e-4)


def test_large_whole_numbers_beside_floats_keep_their_digits_or_are_refused(rng):
    steps = rng.permutation(400)
    y = np.cos(steps / 50)
    expected = renyi.matrix({"x": steps, "y": y})
    for x in (2**62 + steps, -(2**62) + steps, 2**53 + steps):
        for other in (torch.tensor(y), torch.tensor((1e9 * y).astype(np.int64))):
            found = renyi.matrix({"x": torch.tensor(x), "y": other})
            assert difference(found, expected, "values") < 1e-9
            assert difference(found, expected, "pearson") < 1e-7
    apart = torch.tensor(np.where(steps == 0, -(2**62), 2**62 + steps))
    with pytest.raises(renyi.InputError, match="'x' in the table has whole numbers that floats beside it would round"):
        renyi.matrix({"x": apart, "y": torch.tensor(y)})
    assert renyi.matrix({"x": apart, "y": torch.tensor((1e9 * y).astype(np.int64))}).values[0, 1] > 0.9


@pytest.mark.parametrize("columns", [100, 7])
def test_the_strongest_pairs_of_all_are_looked_at_however_they_are_cut_into_tiles(columns, monkeypatch):
    """On few rows single ones weigh much in every pair."""
    rng = np.random.default_rng(5)
    values = rng.standard_normal((300, 30))
    values[:, 1:12] += rng.uniform(0.1, 1.0, 11) * values[:, :1]
    monkeypatch.setattr(compare, "_MOST_COLUMNS", columns)
    for module in (edges, compare):
        monkeypatch.setattr(module, "MOST_LOOKED_AT", 20)
    found = renyi.matrix(torch.tensor(values)).edges
    in_memory = renyi.matrix(values).edges
    in_memory.look_at(np.arange(len(in_memory)))
    assert np.count_nonzero(found.rows_carrying < 0) > 20
    assert len(found.looked.carrying) == 20
    assert found.rows_carrying == pytest.approx(in_memory.rows_carrying, rel=1e-9)
