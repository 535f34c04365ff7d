"""Species: genomes that are alike. They keep their numbers from one generation to the next.

A genome belongs to the species whose representative, its fittest member of the generation before, is nearest, if it is
nearer than the threshold; otherwise it is the representative of a new species. The threshold moves by a tenth at a
time until there are as many species as wanted; where a step leads from too many to too few, the way between is
halved a few times, and the number that comes closest counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .genomes import Genome

FACTOR, STEPS, HALVINGS = 1.1, 100, 6
FIRST_THRESHOLD = 0.5

Distance = Callable[[Genome, Genome], float]


@dataclass(frozen=True)
class Species:
    """representative: the genome that newcomers are compared with.
    members: their numbers.
    best: the best fitness that a member had so far; improved: the generation in which that was.
    """

    number: int
    representative: Genome
    members: tuple[int, ...] = ()
    best: float | None = None
    improved: int = 0

    def judged(self, fitness: Mapping[int, float], genomes: Mapping[int, Genome], generation: int) -> Species:
        """With the fitness of this generation taken in; its fittest member represents it from now on."""
        top = max(self.members, key=lambda member: (fitness[member], -member))
        judged = replace(self, representative=genomes[top])
        if self.best is not None and fitness[top] <= self.best:
            return judged
        return replace(judged, best=fitness[top], improved=generation)

    def stagnant(self, generation: int, patience: int) -> bool:
        return self.best is not None and generation - self.improved >= patience

    def to_dict(self) -> dict[str, Any]:
        return {"number": self.number, "members": list(self.members), "best": self.best, "improved": self.improved}


def speciate(
    genomes: Mapping[int, Genome],
    known: Sequence[Species],
    threshold: float,
    wanted: int,
    distance: Distance,
    *,
    first: int,
    generation: int,
) -> tuple[tuple[Species, ...], float]:
    """Sort genomes (by number) into species; species without members are gone. Also the threshold that did it.

    first: the number of the first new species.
    """
    distances: dict[tuple[int, int], float] = {}

    def apart(one: Genome, other: Genome) -> float:
        pair = (id(one), id(other))  # both live as long as this call; comparing them by content takes longer
        if pair not in distances:
            distances[pair] = distance(one, other)
        return distances[pair]

    tried: dict[int, tuple[tuple[Species, ...], float]] = {}

    def count(at: float) -> int:
        found = _sorted(genomes, known, at, apart, first, generation)
        tried.setdefault(len(found), (found, at))
        return len(found)

    _move(count, threshold, wanted)
    return tried[min(tried, key=lambda number: (abs(number - wanted), number))]


def _move(count: Callable[[float], int], threshold: float, wanted: int) -> None:
    """Try thresholds until the number of species is the wanted one, or nothing between too many and too few is."""
    now = count(threshold)
    factor = FACTOR if now > wanted else 1 / FACTOR
    for _ in range(STEPS):
        if now == wanted:
            return
        before, threshold = threshold, threshold * factor
        now = count(threshold)
        if (now > wanted) != (factor > 1):
            break
    low, high = sorted((before, threshold))
    for _ in range(HALVINGS):
        if now == wanted:
            return
        now = count(middle := (low + high) / 2)
        low, high = (middle, high) if now > wanted else (low, middle)


def _sorted(
    genomes: Mapping[int, Genome], known: Sequence[Species], threshold: float, apart: Distance, first: int, now: int
) -> tuple[Species, ...]:
    species = list(known)
    members: dict[int, list[int]] = {one.number: [] for one in species}
    for number, genome in genomes.items():
        near = [(apart(genome, one.representative), k) for k, one in enumerate(species)]
        gap, k = min(near, default=(threshold, 0))
        if not species or (gap >= threshold and gap > 0):
            k = len(species)
            species.append(Species(first + k - len(known), genome, improved=now))
            members[species[-1].number] = []
        members[species[k].number].append(number)
    return tuple(replace(one, members=tuple(members[one.number])) for one in species if members[one.number])
