"""ATen to the neutral vocabulary, one small function per op."""

from . import arithmetic, bags, contract, normalize, pool, random, recurrent, shape
from .table import has_lowering, lower

__all__ = [
    "arithmetic", "bags", "contract", "has_lowering", "lower", "normalize", "pool", "random", "recurrent", "shape",
]  # fmt: skip
