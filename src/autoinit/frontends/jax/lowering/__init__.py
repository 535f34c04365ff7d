"""From primitives of JAX to the neutral vocabulary, by family."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import arithmetic, attention, complexes, contract, convolution, index, pool, random, reduce, shape, wholes
from .table import LOWERINGS, WHOLES

if TYPE_CHECKING:
    from ..call import Call

FAMILIES = (arithmetic, attention, complexes, contract, convolution, index, pool, random, reduce, shape, wholes)


def lower(call: Call) -> bool:
    """Make nodes of a step; False where there is no rule for it."""
    if call.step.whole is not None:
        WHOLES[call.step.whole.op](call)
        return True
    if complexes.lower_complex(call):
        return True
    name = call.step.name
    lowering = LOWERINGS.get(call.name if name in ("jit", "pjit") else name)
    if lowering is None:
        return False
    lowering(call)
    return True
