"""Kernels of CUDA, one thread after the other by a compiler of C++: the same as torch's operations."""

import ctypes
import shutil
import subprocess
from contextlib import nullcontext

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from renyi.allpairs.device.stack import DeviceStack, Observed  # noqa: E402
from renyi.allpairs.device.values import DeviceValues  # noqa: E402
from renyi.allpairs.masked_gram import Whitened  # noqa: E402
from renyi.compute import devices, kernels  # noqa: E402
from renyi.compute.eigenvalues import largest_root  # noqa: E402
from renyi.inference import roy  # noqa: E402

COMPILER = shutil.which("g++") or shutil.which("c++")
# What CUDA has and C++ has not.
PRELUDE = """
#include <cmath>
using std::sqrt; using std::copysign; using std::fmax; using std::isfinite;
#define __global__
struct Place { int x, y; };
static Place blockIdx, blockDim, threadIdx, gridDim;
struct int4 { int a, b, c, d; };
struct int2 { int a, b; };
static void atomicAdd(int* target, int more) { *target += more; }
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A kernel as a function that runs all of its threads; each is compiled once."""
    if COMPILER is None:
        pytest.skip("no compiler of C++")
    folder, kept = tmp_path_factory.mktemp("kernels"), {}

    def made(source, definitions):
        if (source, definitions) in kept:
            return kept[source, definitions]
        name = name_of(source)
        parameters = source.split(f"{name}(")[1].split(")")[0]
        given = ", ".join(part.split()[-1] for part in parameters.replace("*", "* ").split(","))
        loop = (
            f'extern "C" void all_of_it({parameters}, int x, int y, int threads) {{\n'
            "gridDim = {x, y}; blockDim = {threads, 1};\n"
            "for (int i = 0; i < x; ++i) for (int j = 0; j < y; ++j) for (int t = 0; t < threads; ++t) {\n"
            f"blockIdx = {{i, j}}; threadIdx = {{t, 0}}; {name}({given}); }} }}"
        )
        code, library = folder / f"{len(kept)}.cpp", folder / f"{len(kept)}.so"
        code.write_text(PRELUDE + defined(definitions) + source + loop)
        subprocess.run([COMPILER, "-O1", "-w", "-shared", "-fPIC", "-o", library, code], check=True)
        kept[source, definitions] = ctypes.CDLL(str(library)).all_of_it
        return kept[source, definitions]

    return made


def name_of(source):
    return source.split("__global__ void ")[1].split("(")[0]


def defined(definitions):
    return "".join(f"#define {key} {value}\n" for key, value in definitions)


@pytest.fixture
def by_the_processor(monkeypatch, compiled):
    """Run kernels in memory, and count which."""
    run = []

    def run_there(source, definitions, grid, arguments):
        passed = [ctypes.c_void_p(part.data_ptr()) if torch.is_tensor(part) else part for part in arguments]
        compiled(source, tuple(definitions.items()))(*passed, *grid, kernels._THREADS)
        run.append(name_of(source))
        return True

    monkeypatch.setattr(kernels, "_run", run_there)
    monkeypatch.setattr(kernels, "_LEAST_WORK", 1)
    monkeypatch.setattr(kernels, "_FEWEST_ROOTS", 1)
    monkeypatch.setattr(kernels, "_LEAST_TO_WHITEN", 1)
    return run


@pytest.mark.parametrize("shape", [(3, 3), (4, 9), (7, 20), (8, 8), (6, 5)])
@pytest.mark.parametrize(("kind", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-6)])
def test_largest_roots_are_those_of_lapack(shape, kind, tolerance, rng, by_the_processor):
    matrices = rng.standard_normal((300, *shape)) * 10.0 ** rng.uniform(-6, 3, (300, 1, 1))
    matrices[:3] = 0.0
    matrices[1, 0, 0], matrices[2, 0, 0], matrices[2, 1, 1], matrices[3] = 1.0, 1.0, 1.0, 1.0
    # Planes, as products of tiles come.
    block = torch.tensor(matrices, dtype=kind).permute(1, 2, 0).contiguous().permute(2, 0, 1)
    expected = torch.linalg.svdvals(block.double())[:, 0].numpy() ** 2
    assert largest_root(block).numpy() == pytest.approx(expected, rel=tolerance, abs=0.0)
    assert by_the_processor == ["largest_root"]


def test_what_is_not_a_number_has_no_root(by_the_processor):
    assert torch.isnan(largest_root(torch.full((5, 3, 3), torch.nan))).all()


@pytest.mark.parametrize("dimension", [1, 3, 8, 12, 20])
@pytest.mark.parametrize("in_halves", [False, True])
def test_rows_are_gathered_and_products_spread_as_by_torch(dimension, in_halves, rng, monkeypatch, request):
    monkeypatch.setattr(devices, "_IN_HALVES", ("cpu",) if in_halves else ())
    codes = torch.tensor(rng.integers(0, 65, (300, 7)).astype(np.int32))
    kind = torch.float32 if in_halves else torch.float64
    table = torch.tensor(rng.standard_normal((65, dimension)))
    stack = DeviceStack.of_table(table, codes, dtype=kind, starts=[0] * 7, sizes=[65] * 7)
    one, some = stack.leading(1), stack.part(slice(2, 6))
    pairs = [(stack, stack), (one, stack), (some, one), (some, Observed(stack)), (Observed(some), stack)]
    expected = [x.products(y) for x, y in pairs]
    run = request.getfixturevalue("by_the_processor")
    for (x, y), known in zip(pairs, expected, strict=True):
        assert torch.equal(x.products(y), known)
    assert {"gather", "spread"} == set(run)


