"""Activations that a walk marks for centring: a subtraction stands behind each of them in the graph."""

from __future__ import annotations

from ..core.graph.graph import Graph, Reference, Site, Value
from ..core.solve.activation_centring import put_behind


def gave(graph: Graph, first: int, y: Reference) -> bool:
    """Whether `y` is what an activation among the sites from `first` on gave."""
    return any(y == site.node.outputs[0] for site in graph.sites[first:])


def add_site(graph: Graph, site: Site, y: Reference, first: int) -> None:
    """`y`, the activation's own output, is centred at `site`. Sites from `first` on are parts of this activation."""
    assert isinstance(y, Value)
    for part in graph.sites[first:]:
        part.tell(part.present or 0.0)
        part.node.attrs["unreal"] = part.present is None
    del graph.sites[first:]
    put_behind(site, y)
    graph.sites.append(site)
