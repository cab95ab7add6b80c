"""Write roy.csv: log P(θ₁ > root) of Roy's largest root in as many digits as it takes.

De Bruijn's Pfaffian over the powers of θ, with the recursion of Chiani (2016, arXiv 1401.3987) for its entries. Their
cancellation, fatal in float64, is paid for in digits: every row is computed with more of them until two runs agree.
Run `python tests/golden/roy.py`; it needs mpmath and a few minutes.
"""

import csv
import math
from itertools import product
from pathlib import Path

import mpmath as mp

DIMENSIONS = [(1, 1), (1, 6), (2, 2), (2, 20), (3, 7), (4, 4), (8, 8), (10, 40), (20, 20), (40, 40)]
SAMPLES = [50, 100, 500, 10**4, 10**8]
# Where to look: in spreads of the largest root around its usual place, and by how far (1−θ)^(β+1) has fallen from it.
SPREADS = [-2.5, -1.0, 0.0, 2.0]
FALLS = [12.0, 20.0, 26.0, 35.0, 60.0]
FAR_FALLS = [200.0, 600.0, 1600.0, 10**4]


def incomplete_beta(p, q, x):
    """∫ t^(p−1) (1−t)^(q−1) from 0 to x, by a series of positive terms or by its complement."""
    if x == 1:
        return mp.beta(p, q)
    if 2 * x > 1:
        return mp.beta(p, q) - incomplete_beta(q, p, 1 - x)
    term = total = 1 / p
    k, rest = 0, total
    while rest > mp.eps * total:
        ratio = (p + q + k) * x / (p + 1 + k)
        term *= ratio
        total += term
        k, rest = k + 1, term / (1 - ratio) if ratio < 1 else total
    return x**p * (1 - x) ** q * total


def incomplete_betas(p, q, x, n_terms):
    """The same for p, p + 1, …: integration by parts."""
    values = [incomplete_beta(p, q, x)]
    for k in range(n_terms - 1):
        values.append(((p + k) * values[-1] - x ** (p + k) * (1 - x) ** q) / (p + k + q))
    return values


def pfaffian(matrix):
    """Pfaffian of a skew-symmetric matrix, given by its rows above the diagonal, two rows eliminated at a time."""
    value, order = mp.mpf(1), len(matrix)
    for k in range(0, order, 2):
        pivot = matrix[k][k + 1]
        value *= pivot
        for i in range(k + 2, order):
            first, second = matrix[k][i] / pivot, matrix[k + 1][i] / pivot
            for j in range(i + 1, order):
                matrix[i][j] -= first * matrix[k + 1][j] - second * matrix[k][j]
    return value


def below(a, b, n, x):
    """P(θ₁ ≤ x), up to a constant."""
    p, q = mp.mpf(b - a + 1) / 2, mp.mpf(n - a - b) / 2
    single = incomplete_betas(p, q, x, a)
    double = incomplete_betas(2 * p, 2 * q, x, 2 * a - 1)
    order = a + a % 2
    matrix = [[mp.mpf(0)] * order for _ in range(order)]
    for i in range(a):
        integral = single[i] ** 2 / 2
        for j in range(i + 1, a):
            integral = ((p + j - 1) * integral - double[i + j - 1]) / (p + j - 1 + q)
            matrix[i][j] = single[i] * single[j] - 2 * integral
        if order > a:
            matrix[i][a] = single[i]
    return pfaffian(matrix)


def log_sf(a, b, n, root):
    """Log P(θ₁ > root) to 18 digits, from as many as p and the powers of θ are likely to take on."""
    digits, last = int(40 + 3 * a + (a + b - n) / 2 * math.log10(1 - root)), None
    while True:
        with mp.workdps(digits):
            p = 1 - below(a, b, n, mp.mpf(root)) / below(a, b, n, mp.mpf(1))
            value = mp.log(p) if p > 0 else None
            if value is not None and last is not None and abs(value - last) < mp.mpf(10) ** -18 * abs(value):
                return value
        last, digits = value, int(1.25 * digits)


def roots_of(a, b, n, i):
    """Three roots: in the body of the null distribution, in its tail, and far out, as Johnstone (2008) places them."""
    gamma, phi = (2 * math.asin(math.sqrt((dimension - 0.5) / (n - 2))) for dimension in (a, b))
    total = min(phi + gamma, math.pi - 0.1)
    spread = (16 / (n - 2) ** 2 / (math.sin(total) ** 2 * math.sin(phi) * math.sin(gamma))) ** (1 / 3)
    centre = 2 * math.log(math.tan(total / 2))
    yield 1 / (1 + math.exp(-centre - spread * SPREADS[i % len(SPREADS)]))
    for falls in (FALLS, FAR_FALLS):
        fall = falls[i % len(falls)] / ((n - a - b) / 2)
        yield min(-math.expm1(-fall) + math.exp(-fall) / (1 + math.exp(-centre)), 1 - 2.0**-53)


def main():
    path = Path(__file__).with_suffix(".csv")
    with path.open("w", newline="") as file:
        file.write(f"# log P(largest root > root) by tests/golden/roy.py with mpmath {mp.__version__}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["dimension_x", "dimension_y", "n_samples", "root", "log_p"])
        cases = [(a, b, n) for (a, b), n in product(DIMENSIONS, SAMPLES) if a + b < n]
        for i, (a, b, n) in enumerate(cases):
            for root in dict.fromkeys(roots_of(a, b, n, i)):
                writer.writerow([a, b, n, repr(root), mp.nstr(log_sf(a, b, n, root), 17)])


if __name__ == "__main__":
    main()
