"""ATen to the neutral vocabulary, one small function per op."""

from . import arithmetic, bags, contract, experts, normalize, pool, quantise, random, recurrent, scatter, shape
from .table import has_lowering, lower

__all__ = [
    "arithmetic", "bags", "contract", "experts", "has_lowering", "lower", "normalize", "pool", "quantise", "random",
    "recurrent", "scatter", "shape",
]  # fmt: skip
