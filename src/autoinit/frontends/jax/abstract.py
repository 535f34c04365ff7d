"""What constructors make, without memory: shapes, and the values that do not depend on chance.

A gain of one, a layer scale of 1e-6, a kernel that begins at zero: an abstract model does not show them, but the
program that makes the model does. Everything in it that no random number goes into is worked out when somebody asks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import jax
import numpy as np
from jax.extend import core

from .names import is_array, is_key, named_leaves
from .tape import bound

CHANCE = frozenset({"random_bits", "rng_bit_generator", "rng_uniform", "threefry2x32"})
"""Primitives that make random numbers."""

LARGEST = 2**20
"""Larger constants are worked out anew whenever somebody asks: they are not to stay in memory."""


@dataclass(frozen=True)
class Made:
    """A structure of shapes, and what is known of their values, by name."""

    tree: Any
    constants: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    complete: Callable[[Sequence[int]], list[Any]] | None = None
    """complete(places): the real arrays at these places of the structure, as the constructor makes them."""


def made(function: Callable[..., Any], *args: Any, real: Callable[[], Sequence[Any]] | None = None) -> Made:
    """What `function` makes of `args` (arrays or shapes), of which nothing is known but the shape.

    `real` gives the arguments that whoever needs real arrays makes them of (those here, if they are no shapes).
    """
    with jax.disable_jit(False):
        closed, tree = jax.make_jaxpr(function, return_shape=True)(*args)
    chance = random_outputs(closed.jaxpr, [True] * len(closed.jaxpr.invars))
    named = named_leaves(tree)
    worked = Worked(closed.jaxpr, dict(zip(closed.jaxpr.constvars, closed.consts, strict=True)))
    return Made(tree, {
        name: partial(worked.output, k)
        for k, (name, leaf) in enumerate(named)
        if not chance[k] and is_array(leaf) and not is_key(leaf)
    }, partial(completed, function, real or (lambda: args)))  # fmt: skip


def completed(function: Callable[..., Any], real: Callable[[], Sequence[Any]], places: Sequence[int]) -> list[Any]:
    """Some of the arrays that a constructor makes; what only the others need is not worked out."""

    def some(*args: Any) -> list[Any]:
        leaves = jax.tree_util.tree_leaves(function(*args))
        return [leaves[k] for k in places]

    return list(jax.jit(some)(*real())) if places else []


def random_outputs(jaxpr: Any, inputs: Sequence[bool]) -> list[bool]:
    """Which outputs depend on random numbers, or on inputs that are marked."""
    marked = {v for v, mark in zip(jaxpr.invars, inputs, strict=True) if mark}
    marked |= {v for v in jaxpr.constvars if is_key(v.aval)}

    def is_marked(item: Any) -> bool:
        return not isinstance(item, core.Literal) and item in marked

    for eqn in jaxpr.eqns:
        marks = [is_marked(item) for item in eqn.invars]
        inner = eqn.params.get("jaxpr") or eqn.params.get("call_jaxpr")
        inner = getattr(inner, "jaxpr", inner)
        if eqn.primitive.name in CHANCE:
            made = [True] * len(eqn.outvars)
        elif inner is not None and eqn.primitive.name in ("jit", "pjit", "closed_call", "core_call") and len(
            inner.invars
        ) == len(marks):
            made = random_outputs(inner, marks)
        else:
            made = [any(marks) or _draws(inner)] * len(eqn.outvars)
        marked |= {out for out, mark in zip(eqn.outvars, made, strict=True) if mark}
    return [is_marked(out) for out in jaxpr.outvars]


def _draws(jaxpr: Any) -> bool:
    """Whether random numbers are made anywhere in a program."""
    if jaxpr is None:
        return False
    return any(
        eqn.primitive.name in CHANCE
        or any(_draws(getattr(p, "jaxpr", p)) for p in eqn.params.values() if hasattr(p, "eqns") or hasattr(p, "jaxpr"))
        for eqn in jaxpr.eqns
    )


class Worked:
    """What a program makes that no input and no random number goes into: each run with only what it needs, once."""

    def __init__(self, jaxpr: Any, known: Mapping[Any, Any]) -> None:
        self._jaxpr, self._known = jaxpr, dict(known)
        self._makers = {out: k for k, eqn in enumerate(jaxpr.eqns) for out in eqn.outvars}

    def output(self, place: int) -> Any:
        """None if it cannot be worked out."""
        out = self._jaxpr.outvars[place]
        if isinstance(out, core.Literal):
            return out.val
        if out in self._known:
            return self._known[out]
        with jax.ensure_compile_time_eval():
            worked = self._worked_out(out)
        self._known.update((item, array) for item, array in worked.items() if np.size(array) <= LARGEST)
        return worked.get(out)

    def _worked_out(self, wanted: Any) -> dict[Any, Any]:
        """What is wanted, and what it is made of, as far as it was not known before."""
        worked: dict[Any, Any] = {}
        needed: dict[int, set[Any]] = {}
        waiting = [wanted]
        while waiting:
            item = waiting.pop()
            if isinstance(item, core.Literal) or item in self._known or item not in self._makers:
                continue
            k = self._makers[item]
            if k not in needed:
                waiting.extend(self._jaxpr.eqns[k].invars)
            needed.setdefault(k, set()).add(item)
        for k in sorted(needed):
            eqn = self._jaxpr.eqns[k]
            given = [item.val if isinstance(item, core.Literal) else worked.get(item, self._known.get(item))
                     for item in eqn.invars]  # fmt: skip
            if all(value is not None for value in given):
                worked.update(zip(eqn.outvars, bound(eqn.primitive, eqn.params, given), strict=True))
            elif hasattr(inner := eqn.params.get("jaxpr"), "consts"):  # a function of which a part can be worked out
                inside = dict(zip(inner.jaxpr.constvars, inner.consts, strict=True))
                inside.update((v, a) for v, a in zip(inner.jaxpr.invars, given, strict=True) if a is not None)
                part = Worked(inner.jaxpr, inside)
                found = {out: part.output(place) for place, out in enumerate(eqn.outvars) if out in needed[k]}
                worked.update((out, value) for out, value in found.items() if value is not None)
        return worked
