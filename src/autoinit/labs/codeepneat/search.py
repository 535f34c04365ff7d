"""The search itself: ask for the networks of a generation, tell their fitness, and go on.

    search = Search(space, evolution, Input((64,)), [Output("digit", 10)], seed=0)
    for _ in range(evolution.generations):
        search.tell({network.key: fitness_of(network) for network in search.networks.values()})

Everything follows from the seed and the fitness that is told; who computes it, and in which order, does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import numpy as np

from ...errors import OptionError
from .archive import Archive
from .assembly import assemble
from .breeds import Blueprints, Modules
from .genomes import Genome, species_of
from .mutation import redirected
from .network import Input, NetworkGenome, Output
from .population import Population, first_population, next_population
from .settings import Evolution
from .space import Space

MODULES, BLUEPRINTS, POINTERS, ASSEMBLY = 1, 2, 3, 4
"""Streams of random numbers, one for each purpose in each generation."""
DRAWS = 8
"""How often modules are dealt again if the network is in the generation already."""


@dataclass(frozen=True)
class Assembly:
    """Which blueprint and which modules (by species) became a network."""

    blueprint: int
    modules: tuple[tuple[int, int], ...]
    key: str

    def to_dict(self) -> dict[str, Any]:
        return {"key": self.key, "blueprint": self.blueprint, "modules": [list(pair) for pair in self.modules]}


@dataclass(frozen=True)
class Generation:
    """A generation that was evaluated."""

    number: int
    blueprints: Population
    modules: Population
    assemblies: tuple[Assembly, ...]
    fitness: Mapping[str, float]
    """Of the networks."""
    blueprint_fitness: Mapping[int, float]
    module_fitness: Mapping[int, float]


class Search:
    """seed: all randomness comes from it. worst: the fitness of a network that failed."""

    def __init__(
        self, space: Space, evolution: Evolution, given: Input, outputs: Sequence[Output], *, seed: int = 0,
        worst: float = 0.0,
    ) -> None:  # fmt: skip
        space.fits(given.shape, given.vocabulary)
        self.space, self.evolution, self.seed, self.worst = space, evolution, checked_seed(seed), worst
        self.input, self.outputs = given, tuple(outputs)
        self.number = 0
        self.archive = Archive(evolution.preserved)
        self._modules, self._blueprints = Modules(space, evolution), Blueprints(space, evolution)
        self.modules = first_population(
            self._modules, evolution.modules, evolution.module_species, self._rng(MODULES)
        )  # fmt: skip
        self._blueprints.species = self.modules.living
        self.blueprints = first_population(
            self._blueprints, evolution.blueprints, evolution.blueprint_species, self._rng(BLUEPRINTS)
        )  # fmt: skip
        self._assemble()

    def tell(self, fitness: Mapping[str, float]) -> Generation:
        """The fitness of every network (by key); the next generation takes the place of this one."""
        values = {key: self._fitness(fitness, key) for key in self.networks}
        for key, network in self.networks.items():
            self.archive = self.archive.with_network(network, values[key], self.number)
        blueprints = _means((a.blueprint, values[a.key]) for a in self.assemblies)
        modules = _means((member, values[a.key]) for a in self.assemblies for _, member in a.modules)
        modules = _completed(modules, self.modules)
        done = Generation(self.number, self.blueprints, self.modules, self.assemblies, values, blueprints, modules)
        self._go_on(blueprints, modules)
        return done

    def _go_on(self, blueprint_fitness: Mapping[int, float], module_fitness: Mapping[int, float]) -> None:
        settings, number = self.evolution, self.number
        self.number = number + 1
        self.modules = next_population(
            self.modules, module_fitness, self._modules, size=settings.modules, wanted=settings.module_species,
            elitism=settings.module_elitism, worst=self.worst, generation=number, rng=self._rng(MODULES),
        )  # fmt: skip
        living = self._blueprints.species = self.modules.living
        rng = self._rng(POINTERS)
        pointed = tuple(replace(m, genome=redirected(m.genome, living, rng)) for m in self.blueprints.members)
        pointing = replace(self.blueprints, members=pointed)
        self.blueprints = next_population(
            pointing, blueprint_fitness, self._blueprints, size=settings.blueprints,
            wanted=settings.blueprint_species, elitism=settings.blueprint_elitism, worst=self.worst,
            generation=number, rng=self._rng(BLUEPRINTS),
        )  # fmt: skip
        self._assemble()

    def _assemble(self) -> None:
        """The networks of this generation. Species deal their members like a pack of cards, so that all take part."""
        rng = self._rng(ASSEMBLY)
        packs = {one.number: _pack(one.members, rng) for one in self.modules.species}
        genomes = {member.number: member.genome for member in self.modules.members}
        self.networks: dict[str, NetworkGenome] = {}
        assemblies = []
        for _ in range(self.evolution.evaluations):
            for blueprint in self.blueprints.members:
                network, dealt = self._dealt(blueprint.genome, packs, genomes)
                self.networks.setdefault(network.key, network)
                assemblies.append(Assembly(blueprint.number, dealt, network.key))
        self.assemblies = tuple(assemblies)

    def _dealt(
        self, blueprint: Genome, packs: Mapping[int, Iterator[int]], genomes: Mapping[int, Genome]
    ) -> tuple[NetworkGenome, tuple[tuple[int, int], ...]]:
        """One network, if possible one that the generation does not have yet."""
        for _ in range(DRAWS):
            dealt = tuple((species, next(packs[species])) for species in species_of(blueprint))
            chosen = {species: genomes[member] for species, member in dealt}
            network = assemble(blueprint, chosen, self.space, self.input, self.outputs)
            if network.key not in self.networks:
                break
        return network, dealt

    def _fitness(self, told: Mapping[str, float], key: str) -> float:
        if key not in told:
            raise OptionError("every network of the generation has a fitness", where="Search.tell",
                              received=f"none for {key}", fix="{key: fitness for key in search.networks}")  # fmt: skip
        value = float(told[key])
        return value if isfinite(value) and value > self.worst else self.worst

    def _rng(self, purpose: int) -> np.random.Generator:
        return np.random.default_rng((self.seed, self.number, purpose))


def checked_seed(seed: Any) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise OptionError("'seed' takes an integer from 0 on", where="Search", received=repr(seed), fix="seed=0")
    return seed


def _pack(members: Sequence[int], rng: np.random.Generator) -> Iterator[int]:
    while True:
        yield from (members[k] for k in rng.permutation(len(members)))


def _means(pairs: Iterator[tuple[int, float]]) -> dict[int, float]:
    found: dict[int, list[float]] = {}
    for number, value in pairs:
        found.setdefault(number, []).append(value)
    return {number: sum(values) / len(values) for number, values in found.items()}


def _completed(fitness: Mapping[int, float], population: Population) -> dict[int, float]:
    """Modules that were in no network count as the mean of their species, or of all if none of it took part."""
    everyone = sum(fitness.values()) / len(fitness)
    found = {}
    for one in population.species:
        known = [fitness[m] for m in one.members if m in fitness]
        mean = sum(known) / len(known) if known else everyone
        found.update({m: fitness.get(m, mean) for m in one.members})
    return found
