"""What an argument of a call is: its shape, a number, an array, something that is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....core.graph.graph import Constant, ParameterView, Value

if TYPE_CHECKING:
    from ..call import Call

References = (Value, ParameterView, Constant)


def operand(item: Any) -> Any:
    """Lists and tuples of numbers as arrays; everything else as it is."""
    return np.asarray(item) if isinstance(item, (list, tuple)) else item


def shape_of(item: Any) -> tuple[int, ...]:
    """The shape of a tensor, array, reference or number."""
    if hasattr(item, "shape"):
        return tuple(int(n) for n in item.shape)
    return tuple(np.shape(item))


def reference_of(call: Call, item: Any) -> Any:
    """The reference of an argument; None for None and for plain numbers."""
    if item is None or isinstance(item, References):
        return item
    if isinstance(item, (bool, int, float)):
        return None
    return call.reference(operand(item))


def known_array(call: Call, item: Any) -> np.ndarray[Any, Any] | None:
    """The values of a constant, array or number; None if they depend on data or are to be set."""
    if isinstance(item, (bool, int, float)):
        return np.asarray(item)
    ref = reference_of(call, item)
    found = ref.array() if isinstance(ref, Constant) else None
    return None if found is None else np.asarray(found)


def carries_signal(tensor: Any) -> bool:
    """Whether a tensor is of floats: integers, booleans and strings carry no signal."""
    name = str(getattr(tensor, "dtype", ""))
    return "float" in name or "complex" in name


def settle(call: Call, made: Any, output: int = 0) -> None:
    """Bind an output of the call to a reference; a value gets a row of its own, a view or a constant needs none."""
    if isinstance(made, Value):
        call.emit("identity", [made], [call.outputs[output]])
    else:
        call.alias(made, output)
