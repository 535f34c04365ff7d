"""The tables of lowerings, filled by decorators."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import keras

from ...axes import axes_of, axis_of, per_axis
from ...base_call import into

if TYPE_CHECKING:
    from ..call import Call

Lowering = Callable[["Call"], None]

OPERATIONS: dict[str, Lowering] = {}
LAYERS: dict[str, Lowering] = {}
CONDITIONS: dict[str, Callable[[Any], bool]] = {}


def keras_op(*names: str) -> Callable[[Lowering], Lowering]:
    """Register a lowering for operations of keras.ops, by the names of their classes ("Matmul")."""
    return into(OPERATIONS, names)


def keras_layer(*names: str, when: Callable[[Any], bool] | None = None) -> Callable[[Lowering], Lowering]:
    """Register a lowering for layers that are taken whole, by the names of their classes ("Dropout").

    It holds for subclasses too, as long as they do not bring a `call` of their own. With `when`, only those layers are
    taken whole that it is true of; the others are entered.
    """
    if when is not None:
        CONDITIONS.update(dict.fromkeys(names, when))
    return into(LAYERS, names)


@cache
def _known_as(cls: type) -> str | None:
    """The name under which a layer class is taken whole; None if its `call` is entered."""
    for base in cls.__mro__:
        if base.__module__.startswith("keras.") and base.__name__ in LAYERS:
            same = getattr(cls, "call", None) is getattr(base, "call", None)
            return base.__name__ if same else None
    return None


def layer_lowering(layer: Any) -> Lowering | None:
    """How a layer (or a layer class as such) is taken whole; None if its `call` is entered."""
    known = isinstance(layer, type)
    cls: Any = layer if known else type(layer)
    name = _known_as(cls)
    if name is None or (not known and name in CONDITIONS and not CONDITIONS[name](layer)):
        return None
    return LAYERS[name]


def has_lowering(op: Any) -> bool:
    """Whether an operation or layer (object or class) is known."""
    cls = op if isinstance(op, type) else type(op)
    if issubclass(cls, keras.layers.Layer):
        return layer_lowering(op) is not None
    return cls.__name__ in OPERATIONS


def lower(call: Call) -> bool:
    """Lower a call; False if nothing is known about its operation."""
    cls = type(call.op)
    found = layer_lowering(call.op) if issubclass(cls, keras.layers.Layer) else OPERATIONS.get(cls.__name__)
    if found is None:
        return False
    found(call)
    return True


__all__ = [
    "LAYERS", "OPERATIONS", "axes_of", "axis_of", "has_lowering", "keras_layer", "keras_op", "layer_lowering", "lower",
    "per_axis",
]  # fmt: skip
