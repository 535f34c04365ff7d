"""Modules and blueprints: the genomes of the two populations."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .graph import OUTPUT, Graph, Node
from .layers import check_settings
from .problems import GenomeError
from .ranges import Ranges, Value, pairs
from .space import Space

POINTER = "module"
"""The kind of a blueprint's nodes: each stands for a module of the species that it points to."""


@dataclass(frozen=True)
class Genome:
    """A graph, and hyperparameters that belong to no node (of blueprints: those of the whole network)."""

    graph: Graph
    settings: tuple[tuple[str, Value], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", pairs(self.settings))

    def to_dict(self) -> dict[str, Any]:
        return {**self.graph.to_dict(), "settings": dict(self.settings)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Genome:
        graph = Graph.from_dict(data)
        settings = data.get("settings", {})
        if not isinstance(settings, Mapping):
            raise GenomeError("settings are names with values", where="Genome.from_dict", received=repr(settings)[:120],
                              fix='{"learning_rate": 0.001}')  # fmt: skip
        return cls(graph, pairs(settings))

    def to_json(self) -> str:
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> Genome:
        try:
            return cls.from_dict(json.loads(text))
        except json.JSONDecodeError as error:
            raise GenomeError("this is not JSON", where="Genome.from_json", received=repr(text[:120]),
                              fix="what Genome.to_json() gave") from error  # fmt: skip

    def __str__(self) -> str:
        settings = ", ".join(f"{name}={value}" for name, value in self.settings)
        return f"{self.graph}\n{settings}" if settings else str(self.graph)


def species_of(blueprint: Genome) -> tuple[int, ...]:
    """The species that a blueprint points to, each once, in the order of their numbers."""
    return tuple(sorted({int(n["species"]) for n in blueprint.graph.nodes if n.mark != OUTPUT}))


def check_module(module: Genome, space: Space) -> None:
    """GenomeError unless every layer is one of the space, with values in their ranges."""
    for node in module.graph.nodes:
        where = f"node {node.mark}"
        if node.mark != OUTPUT:
            ranges = space.ranges_of(node.kind)
            check_settings(node.kind, node.settings, where)
            _check_values(tuple(node.settings.items()), ranges, where)
        _check_merge(module.graph, node, space)


def check_blueprint(blueprint: Genome, space: Space) -> None:
    """GenomeError unless every node points to a species, and the settings are those of the space."""
    _check_values(blueprint.settings, space.settings, "settings")
    for node in blueprint.graph.nodes:
        species = node.settings.get("species")
        if node.mark != OUTPUT and (node.kind != POINTER or type(species) is not int or len(node.settings) != 1):
            raise GenomeError("a node of a blueprint points to a species of modules", where=f"node {node.mark}",
                              received=str(node), fix=f"Node({node.mark}, '{POINTER}', (('species', 1),))")  # fmt: skip
        _check_merge(blueprint.graph, node, space)


def _check_merge(graph: Graph, node: Node, space: Space) -> None:
    if node.merge not in (space.merges or (None,)):
        raise GenomeError("a node has one of the space's merges", where=f"node {node.mark}", received=repr(node.merge),
                          fix=f"one of {', '.join(space.merges) or 'none'}")  # fmt: skip
    if not space.merges and len(graph.sources(node.mark)) > 1:
        raise GenomeError("several connections meet, and the space has no merge", where=f"node {node.mark}",
                          received=str(graph.sources(node.mark)), fix="one connection to each node")  # fmt: skip


def _check_values(values: tuple[tuple[str, Value], ...], ranges: Ranges, where: str) -> None:
    known = dict(ranges)
    if [name for name, _ in values] != list(known):
        raise GenomeError("the hyperparameters are not those of the space", where=where,
                          received=", ".join(name for name, _ in values), fix=", ".join(known))  # fmt: skip
    for name, value in values:
        if not known[name].contains(value):
            raise GenomeError(f"'{name}' is out of its range", where=where, received=repr(value),
                              fix=str(known[name]))  # fmt: skip
