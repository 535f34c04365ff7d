"""One operation, or one layer that is taken whole, as lowerings see it."""

from __future__ import annotations

import inspect
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from keras import KerasTensor
from keras.src.backend.common.variables import Variable

from ...core.graph.graph import Constant, ParameterView, Reference
from ..base_call import BaseCall
from ..views import constant_view, permuted_view, reshaped_view

if TYPE_CHECKING:
    from .tracer import Tracer


class Call(BaseCall["Tracer"]):
    """A call: `name` is the class name of `op` (a `keras.Operation` or `keras.Layer`: hyperparameters live on it).

    Arguments are read by the names of ``op.call``: ``call["x"]``. A weight arrives as the KerasTensor that stands for
    its variable. `outputs` are the call's KerasTensors in order.
    """

    __slots__ = ("args", "kwargs", "op")

    def __init__(self, tracer: Tracer, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], outputs: list[Any]):
        super().__init__(tracer, type(op).__name__, bound_arguments(type(op), args, kwargs), outputs)
        self.op, self.args, self.kwargs = op, args, kwargs

    @property
    def training(self) -> bool:
        """Whether dropout drops and batch norm uses the batch: as the call says, or as the analysis was asked for."""
        given = self.values.get("training")
        return self.tracer.training if given is None else bool(given)

    @staticmethod
    def is_traced(item: Any) -> bool:
        return isinstance(item, KerasTensor)

    @staticmethod
    def number(item: Any) -> float | None:
        return float(item) if is_number(item) else None

    def weight(self, variable: Any) -> Reference:
        """A variable of the layer: a view of the whole parameter, a constant (state), or None for None."""
        return None if variable is None else self.tracer.reference(variable)

    def constant(self, output: int = 0) -> None:
        """The output carries no signal (indices, counts, masks): a constant that holds a sample of its values."""
        self.tracer.set(self.outputs[output], self.tracer.sampled(self.outputs[output]))

    def permuted(self, item: Any, perm: tuple[int, ...]) -> Reference:
        """The item with its axes in another order: a view of a parameter, or a node of its own."""
        ref = self.reference(item)
        if ref is None or perm == tuple(range(len(perm))):
            return ref
        shape = tuple(ref.shape[a] for a in perm)
        if isinstance(ref, ParameterView):
            return permuted_view(ref, perm)
        if isinstance(ref, Constant):
            return constant_view(ref, shape, lambda a: np.transpose(a, perm))
        return self.emit("permute", [ref], [shape], perm=perm)[0]

    def reshaped(self, item: Any, shape: tuple[int, ...]) -> Reference:
        """The item in another shape: a view of a parameter where its entries lie so, or a node of its own."""
        ref = self.reference(item)
        if ref is None or tuple(ref.shape) == tuple(shape):
            return ref
        assert prod(ref.shape) == prod(shape), (ref.shape, shape)
        if isinstance(ref, ParameterView):
            made = reshaped_view(ref, shape)
            if made is not None:
                return made
        if isinstance(ref, Constant):
            return constant_view(ref, shape, lambda a: np.reshape(a, shape))
        return self.emit("reshape", [ref], [shape])[0]

    def unknown(self) -> None:
        """No rule: simulated with the real operation, or passed through, and reported. Integers become constants."""
        self.tracer.opaque(self)


def is_number(item: Any) -> bool:
    if isinstance(item, (bool, int, float, np.number, np.bool_)):
        return True
    return isinstance(item, np.ndarray) and item.ndim == 0


def is_tensor(item: Any) -> bool:
    """Something that has a reference in the graph."""
    return isinstance(item, (KerasTensor, Variable)) or (hasattr(item, "shape") and hasattr(item, "dtype"))


@cache
def _signature(cls: type) -> inspect.Signature | None:
    try:
        return inspect.signature(cls.call)  # type: ignore[attr-defined]
    except (TypeError, ValueError, AttributeError):
        return None


def bound_arguments(cls: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Arguments by the names of ``cls.call``, defaults included; further positional ones under the name of *args."""
    signature = _signature(cls)
    if signature is None:
        return dict(kwargs)
    try:
        bound = signature.bind(None, *args, **kwargs)
    except TypeError:
        return dict(kwargs)
    bound.apply_defaults()
    return dict(list(bound.arguments.items())[1:])
