"""Other ways to initialize, for comparison: LSUV and the classical schemes; and all of them, and AutoInit's, by name.

    autoinit.baselines.lsuv(model, batch)
    autoinit.baselines.classical(model, "he_normal", seed=0)
    autoinit.baselines.initialize(model, batch, "autoinit-paper", seed=0)

The framework is imported on first use.
"""

from .by_name import NAMES, initialize
from .layer_sequential import lsuv
from .schemes import SCHEMES, classical

__all__ = ["NAMES", "SCHEMES", "classical", "initialize", "lsuv"]
