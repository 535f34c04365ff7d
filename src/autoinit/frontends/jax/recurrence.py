"""Loops over steps in time whose states are cells of recurrent layers: one op per cell, and the rest outside of it.

What a step does besides its cells (products before, layers between, heads behind) is the same at all steps, and so it
is done for all of them at once, time being one axis more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
from jax import lax
from jax import numpy as jnp

from .structure.cells import Cell, cells_of
from .structure.polynomials import Vector, Weight
from .tape import Atom, Of, Step, Whole, abstract, bound, dependence

if TYPE_CHECKING:
    from .flatten import Flattener

MOST_STEPS = 1000
"""The body of a loop with more equations is not searched for cells."""
LABELS = {"lstm": "lstm", "gru": "gru"}


class _Impossible(Exception):
    """This loop cannot be taken apart."""


def recurrence(
    flat: Flattener, params: dict[str, Any], atoms: Sequence[Atom], stack: str
) -> list[Atom] | None:  # fmt: skip
    """The outputs of a scan; None if its states are no cells, and nothing was done."""
    fixed, states = params["num_consts"], params["num_carry"]
    used, first, scanned = atoms[:fixed], atoms[fixed : fixed + states], atoms[fixed + states :]
    if not any(a.of & Of.PARAMETERS for a in used) or any(a.of & Of.PARAMETERS and not a.is_signal for a in scanned):
        return None
    if not any(a.is_float for a in first):
        return None
    mark = len(flat.tape.steps)
    body = params["jaxpr"].jaxpr
    kept = [body.outvars[k] is body.invars[fixed + k] for k in range(states)]
    carried = [a if same else Atom(a.shape, a.dtype, _of(a)) for a, same in zip(first, kept, strict=True)]
    rows = [Atom(a.shape[1:], a.dtype, a.of or Of.WORDS) for a in scanned]
    made = flat.program(params["jaxpr"], [*used, *carried, *rows], stack)
    steps = flat.rewind(mark)
    loop = _Loop(flat, stack, params["length"], carried, rows, steps, made)
    if len(steps) <= MOST_STEPS:
        own = [k for k in range(states) if carried[k] is not first[k] and carried[k].is_float]
        ordered = [flat.rev(a, stack) if params["reverse"] else a for a in scanned]
        found = cells_of(carried, made[:states], dict(zip(map(id, rows), ordered, strict=True)), loop.depends, own)
        try:
            if found:
                return loop.outside(found, first, ordered, params["reverse"])
        except _Impossible:
            pass
    flat.rewind(mark)
    return None


def _of(atom: Atom) -> Of:
    """What a state depends on, that nobody knows."""
    if atom.is_float:
        return Of.SIGNAL
    return Of.CHANCE if jnp.issubdtype(atom.dtype, jax.dtypes.prng_key) else Of.WORDS


class _Loop:
    """The body of a loop, and what its arrays are over all steps."""

    def __init__(
        self, flat: Flattener, stack: str, length: int, carried: list[Atom], rows: list[Atom], steps: list[Step],
        made: list[Atom],
    ) -> None:  # fmt: skip
        self.flat, self.stack, self.length = flat, stack, length
        self.carried, self.steps, self.made = carried, steps, made
        self._states: dict[int, frozenset[int]] = {id(a): frozenset([k]) for k, a in enumerate(carried)}
        self._varies = {id(a) for a in (*carried, *rows)}
        self._inside = {id(out): step for step in steps for out in step.outputs}
        for step in steps:
            on: frozenset[int] = frozenset().union(*(self.depends(a) for a in step.inputs))
            varies = any(id(a) in self._varies for a in step.inputs)
            for out in step.outputs:
                self._states[id(out)] = on
                if varies:
                    self._varies.add(id(out))
        self.rows = rows
        self._over: dict[int, Atom] = {}
        """By the array of one step: that of all steps."""
        self._cells: dict[int, Cell] = {}
        """By the arrays that they carry and make."""
        self._last: dict[int, Atom] = {}

    def depends(self, atom: Atom) -> frozenset[int]:
        return self._states.get(id(atom), frozenset())

    def outside(self, cells: list[Cell], first: Sequence[Atom], scanned: Sequence[Atom], reverse: bool) -> list[Atom]:
        """All outputs of the loop."""
        self.flat.tape.steps += [s for s in self.steps if not any(id(out) in self._varies for out in s.outputs)]
        self.first = first
        self._over.update(zip(map(id, self.rows), scanned, strict=True))
        for cell in cells:
            for k in cell.states:
                self._cells[id(self.carried[k])] = self._cells[id(self.made[k])] = cell
        self._counters({k for cell in cells for k in cell.states})
        for cell in cells:
            self._run(cell)
        last = [self._last.get(k, first[k]) for k in range(len(first))]
        rows = [self.over(atom) for atom in self.made[len(first) :]]
        return [*last, *(self.flat.rev(row, self.stack) if reverse else row for row in rows)]

    # --- arrays of all steps -----------------------------------------------------------------------------------------

    def over(self, atom: Atom) -> Atom:
        """An array of one step, for all steps: with an axis for them in front."""
        if id(atom) in self._varies:
            return self._varying(atom)
        shape = (self.length, *atom.shape)
        dims = tuple(range(1, len(shape)))
        settings = {"shape": shape, "broadcast_dimensions": dims, "sharding": None}
        return self.flat.step(lax.broadcast_in_dim_p, settings, [atom], [abstract(shape, atom.dtype)], self.stack)[0]

    def _varying(self, atom: Atom) -> Atom:
        if id(atom) not in self._over:
            cell = self._cells.get(id(atom))
            if cell is not None:
                self._run(cell)
                if id(atom) not in self._over:
                    self._before(atom)
            elif id(atom) in self._inside:
                self._at_once(self._inside[id(atom)])
        if id(atom) not in self._over:
            raise _Impossible
        return self._over[id(atom)]

    def _before(self, atom: Atom) -> None:
        """A state as a step finds it: that of the step before."""
        k = next((k for k, state in enumerate(self.carried) if state is atom), None)
        made = None if k is None else self._over.get(id(self.made[k]))
        if k is None or made is None:  # a memory, which is known after the last step alone
            raise _Impossible
        shift = lambda start, new: jnp.concatenate([start[None], new[:-1]])  # noqa: E731
        self._over[id(atom)] = self.flat.traced(shift, [self.first[k], made], self.stack)[0]

    def _at_once(self, step: Step) -> None:
        """A step of the body, for all steps of the loop."""
        varies = [id(a) in self._varies for a in step.inputs]
        given = [self._varying(a) if v else a for a, v in zip(step.inputs, varies, strict=True)]
        every = jax.vmap(lambda *arrays: bound(step.primitive, step.params, arrays), [0 if v else None for v in varies])
        mark = len(self.flat.tape.steps)
        made = self.flat.traced(every, given, self.stack)
        for new in self.flat.tape.steps[mark:]:
            new.module = step.module
        self._over.update(zip(map(id, step.outputs), made, strict=True))

    def _counters(self, cells: set[int]) -> None:
        """Carried numbers and keys, which no state goes into: by a loop of their own."""
        own = [k for k, a in enumerate(self.carried) if k not in cells and a is not self.first[k]]
        if not own:
            return
        if any(self.depends(self.made[k]) - set(own) for k in own):
            raise _Impossible
        steps, given = self._needed([self.made[k] for k in own], lambda a: bool(self.depends(a)))
        varies = [id(a) in self._varies for a in given]
        over = [self.over(a) if v else a for a, v in zip(given, varies, strict=True)]

        def loop(start: Sequence[Any], arrays: Sequence[Any]) -> Any:
            def body(state: Sequence[Any], row: Sequence[Any]) -> Any:
                return self._evaluated(steps, own, state, given, varies, arrays, row), state

            return lax.scan(body, list(start), [a for a, v in zip(arrays, varies, strict=True) if v], self.length)

        n = len(own)
        made = self.flat.traced(
            lambda *all: loop(all[:n], all[n:]), [*(self.first[k] for k in own), *over], self.stack
        )
        for place, k in enumerate(own):
            self._last[k] = made[place]
            self._over[id(self.carried[k])] = made[n + place]

    def _needed(self, wanted: Sequence[Atom], inner: Callable[[Atom], bool]) -> tuple[list[Step], list[Atom]]:
        """(steps of the body that make what is wanted, what is given to them), as far as `inner` holds."""
        needed, given = {id(a) for a in wanted}, {}
        kept = []
        for step in reversed(self.steps):
            if any(id(out) in needed for out in step.outputs):
                kept.append(step)
                for a in step.inputs:
                    if inner(a):
                        needed.add(id(a))
                    else:
                        given[id(a)] = a
        return kept[::-1], list(given.values())

    def _evaluated(
        self, steps: Sequence[Step], own: Sequence[int], states: Sequence[Any], given: Sequence[Atom],
        varies: Sequence[bool], arrays: Sequence[Any], row: Sequence[Any],
    ) -> list[Any]:  # fmt: skip
        """The new values of some states."""
        values = {id(self.carried[k]): value for k, value in zip(own, states, strict=True)}
        rows = iter(row)
        values.update((id(a), next(rows) if v else array)
                      for a, v, array in zip(given, varies, arrays, strict=True))  # fmt: skip
        for step in steps:
            made = bound(step.primitive, step.params, [values[id(a)] for a in step.inputs])
            values.update(zip(map(id, step.outputs), made, strict=True))
        return [values[id(self.made[k])] for k in own]

    # --- cells -------------------------------------------------------------------------------------------------------

    def _run(self, cell: Cell) -> None:
        """One step of the tape for all steps of a cell: (all states, the last one, the last memory)."""
        own = list(cell.states)
        if own[0] in self._last:
            return
        steps, given = self._needed([self.made[k] for k in own], lambda a: bool(self.depends(a) & set(own)))
        varies = [id(a) in self._varies for a in given]
        over = [self.over(a) if v else a for a, v in zip(given, varies, strict=True)]
        n = len(own)

        def run(*all: Any) -> Any:
            start, arrays = all[:n], all[n:]

            def body(state: Sequence[Any], row: Sequence[Any]) -> Any:
                new = self._evaluated(steps, own, state, given, varies, arrays, row)
                return new, new[0]

            rows = [a for a, v in zip(arrays, varies, strict=True) if v]
            last, every = lax.scan(body, list(start), rows, self.length)
            return [every.reshape(self.length, -1, every.shape[-1]), *(a.reshape(1, -1, a.shape[-1]) for a in last)]

        inputs = [*(self.first[k] for k in own), *over]
        closed = jax.make_jaxpr(jax.jit(run))(*(abstract(a.shape, a.dtype) for a in inputs))
        (eqn,) = closed.jaxpr.eqns
        x, operands = self._operands(cell)
        step = Step(eqn.primitive, dict(eqn.params), tuple(inputs))
        step.module = self._place(cell)
        of = dependence([*inputs, x])
        step.outputs = tuple(Atom(tuple(v.aval.shape), v.aval.dtype, of, step, k) for k, v in enumerate(eqn.outvars))
        added = tuple(gate.added for gate in cell.gates)
        attrs = {**cell.attrs, "kind": cell.kind, "has_bias": any(any(g.biases) for g in cell.gates), "states": n}
        if any(added):
            attrs["added"] = added
        if cell.kind == "lstm":
            attrs["forget_bias"] = max(1.0 - added[1], 0.0)
        step.whole = Whole("recurrent", LABELS.get(cell.kind, "rnn"), operands, attrs)
        self.flat.tape.steps.append(step)
        shape = self.first[own[0]].shape
        self._over[id(self.made[own[0]])] = self.flat.reshape(step.outputs[0], (self.length, *shape), self.stack)
        for k, last in zip(own, step.outputs[1:], strict=True):
            self._last[k] = self.flat.reshape(last, shape, self.stack)

    def _operands(self, cell: Cell) -> tuple[Atom, tuple[Atom | None, ...]]:
        source = cell.source
        if source.time is None:
            x, axis, time = self.over(source.atom), source.axis + 1, 0
        else:
            x, axis, time = source.atom, source.axis, source.time
        order = (time, *(a for a in range(len(x.shape)) if a not in (axis, time)), axis)
        if order != tuple(range(len(order))):
            x = self.flat.traced(lambda a: jnp.transpose(a, order), [x], self.stack)[0]
        weights = [self._matrix(g.input) for g in cell.gates] + [self._matrix(g.recurrent) for g in cell.gates]
        biases: list[Atom | None] = []
        if any(any(g.biases) for g in cell.gates):
            biases = [None if g.biases[k] is None else self._vector(g.biases[k]) for k in (0, 1) for g in cell.gates]
        return x, (x, *(self.first[k] for k in cell.states), *weights, *biases)

    def _matrix(self, weight: Weight) -> Atom:
        """(outputs, inputs)."""
        cuts = [slice(None)] * 2
        cuts[weight.inner], cuts[weight.outer] = slice(*weight.rows), slice(*weight.columns)

        def cut(w: Any) -> Any:
            part = w[tuple(cuts)]
            return part if weight.outer == 0 else part.T

        return self.flat.traced(cut, [weight.atom], self.stack)[0]

    def _vector(self, vector: Vector | None) -> Atom:
        assert vector is not None
        start, stop = vector.start, vector.stop
        return self.flat.traced(lambda v: v.reshape(-1)[start:stop], [vector.atom], self.stack)[0]

    def _place(self, cell: Cell) -> str:
        return self.flat.owner([weight.atom for g in cell.gates for weight in (g.input, g.recurrent)])

