"""Kernels of CUDA for what takes torch many passes over memory: roots of small matrices, and rows of tables.

torch compiles them when they are first needed, in 0.2 to 1.2 s. Where it cannot, and for little work, there are none
and operations of torch do the same.
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, TypeAlias

from renyi.compute.devices import EXTRA
from renyi.errors import load

Tensor: TypeAlias = Any

# Less work does not pay for compiling.
_LEAST_WORK = 2**18
_THREADS = 128
# Sides of matrices, which are filled up to the next of these. Larger ones have no room in registers.
_SIDES = (4, 8)
# Places are counted by 32 bits.
_MOST_NUMBERS = 2**31
_NAMES = {"torch.float32": "float", "torch.float64": "double"}
# What is copied at once, by its bytes.
_UNITS = {16: "int4", 8: "int2", 4: "int", 2: "short"}

# A thread has one matrix: its Gram matrix, the reflections and Laguerre's iteration of `eigenvalues` stay in registers,
# in float64. 4 million 8 × 8 matrices take 1.4 ms on an H200, and 44 to 67 ms by operations on planes.
_LARGEST_ROOT = r"""
// The relative step at which the iteration rests, and pivots, of matrices of trace 1, that are 0.
#define REST 1e-13
#define NOTHING 1e-18
#define MOST_STEPS 64

