"""From a blueprint and one module for each species to a network.

Where tensors of unlike shape meet, one rule holds for every network:

1. Places (height and width, or steps): all are brought to the smallest size along each axis by max pooling, with
   stride s = n // m and window n - (m - 1) s from n places to m.
2. Channels, for sums only: those with fewer channels than the widest are projected to it by a linear layer without bias
   (a 1 × 1 convolution where there are places).

A pooling layer of a module where nothing would be left is passed over.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from .genomes import Genome, species_of
from .graph import INPUT as START
from .graph import OUTPUT as END
from .graph import Graph
from .layers import KINDS, POOLINGS, Shape, shape_after
from .network import INPUT, Input, Layer, NetworkGenome, Output
from .problems import GenomeError
from .ranges import pairs
from .space import Space

DEFAULT_SCHEME = "glorot_uniform"
"""Where neither a gene nor a setting says how a layer is initialized."""


def assemble(
    blueprint: Genome, modules: Mapping[int, Genome], space: Space, given: Input, outputs: Sequence[Output]
) -> NetworkGenome:
    """Put modules (by species) into the nodes of a blueprint, and what inputs and outputs need around them."""
    missing = [number for number in species_of(blueprint) if number not in modules]
    if missing:
        raise GenomeError("there is no module for a species of the blueprint", where="assemble", received=str(missing),
                          fix="one module for each species")  # fmt: skip
    site = Site(given, str(dict(blueprint.settings).get("initialization", DEFAULT_SCHEME)))
    start = INPUT
    if given.vocabulary is not None:
        start = site.add("embedding", {"units": space.embedding, "vocabulary": given.vocabulary}, [INPUT])
    if space.soft is None:
        end = _walked(site, blueprint.graph, modules, start)
        ends = {output.name: end for output in outputs}
    else:
        if site.shape(start)[-1] != space.soft:
            start = site.add("projection", {"units": space.soft, "initialization": site.scheme}, [start])
        ends = {o.name: _softly(site, blueprint.graph, modules, start, o.name, space.soft) for o in outputs}
    answers = {output.name: _answer(site, ends[output.name], output, space.head) for output in outputs}
    return NetworkGenome(given, tuple(site.layers), pairs(answers), blueprint.settings)


class Site:
    """A network under construction."""

    def __init__(self, given: Input, scheme: str) -> None:
        self.layers: list[Layer] = []
        self.scheme = scheme
        self._shapes: dict[str, Shape] = {INPUT: given.shape}
        self._owners: dict[Hashable, str] = {}
        self._calls: dict[tuple[Hashable, tuple[str, ...]], str] = {}
        self._counts: dict[str, int] = {}

    def shape(self, name: str) -> Shape:
        return self._shapes[name]

    def add(self, kind: str, settings: Mapping[str, Any], inputs: Sequence[str], shared: Hashable = None) -> str:
        """A layer, and its name. Calls with the same `shared` have the same weights; the same call is made once."""
        call = (shared, tuple(inputs))
        if shared is not None and call in self._calls:
            return self._calls[call]
        self._counts[kind] = self._counts.get(kind, 0) + 1
        name = f"{kind}_{self._counts[kind]}"
        incoming = [self._shapes[one] for one in inputs]
        shape = shape_after(kind, settings, incoming, name)
        weights = KINDS[kind].count(settings, incoming) > 0
        owner = self._owners.setdefault(shared, name) if shared is not None and weights else name
        self.layers.append(
            Layer(name, kind, pairs(settings), tuple(inputs), shape, owner if owner != name else None)
        )
        self._shapes[name] = shape
        self._calls[call] = name
        return name

    def merged(self, names: Sequence[str], merge: str | None, shared: Hashable = None, weights: Hashable = None) -> str:
        """Tensors brought together; `shared` is for projections, `weights` for a weighted sum."""
        if len(names) == 1:
            return names[0]
        assert merge is not None
        fitting = [self.fewer_places(name, self._smallest(names), shared) for name in names]
        if merge != "concatenate":
            widest = max(self.shape(name)[-1] for name in fitting)
            fitting = [
                self.projected(name, widest, None if shared is None else (shared, k)) for k, name in enumerate(fitting)
            ]
        return self.add(merge, {}, fitting, shared if weights is None else weights)

    def _smallest(self, names: Sequence[str]) -> tuple[int, ...]:
        return tuple(min(sizes) for sizes in zip(*(self.shape(name)[:-1] for name in names), strict=True))

    def fewer_places(self, name: str, places: tuple[int, ...], shared: Hashable = None) -> str:
        """The tensor with so many places along each axis."""
        now = self.shape(name)[:-1]
        if now == places:
            return name
        stride = [n // m for n, m in zip(now, places, strict=True)]
        window = [n - (m - 1) * s for n, m, s in zip(now, places, stride, strict=True)]
        one = None if shared is None else ("fewer", *stride, *window)
        return self.add(POOLINGS[len(now) + 1], {"window": window, "stride": stride}, [name], one)

    def projected(self, name: str, channels: int, shared: Hashable = None) -> str:
        """The tensor with so many channels."""
        if self.shape(name)[-1] == channels:
            return name
        return self.add("projection", {"units": channels, "initialization": self.scheme}, [name], shared)


def _walked(site: Site, graph: Graph, modules: Mapping[int, Genome], start: str) -> str:
    """One way through the blueprint; every node has weights of its own."""
    at = {START: start}
    for node in graph.order:
        at[node.mark] = site.merged([at[source] for source in graph.sources(node.mark)], node.merge)
        if node.mark != END:
            at[node.mark] = _placed(site, modules[int(node["species"])].graph, at[node.mark])
    return at[END]


def _softly(
    site: Site, graph: Graph, modules: Mapping[int, Genome], start: str, output: str, width: int
) -> str:  # fmt: skip
    """One output's way through the blueprint in soft ordering.

    Nodes of one species are the same module with the same weights, for all outputs. A node reads, beside what its
    connections say, all nodes of the level before it; each output mixes them with weights of its own.
    """
    at = {START: start}
    for node in sorted(graph.order, key=lambda node: graph.levels[node.mark]):
        before = [m for m, level in graph.levels.items() if level == graph.levels[node.mark] - 1]
        sources = sorted({*graph.sources(node.mark), *before})
        mixed = site.merged([at[source] for source in sources], "weighted_sum", "mix", ("mix", output, node.mark))
        if node.mark != END:
            species = int(node["species"])
            placed = _placed(site, modules[species].graph, mixed, species)
            mixed = site.projected(placed, width, ("leave", species))
        at[node.mark] = mixed
    return at[END]


def _placed(site: Site, graph: Graph, start: str, species: int | None = None) -> str:
    """A module after `start`. With a species, its weights are those of every other call of that species."""
    at = {START: start}
    for node in graph.order:
        shared = None if species is None else (species, node.mark)
        merged = site.merged(
            [at[source] for source in graph.sources(node.mark)], node.merge,
            None if shared is None else ("merge", *shared),
        )  # fmt: skip
        if node.mark == END or (node.kind in POOLINGS.values() and min(site.shape(merged)[:-1]) < 2):
            at[node.mark] = merged
        else:
            at[node.mark] = site.add(node.kind, node.settings, [merged], shared)
    return at[END]


def _answer(site: Site, name: str, output: Output, head: str) -> str:
    """The last layers of one output; what comes before them is shared where it is the same."""
    if len(site.shape(name)) > 1:
        name = site.add(head, {}, [name], ("head",))
    return site.add("dense", {"units": output.units, "activation": "linear", "initialization": site.scheme}, [name])
