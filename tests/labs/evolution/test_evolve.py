"""Evolution: it searches, it ages, and it goes on where it was."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autoinit.errors import OptionError
from autoinit.labs.evolution import History, Individual, Job, Journal, JournalError, Outcome, evolve

GENES, LETTERS = 5, 12


def create(rng: np.random.Generator) -> dict[str, Any]:
    return {"genes": rng.integers(0, LETTERS, GENES)}


def mutate(genome: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    genes = list(genome["genes"])
    place = int(rng.integers(len(genes)))
    genes[place] = int(np.clip(genes[place] + rng.choice([-1, 1]), 0, LETTERS - 1))
    return {"genes": genes}


def to_job(genome: dict[str, Any]) -> Job:
    return Job("-".join(map(str, genome["genes"])), genome)


def height(outcome: Outcome) -> float:
    return outcome.value["height"] if outcome.value else math.nan


def search(path: Path, work: str = "parabola", **options: Any) -> History:
    given = {"population": 12, "tournament": 4, "evaluations": 40, "engine": "serial", "workers": 1, "progress": False}
    return evolve(create, mutate, to_job, height, f"deeds:{work}", path, **{**given, **options})


def story(history: History) -> list[Any]:
    return [(m.number, m.key, m.genome, m.parent, m.fitness) for m in history.individuals]


def test_it_finds_more_than_random_sampling(tmp_path: Path) -> None:
    """The optimum, zero, is one of 12⁵ points; 150 samples reach about −9 (5 genes within ±1.3 on average)."""
    found, sampled = [], []
    for seed in range(3):
        evolved = search(tmp_path / f"{seed}.jsonl", seed=seed, evaluations=150)
        random = search(tmp_path / f"random {seed}.jsonl", seed=seed, evaluations=150, population=150)
        assert all(member.parent is None for member in random.individuals)
        found.append(evolved.best()[0].fitness)
        sampled.append(random.best()[0].fitness)
    assert all(mine > other for mine, other in zip(found, sampled, strict=True))
    assert max(found) == 0.0


def test_a_resumed_search_is_the_uninterrupted_one(tmp_path: Path) -> None:
    whole = search(tmp_path / "whole.jsonl")
    lines = (tmp_path / "whole.jsonl").read_bytes().splitlines(keepends=True)
    for kept in (1, 5, 12, 13, 27, 40):
        path = tmp_path / f"{kept}.jsonl"
        path.write_bytes(b"".join(lines[:kept]) + lines[kept][:25])
        resumed = search(path)
        assert story(resumed) == story(whole)
        assert [m.key for m in resumed.population] == [m.key for m in whole.population]
        assert path.read_bytes().startswith(b"".join(lines[:kept])) and path.read_bytes().count(b"\n") == 41
    assert story(search(tmp_path / "whole.jsonl", evaluations=45))[:40] == story(whole), "it can be prolonged"


def test_another_seed_is_another_search(tmp_path: Path) -> None:
    one, other = search(tmp_path / "1.jsonl", evaluations=15), search(tmp_path / "2.jsonl", evaluations=15, seed=1)
    assert story(one) != story(other)
    with pytest.raises(JournalError, match="seed: 0 in the journal, 1 now"):
        search(tmp_path / "1.jsonl", evaluations=15, seed=1)


def test_in_parallel_every_number_and_key_is_evaluated_once(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    options = {"engine": "processes", "workers": 2, "population": 4, "evaluations": 20}
    search(path, **options)
    lines = path.read_bytes().splitlines(keepends=True)
    kept = [*lines[:3], *lines[4:9]]  # one of the others was running when the run was killed
    path.write_bytes(b"".join(kept))
    missing = min(set(range(20)) - {json.loads(line)["notes"]["number"] for line in kept[1:]})
    resumed = search(path, **{**options, "workers": 1})
    assert sorted(m.number for m in resumed.individuals) == list(range(20))
    assert resumed.individuals[7].number == missing, "it comes first"
    assert len({m.key for m in resumed.individuals}) == 20
    keys = {m.key for m in resumed.individuals}
    assert all(
        (m.parent is None) == (m.number < 4) and (m.parent is None or m.parent in keys) for m in resumed.individuals
    )
    assert resumed.curve()[-1] == resumed.best()[0].fitness


def test_children_differ_from_their_parents_by_mutation_alone(tmp_path: Path) -> None:
    history = search(tmp_path / "journal.jsonl", tournament=1)
    by_key = {m.key: m for m in history.individuals}
    steps = [
        sum(abs(a - b) for a, b in zip(m.genome["genes"], by_key[m.parent].genome["genes"], strict=True))
        for m in history.individuals
        if m.parent is not None
    ]
    assert len(steps) == 28 and min(steps) == 1 and np.median(steps) == 1, "further only if the first mutant is known"


def individual(number: int, fitness: float) -> Individual:
    return Individual(number, str(number), {}, None, Outcome(str(number), "done", {}), fitness)


def test_the_oldest_leaves_however_good() -> None:
    history = History(3)
    for number, fitness in enumerate([9.0, 1.0, math.nan, 2.0, -math.inf]):
        history.add(individual(number, fitness))
    assert [m.number for m in history.population] == [1, 3, 4], "the best has left; what is not viable never enters"
    assert [m.number for m in history.best(9)] == [0, 3, 1, 4], "but it is remembered"
    assert history.curve() == [9.0] * 5
    assert math.isnan(History(2, [individual(0, math.nan)]).curve()[0])


def test_nobody_viable_means_new_genomes(tmp_path: Path) -> None:
    history = evolve(create, mutate, to_job, lambda _: math.nan, "deeds:parabola", tmp_path / "journal.jsonl",
                     population=2, tournament=2, evaluations=6, engine="serial", progress=False)  # fmt: skip
    assert [m.parent for m in history.individuals] == [None] * 6 and not history.population


def test_an_exhausted_space_ends_the_search(tmp_path: Path) -> None:
    def one_of_three(rng: np.random.Generator) -> dict[str, Any]:
        return {"genes": [int(rng.integers(3))]}

    with pytest.warns(UserWarning, match="the search ends early"):
        history = evolve(one_of_three, lambda _, rng: one_of_three(rng), to_job, height, "deeds:parabola",
                         tmp_path / "journal.jsonl", population=2, tournament=1, evaluations=9, engine="serial",
                         progress=False)  # fmt: skip
    assert sorted(m.key for m in history.individuals) == ["0", "1", "2"]


@pytest.mark.parametrize("options", [{"population": 0}, {"tournament": 1.5}, {"evaluations": True}, {"seed": -1}])
def test_bad_options(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match=next(iter(options))):
        search(tmp_path / "journal.jsonl", **options)
    assert not list(tmp_path.iterdir())


def test_the_journal_keeps_genome_and_parent(tmp_path: Path) -> None:
    history = search(tmp_path / "journal.jsonl", evaluations=14)
    records = Journal.read(tmp_path / "journal.jsonl").records
    assert list(records) == [m.key for m in history.individuals]
    last = history.individuals[-1]
    assert records[last.key].notes == {"number": 13, "genome": last.genome, "parent": last.parent}
