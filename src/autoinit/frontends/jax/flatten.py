"""From a jaxpr to the tape: calls are entered, loops with known numbers of steps unrolled, both branches followed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, prod
from typing import Any

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp
from jax.extend import core

from ..budget import Budget
from .own import own_p
from .recurrence import recurrence
from .structure.cells import leaf_of
from .tape import Atom, Of, Step, Tape, Whole, abstract, constant, dependence, evaluated, number_of
from .turns import Turn

DRAWS = frozenset({"_uniform", "_normal", "_normal_real", "_truncated_normal", "_bernoulli", "_randint"})
"""Functions of `jax.random` that stay whole: their laws are known."""
SAME = frozenset({
    "stop_gradient", "copy", "copy_p", "optimization_barrier", "sharding_constraint", "name", "pvary", "mesh_cast",
    "reshard", "pcast", "layout_constraint", "psum", "psum2", "psum_invariant", "pmax", "pmin",
})  # fmt: skip
"""Primitives that give what they get: sums over devices, too, as they are followed on one (`_shard_map`)."""
LONGEST = 4096
"""A loop of more steps is not unrolled."""

Place = Callable[[str], str | None]


class Flattener:
    """Puts equations on a tape, with the module where they are."""

    def __init__(self, place: Place, owners: Sequence[str], budget: Budget) -> None:
        """`owners`: the module of every leaf."""
        self.tape = Tape()
        self.place, self.owners, self.budget = place, owners, budget
        self._modules: dict[str, str | None] = {}
        self._constants: dict[Any, list[Atom]] = {}
        self._literals: dict[tuple[str, bytes], Atom] = {}

    # --- equations ---------------------------------------------------------------------------------------------------

    def program(self, closed: Any, atoms: Sequence[Atom], stack: str = "") -> list[Atom]:
        """The outputs of a closed jaxpr."""
        return self.jaxpr(closed.jaxpr, [constant(c) for c in closed.consts], atoms, stack)

    def jaxpr(self, jaxpr: Any, constants: Sequence[Atom], atoms: Sequence[Atom], stack: str) -> list[Atom]:
        known = dict(zip(jaxpr.constvars, constants, strict=True))
        known.update(zip(jaxpr.invars, atoms, strict=True))

        def read(item: Any) -> Atom:
            return self._literal(item.val) if isinstance(item, core.Literal) else known[item]

        for eqn in jaxpr.eqns:
            own = str(eqn.source_info.name_stack)
            here = f"{stack}/{own}" if stack and own else stack or own
            made = self.equation(eqn, [read(item) for item in eqn.invars], here)
            known.update(zip(eqn.outvars, made, strict=True))
        return [read(item) for item in jaxpr.outvars]

    def equation(self, eqn: Any, atoms: list[Atom], stack: str) -> list[Atom]:
        self.budget.spend(self._module(stack, atoms))
        name, params = eqn.primitive.name, eqn.params
        if name in SAME:
            return atoms[: len(eqn.outvars)]
        if name in FOLLOWED:
            made = FOLLOWED[name](self, params, atoms, stack)
            if made is not None:
                return made
        elif name not in ("custom_linear_solve", "pallas_call", "custom_partitioning"):
            inner = next((params[k] for k in ("jaxpr", "call_jaxpr", "fun_jaxpr") if k in params), None)
            if inner is not None and params.get("name") not in DRAWS:
                closed = hasattr(inner, "consts") and not hasattr(inner, "constvars")
                return self.program(inner, atoms, stack) if closed else self.jaxpr(inner, (), atoms, stack)
        return self.step(eqn.primitive, params, atoms, [v.aval for v in eqn.outvars], stack)

    def step(self, primitive: Any, params: dict[str, Any], atoms: Sequence[Atom], avals: Sequence[Any], stack: str
             ) -> list[Atom]:  # fmt: skip
        """One call of a primitive, put on the tape: once, if it makes the same constants again."""
        again = _key(primitive, params, atoms)
        if again in self._constants:
            return self._constants[again]
        step = Step(primitive, dict(params), tuple(atoms), module=self._module(stack, atoms))
        of = dependence(atoms)
        if getattr(primitive, "name", "").startswith("random_"):
            of |= Of.CHANCE
        step.outputs = tuple(Atom(tuple(a.shape), a.dtype, of, step, k) for k, a in enumerate(avals))
        self.tape.steps.append(step)
        if again is not None:
            self._constants[again] = list(step.outputs)
        return list(step.outputs)

    def _literal(self, value: Any) -> Atom:
        made = constant(value)
        array = np.asarray(value)
        return made if array.ndim else self._literals.setdefault((str(made.dtype), array.tobytes()), made)

    def rewind(self, length: int) -> list[Step]:
        """Take steps off the tape again."""
        gone = self.tape.steps[length:]
        del self.tape.steps[length:]
        outputs = {id(out) for step in gone for out in step.outputs}
        self._constants = {key: made for key, made in self._constants.items() if id(made[0]) not in outputs}
        return gone

    def traced(self, function: Callable[..., Any], atoms: Sequence[Atom], stack: str) -> list[Atom]:
        """What a function of arrays gives, by its own jaxpr."""
        closed = jax.make_jaxpr(function)(*(abstract(a.shape, a.dtype) for a in atoms))
        return self.program(closed, atoms, stack)

    # --- equations that are something simpler ------------------------------------------------------------------------

    def _select_n(self, params: dict[str, Any], atoms: list[Atom], stack: str) -> list[Atom] | None:
        """A choice that is known beforehand."""
        chosen = number_of(atoms[0])
        return None if chosen is None else [atoms[1 + int(chosen)]]

    def _limited(self, atoms: list[Atom], limit: float) -> list[Atom] | None:
        for one, other in (atoms, atoms[::-1]):
            if one.shape == other.shape or not one.shape:
                return [other] if number_of(one) == limit and other.is_float else None
        return None

    def _max(self, params: dict[str, Any], atoms: list[Atom], stack: str) -> list[Atom] | None:
        """The larger of a number and minus infinity."""
        return self._limited(atoms, -inf)

    def _min(self, params: dict[str, Any], atoms: list[Atom], stack: str) -> list[Atom] | None:
        return self._limited(atoms, inf)

    def _own(self, params: dict[str, Any], atoms: list[Atom], stack: str) -> list[Atom] | None:
        """A call that the user has a rule for: what it is made of is one whole."""
        own = params["own"]
        outputs, rest = atoms[: own.outputs], atoms[own.outputs :]
        made = self.step(own_p, params, atoms, [abstract(a.shape, a.dtype) for a in outputs], stack)
        step = made[0].step
        assert step is not None
        step.module = common([a.step.module for a in outputs if a.step is not None]) or step.module
        step.whole = Whole("custom", own.name, tuple(rest), {"own": own})
        return made

    def _shard_map(self, params: dict[str, Any], atoms: list[Atom], stack: str) -> list[Atom] | None:
        """On a mesh of one device, what runs there."""
        devices = prod(params["mesh"].shape.values())
        if devices == 1:
            return self.jaxpr(params["jaxpr"], (), atoms, stack)
        self.tape.notes.append(
            f"{self._module(stack, atoms) or '(root)'}: shard_map over {devices} devices is not followed, its weights "
            "are left alone; make the plan with a mesh of one device, it fits the same parameters"
        )
        return None

    def _axis_index(self, params: dict[str, Any], atoms: list[Atom], stack: str) -> list[Atom] | None:
        return [constant(np.int32(0))]

    # --- control flow ------------------------------------------------------------------------------------------------

    def _cond(self, params: dict[str, Any], atoms: list[Atom], stack: str) -> list[Atom] | None:
        """The branch that is known to be taken; or all of them, and a choice."""
        branches, chosen = params["branches"], atoms[0]
        index = evaluated(chosen) if chosen.of is Of.CONSTANTS else None
        if index is not None:
            return self.program(branches[int(np.clip(int(index), 0, len(branches) - 1))], atoms[1:], stack)
        if any(branch.effects for branch in branches):
            return None
        made = [self.program(branch, atoms[1:], stack) for branch in branches]

        def choice(index: Any, *cases: Any) -> Any:
            if index.dtype != jnp.bool_:
                index = jnp.clip(index, 0, len(cases) - 1)
                index = index.astype(bool) if len(cases) == 2 else index
            return lax.select_n(jnp.broadcast_to(index, cases[0].shape), *cases)

        return [self.traced(choice, [chosen, *cases], stack)[0] for cases in zip(*made, strict=True)]

    def _while(self, params: dict[str, Any], atoms: list[Atom], stack: str) -> list[Atom] | None:
        """Unrolled, as long as its condition is known; else one step."""
        first, second = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
        asked, used, carried = atoms[:first], atoms[first:second], atoms[second:]
        length = len(self.tape.steps)
        for _ in range(LONGEST):
            (goes_on,) = self.program(params["cond_jaxpr"], [*asked, *carried], stack)
            value = evaluated(goes_on) if goes_on.of is Of.CONSTANTS else None
            if value is None:
                self.rewind(length)
                return None
            if not bool(value):
                return carried
            carried = self.program(params["body_jaxpr"], [*used, *carried], stack)
        self.rewind(length)
        return None

    def _scan(self, params: dict[str, Any], atoms: list[Atom], stack: str) -> list[Atom] | None:
        """Unrolled: every step reads its own part of what is scanned."""
        fixed, states = params["num_consts"], params["num_carry"]
        length, body = params["length"], params["jaxpr"]
        if states and length:
            found = recurrence(self, params, atoms, stack)
            if found is not None:
                return found
        if length > LONGEST:
            return None
        used, carried = atoms[:fixed], atoms[fixed : fixed + states]
        scanned = atoms[fixed + states :]
        if states and any(atom.of & Of.PARAMETERS for atom in used):
            place = self._module(stack, [atom for atom in used if atom.is_leaf])
            self.tape.notes.append(f"{place or '(root)'}: a recurrence of {length} steps, followed step by step")
        rows: list[list[Atom]] = []
        before: Turn | None = None
        for t in reversed(range(length)) if params["reverse"] else range(length):
            places = [self._at(atom, t, stack) for atom in scanned]
            given = [*carried, *places]
            if before is not None and before.repeats(given):
                self.budget.spend(self._module(stack, given))
                before = before.again(given, self.tape.steps)
            else:
                mark = len(self.tape.steps)
                made = self.program(body, [*used, *given], stack)
                before = Turn(given, made, self.tape.steps[mark:])
            made = before.made
            carried = made[:states]
            rows.append(made[states:])
        if params["reverse"]:
            rows.reverse()
        return [*carried, *(self._stacked(list(column), stack) for column in zip(*rows, strict=True))]

    def _at(self, atom: Atom, place: int, stack: str) -> Atom:
        """One place of the first axis."""
        n = len(atom.shape)
        cut = {"start_indices": (place,) + (0,) * (n - 1), "limit_indices": (place + 1, *atom.shape[1:]),
               "strides": None}  # fmt: skip
        (row,) = self.step(lax.slice_p, cut, [atom], [abstract((1, *atom.shape[1:]), atom.dtype)], stack)
        aval = abstract(atom.shape[1:], atom.dtype)
        return self.step(lax.squeeze_p, {"dimensions": (0,)}, [row], [aval], stack)[0]

    def reshape(self, atom: Atom, shape: Sequence[int], stack: str) -> Atom:
        if atom.shape == tuple(shape):
            return atom
        params = {"new_sizes": tuple(shape), "dimensions": None, "sharding": None}
        return self.step(lax.reshape_p, params, [atom], [abstract(shape, atom.dtype)], stack)[0]

    def rev(self, atom: Atom, stack: str) -> Atom:
        """The other way round along the first axis."""
        aval = abstract(atom.shape, atom.dtype)
        return self.step(lax.rev_p, {"dimensions": (0,)}, [atom], [aval], stack)[0]

    def _stacked(self, atoms: list[Atom], stack: str) -> Atom:
        if not atoms:
            raise AssertionError("a scan of no steps has no rows")
        return self.traced(lambda *rows: jnp.stack(rows), atoms, stack)[0]

    # --- modules -----------------------------------------------------------------------------------------------------

    def _module(self, stack: str, atoms: Sequence[Atom]) -> str:
        """By the name stack, if the library keeps one; else by the parameters that go in, or by what made the rest."""
        if stack not in self._modules:
            self._modules[stack] = self.place(stack)
        placed = self._modules[stack]
        if placed is not None:
            return placed
        owners = [self.owners[a.index] for a in atoms if a.is_leaf]
        made = [a.step.module for a in atoms if a.step is not None and a.of & (Of.SIGNAL | Of.PARAMETERS)]
        return common(owners or made)

    def owner(self, atoms: Sequence[Atom]) -> str:
        """The module that parts of parameters belong to."""
        return common([self.owners[leaf_of(atom)] for atom in atoms])


FOLLOWED: dict[str, Callable[[Flattener, dict[str, Any], list[Atom], str], list[Atom] | None]] = {
    "select_n": Flattener._select_n, "max": Flattener._max, "min": Flattener._min, "cond": Flattener._cond,
    "while": Flattener._while, "scan": Flattener._scan, own_p.name: Flattener._own,
    "shard_map": Flattener._shard_map, "axis_index": Flattener._axis_index,
}  # fmt: skip
"""Primitives that are looked into first; None: they are steps after all."""


def _key(primitive: Any, params: dict[str, Any], atoms: Sequence[Atom]) -> Any:
    """By which a step that makes constants of constants is known again; None if it is no such step."""
    if any(atom.of is not Of.CONSTANTS for atom in atoms):
        return None
    try:
        key = (primitive, tuple(sorted(params.items())), atoms and tuple(atoms))
        hash(key)
    except TypeError:
        return None
    return key


def common(places: Sequence[str]) -> str:
    """The path that all of these begin with."""
    if not places:
        return ""
    if all(place == places[0] for place in places):
        return places[0]
    mark = "/" if any("/" in place for place in places) else "."
    shared: list[str] = []
    for parts in zip(*(place.split(mark) for place in places), strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    return mark.join(shared)
