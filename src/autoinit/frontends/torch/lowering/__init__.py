"""ATen to the neutral vocabulary, one small function per op."""

from typing import TYPE_CHECKING

from . import (
    arithmetic,
    bags,
    complexes,
    contract,
    experts,
    normalize,
    pool,
    quantise,
    random,
    recurrent,
    scatter,
    shape,
)
from .table import has_lowering
from .table import lower as lower_by_table

if TYPE_CHECKING:
    from ..call import Call

__all__ = [
    "arithmetic", "bags", "complexes", "contract", "experts", "has_lowering", "lower", "normalize", "pool",
    "quantise", "random", "recurrent", "scatter", "shape",
]  # fmt: skip


def lower(call: "Call") -> bool:
    """Lower a call; False if nothing is known about its op."""
    return complexes.lower_complex(call) or lower_by_table(call)
