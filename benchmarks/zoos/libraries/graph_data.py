"""Graphs to feed: fixed edges, degrees and points; features are the models' inputs."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .declare import numbers, uniform

NODES, EDGES, FEATURES, EDGE_FEATURES, GRAPHS, RELATIONS = 80, 320, 32, 8, 4, 3


def edges(seed: int = 0, count: int = EDGES, nodes: int = NODES) -> Tensor:
    """(2, count): every node has at least one incoming edge; sorted by where they end."""
    drawn = numbers(seed, nodes, 2, count)
    drawn[1, :nodes] = torch.arange(nodes, device="cpu")
    return drawn[:, drawn[1].argsort(stable=True)]


def batch_of() -> Tensor:
    """Which graph a node is in."""
    return torch.arange(NODES, device="cpu") // (NODES // GRAPHS)


def within_graphs(seed: int = 0) -> Tensor:
    """Edges inside the graphs of a batch."""
    size = NODES // GRAPHS
    drawn = edges(seed)
    return torch.stack([drawn[0] % size + size * (drawn[1] // size), drawn[1]])


def degrees() -> Tensor:
    """How many nodes have how many incoming edges, as PNA asks for it."""
    return torch.bincount(torch.bincount(edges()[1], minlength=NODES))


def points(dimensions: int = 3) -> Tensor:
    return uniform(7, NODES, dimensions)


def near(places: Tensor, radius: float, batch: Tensor | None = None, **_: Any) -> Tensor:
    """Pairs of points nearer than `radius`, of the same graph: what compiled extensions do for the library."""
    close = torch.cdist(places, places) < radius
    close &= ~torch.eye(len(places), dtype=torch.bool)
    if batch is not None:
        close &= batch[:, None] == batch[None, :]
    return close.nonzero().T.contiguous()


def triplets(edge_index: Tensor, num_nodes: int) -> tuple[Tensor, ...]:
    """Pairs of edges k -> j -> i with k != i, as DimeNet and GNNFF want them, without compiled extensions."""
    row, col = edge_index  # j -> i
    first, second = (row[:, None] == col[None, :]).nonzero().T  # edge j -> i, edge k -> j
    kept = col[first] != row[second]
    first, second = first[kept], second[kept]
    return col, row, col[first], row[first], row[second], second, first
