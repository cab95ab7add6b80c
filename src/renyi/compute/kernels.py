"""Kernels of CUDA for what takes torch many passes over memory: roots and factors of small matrices, rows of tables.

torch compiles them when they are first needed, in 0.2 to 1.2 s. Where it cannot, and for little work, there are none
and operations of torch do the same.
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, TypeAlias

from renyi.compute.arrays import is_tensor
from renyi.compute.devices import EXTRA
from renyi.errors import load

Tensor: TypeAlias = Any

# Less work does not pay for compiling.
_LEAST_WORK = 2**18
# Operations on planes of few matrices are hundreds of launches, 20 to 80 ms of a tile. The library is no way out: it
# fails for 124,750 matrices of eight rows (cuSOLVER of CUDA 13.0).
_FEWEST_ROOTS = 2**12
# Each number of functions is compiled by itself, longer than 100 million numbers take; beyond 32 there is no room.
_LEAST_TO_WHITEN, _MOST_TO_WHITEN = 2**26, 32
_THREADS = 128
# Blocks of threads in the second direction, where a single one would have too many.
_BLOCKS = 64
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

# A thread has one unit of a row of a table, at one row of the data; neighbours have the other units of that row.
_GATHER = r"""
extern "C" __global__ void gather(
    const UNIT* leading, const UNIT* following, const int* places, UNIT* target, int digits, int columns, int padded,
    int units, int of_row) {
  const long long row = blockIdx.x, length = (long long)padded * units;
  const int k = blockIdx.y * blockDim.x + threadIdx.x;
  if (k >= columns * units) return;
  const long long from = (long long)places[row * of_row + k / units] * units + k % units;
  const long long to = row * length + k, step = gridDim.x * length;
  const UNIT own = leading[from];
  target[to + (digits == 2 ? step : 0)] = own;
  if (digits == 2) target[to] = following[from];
  if (digits <= 2) return;
  target[to + step] = following[from];
  target[to + 2 * step] = own;
  target[to + 3 * step] = own;
}
"""

# A thread has the functions of one column, beside one function of another column.
_SPREAD = r"""
extern "C" __global__ void spread(
    const FROM* products, TO* planes, int columns, int width, int others, int padded, int wide) {
  const int row = blockIdx.x, other = blockIdx.y * blockDim.x + threadIdx.x;
  if (other >= others) return;
  const int function = row % width, column = row / width;
  const FROM* own = products + ((long long)row * padded + other) * wide;
  const long long plane = (long long)columns * others;
  TO* first = planes + (long long)function * wide * plane + (long long)column * others + other;
  for (int i = 0; i < wide; ++i) first[i * plane] = (TO)own[i];
}
"""

# A thread has one column on the rows of one mask. Its matrix lies in memory of its own, of which the numbers of
# neighbours lie side by side; loops are not unrolled, which would take as long to compile as all the rest.
_WHITEN = r"""
#define AT(i, j) ((i) * ((i) + 1) / 2 + (j))

