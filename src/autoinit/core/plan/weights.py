"""Regions of parameters, and what is put there."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

from ..graph.graph import Parameter, ParameterView, Shape

Block = tuple[tuple[int, int], ...]


def c_strides(shape: Shape) -> Shape:
    """Strides, in entries, of an array in C order."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= n
    return tuple(reversed(strides))


def whole(parameter: Parameter) -> ParameterView:
    """The view that is all of a parameter."""
    return ParameterView(parameter.name, parameter.shape, c_strides(parameter.shape), 0, True)


def block(view: ParameterView, shape: Shape) -> Block | None:
    """The view as ranges per axis of the (contiguous) parameter, or None if it is no such box."""
    strides = c_strides(shape)
    rest, starts = view.offset, []
    for s in strides:
        starts.append(rest // s if s else 0)
        rest %= s or 1
    ranges = [(start, start + 1) for start in starts]
    free = {s: k for k, (s, n) in enumerate(zip(strides, shape, strict=True)) if n > 1}
    for n, s in sorted(zip(view.shape, view.stride, strict=True), key=lambda pair: pair[1]):
        if n == 1:
            continue
        if s not in free:
            return None
        k = free.pop(s)
        while n > shape[k] - starts[k]:  # a view that merges axes of the parameter
            if starts[k] or n % shape[k] or k == 0:
                return None
            ranges[k] = (0, shape[k])
            n //= shape[k]
            k -= 1
            free.pop(strides[k], None)
        ranges[k] = (starts[k], starts[k] + n)
    return tuple(ranges)


def overlap(a: Block, b: Block) -> bool:
    return all(x[0] < y[1] and y[0] < x[1] for x, y in zip(a, b, strict=True))


@dataclass(slots=True)
class Part:
    """One region of a parameter and what is put there."""

    view: ParameterView
    std: float
    kind: str = "random"
    """random: drawn from the distribution; constant: filled with `std`; orthogonal, uniform: drawn so always;
    centre: minus the incoming mean times the row sums of the weight named in `of`."""
    rows: tuple[int, ...] = (0,)
    groups: int = 1
    of: ParameterView | None = None
    """For a centring bias: the weight whose row sums it takes; `rows` and `groups` are that weight's."""
    value: float = 0.0
    """For a centring bias: the incoming mean that it cancels."""
    node: int | None = None
    """The call whose output it was solved for."""


@dataclass(slots=True)
class Decision:
    """What happens to one parameter, and why."""

    parameter: Parameter
    action: str = "unreached"
    reason: str = "never used by the forward pass that was walked"
    parts: list[tuple[Block, Part]] = field(default_factory=list)
    node: int | None = None
    uses: list[int] = field(default_factory=list)

    def covering(self, region: Block) -> Part | None:
        for known, part in self.parts:
            if overlap(known, region):
                return part
        return None


def fan_of(view_shape: Shape, rows: tuple[int, ...]) -> int:
    """How many entries of a weight feed one output, from its shape."""
    return max(prod(n for axis, n in enumerate(view_shape) if axis not in rows), 1)
