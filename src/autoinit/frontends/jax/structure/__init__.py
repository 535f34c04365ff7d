"""What several steps amount to: libraries of JAX write norms, softmax, dropout and means out in small primitives.

Structure is found by looking back from every step that may be the last one of such a group (`matching`). The step then
says what it is in the neutral vocabulary; the steps before it are forgotten, unless something else needs them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from ..tape import Of, Step, Tape, Whole
from .attention import attention_of
from .biases import bias_of
from .chance import dropout_of
from .norms import folded_norm_of, norm_of, with_gain_or_shift
from .shares import average_of, softmax_of

KINDS: tuple[Callable[[Step], Whole | None], ...] = (
    attention_of, dropout_of, norm_of, folded_norm_of, with_gain_or_shift, softmax_of, average_of,
)  # fmt: skip
LAST = frozenset({"mul", "div", "sub", "add", "select_n", "dot_general"})


def recognise(tape: Tape) -> None:
    """Say of every step what it is the end of."""
    readers = Counter(id(atom) for step in tape.steps for atom in step.inputs)
    readers.update(id(atom) for atom in tape.outputs)
    for step in tape.steps:
        if step.name in LAST and step.outputs[0].of & (Of.SIGNAL | Of.PARAMETERS) and step.outputs[0].is_float:
            found = bias_of(step, readers)
            step.whole = found or next((made for kind in KINDS if (made := kind(step)) is not None), None)
