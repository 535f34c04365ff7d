"""Adjoints: how the law of gradients goes back through each op. Importing this package registers all of them."""

from ...core.backward.passing import Backward
from ...core.graph.graph import Node
from ...core.solve.interpreter import Propagation
from ...core.solve.outcome import Gradients
from ..convolution import over_windows
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
    """The backward pass after a propagation; where windows overlap, after a finer one of the same weights."""
    if run.rules.project or not any(_has_windows(node) for node in run.graph.nodes):
        return Backward(run, ADJOINTS).result()
    finer = run.again({"conv": over_windows})
    found = Backward(finer, ADJOINTS).result()
    finer.close()
    return found


def _has_windows(node: Node) -> bool:
    ref = node.inputs[1] if node.op == "conv" else None
    return ref is not None and any(ref.shape[axis] > 1 for axis in node.attrs["w_axes"][2:])


__all__ = ["ADJOINTS", "adjoint", "gradients"]
