"""Adjoints: how the law of gradients goes back through each op. Importing this package registers all of them."""

from . import attention, contractions, convolution, normalize, pointwise, reductions, structure, windows  # noqa: F401
from .registry import ADJOINTS, adjoint

__all__ = ["ADJOINTS", "adjoint"]
