"""One op call, as lowerings see it: its arguments by name, and ways to put nodes into the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

from ...core.graph.graph import Constant, Node, Reference, Value
from .known import carries_signal, constant_of
from .leaves import tensors_in
from .running import runner
from .schema import arguments, op_name

if TYPE_CHECKING:
    from .tracer import Tracer


class Call:
    """One op call, as lowerings see it."""

    __slots__ = ("args", "func", "kwargs", "name", "outputs", "tensors", "tracer", "values")

    def __init__(self, tracer: Tracer, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], outputs: list[Any]):
        self.tracer, self.func, self.args, self.kwargs = tracer, func, args, kwargs
        self.outputs = outputs
        self.name = op_name(func)
        self.tensors = tensors_in((args, kwargs))
        self.values = arguments(func, args, kwargs)

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def get(self, name: str, default: Any = None) -> Any:
        value = self.values.get(name, default)
        return default if value is None else value

    def emit(self, op: str, inputs: list[Any], outputs: list[Any] | None = None, **attrs: Any) -> list[Value]:
        """Add a node. Inputs: tensors, references, numbers or None; outputs: shapes or tensors (default: the op's)."""
        tracer = self.tracer
        references: list[Reference] = []
        scalars: dict[int, float] = {}
        for k, item in enumerate(inputs):
            if isinstance(item, torch.Tensor):
                references.append(tracer.reference(item))
            elif isinstance(item, (int, float, bool, complex)):
                references.append(None)
                scalars[k] = abs(item) if isinstance(item, complex) else float(item)
            else:
                references.append(item)
        if scalars:
            attrs["scalars"] = scalars
        targets = self.outputs if outputs is None else outputs
        made = [tracer.value(t.shape if isinstance(t, torch.Tensor) else t) for t in targets]
        call = tracer.occurrence if any(isinstance(t, torch.Tensor) for t in targets) else 0
        first = next((k for k, out in enumerate(self.outputs) if targets and out is targets[0]), 0)
        tracer.add(Node(op, tuple(references), tuple(made), attrs, tracer.module, self.name, call, first))
        for target, value in zip(targets, made, strict=True):
            if isinstance(target, torch.Tensor):
                tracer.set(target, value)
        return made

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

    def alias(self, source: Any, output: int = 0) -> None:
        """The output is the same thing as `source` (a reference or a tensor)."""
        reference = self.tracer.reference(source) if isinstance(source, torch.Tensor) else source
        self.tracer.set(self.outputs[output], reference)
