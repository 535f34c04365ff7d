"""Species and their shares of the next generation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autoinit.labs.codeepneat import Evolution, Genome
from autoinit.labs.codeepneat.breeds import Modules
from autoinit.labs.codeepneat.population import Population, first_population, next_population, offspring
from autoinit.labs.codeepneat.species import Species, speciate
from tests.labs.codeepneat.small_spaces import SETTINGS

BREED = Modules(SETTINGS["images"].space, Evolution())


def some(count: int, seed: int = 0) -> dict[int, Genome]:
    rng = np.random.default_rng(seed)
    return {k: BREED.create(rng) for k in range(count)}


def species(number: int, *members: int, best: float | None = None, improved: int = 0) -> Species:
    return Species(number, some(1)[0], members, best, improved)


@pytest.mark.parametrize("wanted", [1, 2, 4, 6])
@pytest.mark.parametrize("threshold", [1e-3, 0.5, 50.0])
def test_the_threshold_moves_to_the_wanted_number(wanted: int, threshold: float) -> None:
    genomes = some(40, seed=3)
    found, moved = speciate(genomes, (), threshold, wanted, BREED.distance, first=5, generation=0)
    assert abs(len(found) - wanted) <= 1
    assert sorted(m for one in found for m in one.members) == list(genomes), "everybody belongs to one"
    assert [one.number for one in found] == list(range(5, 5 + len(found)))
    for one in found:
        for member in one.members:
            gaps = {other.number: BREED.distance(genomes[member], other.representative) for other in found}
            assert gaps[one.number] < moved or gaps[one.number] == 0


def test_species_keep_their_numbers_and_go() -> None:
    genomes = some(30, seed=1)
    found, threshold = speciate(genomes, (), 0.5, 4, BREED.distance, first=0, generation=0)
    gone = found[0]
    left = {k: genome for k, genome in genomes.items() if k not in gone.members}
    again, _ = speciate(left, found, threshold, len(found) - 1, BREED.distance, first=len(found), generation=1)
    assert {one.number for one in again} == {one.number for one in found} - {gone.number}


def test_the_fittest_represents() -> None:
    genomes = some(3)
    judged = species(0, 0, 1, 2).judged({0: 0.1, 1: 0.9, 2: 0.9}, genomes, 4)
    assert judged.representative == genomes[1] and (judged.best, judged.improved) == (0.9, 4)
    later = judged.judged({0: 0.8, 1: 0.2, 2: 0.3}, genomes, 7)
    assert later.representative == genomes[0] and (later.best, later.improved) == (0.9, 4)
    assert later.stagnant(14, 10) and not later.stagnant(13, 10)


def test_offspring_in_proportion_to_mean_fitness() -> None:
    """Means 0.2 and 0.6: a quarter and three quarters, however large the species are."""
    two = [species(0, 0, 1, 2), species(1, 3)]
    fitness = {0: 0.1, 1: 0.2, 2: 0.3, 3: 0.6}
    assert offspring(two, fitness, 20, 0.0, 0, 10) == [5, 15]
    assert offspring(two, {m: f - 1 for m, f in fitness.items()}, 20, -1.0, 0, 10) == [5, 15], "above the worst"
    assert offspring(two, dict.fromkeys(range(4), 0.0), 20, 0.0, 0, 10) == [15, 5], "as large as they were"


def test_stagnant_species_have_no_offspring() -> None:
    fitness = {0: 0.9, 1: 0.5, 2: 0.5}
    past = ((0.9, 1), (0.5, 1), (0.5, 9))
    three = [species(k, k, best=best, improved=improved) for k, (best, improved) in enumerate(past)]
    places = offspring(three, fitness, 14, 0.0, 12, 10)
    assert places == [9, 0, 5], "the best of all stays, however long it was"


@settings(deadline=None, max_examples=60)
@given(
    sizes=st.lists(st.integers(1, 6), min_size=1, max_size=6), size=st.integers(6, 30), seed=st.integers(0, 2**32),
    failed=st.booleans(),
)  # fmt: skip
def test_places_add_up(sizes: list[int], size: int, seed: int, failed: bool) -> None:
    rng = np.random.default_rng(seed)
    members = iter(range(sum(sizes)))
    each = [species(k, *(next(members) for _ in range(n)), best=1.0, improved=int(rng.integers(20)))
            for k, n in enumerate(sizes)]  # fmt: skip
    fitness = {m: 0.0 if failed else float(rng.random()) for m in range(sum(sizes))}
    places = offspring(each, fitness, size, 0.0, 20, 10)
    top = max(range(len(each)), key=lambda k: max(fitness[m] for m in each[k].members))
    assert sum(places) == size and min(places) >= 0 and places[top] > 0


def generation(elitism: float = 0.5) -> tuple[Population, Population, dict[int, float]]:
    breed = Modules(SETTINGS["images"].space, Evolution())
    rng = np.random.default_rng(0)
    first = first_population(breed, 20, 3, rng)
    fitness = {m.number: float(rng.random()) for m in first.members}
    second = next_population(
        first, fitness, breed, size=20, wanted=3, elitism=elitism, worst=0.0, generation=0, rng=rng
    )  # fmt: skip
    return first, second, fitness


def test_the_best_of_each_species_survive_unchanged() -> None:
    first, second, fitness = generation()
    living = {member.number: member for member in second.members}
    best = max(fitness, key=lambda m: fitness[m])
    assert living[best] == first[best]
    kept = [m for m in living if m < 20]
    assert 8 <= len(kept) <= 11 and len(second.members) == 20
    for one in first.species:
        ranked = sorted(one.members, key=lambda m: -fitness[m])
        count = len(set(ranked) & set(kept))
        assert set(ranked[:count]) == set(ranked) & set(kept), "no one survives whom a better one does not"


def test_parents_are_the_better_half_of_one_species() -> None:
    first, second, fitness = generation(elitism=0.0)
    born = [member for member in second.members if member.born == 1]
    assert len(born) == 20 and {len(member.parents) for member in born} == {1, 2}
    assert [member.number for member in born] == list(range(20, 40)), "numbers are never used again"
    for member in born:
        (home,) = {first.species_of(parent) for parent in member.parents}
        ranked = sorted(next(s.members for s in first.species if s.number == home), key=lambda m: -fitness[m])
        assert all(ranked.index(p) < max(1, round(len(ranked) / 2)) for p in member.parents)
        if len(member.parents) == 2:
            assert fitness[member.parents[0]] >= fitness[member.parents[1]]
