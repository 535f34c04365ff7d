"""Deciding the scale of parameters.

A weight may reach a contraction as it is, through views, or through arithmetic inside forward (a gain, a
standardisation, a weight norm). Every tensor made of parameters alone is carried as a `Derived`: its moments for
parameters of unit scale, and the *degree* with which it follows the scale of each. Degree one means that
doubling the parameter doubles the tensor; degree zero that it was normalised away. The first contraction that
meets an undecided parameter of non-zero degree decides it; later ones get what they get.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod

from .graph import Node, Parameter, ParameterView, Shape
from .signal import Signal, constant, iid

Block = tuple[tuple[int, int], ...]

HOMOGENEOUS = {"abs", "neg", "relu", "leaky_relu", "prelu"}
"""Elementwise functions with f(c x) = c f(x) for c > 0."""
DEGREES = {"square": 2.0, "sqrt": 0.5, "rsqrt": -0.5, "reciprocal": -1.0}
LINEAR = {
    "identity", "reshape", "permute", "expand", "repeat", "slice", "select", "split", "unbind", "gather", "shuffle",
    "diagonal", "triangle", "pad", "unfold", "dropout",
}  # fmt: skip


def block(view: ParameterView, shape: Shape) -> Block | None:
    """The view as ranges per axis of the (contiguous) parameter, or None if it is no such box."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= n
    strides.reverse()
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


@dataclass(slots=True)
class Derived:
    """A tensor made of parameters (and constants) alone."""

    unit: Signal
    """Its moments when every undecided parameter has unit scale."""
    degrees: dict[ParameterView, float]
    as_is: Callable[[], Signal]
    gains: frozenset[str] = frozenset()
    """Parameters that act as a gain: filled with a constant rather than drawn."""


def fresh(view: ParameterView) -> Signal:
    return iid(view.shape, 0.0, 1.0)


def gain(view: ParameterView) -> Signal:
    return constant(view.shape, 1.0)


def combined_degrees(node: Node, parts: list[Derived | None]) -> dict[ParameterView, float] | None:
    """Degrees of a node's output in the parameters of its inputs; None where the dependence is no power law."""
    op = node.op
    known = [p for p in parts if p is not None]
    if node.attrs.get("scale_free"):
        return {}
    if op in LINEAR:
        return dict(known[0].degrees)
    if op == "reduce":
        kind = node.attrs["kind"]
        if kind == "var":
            return {v: 2 * d for v, d in known[0].degrees.items()}
        return dict(known[0].degrees) if kind in ("mean", "sum", "max", "min", "std", "norm") else None
    if op in ("concat", "stack"):
        first = known[0].degrees
        return dict(first) if all(p is not None and p.degrees == first for p in parts) else None
    if op == "normalize":
        scale = parts[1] if len(parts) > 1 else None
        return dict(scale.degrees) if scale is not None else {}
    if op == "weight_norm":
        return dict(parts[1].degrees) if parts[1] is not None else {}
    if op in ("matmul", "einsum", "linear"):
        return _added(known, 1.0)
    if op == "elementwise":
        return _elementwise_degrees(node, parts, known)
    return None


def _added(known: list[Derived], sign_of_second: float) -> dict[ParameterView, float]:
    total: dict[ParameterView, float] = {}
    for k, part in enumerate(known):
        for view, d in part.degrees.items():
            total[view] = total.get(view, 0.0) + (d if k == 0 else sign_of_second * d)
    return {view: d for view, d in total.items() if abs(d) > 1e-9}


def _elementwise_degrees(
    node: Node, parts: list[Derived | None], known: list[Derived]
) -> dict[ParameterView, float] | None:
    fn = node.attrs["fn"]
    if fn in HOMOGENEOUS:
        return dict(known[0].degrees)
    if fn in DEGREES:
        return {v: DEGREES[fn] * d for v, d in known[0].degrees.items()}
    if fn == "mul":
        return _added(known, 1.0)
    if fn == "div":
        if parts[0] is None:
            return {v: -d for v, d in known[0].degrees.items()}
        return _added(known, -1.0)
    if fn in ("add", "sub", "maximum", "clamp"):
        if len(known) == 2:
            a, b = known
            if a.degrees == b.degrees:
                return dict(a.degrees)
            if b.as_is().second == 0.0:
                return dict(a.degrees)
            return dict(b.degrees) if a.as_is().second == 0.0 else None
        offset = max((abs(float(v)) for v in node.attrs.get("scalars", {}).values()), default=None)
        if fn == "clamp" or (offset is not None and offset <= 1e-2):
            return dict(known[0].degrees)
        return None
    if fn == "pow":
        power = node.attrs.get("scalars", {}).get(1)
        return None if power is None else {v: power * d for v, d in known[0].degrees.items()}
    return None


def fan_of(view_shape: Shape, rows: tuple[int, ...]) -> int:
    """How many entries of a weight feed one output, from its shape."""
    return max(prod(n for axis, n in enumerate(view_shape) if axis not in rows), 1)
