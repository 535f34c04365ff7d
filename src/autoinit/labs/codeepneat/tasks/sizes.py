"""Smaller searches with the probabilities, elitism and species of larger ones."""

from __future__ import annotations

from collections.abc import Mapping

from ..presets import Preset
from ..settings import Evolution


def for_cpu(paper: Evolution) -> Evolution:
    """Ten generations of 16 networks: hours on two cores for several seeds and initializations."""
    return paper.changed(generations=10, blueprints=8, modules=20, evaluations=2, preserved=6)


def for_smoke(paper: Evolution) -> Evolution:
    """Two generations of four networks, to see that it works."""
    return paper.changed(generations=2, blueprints=2, modules=6, evaluations=2, preserved=2, module_species=2)


def by_name(*presets: Preset) -> Mapping[str, Preset]:
    return {preset.name: preset for preset in presets}
