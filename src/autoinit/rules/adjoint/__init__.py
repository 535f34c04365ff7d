"""Adjoints: how the law of gradients goes back through each op. Importing this package registers all of them."""

from ...core.backward.passing import Backward
from ...core.graph.graph import Node
from ...core.solve.interpreter import Propagation, Rule
from ...core.solve.outcome import Gradients
from ..convolution import over_windows
from ..merge import unlike_pieces
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
    """The backward pass after a propagation; where places are unlike, after a finer one of the same weights."""
    nodes = run.graph.nodes
    rules = dict[str, Rule]()
    if any(_has_windows(node) for node in nodes):
        rules["conv"] = over_windows
    if any(node.op == "concat" for node in nodes) and not any(_of_rank_3(node) for node in nodes):
        rules["concat"] = unlike_pieces
    if run.rules.project or not rules:
        return Backward(run, ADJOINTS).result()
    finer = run.again(rules)
    found = Backward(finer, ADJOINTS).result()
    finer.close()
    return found


def _has_windows(node: Node) -> bool:
    ref = node.inputs[1] if node.op == "conv" else None
    return ref is not None and any(ref.shape[axis] > 1 for axis in node.attrs["w_axes"][2:])


def _of_rank_3(node: Node) -> bool:
    """A convolution over a sequence, whose features may be in the middle."""
    return node.op == "conv" and len(node.outputs[0].shape) == 3


__all__ = ["ADJOINTS", "adjoint", "gradients"]
