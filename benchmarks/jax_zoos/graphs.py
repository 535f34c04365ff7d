"""jraph: graph networks, as functions of Haiku on fixed edges."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..zoos.entry import Entry
from .declare import entry

NODES, EDGES, FEATURES, HIDDEN, OUT = 80, 320, 32, 48, 24


def ends() -> tuple[Any, Any]:
    """Senders and receivers; every node receives."""
    rng = np.random.default_rng(0)
    receivers = rng.integers(0, NODES, EDGES)
    receivers[:NODES] = np.arange(NODES)
    return rng.integers(0, NODES, EDGES), np.sort(receivers)


def graph(x: Any, edges: Any = None) -> Any:
    import jraph

    senders, receivers = ends()
    return jraph.GraphsTuple(
        nodes=x, edges=edges, senders=senders, receivers=receivers, n_node=np.array([NODES]), n_edge=np.array([EDGES]),
        globals=np.zeros((1, 4), np.float32),
    )  # fmt: skip


def gcn(x: Any) -> Any:
    import haiku as hk
    import jax
    import jraph

    made = graph(x)
    for width, act in ((HIDDEN, jax.nn.relu), (OUT, lambda v: v)):
        layer = hk.Linear(width)
        made = jraph.GraphConvolution(lambda n, layer=layer: layer(n), add_self_edges=True)(made)
        made = made._replace(nodes=act(made.nodes))
    return made.nodes


def gat(x: Any) -> Any:
    import haiku as hk
    import jax
    import jraph

    def layer(width: int) -> Any:
        query, logit = hk.Linear(width), hk.Linear(1)
        return jraph.GAT(
            lambda n: query(n),
            lambda s, r, e: jax.nn.leaky_relu(logit(jax.numpy.concatenate([s, r], -1)), 0.2),
            lambda n: jax.nn.elu(n),
        )

    return layer(OUT)(layer(HIDDEN)(graph(x))).nodes


def network(x: Any, edges: Any) -> Any:
    import haiku as hk
    import jax.numpy as jnp
    import jraph

    def step(made: Any, width: int) -> Any:
        edge, node, whole = (hk.nets.MLP([HIDDEN, width]) for _ in range(3))
        return jraph.GraphNetwork(
            update_edge_fn=lambda e, s, r, g: edge(jnp.concatenate([e, s, r, g], -1)),
            update_node_fn=lambda n, s, r, g: node(jnp.concatenate([n, s, r, g], -1)),
            update_global_fn=lambda n, e, g: whole(jnp.concatenate([n, e, g], -1)),
        )(made)

    made = step(step(graph(x, edges), HIDDEN), OUT)
    return made.nodes, made.edges, made.globals


def build(function: Callable[..., Any]) -> Any:
    import haiku as hk

    return hk.transform(function)


ENTRIES: list[Entry] = [
    entry("jraph", "gcn", "graph", partial(build, gcn), (NODES, FEATURES)),
    entry("jraph", "gat", "graph", partial(build, gat), (NODES, FEATURES)),
    entry("jraph", "graph-network", "graph", partial(build, network), ((NODES, FEATURES), (EDGES, 8))),
]
