"""What a task allows its networks to be: layers with their hyperparameters, merges, settings of the whole network."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .layers import ACTIVATIONS, HEADS, MERGES, SCHEMES, Shape, kind_of
from .problems import SpaceError
from .ranges import Choice, Range, Ranges, Real, Whole, pairs, range_from_dict, range_to_dict


@dataclass(frozen=True, init=False)
class LayerKind:
    """A layer that modules may have, with the ranges of its hyperparameters."""

    name: str
    ranges: Ranges

    def __init__(self, name: str, ranges: Mapping[str, Range] | Ranges = ()) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "ranges", pairs(ranges))
        kind, where = kind_of(self.name, "space"), f"layer '{self.name}'"
        given = [name for name, _ in self.ranges]
        wrong = [name for name in given if name not in kind.needs + kind.takes]
        missing = [name for name in kind.needs if name not in given]
        if not kind.evolved:
            raise SpaceError("this layer is made by the assembler and has no genes", where=where,
                             received=self.name, fix="leave it out of the space")  # fmt: skip
        if wrong or missing:
            known = f"needed: {', '.join(kind.needs) or 'none'}; possible: {', '.join(kind.takes) or 'none'}"
            raise SpaceError("a layer's ranges are those of its hyperparameters", where=where,
                             received=f"{', '.join(given) or 'none'}", fix=known)  # fmt: skip


@dataclass(frozen=True, init=False)
class Space:
    """The search space of a task.

    layers: what nodes of modules can be.
    merges: how tensors are brought together where several connections meet; without any, graphs are chains.
    settings: hyperparameters of the whole network; a blueprint carries them. "initialization" is that of the layers
        that no gene stands for (outputs and projections).
    head: what stands before the outputs: "flatten", "average" or "maximum" over all places.
    embedding: for inputs of integers, the width that they are embedded in.
    soft: the width of soft ordering; None for networks whose outputs share everything but their last layer.
    """

    layers: tuple[LayerKind, ...]
    merges: tuple[str, ...]
    settings: Ranges
    head: str
    embedding: int | None
    soft: int | None

    def __init__(
        self, layers: Sequence[LayerKind], merges: Sequence[str] = ("add",),
        settings: Mapping[str, Range] | Ranges = (), head: str = "flatten", embedding: int | None = None,
        soft: int | None = None,
    ) -> None:  # fmt: skip
        given = {"layers": tuple(layers), "merges": tuple(merges), "settings": pairs(settings)}
        for name, value in {**given, "head": head, "embedding": embedding, "soft": soft}.items():
            object.__setattr__(self, name, value)
        self._check()

    def _check(self) -> None:
        names = [layer.name for layer in self.layers]
        if not names or len(set(names)) != len(names):
            raise SpaceError("a space has layers, each kind once", where="Space.layers", received=repr(names),
                             fix="LayerKind('dense', {'units': Whole(16, 96)})")  # fmt: skip
        for what, given, known in (("merges", self.merges, MERGES), ("head", (self.head,), HEADS)):
            wrong = [name for name in given if name not in known]
            if wrong or len(set(given)) != len(given):
                raise SpaceError(f"unknown or repeated in '{what}'", where=f"Space.{what}", received=repr(given),
                                 fix=f"of {', '.join(known)}")  # fmt: skip
        for what, width in (("embedding", self.embedding), ("soft", self.soft)):
            if width is not None and (type(width) is not int or width < 1):
                raise SpaceError(f"'{what}' takes a width", where=f"Space.{what}", received=repr(width),
                                 fix=f"{what}=64, or None")  # fmt: skip
        if self.soft is not None and "weighted_sum" not in self.merges:
            raise SpaceError("soft ordering mixes by weighted sums", where="Space.merges", received=repr(self.merges),
                             fix="merges=('weighted_sum',)")  # fmt: skip

    def ranges_of(self, kind: str) -> Ranges:
        """The hyperparameters of one kind of layer."""
        for layer in self.layers:
            if layer.name == kind:
                return layer.ranges
        raise SpaceError("the space has no such layer", where="space", received=repr(kind),
                         fix=f"one of {', '.join(layer.name for layer in self.layers)}")  # fmt: skip

    @property
    def merge(self) -> Choice | None:
        return Choice(*self.merges) if self.merges else None

    def fits(self, shape: Shape, vocabulary: int | None) -> None:
        """Refuse a space with layers that are not legal for such inputs."""
        if (vocabulary is None) != (self.embedding is None):
            raise SpaceError("inputs of integers, and only these, are embedded", where="Space.embedding",
                             received=f"embedding={self.embedding}, vocabulary={vocabulary}",
                             fix="give both or neither")  # fmt: skip
        rank = len(shape) + (vocabulary is not None)
        for layer in self.layers:
            if rank not in kind_of(layer.name, "space").ranks:
                raise SpaceError(f"{layer.name} cannot stand in a network of such inputs", where="Space.layers",
                                 received=f"inputs of shape {shape}", fix="leave it out")  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        return {
            "layers": [{"name": layer.name, "ranges": _written(layer.ranges)} for layer in self.layers],
            "merges": list(self.merges),
            "settings": _written(self.settings),
            "head": self.head,
            "embedding": self.embedding,
            "soft": self.soft,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Space:
        try:
            layers = tuple(LayerKind(item["name"], _read(item["ranges"])) for item in data["layers"])
            rest = {name: data[name] for name in ("head", "embedding", "soft")}
            return cls(layers, tuple(data["merges"]), _read(data["settings"]), **rest)
        except (KeyError, TypeError, AttributeError) as error:
            raise SpaceError("this is not a space", where="Space.from_dict", received=repr(data)[:120],
                             fix="what Space.to_dict() gave") from error  # fmt: skip

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=1)

    @classmethod
    def from_json(cls, text: str) -> Space:
        return cls.from_dict(json.loads(text))


def weighted(
    units: tuple[int, int], *, kernels: tuple[int, ...] = (), activation: bool = True,
    regularizers: tuple[str, ...] = ("l2",), strength: tuple[float, float] = (1e-9, 1e-3),
) -> dict[str, Range]:  # fmt: skip
    """The hyperparameters of a layer with weights as the paper's table has them."""
    found: dict[str, Range] = {"units": Whole(*units)}
    if kernels:
        found["kernel"] = Choice(*kernels)
    if activation:
        found["activation"] = Choice(*ACTIVATIONS)
    found["regularizer"] = Choice(*regularizers)
    found["strength"] = Real(*strength, log=True)
    return {**found, "initialization": Choice(*SCHEMES)}


def whole_network(learning_rate: tuple[float, float]) -> dict[str, Range]:
    """The hyperparameters of the whole network: its learning rate, and the initialization where no gene stands."""
    return {"learning_rate": Real(*learning_rate, log=True), "initialization": Choice(*SCHEMES)}



def _written(ranges: Ranges) -> dict[str, Any]:
    return {name: range_to_dict(given) for name, given in ranges}


def _read(data: Mapping[str, Any]) -> dict[str, Range]:
    return {name: range_from_dict(given) for name, given in data.items()}