@pytest.mark.parametrize("is_by_column", [False, True])
@pytest.mark.parametrize("dimension", [1, 2, 7, 20])
def test_bases_on_common_rows_are_whitened_as_by_torch(dimension, is_by_column, rng, request):
    n_columns, n_masks, n = 3, 150, 90
    functions = torch.tensor(rng.standard_normal((n_columns, dimension, n)))
    functions[0, -1] = functions[0, 0]  # drops out, but where it is alone
    masks = torch.tensor((rng.random((n, n_masks)) < 0.7).astype(float))
    masks[:, 3] = 0.0
    lower = np.tril_indices(dimension)
    products = functions[:, lower[0]] * functions[:, lower[1]]
    sums = torch.cat((functions, products), dim=1) @ masks
    # As they come of products with recipes of every column, or otherwise.
    means = (sums / masks.sum(0)).permute(1, 0, 2)
    means = means if is_by_column else means.contiguous()
    expected = Whitened._made(means, "test")
    run = request.getfixturevalue("by_the_processor")
    found = Whitened._made(means, "test")
    assert run == ["whiten"]
    assert torch.equal(found.is_regular, expected.is_regular)
    assert found.is_regular.any()
    assert not found.is_regular[:, 3].any()
    for name in ("means", "gram", "factor", "distance"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-9, atol=1e-9, err_msg=name)


def test_other_floats_are_left_to_torch(rng, by_the_processor):
    sums = torch.tensor(rng.standard_normal((2 + 3, 4, 5)))
    assert kernels.whiten(sums.float(), 2, cut=1e-8) is None
    assert by_the_processor == []


@pytest.mark.parametrize("has_gaps", [False, True])
@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
def test_values_are_standardised_as_by_torch(kind, has_gaps, rng, request):
    numbers = torch.tensor(rng.standard_normal((5, 300)) * 10.0 ** rng.uniform(-9, 9, (5, 1)), dtype=kind)
    if has_gaps:
        numbers[torch.tensor(rng.random((5, 300)) < 0.2)] = torch.nan
    values = DeviceValues.of(numbers, has_gaps=has_gaps)
    sides = values, values.squared(), values.part(slice(1, 4))
    rows = slice(20, 250)
    expected = [side.operand(rows) for side in sides]
    run = request.getfixturevalue("by_the_processor")
    for side, known in zip(sides, expected, strict=True):
        assert torch.equal(side.operand(rows), known)
    assert run == ["standardise"] * 3


def test_a_launch_that_fails_leaves_the_work_to_torch(monkeypatch):
    def launched(**_):
        raise RuntimeError("CUDA error: out of memory")

    class OnCard:
        device, is_cuda = torch.device("cuda", 0), True

    monkeypatch.setattr(kernels, "_compiled", lambda *_: launched)
    monkeypatch.setattr(torch.cuda, "device", lambda _: nullcontext())
    assert not kernels._run(kernels._BETWEEN, {}, (1, 1), [OnCard()])


@pytest.mark.parametrize(
    ("source", "definitions"),
    [
        *((kernels._WHITEN, {"RANK": dimension, "CUT": 1e-16}) for dimension in (1, 32)),
        (kernels._BETWEEN, {}),
        (kernels._STANDARDISE, {"NUMBER": "float"}),
        *((kernels._GATHER, {"UNIT": unit}) for unit in ("int4", "int2", "int", "short")),
        (kernels._SPREAD, {"FROM": "float", "TO": "double"}),
        (kernels._SHARE_CELLS, {"NUMBER": "float"}),
        *((kernels._LARGEST_ROOT, {"NUMBER": "float", "SIDE": side}) for side in (4, 8)),
    ],
)
def test_kernels_compile_for_a_card(source, definitions):
    """What does not compile is left to torch in silence; the compiler needs no card."""
    compiler = pytest.importorskip("torch.cuda._utils")
    try:
        compiler._get_nvrtc_library()
    except (AttributeError, OSError):
        pytest.skip("no compiler of CUDA")
    binary, name = compiler._nvrtc_compile(defined(definitions.items()) + source, name_of(source), "90")
    assert (len(binary) > 0, name) == (True, name_of(source))


def test_null_distributions_between_numbers_of_rows_are_those_of_torch(rng, request):
    n = torch.tensor(rng.integers(300, 4000, 2000))
    roots = torch.tensor(rng.random(2000) * 30) / n
    expected = roy.log_sf_of_many(roots, 3, 2, n)
    run = request.getfixturevalue("by_the_processor")
    found = roy.log_sf_of_many(roots, 3, 2, n)
    assert set(run) == {"between"}
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_equal_values_have_the_cell_of_the_last_of_them(by_the_processor):
    ordered = torch.tensor([[0, 1, 1, 1, 2, 3, 3, 4], [0, 0, 0, 0, 1, 2, 3, np.nan], [0, 1, 2, 3, 4, 5, 6, 7.0]])
    cells = torch.arange(8, dtype=torch.int32).repeat(3, 1)
    n_pairs, is_long = kernels.share_cells(ordered, cells, longest=3)
    assert cells[0].tolist() == [0, 3, 3, 3, 4, 6, 6, 7]
    assert cells[2].tolist() == list(range(8))
    assert n_pairs[[0, 2]].tolist() == [4, 0]
    assert is_long.tolist() == [False, True, False]


def test_there_are_no_kernels_for_the_processor():
    assert kernels.largest_roots(torch.ones((2**18, 3, 3))) is None
