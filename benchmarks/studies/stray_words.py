"""What stray words among numbers cost where they are read as missing, and where the column stays text.

`python benchmarks stray_words` takes about a minute and writes results/stray_words.json.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import renyi
from harness import record

Array: TypeAlias = NDArray[np.float64]

N_TABLES, LENGTHS, SHARES = 40, (200, 1000), (0.01, 0.02, 0.05, 0.1, 0.2)
CURVES: dict[str, Callable[[Array], Array]] = {
    "line": lambda x: x,
    "parabola": lambda x: x**2,
    "wave": lambda x: np.sin(3 * x),
}
# In any row, or in those of the largest values, which is the worst that a word can stand for.
PLACES = ("anywhere", "the largest")


def strengths(curve: str, place: str, share: float, n: int, rng: np.random.Generator) -> tuple[float, float, float]:
    """Of the whole column, of what is left beside words, and of the text as a category (0 where it is left out)."""
    x = np.round(rng.standard_normal(n), 2)
    y = CURVES[curve](x) + 0.3 * rng.standard_normal(n)
    n_words = round(share * n)
    gone = np.argsort(x)[-n_words:] if place == "the largest" else rng.permutation(n)[:n_words]
    cells = x.astype(str).astype(object)
    cells[gone] = "unknown"
    whole = renyi.rdc(x, y, debias=True)
    left = renyi.rdc(np.delete(x, gone), np.delete(y, gone), debias=True)
    table = {"x": cells, "y": y, "z": rng.standard_normal(n)}
    found = renyi.matrix(table, types={"x": "category"})
    as_text = float(found.debiased[0, 1]) if "x" in found.names else 0.0
    return whole, left, as_text


def study() -> list[dict[str, Any]]:
    """Means over tables, and the largest change."""
    rows = []
    for curve in CURVES:
        for place in PLACES:
            for n in LENGTHS:
                for share in SHARES:
                    rng = np.random.default_rng([list(CURVES).index(curve), PLACES.index(place), n, round(100 * share)])
                    whole, left, as_text = np.array([strengths(curve, place, share, n, rng) for _ in range(N_TABLES)]).T
                    rows.append(
                        {
                            "curve": curve,
                            "words": place,
                            "n": n,
                            "share": share,
                            "whole": round(float(whole.mean()), 3),
                            "beside words": round(float(left.mean()), 3),
                            "largest change": round(float(np.abs(left - whole).max()), 3),
                            "as text": round(float(as_text.mean()), 3),
                        }
                    )
                    print(rows[-1], flush=True)
    return rows


if __name__ == "__main__":
    record("stray_words", {"strengths": study()}, "numpy")
