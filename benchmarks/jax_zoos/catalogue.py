"""All libraries together: which models there are, and the entry of a name."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from ..zoos.entry import Entry

FILES = {
    "transformers": "transformers_models", "jax_resnet": "resnets", "flaxmodels": "flaxmodels",
    "jax_models": "vision", "flaxdiff": "diffusion", "nanodl": "nanodl", "equimo": "equimo",
    "equinox": "equinox_nets", "haiku": "haiku_nets", "jraph": "graphs", "nnx": "nnx_nets",
}  # fmt: skip
"""Library -> the file here that lists its models."""
ZOOS = tuple(FILES)


def entries(zoos: Iterable[str] = ZOOS) -> list[Entry]:
    return [entry for zoo in zoos for entry in import_module(f".{FILES[zoo]}", __package__).ENTRIES]


def find(name: str) -> Entry:
    """The entry of "library:model"."""
    return next(entry for entry in entries([name.partition(":")[0]]) if entry.name == name)
