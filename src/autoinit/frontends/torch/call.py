"""One ATen op call, as lowerings see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

from ...core.graph.graph import Constant
from ..base_call import BaseCall
from .known import carries_signal, constant_of
from .leaves import tensors_in
from .running import runner
from .schema import arguments, op_name

if TYPE_CHECKING:
    from .tracer import Tracer


class Call(BaseCall["Tracer"]):
    """One op call, as lowerings see it."""

    __slots__ = ("args", "func", "kwargs", "tensors")

    def __init__(self, tracer: Tracer, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], outputs: list[Any]):
        super().__init__(tracer, op_name(func), arguments(func, args, kwargs), outputs)
        self.func, self.args, self.kwargs = func, args, kwargs
        self.tensors = tensors_in((args, kwargs))

    @staticmethod
    def is_traced(item: Any) -> bool:
        return isinstance(item, torch.Tensor)

    @staticmethod
    def number(item: Any) -> float | None:
        if isinstance(item, (int, float)):
            return float(item)
        return abs(item) if isinstance(item, complex) else None

    def unknown(self) -> None:
        """A node without a rule: it is simulated with the real op, or passed through. Integers become constants."""
        tensors = self.tensors
        carrying = [k for k, t in enumerate(self.outputs) if carries_signal(t)]
        for k, out in enumerate(self.outputs):
            if k not in carrying:
                constant_of(self.tracer, out)
        if not carrying:
            return
        parts = tuple(k for k, t in enumerate(tensors) if t.is_complex())
        self.emit("opaque", tensors, [self.outputs[k] for k in carrying], **({"complex": parts} if parts else {}))
        if not self.tracer.suppressed:
            self.tracer.graph.nodes[-1].run = runner(self.func, self.args, self.kwargs, carrying)

    def companions(self) -> None:
        """Further outputs (indices, saved statistics) that nothing needs to know anything about."""
        for out in self.outputs[1:]:
            if out.dtype.is_floating_point or not isinstance(out, FakeTensor):
                self.tracer.set(out, Constant(tuple(out.shape), lambda: None))
            else:
                constant_of(self.tracer, out)
