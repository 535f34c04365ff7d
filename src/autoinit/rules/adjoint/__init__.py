"""Adjoints: how the law of gradients goes back through each op. Importing this package registers all of them."""

from ...core.backward.passing import Backward
from ...core.solve.interpreter import Propagation
from ...core.solve.outcome import Gradients
from . import (  # noqa: F401
    attention,
    contractions,
    convolution,
    normalize,
    pointwise,
    recurrent,
    reductions,
    structure,
    windows,
)
from .registry import ADJOINTS, adjoint


def gradients(run: Propagation) -> Gradients:
    """The backward pass after a propagation."""
    return Backward(run, ADJOINTS).result()


__all__ = ["ADJOINTS", "adjoint", "gradients"]
