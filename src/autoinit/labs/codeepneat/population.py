"""A population from one generation to the next: fitness sharing, elitism, parents, offspring, species."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .breeds import Breed
from .genomes import Genome
from .species import FIRST_THRESHOLD, Species, speciate


@dataclass(frozen=True)
class Member:
    """A genome of a population; it keeps its number while it lives."""

    number: int
    genome: Genome
    parents: tuple[int, ...] = ()
    born: int = 0


@dataclass(frozen=True)
class Population:
    members: tuple[Member, ...]
    species: tuple[Species, ...]
    threshold: float
    counted: int
    """Members of all generations so far: the number of the next one."""
    named: int
    """Species of all generations so far."""

    def __getitem__(self, number: int) -> Member:
        return next(member for member in self.members if member.number == number)

    @property
    def living(self) -> tuple[int, ...]:
        """The numbers of the species."""
        return tuple(one.number for one in self.species)

    def species_of(self, number: int) -> int:
        return next(one.number for one in self.species if number in one.members)

    def to_dict(self) -> dict[str, Any]:
        return {
            "members": [
                {"number": m.number, "born": m.born, "parents": list(m.parents), "genome": m.genome.to_dict()}
                for m in self.members
            ],
            "species": [one.to_dict() for one in self.species],
            "threshold": self.threshold,
        }


def first_population(breed: Breed, size: int, wanted: int, rng: np.random.Generator) -> Population:
    members = tuple(Member(number, breed.create(rng)) for number in range(size))
    empty = Population((), (), FIRST_THRESHOLD, 0, 0)
    return _sorted(empty, members, breed, wanted, generation=0)


def next_population(
    population: Population, fitness: Mapping[int, float], breed: Breed, *, size: int, wanted: int, elitism: float,
    worst: float, generation: int, rng: np.random.Generator,
) -> Population:  # fmt: skip
    """The population of the next generation.

    fitness: of every member, in the generation with the number `generation`.
    worst: the lowest fitness of the task; species share offspring by what they have above it.
    """
    genomes = {member.number: member.genome for member in population.members}
    species = tuple(one.judged(fitness, genomes, generation) for one in population.species)
    shares = offspring(species, fitness, size, worst, generation, breed.evolution.stagnation)
    kept: list[Member] = []
    born: list[Member] = []
    number = population.counted
    for one, share in zip(species, shares, strict=True):
        ranked = sorted(one.members, key=lambda m: (-fitness[m], m))
        elite = [population[m] for m in ranked[: min(share, round(elitism * len(ranked)))]]
        kept += elite
        parents = [population[m] for m in ranked[: max(1, round(breed.evolution.survival * len(ranked)))]]
        for _ in range(share - len(elite)):
            born.append(_child(parents, fitness, breed, number, generation + 1, rng))
            number += 1
    grown = replace(population, species=species, counted=number)
    return _sorted(grown, (*kept, *born), breed, wanted, generation + 1)


def offspring(
    species: Sequence[Species], fitness: Mapping[int, float], size: int, worst: float, generation: int, patience: int
) -> list[int]:
    """How many places each species has in the next generation: in proportion to its mean fitness above the worst.

    Species that have not improved for long have none, but for the one with the best member.
    """
    means = [sum(fitness[m] - worst for m in one.members) / len(one.members) for one in species]
    top = max(range(len(species)), key=lambda k: max(fitness[m] for m in species[k].members))
    counted = [
        0.0 if k != top and one.stagnant(generation, patience) else max(mean, 0.0)
        for k, (one, mean) in enumerate(zip(species, means, strict=True))
    ]
    if sum(counted) <= 0:
        counted = [float(len(one.members)) for one in species]
    exact = [size * share / sum(counted) for share in counted]
    places = [int(share) for share in exact]
    for k in sorted(range(len(exact)), key=lambda k: (places[k] - exact[k], k))[: size - sum(places)]:
        places[k] += 1
    if not places[top]:  # whoever is best stays
        places[max(range(len(places)), key=lambda k: places[k])] -= 1
        places[top] = 1
    return places


def _child(
    parents: Sequence[Member], fitness: Mapping[int, float], breed: Breed, number: int, born: int,
    rng: np.random.Generator,
) -> Member:  # fmt: skip
    first = parents[int(rng.integers(len(parents)))]
    second = parents[int(rng.integers(len(parents)))] if rng.random() < breed.evolution.crossover else first
    if second.number == first.number:
        return Member(number, breed.child(first.genome, None, rng), (first.number,), born)
    if fitness[second.number] > fitness[first.number]:
        first, second = second, first
    return Member(number, breed.child(first.genome, second.genome, rng), (first.number, second.number), born)


def _sorted(
    population: Population, members: tuple[Member, ...], breed: Breed, wanted: int, generation: int
) -> Population:
    genomes = {member.number: member.genome for member in members}
    species, threshold = speciate(
        genomes, population.species, population.threshold, wanted, breed.distance, first=population.named,
        generation=generation,
    )  # fmt: skip
    named = max([population.named, *(one.number + 1 for one in species)])
    counted = max(population.counted, len(members))
    return Population(members, species, threshold, counted, named)
