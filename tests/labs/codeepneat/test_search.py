"""The search as a whole, without any framework: reproducible, honest about fitness, and better than chance."""

from __future__ import annotations

import subprocess
import sys
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from autoinit.errors import OptionError
from autoinit.labs.codeepneat import Evolution, NetworkGenome, Search
from autoinit.labs.codeepneat.archive import Archive
from autoinit.labs.codeepneat.sampling import random_network
from tests.labs.codeepneat.small_spaces import SETTINGS

SMALL = Evolution(blueprints=6, modules=12, evaluations=3, module_species=3, preserved=5)


def begin(name: str = "images", seed: int = 0, evolution: Evolution = SMALL, worst: float = 0.0) -> Search:
    space, given, outputs = SETTINGS[name]
    return Search(space, evolution, given, outputs, seed=seed, worst=worst)


def size(network: NetworkGenome) -> float:
    return 1 / (1 + abs(network.parameters - 5000) / 1000)


@pytest.mark.parametrize("name", SETTINGS)
def test_one_seed_one_search(name: str) -> None:
    one, other, another = begin(name), begin(name), begin(name, seed=1)
    for _ in range(5):
        done = [s.tell({key: size(n) for key, n in reversed(s.networks.items())}) for s in (one, other)]
        assert done[0] == done[1] and list(one.networks) == list(other.networks)
    another.tell({key: size(n) for key, n in another.networks.items()})
    assert set(another.networks) & set(one.networks) == set()


def test_fitness_is_the_mean_over_networks() -> None:
    search = begin()
    values = {key: k / 100 for k, key in enumerate(search.networks)}
    done = search.tell(values)
    assert len(done.assemblies) == SMALL.networks
    for member in done.blueprints.members:
        mine = [values[a.key] for a in done.assemblies if a.blueprint == member.number]
        assert len(mine) == 3 and done.blueprint_fitness[member.number] == pytest.approx(fmean(mine))
    for member in done.modules.members:
        mine = [values[a.key] for a in done.assemblies if member.number in dict(a.modules).values()]
        if mine:
            assert done.module_fitness[member.number] == pytest.approx(fmean(mine))
        else:
            others = next(one.members for one in done.modules.species if member.number in one.members)
            playing = {m for a in done.assemblies for m in dict(a.modules).values()}
            used = [done.module_fitness[m] for m in others if m in playing]
            assert not used or done.module_fitness[member.number] == pytest.approx(fmean(used))


def test_every_module_has_its_turn() -> None:
    """Species deal their members like a pack of cards: none plays twice before all have."""
    search = begin(evolution=SMALL.changed(evaluations=6))
    told = search.tell(dict.fromkeys(search.networks, 0.5))
    for one in told.modules.species:
        plays = [sum(dict(a.modules).get(one.number) == m for a in told.assemblies) for m in one.members]
        assert max(plays) - min(plays) <= 8  # the packs of networks that were dealt again count, too
        assert min(plays) > 0 or sum(plays) < len(plays)


def test_pointers_lead_to_living_species() -> None:
    search = begin(evolution=SMALL.changed(stagnation=1))
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(12):
        done = search.tell({key: float(rng.random()) for key in search.networks})
        living = set(search.modules.living)
        seen |= living
        assert all(node["species"] in living for m in search.blueprints.members for node in m.genome.graph.nodes
                   if node.kind == "module")  # fmt: skip
        assert len(done.modules.members) == 12 and len(done.blueprints.members) == 6
    assert len(seen) > 4, "species came and went"


def test_failures_have_the_worst_fitness() -> None:
    search = begin(worst=-2.0)
    keys = list(search.networks)
    told = {**dict.fromkeys(keys, -1.0), keys[0]: float("nan"), keys[1]: -5.0, keys[2]: float("-inf")}
    done = search.tell(told)
    assert [done.fitness[key] for key in keys[:4]] == [-2.0, -2.0, -2.0, -1.0]


def test_the_archive_keeps_the_best_of_all_generations() -> None:
    search = begin()
    told: dict[str, float] = {}
    for _ in range(6):
        now = {key: size(n) for key, n in search.networks.items()}
        told.update(now)
        search.tell(now)
    kept = search.archive.networks
    best = sorted(told.values(), reverse=True)[:5]
    assert [one.fitness for one in kept] == best and len({one.network.key for one in kept}) == 5
    assert search.archive.best is kept[0] and Archive(3).best is None


def test_what_search_refuses() -> None:
    with pytest.raises(OptionError, match="'seed' takes"):
        begin(seed=-1)
    with pytest.raises(OptionError, match="every network of the generation has a fitness"):
        begin().tell({})


def landscape(network: NetworkGenome) -> float:
    """Highest (1) for five convolutions of 8 filters with ELU, no pooling, and a learning rate of 0.001."""
    convolutions = [layer for layer in network.layers if layer.kind == "conv2d"]
    pooled = sum(layer.kind == "max_pooling2d" for layer in network.layers)
    if not convolutions:
        return 0.0
    count = np.exp(-abs(len(convolutions) - 5) / 3)
    filters = fmean(np.exp(-abs(layer["units"] - 8) / 4) for layer in convolutions)
    activations = fmean(layer["activation"] == "elu" for layer in convolutions)
    rate = np.exp(-abs(np.log10(dict(network.settings)["learning_rate"]) + 3))
    return float(count * (filters + activations + rate) / 3 * 0.9**pooled)


@pytest.mark.slow
def test_it_beats_random_search_at_equal_cost() -> None:
    """Best network of 12 generations against the best of as many random networks, five seeds each.

    Half of the random ones are grown fast, half come from a dozen changes as the search makes them.
    """
    evolution = Evolution(blueprints=10, modules=24, evaluations=3, module_species=3)
    space, given, outputs = SETTINGS["images"]
    wins, means = 0, []
    for seed in range(5):
        search = Search(space, evolution, given, outputs, seed=seed)
        trained: set[str] = set()
        for _ in range(12):
            trained |= set(search.networks)
            done = search.tell({key: landscape(n) for key, n in search.networks.items()})
        rng = np.random.default_rng((seed, 1))
        kinds: tuple[dict[str, Any], ...] = ({}, {"changes": 12, "evolution": evolution})
        rivals = [
            landscape(random_network(space, given, outputs, rng, species=3, **kinds[k % 2]))
            for k in range(len(trained))
        ]
        assert search.archive.best is not None
        best = search.archive.best.fitness
        means.append((fmean(done.fitness.values()), fmean(rivals)))
        wins += best > max(rivals)
        print(f"{seed}: {len(trained)} networks, {best:.3f} against {max(rivals):.3f}; means {means[-1]}")
    assert wins == 5
    assert all(evolved > 1.5 * random for evolved, random in means)


def test_the_search_needs_no_framework() -> None:
    code = "import autoinit.labs.codeepneat.command, sys; print([m for m in sys.argv[1:] if m in sys.modules])"
    names = ["torch", "keras", "tensorflow", "jax", "ray", "rich.progress", "matplotlib", "sklearn"]
    done = subprocess.run([sys.executable, "-c", code, *names], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
