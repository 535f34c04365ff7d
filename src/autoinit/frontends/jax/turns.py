"""Turns of a loop that are like the one before: its steps are copied, and what no turn changes is shared.

What a program comes to may depend on values (a branch, a choice that is known), so that a turn is like another one only
if both are given the same kinds of arrays and none whose values are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .tape import Atom, Step


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn: what it was given, what it made, and its steps."""

    given: Sequence[Atom]
    made: list[Atom]
    steps: Sequence[Step]

    def repeats(self, given: Sequence[Atom]) -> bool:
        """Whether a turn that is given these arrays takes the same steps, in the same modules."""
        return all(
            (one.of, one.shape, one.dtype, _place(one)) == (two.of, two.shape, two.dtype, _place(two))
            and not one.is_given
            for one, two in zip(self.given, given, strict=True)
        )

    def again(self, given: Sequence[Atom], tape: list[Step]) -> Turn:
        """The same steps with other arrays, put on the tape."""
        now = {id(one): two for one, two in zip(self.given, given, strict=True)}
        steps: list[Step] = []
        for step in self.steps:
            if not any(id(atom) in now for atom in step.inputs):
                continue
            inputs = tuple(now.get(id(atom), atom) for atom in step.inputs)
            copy = Step(step.primitive, step.params, inputs, module=step.module)
            copy.outputs = tuple(Atom(a.shape, a.dtype, a.of, copy, a.index) for a in step.outputs)
            now.update((id(one), two) for one, two in zip(step.outputs, copy.outputs, strict=True))
            if step.whole is not None:
                operands = tuple(None if a is None else now.get(id(a), a) for a in step.whole.operands)
                copy.whole = type(step.whole)(step.whole.op, step.whole.label, operands, step.whole.attrs)
            steps.append(copy)
        tape += steps
        return Turn(given, [now.get(id(atom), atom) for atom in self.made], steps)


def _place(atom: Atom) -> str:
    """Where an array was made: what no parameter goes into is listed there."""
    return "" if atom.step is None else atom.step.module
