"""The strongest dependences as a network: which columns it has, and where they stand."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components, shortest_path

from renyi.compute.arrays import Array, Index

_MOST_NODES, _MOST_EDGES = 36, 60
# Beyond this many lines a column hides what else there is.
_MOST_LINES = 6
_STEPS = 200
# Width of the picture over its height.
_ASPECT = 1.25


def network_of(ends: Sequence[tuple[int, int]], /) -> dict[str, Any] | None:
    """Nodes with places in a unit square, and the pairs between them, of pairs that come strongest first."""
    places, edges = _chosen(ends)
    if not edges:
        return None
    links = np.array([[places[end] for end in ends[edge]] for edge in edges])
    x, y = _layout(len(places), links).T
    nodes = [{"column": column, "x": round(float(x[k]), 3), "y": round(float(y[k]), 3)} for column, k in places.items()]
    return {"nodes": nodes, "edges": edges}


def _chosen(ends: Sequence[tuple[int, int]]) -> tuple[dict[int, int], list[int]]:
    """Columns, numbered as they come, and the pairs that are drawn."""
    lines: dict[int, int] = {}
    edges: list[int] = []
    for edge, pair in enumerate(ends):
        if len(edges) == _MOST_EDGES:
            break
        n_new = sum(end not in lines for end in pair)
        if len(lines) + n_new > _MOST_NODES or any(lines.get(end, 0) >= _MOST_LINES for end in pair):
            continue
        for end in pair:
            lines[end] = lines.get(end, 0) + 1
        edges.append(edge)
    return {column: place for place, column in enumerate(lines)}, edges


def _layout(n_nodes: int, links: Index) -> Array:
    """Every connected part by itself, the largest first, side by side in rows."""
    graph = coo_matrix((np.ones(len(links)), links.T), shape=(n_nodes, n_nodes)).tocsr()
    _, part_of = connected_components(graph, directed=False)
    steps = shortest_path(graph, directed=False, unweighted=True)
    parts = [np.flatnonzero(part_of == part) for part in range(part_of.max() + 1)]
    parts.sort(key=lambda members: (-len(members), members[0]))
    drawn = [_unfolded(steps[np.ix_(members, members)]) for members in parts]
    places = np.empty((n_nodes, 2))
    for members, corner, own in zip(parts, _packed(drawn), drawn, strict=True):
        places[members] = own + corner
    low, high = places.min(axis=0), places.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    return np.asarray(np.where(high > low, (places - low) / span, 0.5))


def _unfolded(steps: Array) -> Array:
    """Places whose distances are those along the lines, as nearly as a plane allows (stress, by majorisation)."""
    n = len(steps)
    wanted = steps**0.8
    np.fill_diagonal(wanted, 1.0)
    weights = wanted**-2.0
    np.fill_diagonal(weights, 0.0)
    angles = 2 * np.pi * np.arange(n) / n
    places = np.column_stack((np.cos(angles), 0.9 * np.sin(angles))) * wanted.max() / 2
    for _ in range(_STEPS):
        apart = places[:, None, :] - places[None, :, :]
        distances = np.maximum(np.linalg.norm(apart, axis=2), 1e-9)
        pulled = places[None, :, :] + apart * (wanted / distances)[:, :, None]
        places = np.einsum("ij,ijk->ik", weights, pulled) / weights.sum(axis=1, keepdims=True)
    # The longest way lies along the width.
    _, _, directions = np.linalg.svd(places - places.mean(axis=0), full_matrices=False)
    signs = np.sign(directions[:, np.abs(directions).argmax(axis=1)].diagonal())
    turned = (places - places.mean(axis=0)) @ (directions * signs[:, None]).T
    return np.asarray(turned - turned.min(axis=0))


def _packed(drawn: Sequence[Array]) -> list[Array]:
    """Corners of boxes in rows, about as wide as the picture is to be."""
    gap = np.array([1.4, 0.8])  # names are wide
    sizes = [box.max(axis=0) + gap for box in drawn]
    area = sum(size[0] * size[1] for size in sizes)
    width = max(*(size[0] for size in sizes), np.sqrt(_ASPECT * area))
    corners, corner, tallest = [], np.zeros(2), 0.0
    for size in sizes:
        if corner[0] > 0.0 and corner[0] + size[0] > width * 1.05:
            corner, tallest = np.array([0.0, corner[1] + tallest]), 0.0
        corners.append(corner.copy())
        corner[0] += size[0]
        tallest = max(tallest, float(size[1]))
    return corners
