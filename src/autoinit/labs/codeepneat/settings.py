"""How a search goes on: the evolutionary part of the paper's table, and what that leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from difflib import get_close_matches
from typing import Any

from ...errors import OptionError


@dataclass(frozen=True)
class Evolution:
    """Settings of one search. The first part is the paper's table, with the values of its first column.

    The second part is open in the literature; see docs/architecture-search.md.
    """

    generations: int = 30
    blueprints: int = 22
    modules: int = 56
    evaluations: int = 4
    """Networks that are assembled from each blueprint in a generation."""
    preserved: int = 12
    """The best networks of all generations that are kept; they do not breed."""
    blueprint_species: int = 1
    module_species: int = 4
    blueprint_elitism: float = 0.4
    module_elitism: float = 0.4
    change: float = 0.25
    """That a node changes one of its hyperparameters; likewise the settings of a blueprint."""
    blueprint_connection: float = 0.12
    module_connection: float = 0.08
    module_layer: float = 0.08
    blueprint_node: float = 0.16

    crossover: float = 0.75
    """That a child has two parents."""
    survival: float = 0.5
    """The share of a species, its best, that can become parents."""
    stagnation: int = 10
    """Generations without a better member after which a species gets no offspring."""
    first_nodes: int = 3
    first_layers: int = 2
    """The largest number of nodes in a first blueprint, and of layers in a first module."""
    excess: float = 1.0
    disjoint: float = 1.0
    hyperparameters: float = 1.0
    """The coefficients c1, c2, c3 of the distance."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value, whole = getattr(self, field.name), field.type == "int"
            number = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
            least, most = (1, float("inf")) if whole else (0, 1)
            if field.name in ("excess", "disjoint", "hyperparameters"):
                most = float("inf")
            if not number or not least <= value <= most:
                takes = "a positive integer" if whole else f"a number from 0 to {most:g}"
                raise OptionError(f"'{field.name}' takes {takes}", where="Evolution", received=repr(value),
                                  fix=f"{field.name}={field.default}")  # fmt: skip
        for species, size in (("blueprint_species", "blueprints"), ("module_species", "modules")):
            if getattr(self, species) > getattr(self, size):
                raise OptionError("there are more species wanted than members", where="Evolution",
                                  received=f"{species}={getattr(self, species)}, {size}={getattr(self, size)}",
                                  fix=f"{species}=1")  # fmt: skip

    @property
    def networks(self) -> int:
        """Networks of one generation."""
        return self.blueprints * self.evaluations

    def changed(self, **values: Any) -> Evolution:
        return Evolution.from_dict({**self.to_dict(), **values})

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Evolution:
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                close = get_close_matches(name, known, n=1)
                fix = f"did you mean '{close[0]}'?" if close else f"one of {', '.join(known)}"
                raise OptionError(f"unknown setting '{name}'", where="Evolution", received=f"{name}={given[name]!r}",
                                  fix=fix)  # fmt: skip
        return replace(cls(), **given)