// Largest squared singular value of matrices (pairs, rows, columns), of which no more than SIDE rows.
extern "C" __global__ void largest_root(
    const NUMBER* matrices, NUMBER* roots, int n, int rows, int columns, int of_pair, int of_row, int of_column) {
  const int pair = blockIdx.x * blockDim.x + threadIdx.x;
  if (pair >= n) return;
  const NUMBER* own = matrices + (long long)pair * of_pair;
  double gram[SIDE][SIDE] = {};
  for (int k = 0; k < columns; ++k) {
    double column[SIDE];
    #pragma unroll
    for (int i = 0; i < SIDE; ++i)
      column[i] = i < rows ? (double)own[(long long)i * of_row + (long long)k * of_column] : 0.0;
    #pragma unroll
    for (int i = 0; i < SIDE; ++i)
      #pragma unroll
      for (int j = 0; j <= i; ++j) gram[i][j] += column[i] * column[j];
  }
  double trace = 0.0;
  #pragma unroll
  for (int i = 0; i < SIDE; ++i) trace += gram[i][i];
  if (!(trace > 0.0)) {  // all zeros, or not a number
    roots[pair] = (NUMBER)trace;
    return;
  }
  #pragma unroll
  for (int i = 0; i < SIDE; ++i)
    #pragma unroll
    for (int j = 0; j <= i; ++j) gram[i][j] /= trace;

  // Householder's reflections; the lower triangle is that of both.
  double squares[SIDE];
  #pragma unroll
  for (int k = 0; k < SIDE - 2; ++k) {
    double mirror[SIDE], image[SIDE], square = 0.0, inner = 0.0;
    #pragma unroll
    for (int i = k + 1; i < SIDE; ++i) {
      mirror[i] = gram[i][k];
      square += mirror[i] * mirror[i];
    }
    squares[k] = square;
    const double length = copysign(sqrt(square), mirror[k + 1]);
    mirror[k + 1] += length;
    const double norm = length * mirror[k + 1], factor = norm > 0.0 ? 1.0 / norm : 0.0;
    #pragma unroll
    for (int i = k + 1; i < SIDE; ++i) {
      double sum = 0.0;
      #pragma unroll
      for (int j = k + 1; j < SIDE; ++j) sum += (j <= i ? gram[i][j] : gram[j][i]) * mirror[j];
      image[i] = sum * factor;
      inner += mirror[i] * image[i];
    }
    inner *= factor / 2.0;
    #pragma unroll
    for (int i = k + 1; i < SIDE; ++i) image[i] -= mirror[i] * inner;
    #pragma unroll
    for (int i = k + 1; i < SIDE; ++i)
      #pragma unroll
      for (int j = k + 1; j <= i; ++j) gram[i][j] -= mirror[i] * image[j] + image[i] * mirror[j];
  }
  squares[SIDE - 2] = gram[SIDE - 1][SIDE - 2] * gram[SIDE - 1][SIDE - 2];

  // Laguerre's iteration from above, as `eigenvalues` has it.
  double spread = 0.0;
  #pragma unroll
  for (int i = 0; i < SIDE; ++i) {
    spread += (gram[i][i] - 1.0 / SIDE) * (gram[i][i] - 1.0 / SIDE);
    if (i < SIDE - 1) spread += 2.0 * squares[i];
  }
  double root = (1.0 / SIDE + sqrt(spread * (SIDE - 1.0) / SIDE)) * (1.0 + REST);
  for (int step = 0; step < MOST_STEPS; ++step) {
    double pivot = root - gram[0][0];
    bool is_above = pivot > NOTHING;
    double inverse = 1.0 / (is_above ? pivot : 1.0), slope = inverse, bend = 0.0;
    double first = slope, second = slope * slope;
    #pragma unroll
    for (int i = 1; i < SIDE; ++i) {
      const double share = squares[i - 1] * inverse;
      pivot = root - gram[i][i] - share;
      is_above = is_above && pivot > NOTHING;
      inverse = 1.0 / (is_above ? pivot : 1.0);
      bend = share * (bend - 2.0 * slope * slope) * inverse;
      slope = (1.0 + share * slope) * inverse;
      first += slope;
      second += slope * slope - bend;
    }
    const double inside = fmax((SIDE - 1.0) * (SIDE * second - first * first), 0.0);
    const double length = is_above ? SIDE / (first + sqrt(inside)) : 0.0;
    root -= length;
    if (!(length > REST * root)) break;
  }
  roots[pair] = (NUMBER)(root * trace);
}
"""

# A thread has one unit of a row of a table, at one row of the data: blocks of units, columns within.
_GATHER = r"""
extern "C" __global__ void gather(
    const UNIT* leading, const UNIT* following, const int* places, UNIT* target, int digits, int columns, int blocks,
    int units, int of_row) {
  const long long row = blockIdx.x;
  const int k = blockIdx.y * blockDim.x + threadIdx.x, length = blocks * columns * units;
  if (k >= length) return;
  const int unit = k % units, column = k / units % columns, block = k / units / columns;
  const long long from = ((long long)places[row * of_row + column] * blocks + block) * units + unit;
  const long long to = row * length + k, step = (long long)gridDim.x * length;
  const UNIT own = leading[from];
  target[to] = own;
  if (digits == 1) return;
  target[to + step] = following[from];
  target[to + 2 * step] = own;
  target[to + 3 * step] = own;
}
"""

# A thread has the functions of a block of one column, beside one function of another column.
_SPREAD = r"""
extern "C" __global__ void spread(
    const FROM* products, TO* planes, int columns, int width, int others, int blocks, int wide) {
  const int row = blockIdx.x, k = blockIdx.y * blockDim.x + threadIdx.x;
  if (k >= blocks * others) return;
  const int function = row % width, column = row / width % columns, above = row / width / columns;
  const int other = k % others, block = k / others;
  const FROM* own = products + ((long long)row * blocks * others + k) * wide;
  const long long plane = (long long)columns * others;
  TO* first = planes + ((long long)(above * width + function) * blocks + block) * wide * plane;
  for (int i = 0; i < wide; ++i) first[i * plane + (long long)column * others + other] = (TO)own[i];
}
"""

# A thread has one value of a sorted column, and looks for equal ones that follow.
_SHARE_CELLS = r"""
extern "C" __global__ void share_cells(
    const NUMBER* sorted, int* cells, int* pairs, int* too_long, int n, int longest) {
  const int place = blockIdx.y * blockDim.x + threadIdx.x;
  const long long start = (long long)blockIdx.x * n;
  int equal = 0;
  while (equal < longest && place + equal + 1 < n && sorted[start + place + equal] == sorted[start + place + equal + 1])
    ++equal;
  if (equal == longest) too_long[blockIdx.x] = 1;
  if (equal > 0) {
    const int counted = equal < longest ? equal : longest - 1;
    cells[start + place] = cells[start + place + counted];
    atomicAdd(&pairs[blockIdx.x], counted);
  }
}
"""


def largest_roots(block: Tensor, /) -> Tensor | None:
    """Largest squared singular value of every matrix (pairs, rows, columns) that has no more rows than columns."""
    if block.ndim != 3 or not 2 < block.shape[1] <= _SIDES[-1] or len(block) < _LEAST_WORK:
        return None
    reach = sum((size - 1) * stride for size, stride in zip(block.shape, block.stride(), strict=True))
    number, side = _NAMES.get(str(block.dtype)), next(side for side in _SIDES if side >= block.shape[1])
    if number is None or reach >= _MOST_NUMBERS:
        return None
    roots = block.new_empty(len(block))
    arguments = [block, roots, *block.shape, *block.stride()]
    is_done = _run(_LARGEST_ROOT, {"NUMBER": number, "SIDE": side}, (-(-len(block) // _THREADS), 1), arguments)
    return roots if is_done else None


def gather(tables: Sequence[Tensor], places: Tensor, target: Tensor, /, *, blocks: int) -> bool:
    """Rows of tables (cells, blocks × width) at places (rows, columns) to (digits, rows, blocks × columns, width).

    Two tables, of leading and following digits, become four digits. False where nothing was done.
    """
    width = int(target.shape[-1]) * target.element_size()
    size = next((size for size in _UNITS if width % size == 0), None)
    is_plain = all(part.is_contiguous() for part in (*tables, target)) and places.stride(1) == 1
    if size is None or not is_plain or str(places.dtype) != "torch.int32" or target.numel() < _LEAST_WORK:
        return False
    n_rows, n_columns = places.shape
    units = width // size
    grid = n_rows, -(-blocks * n_columns * units // _THREADS)
    shape = [len(target), n_columns, blocks, units, places.stride(0)]
    return _run(_GATHER, {"UNIT": _UNITS[size]}, grid, [tables[0], tables[-1], places, target, *shape])


def spread(products: Tensor, planes: Tensor, /) -> bool:
    """Products (blocks, columns, width, blocks, columns, width) to (blocks, width, blocks, width, columns, columns).

    False where nothing was done.
    """
    kinds = [_NAMES.get(str(part.dtype)) for part in (products, planes)]
    if None in kinds or not products.is_contiguous() or products.numel() < _LEAST_WORK:
        return False
    above, columns, width, blocks, others, wide = products.shape
    grid = above * columns * width, -(-blocks * others // _THREADS)
    shape = [columns, width, others, blocks, wide]
    return _run(_SPREAD, dict(zip(("FROM", "TO"), kinds, strict=True)), grid, [products, planes, *shape])


def share_cells(ordered: Tensor, cells: Tensor, /, *, longest: int) -> tuple[Tensor, Tensor] | None:
    """Cells of sorted columns (columns, rows), changed to that of the last of equal values, if less than `longest`.

    Of every column pairs of equal values, and whether more are equal than that.
    """
    number = _NAMES.get(str(ordered.dtype))
    if number is None or not (ordered.is_contiguous() and cells.is_contiguous()) or ordered.numel() < _LEAST_WORK:
        return None
    n_columns, n = ordered.shape
    counts = cells.new_zeros((2, n_columns))
    grid = n_columns, -(-n // _THREADS)
    is_done = _run(_SHARE_CELLS, {"NUMBER": number}, grid, [ordered, cells, counts[0], counts[1], n, longest])
    return (counts[0].long(), counts[1] > 0) if is_done else None


def _run(source: str, definitions: dict[str, Any], grid: tuple[int, int], arguments: list[Any]) -> bool:
    """Whether there is such a kernel, which is run then."""
    device = arguments[0].device
    if device.type != "cuda" or not all(part.is_cuda for part in arguments if hasattr(part, "is_cuda")):
        return False
    kernel = _compiled(source, tuple(definitions.items()), device.index)
    if kernel is None:
        return False
    with load("torch", extra=EXTRA).cuda.device(device):
        kernel(grid=(*grid, 1), block=(_THREADS, 1, 1), args=arguments)
    return True


@lru_cache(maxsize=64)
def _compiled(source: str, definitions: tuple[tuple[str, Any], ...], index: int) -> Any:
    """A kernel for one device, None where torch cannot compile it."""
    torch = load("torch", extra=EXTRA)
    compile_kernel = getattr(torch.cuda, "_compile_kernel", None)  # since torch 2.9
    if compile_kernel is None:
        return None
    defined = "".join(f"#define {name} {value}\n" for name, value in definitions)
    name = source.split("__global__ void ")[1].split("(", maxsplit=1)[0]
    with torch.cuda.device(index), suppress(RuntimeError, OSError, ImportError):
        return compile_kernel(defined + source, name)
    return None
