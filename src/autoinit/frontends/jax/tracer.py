"""What arrays on the tape stand for in the graph."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp

from ...core.graph.graph import Constant, Node, ParameterView, Reference, Value
from ..base_tracer import BaseTracer
from ..views import constant_view, reshaped_view, whole_view
from .ancestry import TapeAncestry
from .call import Call
from .constants import narrowed
from .lowering import lower
from .program import Leaf
from .tape import Atom, Of, Step, Tape, array_of

PASSIVE = Of.WORDS | Of.CHANCE
"""What depends on nothing else is made a node of only when somebody reads it."""


class Tracer(BaseTracer):
    """Makes nodes of the steps of a tape."""

    def __init__(self, tape: Tape, leaves: Sequence[Leaf]) -> None:
        super().__init__()
        self.tape, self.leaves = tape, leaves
        self.layers: dict[int, Node] = {}
        """By the array that they make: nodes with a weight."""
        self._references: dict[int, Reference] = {}
        self._narrow: dict[int, Reference] = {}
        """What is only broadcast: the reference before, with axes of size 1."""
        self.graph.ancestry = TapeAncestry(self)

    def run(self) -> None:
        """All that outputs need, in order."""
        for step in self.tape.steps:
            if step.call and step.outputs[0].of & ~PASSIVE:
                self.follow(step)

    def follow(self, step: Step) -> None:
        self.module, self.occurrence = step.module, step.call
        call = Call(self, step)
        if not lower(call):
            call.unknown()

    def follow_inside(self, step: Step) -> None:
        """A step that is part of another one."""
        lower(Call(self, step))

    def follow_between(self, base: Atom, end: Atom) -> None:
        """The moves from one array to another."""
        steps: list[Step] = []
        while end is not base:
            assert end.step is not None
            steps.append(end.step)
            end = end.step.inputs[0]
        occurrence, self.occurrence = self.occurrence, 0
        for step in reversed(steps):
            self.follow_inside(step)
        self.occurrence = occurrence

    def set(self, tensor: Atom, reference: Reference) -> None:
        self._references[id(tensor)] = reference

    def stretch(self, atom: Atom, narrow: Reference) -> None:
        """From now on the array stands for `narrow`, broadcast: a node is made when somebody needs all of it."""
        self._narrow[id(atom)] = narrow

    def known_reference(self, atom: Atom) -> Reference:
        """What the array stands for by now; nothing is made for the question."""
        return self._references.get(id(atom))

    def narrow(self, atom: Atom) -> Reference:
        """What the array stands for, with axes of size 1 where it only repeats itself."""
        self._made(atom)
        if atom.is_given and id(atom) not in self._narrow:
            self._narrow[id(atom)] = narrowed(atom)
        found = self._narrow.get(id(atom))
        return self.reference(atom) if found is None else found

    def reference(self, item: Any) -> Reference:
        if item is None or isinstance(item, (Value, ParameterView, Constant)):
            return item
        atom: Atom = item
        self._made(atom)
        found = self._references.get(id(atom))
        if found is None:
            found = self._narrow.get(id(atom))
            if found is None:
                found = self._origin(atom)
            elif isinstance(found, Constant):
                found = Constant(atom.shape, lambda: array_of(atom))
            else:
                found = self._stretched(atom, found)
            self._references[id(atom)] = found
        return found

    def _stretched(self, atom: Atom, narrow: Reference) -> Value:
        assert atom.step is not None
        module, occurrence = self.module, self.occurrence
        self.module, self.occurrence = atom.step.module, atom.step.call
        (made,) = Call(self, atom.step).emit("expand", [narrow], [atom])
        self.module, self.occurrence = module, occurrence
        return made

    def _made(self, atom: Atom) -> None:
        """What chance makes becomes nodes once it is read."""
        if atom.of is not Of.CHANCE and atom.of is not (Of.CHANCE | Of.WORDS):
            return
        if id(atom) in self._references or id(atom) in self._narrow or atom.step is None:
            return
        step = atom.step
        if not atom.is_float and step.label != "bernoulli" and not any(a.is_float for a in step.inputs):
            return  # bits and keys
        module, occurrence = self.module, self.occurrence
        self.follow(step)
        self.module, self.occurrence = module, occurrence

    def _origin(self, atom: Atom) -> Reference:
        if atom.is_leaf:
            return whole_view(self.leaves[atom.index].name, atom.shape)
        if atom.is_given:
            return Constant(atom.shape, lambda: array_of(atom))
        return Constant(atom.shape, lambda: None)

    def present(self, atom: Atom) -> Any:
        """What an array holds before the plan is applied, if only constants and parameters go into it."""
        if atom.is_leaf:
            return self.leaves[atom.index].values()
        if atom.of is not Of.PARAMETERS or atom.step is None:
            return array_of(atom) if atom.is_given else None
        arrays = [self.present(a) for a in atom.step.inputs]
        if any(a is None for a in arrays):
            return None
        with jax.ensure_compile_time_eval():
            given = [jnp.asarray(x, a.dtype) for x, a in zip(arrays, atom.step.inputs, strict=True)]
            return np.asarray(atom.step.run(given)[atom.index])

    def given(self, indices: Atom, shape: tuple[int, ...]) -> Constant:
        """Indices without their last axis, which counts axes of what is looked up."""
        return Constant(shape, lambda: None if (array := array_of(indices)) is None else array.reshape(shape))

    def reshaped(self, reference: Reference, shape: tuple[int, ...]) -> Reference:
        """A view in another shape with the same entries, where that needs no node; else None."""
        assert reference is not None and prod(reference.shape) == prod(shape)
        if tuple(reference.shape) == tuple(shape):
            return reference
        if isinstance(reference, ParameterView):
            return reshaped_view(reference, shape)
        if isinstance(reference, Constant):
            return constant_view(reference, shape, lambda a: a.reshape(shape))
        return None
