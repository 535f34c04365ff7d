"""torch_geometric: published networks, pooling and aggregation."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn

from autoinit import Input

from ..entry import Entry
from .declare import entry, numbers
from .graph_data import (
    EDGE_FEATURES,
    EDGES,
    FEATURES,
    GRAPHS,
    NODES,
    batch_of,
    degrees,
    edges,
    near,
    points,
    triplets,
    within_graphs,
)

HIDDEN, OUT = 48, 24


class OnGraph(nn.Module):
    """A network on fixed edges, `model(x, edge_index, **others)`."""

    def __init__(self, model: nn.Module, edge_index: Tensor, **fixed: Tensor) -> None:
        super().__init__()
        self.model, self.names = model, list(fixed)
        self.register_buffer("edge_index", edge_index)
        for name, value in fixed.items():
            self.register_buffer(f"fixed_{name}", value)

    def forward(self, x: Tensor, **others: Tensor) -> Any:
        return self.model(x, self.edge_index, **{n: getattr(self, f"fixed_{n}") for n in self.names}, **others)


class Molecule(nn.Module):
    """A network of atoms at fixed places; what varies is which atom it is."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        self.register_buffer("places", points() * 4.0)
        self.register_buffer("batch", batch_of())

    def forward(self, atoms: Tensor) -> Any:
        return self.model(atoms, self.places, self.batch)


def molecule(make: Callable[[Any], nn.Module], module: str, n: Any) -> nn.Module:
    """`make(n)`, with neighbours found without the library's compiled extensions."""
    home = import_module(f"torch_geometric.nn.models.{module}")
    home.radius_graph = lambda x, r, batch=None, **k: near(x, r, batch)  # type: ignore[attr-defined]
    if hasattr(home, "triplets"):
        home.triplets = triplets
    return Molecule(make(n))


class Aggregated(nn.Module):
    """A convolution, an aggregation per graph, and a dense layer."""

    def __init__(self, n: Any, pool: nn.Module, width: int) -> None:
        super().__init__()
        self.conv, self.pool, self.head = n.GCNConv(FEATURES, HIDDEN), pool, nn.Linear(width, OUT)
        self.register_buffer("edge_index", within_graphs())
        self.register_buffer("batch", batch_of())

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.conv(x, self.edge_index))
        made: Tensor = self.head(self.pool(x, self.batch, dim_size=GRAPHS))
        return made


class Pooled(nn.Module):
    """A convolution, a choice of nodes, another convolution, and the mean per graph."""

    def __init__(self, n: Any, pool: nn.Module) -> None:
        super().__init__()
        self.first, self.pool, self.second = n.GraphConv(FEATURES, HIDDEN), pool, n.GraphConv(HIDDEN, HIDDEN)
        self.head, self.mean = nn.Linear(HIDDEN, OUT), n.global_mean_pool
        self.register_buffer("edge_index", within_graphs())
        self.register_buffer("batch", batch_of())

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.first(x, self.edge_index))
        x, edge_index, _, batch, *_ = self.pool(x, self.edge_index, batch=self.batch)
        x = torch.relu(self.second(x, edge_index))
        made: Tensor = self.head(self.mean(x, batch, GRAPHS))
        return made


