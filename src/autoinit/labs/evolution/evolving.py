"""Regularised evolution: the population is a queue, and who is oldest leaves, however good (Real et al., 2019).

Evaluation n has a random generator of its own, made of (seed, n). The first `population` evaluations are new
genomes; every later one is a mutation of the best of `tournament` members drawn from the population. Workers never
wait for each other: a member enters the population when its evaluation ends.
"""

from __future__ import annotations

import math
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import OptionError
from .encoding import normalised
from .engines import Engine
from .jobs import Job, Limits, Outcome
from .journal import Journal, Record
from .progress import watcher
from .running import drive, json_payload, starter

Genome = dict[str, Any]

DRAWS = 100
"""How often a genome is drawn anew when it has been evaluated before, until the space is taken to be exhausted."""


@dataclass(frozen=True)
class Individual:
    """One evaluated genome. `parent` is the key of the one that it was mutated from, None if it is new."""

    number: int
    key: str
    genome: Genome
    parent: str | None
    outcome: Outcome
    fitness: float

    @property
    def viable(self) -> bool:
        return not math.isnan(self.fitness)


@dataclass
class History:
    """All individuals in the order in which their evaluations ended, and who of them is alive."""

    size: int
    individuals: list[Individual] = field(default_factory=list)
    population: deque[Individual] = field(init=False)

    def __post_init__(self) -> None:
        members, self.individuals, self.population = self.individuals, [], deque(maxlen=self.size)
        for member in members:
            self.add(member)

    def add(self, member: Individual) -> None:
        self.individuals.append(member)
        if member.viable:
            self.population.append(member)

    def best(self, count: int = 1) -> list[Individual]:
        """The fittest of all times, best first; of equals the earlier one first."""
        return sorted((m for m in self.individuals if m.viable), key=lambda m: -m.fitness)[:count]

    def curve(self) -> list[float]:
        """The best fitness after each evaluation; NaN while there is none."""
        bests, best = [], math.nan
        for member in self.individuals:
            best = member.fitness if member.viable and not member.fitness <= best else best
            bests.append(best)
        return bests


def evolve(
    create: Callable[[np.random.Generator], Mapping[str, Any]],
    mutate: Callable[[Genome, np.random.Generator], Mapping[str, Any]],
    to_job: Callable[[Genome], Job],
    fitness: Callable[[Outcome], float],
    work: str,
    journal: Path | str,
    *,
    population: int = 64,
    tournament: int = 16,
    evaluations: int = 1000,
    seed: int = 0,
    engine: str | type[Engine] = "processes",
    workers: int = 2,
    limits: Limits | None = None,
    threads: int | None = 1,
    progress: bool = True,
    title: str = "",
    config: Mapping[str, Any] | None = None,
) -> History:
    """Search for genomes of high fitness; with `population` = `evaluations` this is random sampling.

    create, mutate: give genomes, dicts that can be written as JSON; all randomness must come from their generator.
    to_job: a job whose key is the same for genomes that are the same; no key is evaluated twice.
    fitness: of an outcome, also of one that failed; NaN for what shall not enter the population.
    config: what the run is, beside the options of the search; see `run`.

    Called again with the same journal it goes on, also with more `evaluations`. With one worker the result is that
    of a run that was never interrupted.
    """
    sizes = {"population": population, "tournament": tournament, "evaluations": evaluations}
    least = {**{name: (value, 1) for name, value in sizes.items()}, "seed": (seed, 0)}
    for name, (value, smallest) in least.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < smallest:
            raise OptionError(f"'{name}' takes an integer from {smallest} on", where="evolve", received=repr(value),
                              fix=f"{name}=16")  # fmt: skip
    start = starter(engine, work, workers, limits, threads)
    about = {"work": work, "population": population, "tournament": tournament, "seed": seed, **(config or {})}
    with Journal(journal, about) as book, watcher(progress, title, evaluations) as show:
        history = History(population)
        running: dict[str, dict[str, Any]] = {}

        def take(record: Record, fresh: bool) -> None:
            history.add(_individual(record, fitness))
            show.add(record.outcome, fresh=fresh)

        for record in book.records.values():
            take(record, fresh=False)
        known = {member.number for member in history.individuals}

        def next_jobs() -> Iterator[Job]:
            for number in range(evaluations):
                if number in known:
                    continue
                rng = np.random.default_rng((seed, number))
                parent = _parent(history, tournament, rng) if number >= population else None
                taken = book.records.keys() | running.keys()
                found = _unseen(parent, create, mutate, to_job, taken, rng)
                if found is None:
                    warnings.warn(f"no new genome in {DRAWS} draws: the search ends early", stacklevel=2)
                    return
                genome, job = found
                notes = {"number": number, "genome": genome, "parent": parent.key if parent else None}
                running[job.key] = {"payload": job.payload, "notes": notes}
                yield job

        def finished(outcome: Outcome) -> None:
            take(book.append(outcome, **running.pop(outcome.key)), fresh=True)

        drive(start, next_jobs(), finished, show)
        return history


def _parent(history: History, tournament: int, rng: np.random.Generator) -> Individual | None:
    """The fittest of a few that are drawn without replacement; of equals the youngest. None if nobody is alive."""
    members = list(history.population)
    if not members:
        return None
    drawn = rng.choice(len(members), size=min(tournament, len(members)), replace=False)
    return members[max(drawn, key=lambda k: (members[k].fitness, k))]


def _unseen(
    parent: Individual | None,
    create: Callable[[np.random.Generator], Mapping[str, Any]],
    mutate: Callable[[Genome, np.random.Generator], Mapping[str, Any]],
    to_job: Callable[[Genome], Job],
    taken: set[str],
    rng: np.random.Generator,
) -> tuple[Genome, Job] | None:
    """A genome that was not evaluated before: a mutant that was is mutated further."""
    genome = parent.genome if parent else {}
    for _ in range(DRAWS):
        genome = normalised(mutate(normalised(genome), rng) if parent else create(rng))
        job = to_job(genome)
        if job.key not in taken:
            return genome, Job(job.key, json_payload(job))
    return None


def _individual(record: Record, fitness: Callable[[Outcome], float]) -> Individual:
    notes = record.notes
    value = float(fitness(record.outcome))
    return Individual(notes["number"], record.key, notes["genome"], notes["parent"], record.outcome, value)
