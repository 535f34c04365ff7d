"""PANGAEA: activation functions as computation graphs, created at random, mutated, and trained.

    function = Function.random(np.random.default_rng(0))
    print(function.formula)
    model = nn.Sequential(nn.Conv2d(3, 16, 3), function.torch(16), nn.Conv2d(16, 10, 3))

The search space is that of "Discovering Parametric Activation Functions" (Bingham and Miikkulainen, 2022) as the
AutoInit paper describes it. No framework is imported before a function is compiled for it.
"""

from .creation import minimal, parametrized
from .function import Function
from .graph import FunctionError
from .mutation import change, insert, mutate, regenerate, remove

__all__ = [
    "Function",
    "FunctionError",
    "change",
    "insert",
    "minimal",
    "mutate",
    "parametrized",
    "regenerate",
    "remove",
]
