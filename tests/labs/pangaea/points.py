"""Points, parameters and functions that the compilers are compared on: one channel per point.

With one point per channel the gradient of a sum with respect to a per-channel parameter is that of every point alone.
"""

import numpy as np

from autoinit.labs.pangaea import Function
from autoinit.labs.pangaea.operators import BINARY, UNARY

SEEDS = range(100)


def points() -> np.ndarray:
    """Zero, ordinary values, and some so large that exponentials overflow."""
    ordinary = np.random.default_rng(0).normal(size=40) * 2
    return np.concatenate([[0.0, 1e-9, -1e-3, 12.0, -12.0, 40.0, -40.0, 800.0, -800.0, 1e8], ordinary])


def parameters(function: Function) -> dict[str, np.ndarray]:
    """Ones for half of the points, other values for the rest."""
    rng = np.random.default_rng(1)
    drawn = {name: rng.uniform(-2, 2, size=points().size) for name in ("alpha", "beta", "gamma")}
    return {name: np.where(np.arange(points().size) % 2, drawn[name], 1.0) for name in function.parameters}


def single_operators() -> list[Function]:
    """Every operator alone, its operands scaled by parameters; two different operands of the binary ones."""
    calls = [f"{name}(beta * x)" for name in UNARY] + [f"{name}(beta * x, tanh(x))" for name in BINARY]
    return [Function.parse(f"alpha * {call}") for call in calls]


def random_functions() -> list[Function]:
    return [Function.random(np.random.default_rng(seed)) for seed in SEEDS]


def assert_same(actual: np.ndarray, expected: np.ndarray, what: str, tolerance: float = 1e-6) -> None:
    """Relative to the value, with an absolute floor far below it; NaN and infinities at the same places."""
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=1e-9, equal_nan=True, err_msg=what)


def moderate(function: Function) -> np.ndarray:
    """Where no value inside the function is near an overflow: beyond, derivatives depend on how they are written."""
    given = parameters(function)
    inside = [Function(n)(points(), **{k: given[k] for k in n.parameters}) for _, n in function.graph.walk()]
    return np.all(np.abs(inside) < 1e100, axis=0)


def torch_results(function: Function) -> list[np.ndarray]:
    """Values, and gradients with respect to x and every parameter, of the PyTorch module in double precision."""
    import torch

    module = function.torch(points().size).double()
    with torch.no_grad():
        for name, value in parameters(function).items():
            getattr(module, name).copy_(torch.tensor(value))
    sources = [torch.tensor(points()[None]).requires_grad_(), *module.parameters()]
    y = module(sources[0])
    found = torch.autograd.grad(y.sum(), sources, allow_unused=True) if y.requires_grad else [None] * len(sources)
    gradients = [torch.zeros_like(s) if g is None else g for s, g in zip(sources, found, strict=True)]
    return [array.detach().numpy().reshape(-1) for array in (y, *gradients)]
