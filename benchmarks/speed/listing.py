"""The paper's listing in plain NumPy: the direct way, for comparison."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

Array: TypeAlias = NDArray[np.float64]


def rdc_listing(x: Array, y: Array, *, k: int, s: float, seed: int = 0) -> float:
    """Ranks, random sines and cosines, and the largest canonical correlation by QR."""
    rng = np.random.default_rng(seed)
    bases = [np.linalg.qr(_features(values, k, s, rng))[0] for values in (x, y)]
    return float(np.linalg.svd(bases[0].T @ bases[1], compute_uv=False)[0])


def _features(values: Array, k: int, s: float, rng: Any) -> Array:
    columns = values.reshape(len(values), -1)
    ranks = rankdata(columns, method="max", axis=0) / len(columns)
    augmented = np.column_stack((ranks, np.ones(len(ranks))))
    angles = augmented @ rng.normal(0, s / np.sqrt(columns.shape[1]), (augmented.shape[1], k))
    features = np.concatenate((np.cos(angles), np.sin(angles)), axis=1)
    return np.asarray(features - features.mean(axis=0))