class Autoencoder(nn.Module):
    """A graph autoencoder: encoded nodes and the scores of all pairs."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        self.register_buffer("edge_index", edges())

    def forward(self, x: Tensor) -> Tensor:
        made: Tensor = self.model.decoder.forward_all(self.model.encode(x, self.edge_index))  # type: ignore[union-attr, operator]
        return made


class Variational(nn.Module):
    """Mean and log deviation of every node."""

    def __init__(self, n: Any) -> None:
        super().__init__()
        self.base, self.mu, self.log = n.GCNConv(FEATURES, HIDDEN), n.GCNConv(HIDDEN, OUT), n.GCNConv(HIDDEN, OUT)

    def forward(self, x: Tensor, edge_index: Tensor) -> tuple[Tensor, Tensor]:
        x = torch.relu(self.base(x, edge_index))
        return self.mu(x, edge_index), self.log(x, edge_index)


class Points(nn.Module):
    """PointNet++: two levels of local networks and maxima, then a global one."""

    def __init__(self, n: Any) -> None:
        super().__init__()
        self.first = n.PointNetConv(n.MLP([3 + 3, 32, 32, 64]), add_self_loops=False)
        self.second = n.PointNetConv(n.MLP([64 + 3, 64, 64, 96]), add_self_loops=False)
        self.whole, self.head = n.MLP([96 + 3, 96, 128]), n.MLP([128, 64, OUT], dropout=0.5, norm=None)
        self.pool = n.global_max_pool
        places, batch = points(), batch_of()
        kept = torch.arange(0, NODES, 2)
        for name, value in {"places": places, "batch": batch, "kept": kept}.items():
            self.register_buffer(name, value)
        self.register_buffer("near_first", _between(places, places[kept], batch, batch[kept], 0.45))
        self.register_buffer("near_second", _between(places[kept], places[kept], batch[kept], batch[kept], 0.7))

    def forward(self, x: Tensor) -> Tensor:
        places, kept = self.places, self.places[self.kept]
        x = self.first((x, None), (places, kept), self.near_first)
        x = self.second((x, None), (kept, kept), self.near_second)
        x = self.whole(torch.cat([x, kept], dim=1))
        made: Tensor = self.head(self.pool(x, self.batch[self.kept], GRAPHS))
        return made


def _between(a: Tensor, b: Tensor, graph_a: Tensor, graph_b: Tensor, radius: float) -> Tensor:
    close = (torch.cdist(a, b) < radius) & (graph_a[:, None] == graph_b[None, :])
    return close.nonzero().T.contiguous()


class Hetero(nn.Module):
    """A network on two kinds of nodes and three of edges."""

    def __init__(self, make: Callable[[Any, int, int, Any], nn.Module], n: Any) -> None:
        super().__init__()
        kinds = (["a", "b"], [("a", "to", "b"), ("b", "to", "a"), ("a", "like", "a")])
        self.first, self.second = make(n, FEATURES, HIDDEN, kinds), make(n, HIDDEN, OUT, kinds)
        for k in range(3):
            self.register_buffer(f"edges_{k}", edges(k))

    def forward(self, a: Tensor, b: Tensor) -> Any:
        found = {("a", "to", "b"): self.edges_0, ("b", "to", "a"): self.edges_1, ("a", "like", "a"): self.edges_2}
        hidden = {k: torch.relu(v) for k, v in self.first({"a": a, "b": b}, found).items()}
        return self.second(hidden, found)


def hetero_of(n: Any, a: int, b: int, kinds: Any) -> nn.Module:
    made: nn.Module = n.HeteroConv({edge: n.SAGEConv((a, a), b) for edge in kinds[1]})
    return made


class Signed(nn.Module):
    """SignedGCN on two fixed sets of edges."""

    def __init__(self, n: Any) -> None:
        super().__init__()
        self.model = n.SignedGCN(FEATURES, HIDDEN, num_layers=2)
        self.register_buffer("positive", edges(0))
        self.register_buffer("negative", edges(1))

    def forward(self, x: Tensor) -> Any:
        return self.model(x, self.positive, self.negative)


class EdgeModel(nn.Module):
    """The edges of a MetaLayer."""

    def __init__(self) -> None:
        super().__init__()
        first = nn.Linear(2 * FEATURES + EDGE_FEATURES, HIDDEN)
        self.net = nn.Sequential(first, nn.ReLU(), nn.Linear(HIDDEN, FEATURES))

    def forward(self, src: Tensor, dst: Tensor, edge_attr: Tensor, u: Any, batch: Any) -> Tensor:
        made: Tensor = self.net(torch.cat([src, dst, edge_attr], 1))
        return made


class NodeModel(nn.Module):
    """The nodes of a MetaLayer."""

    def __init__(self, n: Any) -> None:
        super().__init__()
        self.scatter = import_module("torch_geometric.utils").scatter
        self.net = nn.Sequential(nn.Linear(2 * FEATURES, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, FEATURES))

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor, u: Any, batch: Any) -> Tensor:
        found = self.scatter(edge_attr, edge_index[1], dim=0, dim_size=x.size(0), reduce="mean")
        made: Tensor = self.net(torch.cat([x, found], dim=1))
        return made


def on(make: Callable[[Any], nn.Module], n: Any, **fixed: Any) -> nn.Module:
    return OnGraph(make(n), edges(), **{name: value() for name, value in fixed.items()})


def _entry(name: str, make: Any, inputs: Any = (NODES, FEATURES), family: str = "network") -> Entry:
    return entry("torch_geometric", "torch_geometric.nn", name, family, make, inputs)


def _on(name: str, make: Callable[[Any], nn.Module], inputs: Any = (NODES, FEATURES), **fixed: Any) -> Entry:
    return _entry(name, partial(on, make, **fixed), inputs)


BASIC: dict[str, dict[str, Any]] = {
    "GCN": {}, "GraphSAGE": {}, "GIN": {}, "GAT": {"heads": 4}, "EdgeCNN": {},
    "PNA": {"aggregators": ["mean", "min", "max", "std"], "scalers": ["identity", "amplification", "attenuation"]},
}  # fmt: skip


def basic(name: str, options: dict[str, Any], n: Any) -> nn.Module:
    known = {"deg": degrees()} if name == "PNA" else {}
    made: nn.Module = getattr(n, name)(FEATURES, HIDDEN, 3, OUT, **options, **known)
    return made


AGGREGATIONS: dict[str, tuple[Callable[[Any], nn.Module], int]] = {
    "sum": (lambda n: n.SumAggregation(), HIDDEN),
    "mean": (lambda n: n.MeanAggregation(), HIDDEN),
    "max": (lambda n: n.MaxAggregation(), HIDDEN),
    "min": (lambda n: n.MinAggregation(), HIDDEN),
    "var": (lambda n: n.VarAggregation(), HIDDEN),
    "std": (lambda n: n.StdAggregation(), HIDDEN),
    "softmax": (lambda n: n.SoftmaxAggregation(learn=True), HIDDEN),
    "powermean": (lambda n: n.PowerMeanAggregation(learn=True), HIDDEN),
    "median": (lambda n: n.MedianAggregation(), HIDDEN),
    "quantile": (lambda n: n.QuantileAggregation([0.25, 0.75]), 2 * HIDDEN),
    "lstm": (lambda n: n.LSTMAggregation(HIDDEN, HIDDEN), HIDDEN),
    "gru": (lambda n: n.GRUAggregation(HIDDEN, HIDDEN), HIDDEN),
    "set2set": (lambda n: n.Set2Set(HIDDEN, 3), 2 * HIDDEN),
    "sort": (lambda n: n.SortAggregation(4), 4 * HIDDEN),
    "multi": (lambda n: n.aggr.MultiAggregation(["mean", "max", "std"]), 3 * HIDDEN),
    "attentional": (lambda n: n.AttentionalAggregation(nn.Linear(HIDDEN, 1), nn.Linear(HIDDEN, HIDDEN)), HIDDEN),
    "deepsets": (lambda n: n.DeepSetsAggregation(nn.Linear(HIDDEN, HIDDEN), nn.Linear(HIDDEN, HIDDEN)), HIDDEN),
    "multiset": (lambda n: n.GraphMultisetTransformer(HIDDEN, 4, heads=4), HIDDEN),
    "settransformer": (lambda n: n.SetTransformerAggregation(HIDDEN, num_seed_points=2, heads=4), 2 * HIDDEN),
    "lcm": (lambda n: n.LCMAggregation(HIDDEN, HIDDEN), HIDDEN),
    "mlp": (lambda n: n.MLPAggregation(HIDDEN, HIDDEN, NODES // GRAPHS, num_layers=1), HIDDEN),
    "variance-preserving": (lambda n: n.VariancePreservingAggregation(), HIDDEN),
    "patch": (lambda n: n.PatchTransformerAggregation(HIDDEN, HIDDEN, 4, 16, heads=4), HIDDEN),
}  # fmt: skip

POOLS: dict[str, Callable[[Any], nn.Module]] = {
    "topk": lambda n: n.TopKPooling(HIDDEN),
    "sag": lambda n: n.SAGPooling(HIDDEN),
}
EDGE_INPUTS = {"x": Input((NODES, FEATURES)), "edge_attr": Input((EDGES, EDGE_FEATURES))}
ATOMS = Input((NODES,), vocabulary=10)
MOLECULES: dict[str, tuple[str, Callable[[Any], nn.Module]]] = {
    "SchNet": ("schnet", lambda n: n.SchNet(hidden_channels=32, num_filters=32, num_interactions=2, cutoff=2.0)),
    "DimeNet": ("dimenet", lambda n: n.DimeNet(32, OUT, 2, 8, 3, 4, cutoff=1.5)),
    "DimeNet++": ("dimenet", lambda n: n.DimeNetPlusPlus(32, OUT, 2, 16, 8, 32, 3, 4, cutoff=1.5)),
    "GNNFF": ("gnnff", lambda n: n.models.GNNFF(32, 32, 2, cutoff=1.5)),
    "ViSNet": ("visnet", lambda n: n.models.ViSNet(num_heads=4, num_layers=2, hidden_channels=32, num_rbf=8, cutoff=2.0,
                                                    max_z=20)),
}  # fmt: skip

ENTRIES = [
    *[_on(name, partial(basic, name, options)) for name, options in BASIC.items()],
    *[_on(f"{name}-norm", partial(basic, name, {**BASIC[name], "norm": "batch_norm", "jk": "cat"})) for name in BASIC],
    *[_entry(f"aggregation-{k}", lambda n, made=made: Aggregated(n, made[0](n), made[1]), family="aggregation")
      for k, made in AGGREGATIONS.items()],
    *[_entry(f"pooling-{k}", lambda n, made=made: Pooled(n, made(n)), family="pooling") for k, made in POOLS.items()],
    *[_entry(k, partial(molecule, make, module), ATOMS, "molecule") for k, (module, make) in MOLECULES.items()],
    _on("GraphUNet", lambda n: n.GraphUNet(FEATURES, HIDDEN, OUT, depth=2, pool_ratios=0.5)),
    _on("PMLP", lambda n: n.PMLP(FEATURES, HIDDEN, OUT, 3)),
    _on("LINKX", lambda n: n.LINKX(NODES, FEATURES, HIDDEN, OUT, 2)),
    _on("NeuralFingerprint", lambda n: n.models.NeuralFingerprint(FEATURES, HIDDEN, OUT, 2)),
    _on("AttentiveFP", lambda n: n.AttentiveFP(FEATURES, HIDDEN, OUT, EDGE_FEATURES, 2, 2), EDGE_INPUTS,
        batch=batch_of),
    _on("SGFormer", lambda n: n.models.SGFormer(FEATURES, HIDDEN, OUT), batch=batch_of),
    _on("Polynormer", lambda n: n.models.Polynormer(FEATURES, HIDDEN, OUT, local_layers=2, global_layers=2),
        batch=batch_of),
    _on("HEATConv", lambda n: n.HEATConv(FEATURES, OUT, 3, 4, 8, EDGE_FEATURES, 8, heads=2), EDGE_INPUTS,
        node_type=lambda: numbers(5, 3, NODES), edge_type=lambda: numbers(6, 4, EDGES)),
    _on("MetaLayer", lambda n: n.MetaLayer(EdgeModel(), NodeModel(n)), EDGE_INPUTS),
    _on("VGAE-encoder", Variational),
    _entry("GAE", lambda n: Autoencoder(n.GAE(n.GCN(FEATURES, HIDDEN, 2, OUT)))),
    _entry("SignedGCN", Signed),
    _entry("PointNet++", Points, (NODES, 3)),
    _entry("HGTConv", partial(Hetero, lambda n, a, b, kinds: n.HGTConv(a, b, kinds, heads=4)),
           ((NODES, FEATURES), (NODES, FEATURES)), "heterogeneous"),
    _entry("HANConv", partial(Hetero, lambda n, a, b, kinds: n.HANConv(a, b, kinds, heads=4)),
           ((NODES, FEATURES), (NODES, FEATURES)), "heterogeneous"),
    _entry("HeteroConv", partial(Hetero, hetero_of), ((NODES, FEATURES), (NODES, FEATURES)), "heterogeneous"),
    _entry("MLP", lambda n: n.MLP([FEATURES, HIDDEN, HIDDEN, OUT])),
]  # fmt: skip
