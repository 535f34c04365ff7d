"""The step of a loop as polynomials of its states, read back from what it makes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

from ..tape import Atom, Of, Step, number_of
from . import polynomials as p
from .matching import MOVES
from .polynomials import Polynomial

FUNCTIONS = {
    "logistic": "sigmoid", "tanh": "tanh", "exp": "exp", "sin": "sin", "cos": "cos", "erf": "erf", "atan": "atan",
}  # fmt: skip
"""Primitive -> name in the neutral vocabulary."""


class Unknown(Exception):
    """This is not of a kind that is looked for."""


class Reader:
    """Polynomials of the arrays in one step of a loop, for the states `own` of one cell."""

    def __init__(
        self, carried: Sequence[Atom], scanned: Mapping[int, Atom], depends: Callable[[Atom], frozenset[int]],
        own: frozenset[int],
    ) -> None:  # fmt: skip
        """`scanned`: by the identity of the array in the step, that of all steps. `depends`: on which states."""
        self._carried = {id(atom): k for k, atom in enumerate(carried)}
        self._scanned, self._depends, self._own = scanned, depends, own
        self._known: dict[tuple[int, int, int, int, int | None], Polynomial] = {}

    def whole(self, atom: Atom) -> Polynomial:
        """Of all entries along the last axis."""
        if not atom.shape:
            raise Unknown
        return self.read(atom, len(atom.shape) - 1, 0, atom.shape[-1], None)

    def read(self, atom: Atom, axis: int, start: int, stop: int, time: int | None) -> Polynomial:
        """Of the entries from `start` to `stop` along an axis. `time`: the axis of steps, outside of the loop."""
        key = (id(atom), axis, start, stop, time)
        if key not in self._known:
            self._known[key] = self._read(atom, axis, start, stop, time)
        return self._known[key]

    def _read(self, atom: Atom, axis: int, start: int, stop: int, time: int | None) -> Polynomial:
        value = number_of(atom)
        if value is not None:
            return p.number(value)
        carry = self._carried.get(id(atom))
        if carry in self._own:
            if axis != len(atom.shape) - 1 or (start, stop) != (0, atom.shape[axis]):
                raise Unknown
            return p.single(p.State(carry))
        if id(atom) in self._scanned:
            return self.read(self._scanned[id(atom)], axis + 1, start, stop, 0)
        free = not self._depends(atom) & self._own
        try:
            if atom.step is not None and (not free or atom.step.name in LINEAR):
                return READ[atom.step.name](self, atom.step, atom, axis, start, stop, time)
        except (Unknown, KeyError):
            pass
        if not free:
            raise Unknown
        if atom.of is not Of.PARAMETERS:
            return p.single(p.Other(p.Source(atom, axis, time)))
        if prod(atom.shape) != atom.shape[axis]:
            raise Unknown
        return p.single(p.Vector(atom, start, stop))

    # --- steps -------------------------------------------------------------------------------------------------------

    def _moved(self, step: Step, out: Atom, axis: int, start: int, stop: int, time: int | None) -> Polynomial:
        inner = moved_axis(step, axis)
        return self.read(step.inputs[0], inner, start, stop, None if time is None else moved_axis(step, time))

    def _cut(self, step: Step, out: Atom, axis: int, start: int, stop: int, time: int | None) -> Polynomial:
        low = 0
        x = step.inputs[0]
        if step.name == "split":
            if step.params["axis"] != axis:
                raise Unknown
            low = sum(step.params["sizes"][: out.index])
        else:
            if step.params["strides"] is not None and any(n != 1 for n in step.params["strides"]):
                raise Unknown
            if any(n != m for a, (n, m) in enumerate(zip(x.shape, out.shape, strict=True)) if a != axis):
                raise Unknown
            low = step.params["start_indices"][axis]
        return self.read(x, axis, low + start, low + stop, time)

    def _joined(self, step: Step, out: Atom, axis: int, start: int, stop: int, time: int | None) -> Polynomial:
        if step.params["dimension"] != axis:
            raise Unknown
        low = 0
        for part in step.inputs:
            high = low + part.shape[axis]
            if low <= start and stop <= high:
                return self.read(part, axis, start - low, stop - low, time)
            low = high
        raise Unknown

    def _sum(self, step: Step, out: Atom, axis: int, start: int, stop: int, time: int | None) -> Polynomial:
        one, two = self._both(step, out, axis, start, stop, time)
        return one + two.times(-1.0 if step.name == "sub" else 1.0)

    def _times(self, step: Step, out: Atom, axis: int, start: int, stop: int, time: int | None) -> Polynomial:
        one, two = self._both(step, out, axis, start, stop, time)
        return one * (p.function("reciprocal", two) if step.name == "div" else two)

    def _both(self, step: Step, out: Atom, axis: int, start: int, stop: int, time: int | None) -> list[Polynomial]:
        """Operands of one shape, but for numbers."""
        return [
            p.number(value) if (value := number_of(x)) is not None else self.read(x, axis, start, stop, time)
            for x in step.inputs
        ]

    def _power(self, step: Step, out: Atom, axis: int, start: int, stop: int, time: int | None) -> Polynomial:
        x, power = self.read(step.inputs[0], axis, start, stop, time), step.params.get("y", 2)
        if power == -1:
            return p.function("reciprocal", x)
        if power != 2:
            raise Unknown
        return x * x

    def _negative(self, step: Step, out: Atom, axis: int, start: int, stop: int, time: int | None) -> Polynomial:
        return self.read(step.inputs[0], axis, start, stop, time).times(-1.0)

    def _function(self, step: Step, out: Atom, axis: int, start: int, stop: int, time: int | None) -> Polynomial:
        return p.function(FUNCTIONS[step.name], self.read(step.inputs[0], axis, start, stop, time))

    def _larger(self, step: Step, out: Atom, axis: int, start: int, stop: int, time: int | None) -> Polynomial:
        for x, bound in (step.inputs, step.inputs[::-1]):
            if number_of(bound) == 0.0:
                return p.function("relu", self.read(x, axis, start, stop, time))
        raise Unknown

    # --- products ----------------------------------------------------------------------------------------------------

    def _product(self, step: Step, out: Atom, axis: int, start: int, stop: int, time: int | None) -> Polynomial:
        """A matrix of parameters by an array, along one axis of both."""
        inner, batch = step.params["dimension_numbers"]
        if any(batch) or any(len(axes) != 1 for axes in inner):
            raise Unknown
        side = next((k for k in (1, 0) if step.inputs[k].of is Of.PARAMETERS), None)
        if side is None or len(step.inputs[side].shape) != 2:
            raise Unknown
        places = [(k, a) for k in (0, 1) for a in range(len(step.inputs[k].shape)) if a != inner[k][0]]
        at, outer = places[axis]
        if at != side:
            raise Unknown
        x, c = step.inputs[1 - side], inner[1 - side][0]
        steps = None if time is None else places[time][1]
        if time is not None and places[time][0] == side:
            raise Unknown
        weight = p.Weight(step.inputs[side], inner[side][0], outer, (0, x.shape[c]), (start, stop))
        return self._by(weight, x, c, steps)

    def _by(self, weight: p.Weight, x: Atom, axis: int, time: int | None) -> Polynomial:
        """A weight by all entries along an axis of an array."""
        while x.step is not None and id(x) not in self._scanned and x.step.name in MOVES:
            try:
                inner, steps = moved_axis(x.step, axis), None if time is None else moved_axis(x.step, time)
            except Unknown:
                break
            x, axis, time = x.step.inputs[0], inner, steps
        if id(x) in self._scanned:
            return self._by(weight, self._scanned[id(x)], axis + 1, 0)
        if x.step is not None and x.step.name == "concatenate" and x.step.params["dimension"] == axis:
            made, low = p.number(0.0), weight.rows[0]
            for part in x.step.inputs:
                high = low + part.shape[axis]
                rows = p.Weight(weight.atom, weight.inner, weight.outer, (low, high), weight.columns)
                made, low = made + self._by(rows, part, axis, time), high
            return made
        carry = self._carried.get(id(x))
        if carry in self._own:
            if axis != len(x.shape) - 1:
                raise Unknown
            return p.single(p.Product(weight, p.State(carry)))
        if not self._depends(x) & self._own:
            return p.single(p.Product(weight, p.Source(x, axis, time)))
        return p.single(p.Product(weight, self.read(x, axis, 0, x.shape[axis], time)))


Read = Callable[[Reader, Step, Atom, int, int, int, "int | None"], Polynomial]
READ: dict[str, Read] = {
    **dict.fromkeys(MOVES, Reader._moved), **dict.fromkeys(FUNCTIONS, Reader._function),
    "slice": Reader._cut, "split": Reader._cut, "concatenate": Reader._joined, "add": Reader._sum, "sub": Reader._sum,
    "add_any": Reader._sum, "mul": Reader._times, "div": Reader._times, "neg": Reader._negative,
    "integer_pow": Reader._power, "square": Reader._power, "max": Reader._larger, "dot_general": Reader._product,
}  # fmt: skip
LINEAR = MOVES | {"slice", "split", "concatenate", "add", "add_any", "dot_general"}
"""What is looked through although no state goes into it: there may be a product with a weight behind."""


def moved_axis(step: Step, axis: int) -> int:
    """Where an axis of what a move makes was before."""
    x, out = step.inputs[0], step.outputs[0]
    if step.name == "transpose":
        return int(step.params["permutation"][axis])
    if step.name == "broadcast_in_dim":
        found = [k for k, a in enumerate(step.params["broadcast_dimensions"]) if a == axis]
        if not found or x.shape[found[0]] != out.shape[axis]:
            raise Unknown
        return found[0]
    if step.name not in ("reshape", "squeeze", "expand_dims"):
        return axis
    after = prod(out.shape[axis + 1 :])
    for a, n in enumerate(x.shape):
        if n == out.shape[axis] and prod(x.shape[a + 1 :]) == after:
            return a
    raise Unknown
