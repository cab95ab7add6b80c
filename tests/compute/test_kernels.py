"""Kernels of CUDA, one thread after the other by a compiler of C++: the same as torch's operations."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from renyi.allpairs.device.stack import DeviceStack  # noqa: E402
from renyi.compute import devices, kernels  # noqa: E402
from renyi.compute.eigenvalues import largest_root  # noqa: E402

COMPILER = shutil.which("g++") or shutil.which("c++")
# What CUDA has and C++ has not.
PRELUDE = """
#include <cmath>
using std::sqrt; using std::copysign; using std::fmax;
#define __global__
struct Place { int x, y; };
static Place blockIdx, blockDim, threadIdx, gridDim;
struct int4 { int a, b, c, d; };
struct int2 { int a, b; };
static void atomicAdd(int* target, int more) { *target += more; }
"""


@pytest.fixture
def by_the_processor(monkeypatch, tmp_path):
    """Run kernels in memory, and count which."""
    if COMPILER is None:
        pytest.skip("no compiler of C++")
    run = []

    def run_there(source, definitions, grid, arguments):
        name = source.split("__global__ void ")[1].split("(")[0]
        parameters = source.split(f"{name}(")[1].split(")")[0]
        given = ", ".join(part.split()[-1] for part in parameters.replace("*", "* ").split(","))
        loop = (
            f'extern "C" void all_of_it({parameters}, int x, int y, int threads) {{\n'
            "gridDim = {x, y}; blockDim = {threads, 1};\n"
            "for (int i = 0; i < x; ++i) for (int j = 0; j < y; ++j) for (int t = 0; t < threads; ++t) {\n"
            f"blockIdx = {{i, j}}; threadIdx = {{t, 0}}; {name}({given}); }} }}"
        )
        defined = "".join(f"#define {key} {value}\n" for key, value in definitions.items())
        code, library = tmp_path / f"{len(run)}.cpp", tmp_path / f"{len(run)}.so"
        code.write_text(PRELUDE + defined + source + loop)
        subprocess.run([COMPILER, "-O1", "-w", "-shared", "-fPIC", "-o", library, code], check=True)
        passed = [ctypes.c_void_p(part.data_ptr()) if torch.is_tensor(part) else part for part in arguments]
        ctypes.CDLL(str(library)).all_of_it(*passed, *grid, kernels._THREADS)
        run.append(name)
        return True

    monkeypatch.setattr(kernels, "_run", run_there)
    monkeypatch.setattr(kernels, "_LEAST_WORK", 1)
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
    stack = DeviceStack.of([rng.standard_normal((65, dimension))], codes, dtype=kind)
    pairs = [(stack, stack), (stack.leading(1), stack), (stack.part(slice(2, 6)), stack.leading(1))]
    expected = [x.products(y) for x, y in pairs]
    run = request.getfixturevalue("by_the_processor")
    for (x, y), known in zip(pairs, expected, strict=True):
        assert torch.equal(x.products(y), known)
    assert {"gather", "spread"} == set(run)


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
