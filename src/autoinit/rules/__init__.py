"""The rules, one small file per family. Importing this package registers all of them."""

from . import (
    attention,
    contract,
    cumulative,
    custom,
    elementwise,
    merge,
    normalize,
    pool,
    random,
    recurrent,
    reduce,
    resample,
    shape,
)
from .registry import RULES, Context, rule

__all__ = [
    "RULES", "Context", "attention", "contract", "cumulative", "custom", "elementwise", "merge", "normalize", "pool",
    "random", "recurrent", "reduce", "resample", "rule", "shape",
]  # fmt: skip
