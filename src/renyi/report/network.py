"""The strongest dependences as a network: which columns it has, and where they stand."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["network_of"]

Array: TypeAlias = NDArray[np.float64]

_MOST_NODES, _MOST_EDGES = 36, 60
_STEPS = 400


def network_of(ends: Sequence[tuple[int, int]], strength: Sequence[float], /) -> dict[str, Any] | None:
    """Nodes with places in a unit square, and the pairs between them, of pairs that come strongest first."""
    places: dict[int, int] = {}
    edges: list[int] = []
    for edge, (a, b) in enumerate(ends):
        if len(edges) == _MOST_EDGES:
            break
        if len(places) + sum(end not in places for end in (a, b)) > _MOST_NODES:
            continue
        for end in (a, b):
            places.setdefault(end, len(places))
        edges.append(edge)
    if not edges:
        return None
    links = np.array([[places[end] for end in ends[edge]] for edge in edges])
    x, y = _layout(len(places), links, np.array([strength[edge] for edge in edges])).T
    nodes = [{"column": column, "x": round(float(x[k]), 3), "y": round(float(y[k]), 3)} for column, k in places.items()]
    return {"nodes": nodes, "edges": edges}


def _layout(n_nodes: int, links: NDArray[np.intp], strength: Array) -> Array:
    """Springs between linked nodes and repulsion between all (Fruchterman and Reingold, 1991), from a circle."""
    angles = 2 * np.pi * np.arange(n_nodes) / n_nodes
    places = np.column_stack((np.cos(angles), np.sin(angles)))
    pull = np.zeros((n_nodes, n_nodes))
    pull[links[:, 0], links[:, 1]] = pull[links[:, 1], links[:, 0]] = 0.5 + 0.5 * np.clip(strength, 0.0, 1.0)
    apart = 1.6 / np.sqrt(n_nodes)
    for heat in np.geomspace(0.2, 0.002, _STEPS):
        steps = places[:, None, :] - places[None, :, :]
        distances = np.maximum(np.linalg.norm(steps, axis=2), 1e-3)
        force = apart**2 / distances**2 - pull * distances / apart
        # A weak pull to the middle keeps parts together that no dependence links.
        move = np.einsum("ij,ijk->ik", force, steps) - 0.6 * places
        length = np.maximum(np.linalg.norm(move, axis=1, keepdims=True), 1e-9)
        places = places + move / length * np.minimum(length, heat)
    low, high = places.min(axis=0), places.max(axis=0)
    return np.asarray((places - low) / np.maximum(high - low, 1e-9))
