"""Random networks of a space: first genomes that were changed a random number of times. For baselines and for tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .assembly import assemble
from .breeds import Blueprints, Breed, Modules
from .genomes import Genome
from .network import Input, NetworkGenome, Output
from .settings import Evolution
from .space import Space

GROWING = Evolution(module_layer=0.5, module_connection=0.4, blueprint_node=0.5, blueprint_connection=0.4)
"""Settings with which genomes grow faster than in a search."""


def random_genomes(
    space: Space, rng: np.random.Generator, *, species: int = 4, changes: int = 6, evolution: Evolution = GROWING
) -> tuple[Genome, dict[int, Genome]]:
    """A blueprint, and a module for each species. Each is changed up to `changes` times."""
    modules, blueprints = Modules(space, evolution), Blueprints(space, evolution)
    blueprints.species = tuple(range(species))
    return _grown(blueprints, rng, changes), {k: _grown(modules, rng, changes) for k in range(species)}


def random_network(
    space: Space, given: Input, outputs: Sequence[Output], rng: np.random.Generator, *, species: int = 4,
    changes: int = 6, evolution: Evolution = GROWING,
) -> NetworkGenome:  # fmt: skip
    """A network assembled from random genomes."""
    blueprint, modules = random_genomes(space, rng, species=species, changes=changes, evolution=evolution)
    return assemble(blueprint, modules, space, given, outputs)


def _grown(breed: Breed, rng: np.random.Generator, changes: int) -> Genome:
    genome = breed.create(rng)
    for _ in range(int(rng.integers(changes + 1))):
        genome = breed.child(genome, None, rng)
    return genome
