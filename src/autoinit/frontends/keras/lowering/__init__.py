"""Keras operations to the neutral vocabulary, one small function per operation."""

from . import (
    activation,
    arithmetic,
    attention,
    contract,
    convolution,
    index,
    normalize,
    pool,
    random,
    recurrent,
    resample,
    shape,
)
from .table import has_lowering, layer_lowering, lower

__all__ = [
    "activation", "arithmetic", "attention", "contract", "convolution", "has_lowering", "index", "layer_lowering",
    "lower", "normalize", "pool", "random", "recurrent", "resample", "shape",
]  # fmt: skip
