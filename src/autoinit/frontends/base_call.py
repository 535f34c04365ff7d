"""One op call, as lowerings see it in every framework: its arguments by name, and ways to put nodes into the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from ..core.graph.graph import Constant, Node, ParameterView, Reference, Value
from .base_tracer import BaseTracer

T = TypeVar("T", bound=BaseTracer)
L = TypeVar("L", bound=Callable[..., None])


class BaseCall(Generic[T]):
    """`values`: the arguments by name; `outputs`: the tensors that the call made, in order."""

    __slots__ = ("name", "outputs", "tracer", "values")

    def __init__(self, tracer: T, name: str, values: dict[str, Any], outputs: list[Any]) -> None:
        self.tracer, self.name, self.values, self.outputs = tracer, name, values, outputs

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def get(self, name: str, default: Any = None) -> Any:
        value = self.values.get(name, default)
        return default if value is None else value

    @staticmethod
    def is_traced(item: Any) -> bool:
        """Whether this is a tensor of the framework that the walk follows."""
        raise NotImplementedError

    @staticmethod
    def number(item: Any) -> float | None:
        """The size of a number; None if the item is something else."""
        raise NotImplementedError

    def reference(self, item: Any) -> Reference:
        """What a tensor, or whatever holds values, stands for in the graph."""
        if item is None or isinstance(item, (Value, ParameterView, Constant)):
            return item
        return self.tracer.reference(item)

    def emit(self, op: str, inputs: list[Any], outputs: list[Any] | None = None, **attrs: Any) -> list[Value]:
        """Add a node. Inputs: tensors, references, numbers or None; outputs: shapes or tensors (default: the op's)."""
        tracer = self.tracer
        numbers = [self.number(item) for item in inputs]
        references = tuple(
            self.reference(item) if size is None else None for item, size in zip(inputs, numbers, strict=True)
        )
        scalars = {k: size for k, size in enumerate(numbers) if size is not None}
        if scalars:
            attrs["scalars"] = scalars
        targets = self.outputs if outputs is None else outputs
        made = [tracer.value(t.shape if self.is_traced(t) else t) for t in targets]
        call = tracer.occurrence if any(map(self.is_traced, targets)) else 0
        first = next((k for k, out in enumerate(self.outputs) if targets and out is targets[0]), 0)
        tracer.add(Node(op, references, tuple(made), attrs, tracer.module, self.name, call, first))
        for target, value in zip(targets, made, strict=True):
            if self.is_traced(target):
                tracer.set(target, value)
        return made

    def alias(self, source: Any, output: int = 0) -> None:
        """The output is the same thing as `source` (a reference, or what has one)."""
        self.tracer.set(self.outputs[output], self.reference(source))


def into(table: dict[str, L], names: tuple[str, ...]) -> Callable[[L], L]:
    """The decorator that registers a lowering under these names."""

    def register(function: L) -> L:
        for name in names:
            assert name not in table, name
            table[name] = function
        return function

    return register
