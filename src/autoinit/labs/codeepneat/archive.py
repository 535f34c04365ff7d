"""The preserved networks: the best of all generations. They can be reported and trained again; they do not breed."""

from __future__ import annotations

from dataclasses import dataclass, field

from .network import NetworkGenome


@dataclass(frozen=True)
class Preserved:
    network: NetworkGenome
    fitness: float
    generation: int
    """In which it was first evaluated."""


@dataclass(frozen=True)
class Archive:
    """At most `size` networks, best first; of equals the earlier one first."""

    size: int
    networks: tuple[Preserved, ...] = field(default=())

    def with_network(self, network: NetworkGenome, fitness: float, generation: int) -> Archive:
        """The archive after one more network; one that is there already changes nothing."""
        if any(kept.network.key == network.key for kept in self.networks):
            return self
        ranked = sorted((*self.networks, Preserved(network, fitness, generation)), key=lambda kept: -kept.fitness)
        return Archive(self.size, tuple(ranked[: self.size]))

    @property
    def best(self) -> Preserved | None:
        return self.networks[0] if self.networks else None
