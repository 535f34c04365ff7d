"""Five libraries in a folder of their own (see `libraries.install`): every small model that builds offline."""

from __future__ import annotations

from .entry import Entry
from .libraries import diffusion, flows, graph_networks, graphs, operators, yolo
from .libraries.install import activate

__all__ = ["ENTRIES", "activate"]

ENTRIES: list[Entry] = [
    *diffusion.ENTRIES, *operators.ENTRIES, *graphs.ENTRIES, *graph_networks.ENTRIES, *yolo.ENTRIES, *flows.ENTRIES,
]  # fmt: skip
