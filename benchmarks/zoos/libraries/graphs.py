"""torch_geometric: every convolution in a network of two layers, and the published networks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from autoinit import Input

from ..entry import Entry
from .declare import entry, numbers, uniform
from .graph_data import (
    EDGE_FEATURES,
    EDGES,
    FEATURES,
    NODES,
    RELATIONS,
    degrees,
    edges,
    points,
)

HIDDEN, OUT = 48, 24
Make = Callable[[Any, int, int], nn.Module]
"""(torch_geometric.nn, features in, features out) -> a convolution."""


class TwoLayers(nn.Module):
    """conv, ReLU, conv; what the convolutions are given beside the features is fixed, or an input."""

    def __init__(self, first: nn.Module, second: nn.Module, fixed: dict[str, Tensor], start: str = "") -> None:
        super().__init__()
        self.first, self.second, self.start = first, second, start
        self.names = list(fixed)
        for name, value in fixed.items():
            self.register_buffer(f"fixed_{name}", value)

    def forward(self, x: Tensor, edge_attr: Tensor | None = None) -> Any:
        given = {name: getattr(self, f"fixed_{name}") for name in self.names}
        if edge_attr is not None:
            given["edge_attr"] = edge_attr
        kept = {self.start: x} if self.start else {}
        hidden = torch.relu(self.first(x, **kept, **given))
        return self.second(hidden, **({self.start: x} if self.start else {}), **given)


def mlp(*widths: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for a, b in pairwise(widths):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


GRAPH: dict[str, Callable[[], Tensor]] = {"edge_index": edges}
TYPED = {**GRAPH, "edge_type": lambda: numbers(3, RELATIONS, EDGES)}
PLACED = {**GRAPH, "pos": points}
WEIGHTED = {**GRAPH, "edge_weight": lambda: uniform(4, EDGES)}

CONVOLUTIONS: dict[str, Make] = {
    "GCNConv": lambda n, a, b: n.GCNConv(a, b),
    "ChebConv": lambda n, a, b: n.ChebConv(a, b, K=3),
    "SAGEConv": lambda n, a, b: n.SAGEConv(a, b),
    "SAGEConv-max": lambda n, a, b: n.SAGEConv(a, b, aggr="max"),
    "SAGEConv-lstm": lambda n, a, b: n.SAGEConv(a, b, aggr="lstm"),
    "SAGEConv-project": lambda n, a, b: n.SAGEConv(a, b, project=True, normalize=True),
    "GraphConv": lambda n, a, b: n.GraphConv(a, b),
    "GraphConv-mean": lambda n, a, b: n.GraphConv(a, b, aggr="mean"),
    "GraphConv-max": lambda n, a, b: n.GraphConv(a, b, aggr="max"),
    "ResGatedGraphConv": lambda n, a, b: n.ResGatedGraphConv(a, b),
    "GATConv": lambda n, a, b: n.GATConv(a, b // 4, heads=4),
    "GATv2Conv": lambda n, a, b: n.GATv2Conv(a, b // 4, heads=4),
    "TransformerConv": lambda n, a, b: n.TransformerConv(a, b // 4, heads=4),
    "TAGConv": lambda n, a, b: n.TAGConv(a, b),
    "GINConv": lambda n, a, b: n.GINConv(mlp(a, b, b)),
    "ARMAConv": lambda n, a, b: n.ARMAConv(a, b, num_stacks=2, num_layers=2),
    "SGConv": lambda n, a, b: n.SGConv(a, b, K=2),
    "SSGConv": lambda n, a, b: n.SSGConv(a, b, alpha=0.1, K=2),
    "MFConv": lambda n, a, b: n.MFConv(a, b),
    "EdgeConv": lambda n, a, b: n.EdgeConv(mlp(2 * a, b, b)),
    "FeaStConv": lambda n, a, b: n.FeaStConv(a, b, heads=2),
    "LEConv": lambda n, a, b: n.LEConv(a, b),
    "PNAConv": lambda n, a, b: n.PNAConv(a, b, ["mean", "min", "max", "std"], ["identity", "amplification"],
                                         deg=degrees()),
    "ClusterGCNConv": lambda n, a, b: n.ClusterGCNConv(a, b),
    "GENConv": lambda n, a, b: n.GENConv(a, b),
    "GENConv-power": lambda n, a, b: n.GENConv(a, b, aggr="powermean", learn_p=True),
    "FiLMConv": lambda n, a, b: n.FiLMConv(a, b),
    "SuperGATConv": lambda n, a, b: n.SuperGATConv(a, b // 4, heads=4),
    "EGConv": lambda n, a, b: n.EGConv(a, b, num_heads=4, num_bases=4),
    "GeneralConv": lambda n, a, b: n.GeneralConv(a, b),
    "GeneralConv-attention": lambda n, a, b: n.GeneralConv(a, b, attention=True, heads=2),
    "MixHopConv": lambda n, a, b: n.MixHopConv(a, b // 3),
    "DirGNNConv": lambda n, a, b: n.DirGNNConv(n.GCNConv(a, b)),
    "HypergraphConv": lambda n, a, b: n.HypergraphConv(a, b),
}  # fmt: skip
"""Convolutions called conv(x, edge_index)."""


def after_dense(n: Any, width: int, conv: nn.Module) -> nn.Module:
    """A convolution without weights behind a dense layer."""
    made: nn.Module = n.Sequential("x, edge_index", [(nn.Linear(width, width), "x -> x"), (conv, "x, edge_index -> x")])
    return made


SAME_WIDTH: dict[str, Callable[[Any, int], nn.Module]] = {
    "SimpleConv": lambda n, a: n.Sequential("x, edge_index", [(n.SimpleConv(), "x, edge_index -> x"), nn.Linear(a, a)]),
    "AGNNConv": lambda n, a: after_dense(n, a, n.AGNNConv()),
    "APPNP": lambda n, a: after_dense(n, a, n.APPNP(4, 0.1)),
    "LGConv": lambda n, a: after_dense(n, a, n.LGConv()),
    "CGConv": lambda n, a: n.CGConv(a),
    "CGConv-norm": lambda n, a: n.CGConv(a, batch_norm=True),
    "GatedGraphConv": lambda n, a: n.GatedGraphConv(a, num_layers=2),
    "GPSConv": lambda n, a: n.GPSConv(a, n.GCNConv(a, a), heads=4),
    "AntiSymmetricConv": lambda n, a: n.AntiSymmetricConv(a, num_iters=2),
    "DeepGCNLayer": lambda n, a: n.DeepGCNLayer(n.GENConv(a, a), n.LayerNorm(a), nn.ReLU(), block="res+"),
}
"""Convolutions that keep the number of features."""

TYPED_CONVOLUTIONS: dict[str, Make] = {
    "RGCNConv": lambda n, a, b: n.RGCNConv(a, b, RELATIONS),
    "RGCNConv-bases": lambda n, a, b: n.RGCNConv(a, b, RELATIONS, num_bases=2),
    "RGCNConv-blocks": lambda n, a, b: n.RGCNConv(a, b, RELATIONS, num_blocks=4),
    "FastRGCNConv": lambda n, a, b: n.FastRGCNConv(a, b, RELATIONS),
    "RGATConv": lambda n, a, b: n.RGATConv(a, b, RELATIONS),
    "FiLMConv-typed": lambda n, a, b: n.FiLMConv(a, b, num_relations=RELATIONS),
}

EDGE_CONVOLUTIONS: dict[str, Make] = {
    "GATConv-edges": lambda n, a, b: n.GATConv(a, b // 4, heads=4, edge_dim=EDGE_FEATURES),
    "GATv2Conv-edges": lambda n, a, b: n.GATv2Conv(a, b // 4, heads=4, edge_dim=EDGE_FEATURES),
    "TransformerConv-edges": lambda n, a, b: n.TransformerConv(a, b // 4, heads=4, edge_dim=EDGE_FEATURES),
    "ResGatedGraphConv-edges": lambda n, a, b: n.ResGatedGraphConv(a, b, edge_dim=EDGE_FEATURES),
    "GINEConv": lambda n, a, b: n.GINEConv(mlp(a, b, b), edge_dim=EDGE_FEATURES),
    "NNConv": lambda n, a, b: n.NNConv(a, b, mlp(EDGE_FEATURES, 16, a * b)),
    "GMMConv": lambda n, a, b: n.GMMConv(a, b, dim=EDGE_FEATURES, kernel_size=4),
    "PNAConv-edges": lambda n, a, b: n.PNAConv(a, b, ["mean", "max"], ["identity"], degrees(), edge_dim=EDGE_FEATURES),
    "GENConv-edges": lambda n, a, b: n.GENConv(a, b, edge_dim=EDGE_FEATURES),
    "GeneralConv-edges": lambda n, a, b: n.GeneralConv(a, b, in_edge_channels=EDGE_FEATURES),
    "PDNConv": lambda n, a, b: n.PDNConv(a, b, edge_dim=EDGE_FEATURES, hidden_channels=16),
}

PLACED_CONVOLUTIONS: dict[str, Make] = {
    "PointNetConv": lambda n, a, b: n.PointNetConv(mlp(a + 3, b, b), mlp(b, b)),
    "PointTransformerConv": lambda n, a, b: n.PointTransformerConv(a, b),
}


def two(make: Make, given: dict[str, Callable[[], Tensor]], n: Any) -> nn.Module:
    fixed = {name: value() for name, value in given.items()}
    return TwoLayers(make(n, FEATURES, HIDDEN), make(n, HIDDEN, OUT), fixed)


def even(make: Callable[[Any, int], nn.Module], start: str, n: Any) -> nn.Module:
    return TwoLayers(make(n, FEATURES), make(n, FEATURES), {"edge_index": edges()}, start)


def placed(n: Any) -> nn.Module:
    made = [n.PointGNNConv(mlp(FEATURES, 16, 3), mlp(FEATURES + 3, HIDDEN), mlp(HIDDEN, FEATURES)) for _ in range(2)]
    return TwoLayers(*made, {name: value() for name, value in PLACED.items()})


def _entry(name: str, family: str, make: Any, inputs: Any = (NODES, FEATURES)) -> Entry:
    return entry("torch_geometric", "torch_geometric.nn", name, family, make, inputs)


def _two(
    table: dict[str, Make], given: dict[str, Callable[[], Tensor]], inputs: Any = (NODES, FEATURES)
) -> list[Entry]:
    return [_entry(name, "convolution", partial(two, make, given), inputs) for name, make in table.items()]


WITH_EDGES = {"x": Input((NODES, FEATURES)), "edge_attr": Input((EDGES, EDGE_FEATURES))}

ENTRIES = [
    *_two({k: v for k, v in CONVOLUTIONS.items() if k != "HypergraphConv"}, GRAPH),
    *_two({"HypergraphConv": CONVOLUTIONS["HypergraphConv"]}, {"hyperedge_index": edges}),
    *_two({"GCNConv-weighted": CONVOLUTIONS["GCNConv"], "GraphConv-weighted": CONVOLUTIONS["GraphConv"]}, WEIGHTED),
    *_two(TYPED_CONVOLUTIONS, TYPED),
    *_two(EDGE_CONVOLUTIONS, GRAPH, WITH_EDGES),
    *_two(PLACED_CONVOLUTIONS, PLACED),
    *[_entry(name, "convolution", partial(even, make, "")) for name, make in SAME_WIDTH.items()],
    _entry("PointGNNConv", "convolution", placed),
    _entry("GCN2Conv", "convolution", partial(even, lambda n, a: n.GCN2Conv(a, 0.1, 0.5, 1), "x_0")),
    _entry("FAConv", "convolution", partial(even, lambda n, a: n.FAConv(a), "x_0")),
]  # fmt: skip
