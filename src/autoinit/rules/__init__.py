"""The rules, one small file per family. Importing this package registers all of them."""

from ..core.signal.signal import independent as _forget
from ..core.solve.outcome import RuleSet

from . import (  # noqa: F401  # isort: skip
    attention, complex, contract, convolution, elementwise, experts, merge, normalize, pool, random, recurrent, reduce,
    resample, scatter, shape,
)  # fmt: skip
from .paper_layers import paper
from .registry import RULES, Context, rule

independent = RuleSet({}, project=_forget)
"""The paper's model of the signal: mean and variance, everything independent. Use as ``rules=rules.independent``.
`paper` (``rules=rules.paper``) is that with the paper's own formulas, mistakes included."""

__all__ = ["RULES", "Context", "RuleSet", "independent", "paper", "rule"]
