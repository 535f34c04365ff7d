"""What the two populations do differently: how their genomes are made, changed and compared."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from .creation import first_blueprint, first_module, random_layer, random_pointer
from .crossover import crossover
from .distance import distance
from .genomes import Genome
from .graph import OUTPUT, Node
from .marking import Markings
from .mutation import change_something, mutate, with_merge
from .ranges import Choice, Ranges
from .settings import Evolution
from .space import Space


class Breed(ABC):
    """One of the two kinds of genomes in one search; it keeps the marks of its population."""

    settings: Ranges = ()
    """Hyperparameters that belong to no node."""

    def __init__(self, space: Space, evolution: Evolution) -> None:
        self.space, self.evolution, self.markings = space, evolution, Markings()

    @abstractmethod
    def create(self, rng: np.random.Generator) -> Genome:
        """A first genome."""

    @abstractmethod
    def ranges_of(self, node: Node) -> Ranges:
        """The hyperparameters of a node, the merge among them."""

    @abstractmethod
    def _new_node(self, mark: int, rng: np.random.Generator) -> Node: ...

    @property
    @abstractmethod
    def _probabilities(self) -> dict[str, float]: ...

    def child(self, fitter: Genome, other: Genome | None, rng: np.random.Generator) -> Genome:
        """A mutated copy of one parent, or of a cross of two; never one of the parents themselves, if that can be."""
        crossed = fitter if other is None else crossover(fitter, other, rng)
        made = mutate(
            crossed, new_node=lambda mark: self._new_node(mark, rng), ranges_of=self.ranges_of, settings=self.settings,
            markings=self.markings, rng=rng, change=self.evolution.change, **self._probabilities,
        )  # fmt: skip
        return change_something(made, self.ranges_of, self.settings, rng) if made in (fitter, other) else made

    def distance(self, one: Genome, other: Genome) -> float:
        return distance(one, other, self.evolution, self.ranges_of, self.settings)


class Modules(Breed):
    def create(self, rng: np.random.Generator) -> Genome:
        return first_module(self.space, self.evolution.first_layers, self.markings, rng)

    def ranges_of(self, node: Node) -> Ranges:
        return with_merge(() if node.mark == OUTPUT else self.space.ranges_of(node.kind), self.space.merge)

    def _new_node(self, mark: int, rng: np.random.Generator) -> Node:
        return random_layer(mark, self.space, rng)

    @property
    def _probabilities(self) -> dict[str, float]:
        return {"node": self.evolution.module_layer, "connection": self.evolution.module_connection}


class Blueprints(Breed):
    """species: the species of modules that are alive; pointers lead to these."""

    def __init__(self, space: Space, evolution: Evolution) -> None:
        super().__init__(space, evolution)
        self.settings = space.settings
        self.species: tuple[int, ...] = ()

    def create(self, rng: np.random.Generator) -> Genome:
        return first_blueprint(self.space, self.species, self.evolution.first_nodes, self.markings, rng)

    def ranges_of(self, node: Node) -> Ranges:
        pointer: Ranges = () if node.mark == OUTPUT else (("species", Choice(*self.species)),)
        return with_merge(pointer, self.space.merge)

    def _new_node(self, mark: int, rng: np.random.Generator) -> Node:
        return random_pointer(mark, self.space, self.species, rng)

    @property
    def _probabilities(self) -> dict[str, float]:
        return {"node": self.evolution.blueprint_node, "connection": self.evolution.blueprint_connection}
