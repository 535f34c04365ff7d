"""How unlike two genomes are: delta = c1 E/N + c2 D/N + c3 W.

E and D count excess and disjoint genes, nodes and connections alike; a gene is excess if its mark is beyond all marks
of the other genome. N is the number of genes of the larger one. W is the mean difference of matching nodes' (and the
network's) hyperparameters, each between 0 and 1; a node that is another layer differs by 1.
"""

from __future__ import annotations

from collections.abc import Sequence

from .genomes import Genome
from .graph import Node
from .mutation import RangesOf
from .ranges import Ranges, Value
from .settings import Evolution


def distance(one: Genome, other: Genome, evolution: Evolution, ranges_of: RangesOf, settings: Ranges) -> float:
    excess = disjoint = 0
    for mine, theirs in (
        ([n.mark for n in one.graph.nodes], [n.mark for n in other.graph.nodes]),
        ([e.mark for e in one.graph.edges], [e.mark for e in other.graph.edges]),
    ):
        beyond, between = _unmatched(mine, theirs)
        excess, disjoint = excess + beyond, disjoint + between
    genes = max(len(g.graph.nodes) + len(g.graph.edges) for g in (one, other))
    parts = [_node(node, other.graph[node.mark], ranges_of) for node in one.graph.nodes if _has(other, node.mark)]
    parts += [_values(one.settings, other.settings, settings)] if settings else []
    weight = sum(parts) / len(parts) if parts else 0.0
    return (
        evolution.excess * excess / genes + evolution.disjoint * disjoint / genes + evolution.hyperparameters * weight
    )


def _unmatched(one: Sequence[int], other: Sequence[int]) -> tuple[int, int]:
    """Marks that only one of the two has: beyond the other's last, and the rest."""
    end = min(max(one), max(other))
    alone = set(one) ^ set(other)
    beyond = sum(mark > end for mark in alone)
    return beyond, len(alone) - beyond


def _has(genome: Genome, mark: int) -> bool:
    return any(node.mark == mark for node in genome.graph.nodes)


def _node(one: Node, other: Node, ranges_of: RangesOf) -> float:
    return 1.0 if one.kind != other.kind else _values(one.values, other.values, ranges_of(one))


def _values(one: tuple[tuple[str, Value], ...], other: tuple[tuple[str, Value], ...], ranges: Ranges) -> float:
    """The mean over hyperparameters; the network's count like those of one node."""
    if not ranges:
        return 0.0
    mine, theirs = dict(one), dict(other)
    return sum(allowed.difference(mine[name], theirs[name]) for name, allowed in ranges) / len(ranges)
