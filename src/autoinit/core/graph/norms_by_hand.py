"""Normalisations that are written out: x * rsqrt(mean(x²) + eps), (x - mean(x)) / std(x).

What x is multiplied with is made of a reduction of x's squares, and has degree -1 in x: if x is twice as large, it is
half as large. Numbers that are added to a square or root and are small beside one, and lower limits of that size, keep
it from zero and count as nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import prod

from .graph import Node, Reference, Value
from .specs import spec_of

SMALL = 1e-2
FARTHEST = 16
POWERS = {"square": 2.0, "sqrt": 0.5, "rsqrt": -0.5, "reciprocal": -1.0}
KEEP = ("identity", "nan_to_num", "abs", "neg")


@dataclass(slots=True)
class NormByHand:
    """What is normalised, and the calls (by identity) that take part."""

    of: Value
    calls: set[int] = field(default_factory=set)
    squares: bool = False
    """Whether a mean square was met."""


class NormsByHand:
    """Asks of products and quotients whether they are normalisations."""

    def __init__(self, maker: Callable[[Value], Node | None]) -> None:
        self.maker = maker
        self._known: dict[int, NormByHand | None] = {}

    def at(self, node: Node) -> NormByHand | None:
        if id(node) not in self._known:
            self._known[id(node)] = next(self._found(node), None)
        return self._known[id(node)]

    def _found(self, node: Node) -> Iterator[NormByHand]:
        fn, pair = node.attrs.get("fn"), node.inputs
        if fn not in ("mul", "div") or len(pair) != 2:
            return
        for slot in (1,) if fn == "div" else (1, 0):
            x, statistic = pair[1 - slot], self._before_repeats(pair[slot])
            if not isinstance(x, Value) or statistic is None or prod(statistic.shape) >= prod(x.shape):
                continue
            for base, calls in self._bases(x):
                norm = NormByHand(base, {id(node), *calls})
                if self._degree(statistic, norm, 0) == (1.0 if fn == "div" else -1.0) and norm.squares:
                    yield norm

    def _before_repeats(self, ref: Reference) -> Value | None:
        for _ in range(FARTHEST):
            node = self.maker(ref) if isinstance(ref, Value) else None
            if node is None or not spec_of(node.op).moves or len(node.inputs) != 1:
                break
            ref = node.inputs[0]
        return ref if isinstance(ref, Value) else None

    def _bases(self, x: Value) -> Iterator[tuple[Value, set[int]]]:
        """What x may be the deviation of, and x."""
        node = self.maker(x)
        if node is not None and node.attrs.get("fn") == "sub" and isinstance(node.inputs[0], Value):
            norm = NormByHand(node.inputs[0], {id(node)})
            if self._degree(node.inputs[-1], norm, 0) == 1.0:
                yield norm.of, norm.calls
        yield x, set()

    def _degree(self, ref: Reference, norm: NormByHand, depth: int) -> float | None:
        """The degree of a value in what is normalised; None if it is made of anything else."""
        if not isinstance(ref, Value) or depth > FARTHEST:
            return None
        if ref.id == norm.of.id:
            return 1.0
        node = self.maker(ref)
        if node is None:
            return None
        degree = self._of_call(node, norm, depth)
        if degree is not None:
            norm.calls.add(id(node))
        return degree

    def _of_call(self, node: Node, norm: NormByHand, depth: int) -> float | None:
        spec, fn = spec_of(node.op), node.attrs.get("fn")
        data = [ref for ref in node.inputs if ref is not None]
        degrees = [self._degree(ref, norm, depth + 1) for ref in data]
        first = degrees[0] if degrees else None
        if first is None or None in degrees:
            return None
        if spec.moves and len(data) == 1:
            return first
        if spec.reduces:
            return self._reduced(node.attrs["kind"], first, norm)
        scalars = node.attrs.get("scalars") or {}
        if fn in POWERS:
            return first * POWERS[fn]
        if fn == "pow" and list(scalars) == [1]:
            return first * float(scalars[1])
        if fn in KEEP:
            return first
        if fn == "clamp":
            return first if node.attrs["params"][0] <= SMALL and node.attrs["params"][1] > 1.0 else None
        return _arithmetic(fn, degrees, scalars)  # type: ignore[arg-type]

    def _reduced(self, kind: str, degree: float, norm: NormByHand) -> float | None:
        norm.squares |= kind in ("var", "std", "norm") or degree == 2.0
        return {"mean": degree, "sum": degree, "var": 2 * degree, "std": degree, "norm": degree}.get(kind)


def _arithmetic(fn: object, degrees: list[float], scalars: dict[int, float]) -> float | None:
    first, number = degrees[0], next(iter(scalars.values()), None)
    if fn in ("add", "sub", "maximum"):
        alike = all(one == first for one in degrees)
        return first if alike and (number is None or abs(number) <= SMALL) else None
    if fn == "mul":
        return sum(degrees)
    if fn == "div":
        return degrees[0] - degrees[1] if number is None else -first if 0 in scalars else first
    return None
