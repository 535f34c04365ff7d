"""An assembled network: a flat list of layers with their shapes, ready to be built in any framework."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...core.lazy import lazy
from .layers import KINDS, Shape, check_settings, shape_after
from .problems import GenomeError
from .ranges import Value, pairs

KEY_DIGITS = 16


@dataclass(frozen=True)
class Input:
    """What a task's networks read: a shape without the batch; for integers how many different ones there are."""

    shape: Shape
    vocabulary: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", tuple(self.shape))


@dataclass(frozen=True)
class Output:
    """One answer of a network: a dense layer of so many units, without activation."""

    name: str
    units: int


@dataclass(frozen=True)
class Layer:
    """One call of a layer. `shares` names the earlier layer whose weights it uses, None if it has its own."""

    name: str
    kind: str
    settings: tuple[tuple[str, Any], ...]
    inputs: tuple[str, ...]
    shape: Shape
    shares: str | None = None

    def __getitem__(self, name: str) -> Any:
        return dict(self.settings)[name]

    def get(self, name: str, default: Any = None) -> Any:
        return dict(self.settings).get(name, default)

    @property
    def owner(self) -> str:
        """The layer whose weights are used."""
        return self.shares or self.name

    def to_dict(self) -> dict[str, Any]:
        told: dict[str, Any] = {
            "name": self.name, "kind": self.kind, "settings": dict(self.settings), "inputs": list(self.inputs),
            "shape": list(self.shape),
        }  # fmt: skip
        return told if self.shares is None else {**told, "shares": self.shares}


INPUT = "input"


@dataclass(frozen=True)
class NetworkGenome:
    """What is trained: layers in the order in which they can be computed, and settings of the whole network.

    outputs: name of the output, and of the layer that gives it.
    """

    input: Input
    layers: tuple[Layer, ...]
    outputs: tuple[tuple[str, str], ...]
    settings: tuple[tuple[str, Value], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "outputs", pairs(self.outputs))
        object.__setattr__(self, "settings", pairs(self.settings))
        self._check()

    @lazy
    def shapes(self) -> dict[str, Shape]:
        """Of the input and of every layer's output."""
        return {INPUT: self.input.shape, **{layer.name: layer.shape for layer in self.layers}}

    @lazy
    def key(self) -> str:
        """The same for networks that are the same."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:KEY_DIGITS]

    @property
    def parameters(self) -> int:
        """How many numbers are trained."""
        return sum(self.parameters_of(layer) for layer in self.layers if layer.shares is None)

    def parameters_of(self, layer: Layer) -> int:
        return KINDS[layer.kind].count(dict(layer.settings), [self.shapes[name] for name in layer.inputs])

    def needed(self, outputs: Sequence[str] | None = None) -> tuple[Layer, ...]:
        """The layers that some outputs (all, if none are named) need, in order."""
        wanted = dict(self.outputs)
        needed = set(wanted.values()) if outputs is None else {wanted[name] for name in outputs}
        found = []
        for layer in reversed(self.layers):
            if layer.name in needed:
                needed.update(layer.inputs)
                found.append(layer)
        return tuple(reversed(found))

    def to_dict(self) -> dict[str, Any]:
        return {
            "input": {"shape": list(self.input.shape), "vocabulary": self.input.vocabulary},
            "layers": [layer.to_dict() for layer in self.layers],
            "outputs": dict(self.outputs),
            "settings": dict(self.settings),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> NetworkGenome:
        try:
            layers = tuple(
                Layer(item["name"], item["kind"], pairs(item["settings"]), tuple(item["inputs"]),
                      tuple(item["shape"]), item.get("shares"))
                for item in data["layers"]
            )  # fmt: skip
            given = Input(tuple(data["input"]["shape"]), data["input"]["vocabulary"])
            return cls(given, layers, pairs(data["outputs"]), pairs(data["settings"]))
        except (KeyError, TypeError, AttributeError) as error:
            raise GenomeError("this is not a network", where="NetworkGenome.from_dict", received=repr(data)[:120],
                              fix="what NetworkGenome.to_dict() gave") from error  # fmt: skip

    def to_json(self) -> str:
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> NetworkGenome:
        try:
            return cls.from_dict(json.loads(text))
        except json.JSONDecodeError as error:
            raise GenomeError("this is not JSON", where="NetworkGenome.from_json", received=repr(text[:120]),
                              fix="what NetworkGenome.to_json() gave") from error  # fmt: skip

    def __str__(self) -> str:
        kinds = Counter(layer.kind for layer in self.layers if layer.shares is None)
        settings = ", ".join(f"{name}={value}" for name, value in self.settings)
        told = [f"network {self.key}: {self.parameters:,} parameters; {settings}"]
        told.append("  " + ", ".join(f"{count} {kind}" for kind, count in kinds.items()))
        for layer in self.layers:
            values = ", ".join(f"{name}={value}" for name, value in layer.settings)
            shared = f" with the weights of {layer.shares}" if layer.shares else ""
            size = "×".join(map(str, layer.shape))
            told.append(f"  {layer.name:<22} {size:<12} <- {', '.join(layer.inputs)}{shared}  {values}".rstrip())
        return "\n".join(told)

    def _check(self) -> None:
        """Every layer comes after what it reads, fits its inputs, and shares only with its like."""
        seen: dict[str, Layer] = {}
        shapes: dict[str, Shape] = {INPUT: self.input.shape}
        for layer in self.layers:
            where = f"layer '{layer.name}'"
            settings = dict(layer.settings)
            if layer.name in shapes or any(name not in shapes for name in layer.inputs):
                raise GenomeError("a layer has a name of its own, and reads what comes before it", where=where,
                                  received=", ".join(layer.inputs), fix="give the layers in order")  # fmt: skip
            check_settings(layer.kind, settings, where)
            incoming = [shapes[name] for name in layer.inputs]
            shape = shape_after(layer.kind, settings, incoming, where)
            if shape != layer.shape:
                raise GenomeError("the layer gives another shape", where=where, received=str(layer.shape),
                                  fix=f"shape={shape}")  # fmt: skip
            if layer.shares is not None:
                self._check_shared(layer, seen, shapes)
            seen[layer.name], shapes[layer.name] = layer, shape
        lost = [name for _, name in self.outputs if name not in seen]
        if lost or not self.outputs:
            raise GenomeError("an output is a layer of the network", where="outputs", received=str(dict(self.outputs)),
                              fix="name a layer for each")  # fmt: skip
        unused = {layer.name for layer in self.layers} - {layer.name for layer in self.needed()}
        if unused:
            raise GenomeError("no output needs these layers", where="layers", received=", ".join(sorted(unused)),
                              fix="leave them out")  # fmt: skip

    def _check_shared(self, layer: Layer, seen: Mapping[str, Layer], shapes: Mapping[str, Shape]) -> None:
        owner = seen.get(layer.shares or "")
        if owner is None or owner.shares is not None or (owner.kind, owner.settings) != (layer.kind, layer.settings):
            raise GenomeError("weights are shared with an earlier layer of the same kind and settings",
                              where=f"layer '{layer.name}'", received=repr(layer.shares),
                              fix="shares=None for weights of its own")  # fmt: skip
        channels = [[shapes[name][-1] for name in one.inputs] for one in (owner, layer)]
        if channels[0] != channels[1]:
            raise GenomeError("layers that share weights read as many channels", where=f"layer '{layer.name}'",
                              received=str(channels), fix="project the inputs first")  # fmt: skip