// Means of functions and of their products, on and below the diagonal, to means and Gram matrices, factors of these,
// their distances from the identity, and whether no function drops out.
extern "C" __global__ void whiten(
    const double* sums, double* means, double* grams, double* factors, double* distances, unsigned char* regular,
    int columns, int masks, int of_sum, int of_column) {
  const int column = blockIdx.x, mask = blockIdx.y * blockDim.x + threadIdx.x;
  if (mask >= masks) return;
  const long long plane = (long long)columns * masks, own = (long long)column * masks + mask;
  const double* here = sums + (long long)column * of_column + mask;
  double gram[RANK * (RANK + 1) / 2], mean[RANK];
  #pragma unroll 1
  for (int i = 0; i < RANK; ++i) mean[i] = here[(long long)i * of_sum];
  #pragma unroll 1
  for (int i = 0; i < RANK; ++i)
    #pragma unroll 4
    for (int j = 0; j <= i; ++j) gram[AT(i, j)] = here[(long long)(RANK + AT(i, j)) * of_sum] - mean[i] * mean[j];

  bool is_regular = true;
  #pragma unroll 4
  for (int k = 0; k < AT(RANK, 0); ++k) is_regular = is_regular && isfinite(gram[k]);
  double total = 0.0;
  #pragma unroll 1
  for (int i = 0; i < RANK; ++i) {
    means[i * plane + own] = isfinite(mean[i]) ? mean[i] : 0.0;
    #pragma unroll 4
    for (int j = 0; j <= i; ++j) {
      const double entry = is_regular ? gram[AT(i, j)] : 0.0, apart = i == j ? entry - 1.0 : entry;
      gram[AT(i, j)] = entry;
      grams[(long long)(i * RANK + j) * plane + own] = entry;
      grams[(long long)(j * RANK + i) * plane + own] = entry;
      total += (i == j ? 1.0 : 2.0) * apart * apart;
    }
    distances[i * plane + own] = sqrt(total);
  }

  #pragma unroll 1
  for (int j = 0; j < RANK; ++j) {
    double scale = 1.0;
    #pragma unroll 1
    for (int i = j; i < RANK; ++i) {
      double rest = gram[AT(i, j)];
      #pragma unroll 4
      for (int k = 0; k < j; ++k) rest -= gram[AT(i, k)] * gram[AT(j, k)];
      if (i == j) {
        is_regular = is_regular && rest > CUT;
        scale = is_regular ? 1.0 / sqrt(rest) : 1.0;
      }
      gram[AT(i, j)] = rest * scale;
    }
  }
  regular[own] = is_regular;
  #pragma unroll 1
  for (int i = 0; i < RANK; ++i)
    #pragma unroll 4
    for (int j = 0; j < RANK; ++j) {
      const double entry = is_regular ? (j <= i ? gram[AT(i, j)] : 0.0) : (i == j ? 1.0 : 0.0);
      factors[(long long)(i * RANK + j) * plane + own] = entry;
    }
}
"""

# A thread has one value, and reads a spline at each of four nodes.
_BETWEEN = r"""
extern "C" __global__ void between(
    const double* variable, const double* log_n, const long long* places, const double* nodes, const double* splines,
    double* found, int n, int steps_of_table) {
  const int k = (blockIdx.x * gridDim.y + blockIdx.y) * blockDim.x + threadIdx.x;
  if (k >= n) return;
  const double* around = nodes + (places[k] - 1) * 3;
  double total = 0.0;
  for (int i = 0; i < 4; ++i) {
    const double steps = around[3 * i], own = around[3 * i + 1], position = variable[k] * steps;
    double weight = 1.0;
    for (int j = 0; j < 4; ++j)
      if (j != i) weight *= (log_n[k] - around[3 * j + 1]) / (own - around[3 * j + 1]);
    const int step = position < steps_of_table - 1 ? (int)position : steps_of_table - 1;
    const double beyond = (position - step) / steps;
    const double* cubic = splines + 4 * ((long long)around[3 * i + 2] * steps_of_table + step);
    total += weight * (((cubic[0] * beyond + cubic[1]) * beyond + cubic[2]) * beyond + cubic[3]);
  }
  found[k] = total;
}
"""

# A thread has one number.
_STANDARDISE = r"""
extern "C" __global__ void standardise(
    const NUMBER* numbers, const double* sizes, const double* means, const double* rests, const double* deviations,
    double* found, int n, int of_column, int power, int has_gaps) {
  const int column = blockIdx.x, row = blockIdx.y * blockDim.x + threadIdx.x;
  if (row >= n) return;
  const double value = numbers[(long long)column * of_column + row];
  const double own = (value / sizes[column] - means[column] - rests[column]) / deviations[column];
  found[(long long)column * n + row] = has_gaps && !(own == own) ? 0.0 : power == 2 ? own * own : own;
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
    if block.ndim != 3 or not 2 < block.shape[1] <= _SIDES[-1] or len(block) < _FEWEST_ROOTS:
        return None
    reach = sum((size - 1) * stride for size, stride in zip(block.shape, block.stride(), strict=True))
    number, side = _NAMES.get(str(block.dtype)), next(side for side in _SIDES if side >= block.shape[1])
    if number is None or reach >= _MOST_NUMBERS:
        return None
    roots = block.new_empty(len(block))
    arguments = [block, roots, *block.shape, *block.stride()]
    is_done = _run(_LARGEST_ROOT, {"NUMBER": number, "SIDE": side}, (-(-len(block) // _THREADS), 1), arguments)
    return roots if is_done else None


def gather(tables: Sequence[Tensor], places: Tensor, target: Tensor, /) -> bool:
    """Rows of tables (cells, width) at places (rows, columns) to the first columns of (digits, rows, columns, width).

    Two tables, of leading and following digits, become four digits, or two with the following ones first. False where
    nothing was done.
    """
    width = int(target.shape[-1]) * target.element_size()
    size = next((size for size in _UNITS if width % size == 0), None)
    is_plain = all(part.is_contiguous() for part in (*tables, target)) and places.stride(1) == 1
    if size is None or not is_plain or str(places.dtype) != "torch.int32" or target.numel() < _LEAST_WORK:
        return False
    n_rows, n_columns = places.shape
    units = width // size
    grid = n_rows, -(-n_columns * units // _THREADS)
    shape = [len(target), n_columns, target.shape[2], units, places.stride(0)]
    return _run(_GATHER, {"UNIT": _UNITS[size]}, grid, [tables[0], tables[-1], places, target, *shape])


def spread(products: Tensor, planes: Tensor, /) -> bool:
    """Products (columns, width, columns, width) to (width, width, columns, columns), of which there may be fewer.

    False where nothing was done.
    """
    kinds = [_NAMES.get(str(part.dtype)) for part in (products, planes)]
    if None in kinds or not products.is_contiguous() or products.numel() < _LEAST_WORK:
        return False
    width, wide, columns, others = planes.shape
    grid = columns * width, -(-others // _THREADS)
    shape = [columns, width, others, products.shape[2], wide]
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


def whiten(sums: Tensor, dimension: int, /, *, cut: float) -> tuple[Tensor, ...] | None:
    """Means, Gram matrices, factors, distances from the identity, and whether every square is above the cut.

    `sums` are means of functions and of products on and below the diagonal (sums, columns, masks).
    """
    if not is_tensor(sums) or sums.numel() < _LEAST_TO_WHITEN or dimension > _MOST_TO_WHITEN or not _are_doubles(sums):
        return None
    sums, (n_columns, n_masks) = sums if sums.stride(2) == 1 else sums.contiguous(), sums.shape[1:]
    means, distances = (sums.new_empty((dimension, n_columns, n_masks)) for _ in range(2))
    grams, factors = (sums.new_empty((dimension, dimension, n_columns, n_masks)) for _ in range(2))
    regular = sums.new_empty((n_columns, n_masks), dtype=load("torch", extra=EXTRA).uint8)
    found, strides = [means, grams, factors, distances, regular], [sums.stride(0), sums.stride(1)]
    grid = n_columns, -(-n_masks // _THREADS)
    is_done = _run(_WHITEN, {"RANK": dimension, "CUT": cut}, grid, [sums, *found, n_columns, n_masks, *strides])
    return (*found[:4], regular.bool()) if is_done else None


def standardised(numbers: Tensor, traits: Sequence[Tensor], /, *, power: int, has_gaps: bool) -> Tensor | None:
    """Numbers (columns, rows) over sizes, less means and rests, over deviations, to a power, in float64; 0 for NaN.

    All of the traits are (columns, 1).
    """
    number = _NAMES.get(str(numbers.dtype))
    if number is None or numbers.numel() < _LEAST_WORK or numbers.stride(1) != 1 or not _are_doubles(*traits):
        return None
    n_columns, n = numbers.shape
    stride = numbers.stride(0)
    if stride >= _MOST_NUMBERS:
        return None
    found = traits[0].new_empty((n_columns, n))
    grid = n_columns, -(-n // _THREADS)
    arguments = [numbers, *(part.contiguous() for part in traits), found, n, stride, power, int(has_gaps)]
    return found if _run(_STANDARDISE, {"NUMBER": number}, grid, arguments) else None


def between(
    variable: Tensor, log_n: Tensor, places: Tensor, nodes: Tensor, splines: Tensor, /, *, steps: int
) -> Tensor | None:
    """Cubics in log n through four neighbouring nodes, each of which has steps per unit, log n, and a table of splines.

    The tables (steps, 4) lie one below the other.
    """
    if not is_tensor(variable) or not _LEAST_WORK <= variable.numel() < _MOST_NUMBERS:
        return None
    if not _are_doubles(variable, log_n, nodes, splines):
        return None
    n, found = variable.numel(), variable.new_empty(variable.shape)
    arguments = [part.contiguous() for part in (variable, log_n, places.long(), nodes, splines)]
    grid = -(-n // (_THREADS * _BLOCKS)), _BLOCKS
    is_done = _run(_BETWEEN, {}, grid, [*arguments, found, n, steps])
    return found if is_done else None


def _are_doubles(*tensors: Tensor) -> bool:
    return all(_NAMES.get(str(part.dtype)) == "double" for part in tensors)


def _run(source: str, definitions: dict[str, Any], grid: tuple[int, int], arguments: list[Any]) -> bool:
    """Whether there is such a kernel, which is run then."""
    device = arguments[0].device
    if device.type != "cuda" or not all(part.is_cuda for part in arguments if hasattr(part, "is_cuda")):
        return False
    kernel = _compiled(source, tuple(definitions.items()), device.index)
    if kernel is None:
        return False
    # What could not be launched, for want of memory for its threads, say, has changed nothing.
    with load("torch", extra=EXTRA).cuda.device(device), suppress(RuntimeError):
        kernel(grid=(*grid, 1), block=(_THREADS, 1, 1), args=arguments)
        return True
    return False


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
