"""The paper's own rules, `autoinit.rules.paper`: two numbers per tensor, and the formulas of its appendix A as printed.

    plan = autoinit.plan(model, inputs, rules=autoinit.rules.paper)

They are there to reproduce the paper and to compare with it; several are wrong (docs/differences-from-the-paper.md has
a table of all paragraphs with formula and function). The misprint of the Monte Carlo pooling ("- mu_out" for
"- mu_out^2", right a few lines above it) is not reproduced. Weights are drawn as everywhere in this library: a
truncated normal is widened so that it has the standard deviation that the formula asks for.

Tensors that are made of parameters and constants alone (standardised weights, positional tables) are no signals of the
paper; the library's own rules work them out.
"""

from __future__ import annotations

from functools import wraps

from ..core.graph.graph import Node
from ..core.graph.specs import SPECS
from ..core.signal.signal import Signal
from ..core.solve.no_rule import simulate
from ..core.solve.outcome import RuleSet
from . import paper_layers as layers
from .paper_contractions import PAPER_CONTRACTIONS
from .registry import RULES, Context, Rule

_LAYERS: dict[str, Rule] = {
    "elementwise": layers.elementwise,
    "affine": layers.affine,
    "dropout": layers.dropout,
    "average_pool": layers.average_pool,
    "max_pool": layers.max_pool,
    "reduce": layers.reduce,
    "normalize": layers.normalize,
    "concat": layers.concatenate,
    "stack": layers.concatenate,
    "write": layers.write,
    "pad": layers.pad,
    "where": layers.choose,
    "interpolate": layers.unchanged,
}

AS_ELSEWHERE = ("recurrent", "noise", "custom")
"""Recurrent layers are simulated, as the paper says; noise states its moments; users' own rules stay theirs."""


def _of_data(op: str, function: Rule) -> Rule:
    """The paper's rule for data; our own for tensors that are made of parameters and constants alone."""

    @wraps(function)
    def chosen(node: Node, ctx: Context, *signals: Signal | None) -> Signal | tuple[Signal, ...]:
        if any(ctx.varies(node, slot) for slot in range(len(node.inputs))):
            return function(node, ctx, *signals)
        if op in RULES:
            return RULES[op](node, ctx, *signals)
        return simulate(node, list(signals), seed=0) or function(node, ctx, *signals)

    return chosen


def _table() -> dict[str, Rule]:
    """A rule for every word of the vocabulary."""
    table: dict[str, Rule] = dict(PAPER_CONTRACTIONS)
    for op, spec in SPECS.items():
        if op not in table and op not in AS_ELSEWHERE:
            table[op] = _of_data(op, _LAYERS.get(op) or (layers.unchanged if spec.moves else layers.passed))
    return table


paper = RuleSet(_table(), project=layers.two_numbers)
