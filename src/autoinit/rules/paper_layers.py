"""The paper's own rules, `autoinit.rules.paper`: two numbers per tensor, and the formulas of its appendix A as printed
(for weights: `paper_contractions`).

    plan = autoinit.plan(model, inputs, rules=autoinit.rules.paper)

They are there to reproduce the paper and to compare with it; several are wrong (docs/differences-from-the-paper.md has
a table of all paragraphs with formula and function). The misprint of the Monte Carlo pooling ("- mu_out" for
"- mu_out^2", right a few lines above it) is not reproduced. Weights are drawn as everywhere in this library: a
truncated normal is widened so that it has the standard deviation that the formula asks for.

Tensors that are made of parameters and constants alone (standardised weights, positional tables) are no signals of the
paper; the library's own rules work them out.

Entries count as independent and normal. Where the paper has no formula the layer is unknown to it, and "the mean and
variance are not changed by that layer" (its appendix "Support for New Layer Types"): `passed` does that, and says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import wraps
from math import prod
from typing import Any

import numpy as np

from ..core.gaussian.expression import Expr, X, apply, evaluate
from ..core.gaussian.maximum import extreme_moments
from ..core.graph.graph import Node
from ..core.graph.specs import SPECS
from ..core.signal.signal import Signal, constant, iid
from ..core.solve.no_rule import simulate
from ..core.solve.outcome import RuleSet
from .paper_contractions import PAPER_CONTRACTIONS, added, sum_of_products
from .registry import RULES, Context, Rule


def two_numbers(signal: Signal) -> Signal:
    """Mean and variance, nothing else of the law. Only quotients ask what a tensor is a function of."""
    return iid(signal.shape, signal.mean, signal.variance).but(function_of=signal.function_of)


def passed(node: Node, ctx: Context, *signals: Signal | None) -> tuple[Signal, ...]:
    """Unknown layers: every output has the mean and variance of the data that came in."""
    ctx.note(node, "passed", f"the paper has no formula for {node.label or node.op}: mean and variance passed on")
    return unchanged(node, ctx, *signals)


def unchanged(node: Node, ctx: Context, *signals: Signal | None) -> tuple[Signal, ...]:
    """Shape adjustment: mu = mu_in, nu = nu_in. Of several operands: the first of the right shape that is data."""
    known = [(s, ctx.varies(node, k)) for k, s in enumerate(signals) if s is not None]
    made = []
    for value in node.outputs:
        ranked = sorted(known, key=lambda pair: (not pair[1], pair[0].shape != value.shape))
        made.append(iid(value.shape, ranked[0][0].mean, ranked[0][0].variance) if ranked else constant(value.shape, 0))
    return tuple(made)


# --- activation functions and arithmetic ------------------------------------------------------------------------------


def elementwise(node: Node, ctx: Context, *signals: Signal | None) -> Signal | tuple[Signal, ...]:
    """A function of one tensor: its integrals over N(mu, nu). Of several: Add, Subtract, Multiply of independents.

    f(x)/g(x) of one tensor is an activation function that is spelt out (softsign is x/(1 + |x|)).
    """
    shape, scalars = node.outputs[0].shape, node.attrs.get("scalars", {})
    fn, params = node.attrs["fn"], tuple(node.attrs.get("params", ()))
    operands = [
        float(scalars[k]) if s is None else s.mean if s.is_constant else s for k, s in enumerate(signals)
    ]  # fmt: skip
    data = [s for s in operands if isinstance(s, Signal)]
    spelt = apply(fn, *map(_expression, operands), params=params)
    if not data:
        return constant(shape, float(np.asarray(evaluate(spelt, np.zeros(1))).flat[0]))
    roots = [s if s.function_of is None else s.function_of[0] for s in data]
    common = all(root is roots[0] for root in roots)
    if len(data) == 1:
        args = [X if isinstance(s, Signal) else s for s in operands]
        made = _integrated(node, ctx, data[0], apply(fn, *args, params=params))
    elif "prelu" in node.label and fn == "sub":
        return iid(shape, data[0].mean, data[0].variance)  # the slope counts as zero: what is left is ReLU
    elif fn in ("add", "sub"):
        made = added(shape, data[0], data[1], 1.0 if fn == "add" else -1.0)
    elif fn == "mul":
        made = sum_of_products(shape, 1, data[0], data[1])
    elif fn == "div" and common:
        made = _integrated(node, ctx, roots[0], spelt)
    else:
        return passed(node, ctx, *((None, *signals[1:]) if fn == "where" else signals))
    return made.but(function_of=(roots[0], spelt)) if common else made


def _integrated(node: Node, ctx: Context, x: Signal, f: Expr) -> Signal:
    """mu = E[f(x)], nu = E[f(x)^2] - mu^2, x ~ N(mu_in, nu_in)."""
    made = Signal.function(iid(node.outputs[0].shape, x.mean, x.variance), f)
    if made.problem:
        ctx.note(node, "warning", made.problem)
    return iid(made.shape, made.mean, made.variance)


def _expression(operand: Any) -> Expr | float:
    if not isinstance(operand, Signal):
        return float(operand)
    return X if operand.function_of is None else operand.function_of[1]


def affine(node: Node, ctx: Context, x: Signal, scale: Signal, shift: Signal) -> Signal:
    """A known scale and shift: Multiply, then Add (alpha + beta mu, beta^2 nu for plain numbers)."""
    return added(x.shape, sum_of_products(x.shape, 1, x, scale), shift)


# --- dropout, normalisation, padding, concatenation -------------------------------------------------------------------


def dropout(node: Node, ctx: Context, x: Signal) -> Signal | tuple[Signal, ...]:
    """Dropout: mu, nu / (1 - rate). SpatialDropout, and whatever does not scale: (1 - rate) mu, (1 - rate) nu."""
    keep = 1.0 - float(node.attrs["rate"])
    kind = node.attrs.get("kind", "inverted")
    if kind == "alpha":
        return passed(node, ctx, x)
    if node.attrs.get("shared") or kind == "raw":
        return iid(x.shape, keep * x.mean, keep * x.variance)
    return iid(x.shape, x.mean, x.variance / keep) if keep > 0.0 else constant(x.shape, 0.0)


def normalize(node: Node, ctx: Context, x: Signal, *rest: Signal | None) -> Signal | tuple[Signal, ...]:
    """Batch, layer and group (so also instance) norm: mean 0, variance 1. Without centring: unknown to the paper."""
    return iid(x.shape, 0.0, 1.0) if node.attrs.get("centre", True) else passed(node, ctx, x)


def pad(node: Node, ctx: Context, x: Signal) -> Signal | tuple[Signal, ...]:
    """ZeroPadding with a share z of zeros: (1 - z) mu, (1 - z) nu. Cropping changes nothing."""
    if node.attrs.get("mode", "constant") != "constant" or node.attrs.get("value", 0.0) != 0.0:
        return passed(node, ctx, x)
    shape = node.outputs[0].shape
    padded = prod(shape)
    original = prod(n - max(low, 0) - max(high, 0) for n, (low, high) in zip(shape, node.attrs["pads"], strict=True))
    share = original / padded if padded else 1.0
    return iid(shape, share * x.mean, share * x.variance)


def concatenate(node: Node, ctx: Context, *parts: Signal) -> Signal:
    """Concatenate: a mixture by the numbers of elements C_i."""
    return _mixture([(float(prod(p.shape)), p) for p in parts], node.outputs[0].shape)


def write(node: Node, ctx: Context, base: Signal, update: Signal) -> Signal:
    """A part of a tensor is overwritten: the two concatenated."""
    share = min(float(node.attrs["fraction"]), 1.0)
    return _mixture([(1.0 - share, base), (share, update)], node.outputs[0].shape)


def _mixture(parts: Sequence[tuple[float, Signal]], shape: Sequence[int]) -> Signal:
    total = sum(size for size, _ in parts)
    if total <= 0.0:
        return constant(shape, 0.0)
    mean = sum(size * p.mean for size, p in parts) / total
    return iid(shape, mean, max(sum(size * p.second for size, p in parts) / total - mean**2, 0.0))


# --- pooling and reductions -------------------------------------------------------------------------------------------


def average_pool(node: Node, ctx: Context, x: Signal) -> Signal:
    """AveragePooling over K independent entries: mu, nu / K."""
    return iid(node.outputs[0].shape, x.mean, x.variance / prod(node.attrs["window"]))


def max_pool(node: Node, ctx: Context, x: Signal) -> Signal:
    """MaxPooling over K independent entries: the integrals that the paper samples, in one dimension."""
    return _maximum(x, prod(node.attrs["window"]), node.outputs[0].shape)


def _maximum(x: Signal, count: int, shape: Sequence[int]) -> Signal:
    """mu + sqrt(nu) E[max of K standard normals], and nu times the variance of that maximum."""
    mean, variance = extreme_moments(max(count, 1))
    return iid(shape, x.mean + x.variance**0.5 * mean, x.variance * variance)


def reduce(node: Node, ctx: Context, x: Signal) -> Signal | tuple[Signal, ...]:
    """reduce_mean and global average pooling: mu, nu / D. reduce_sum: D mu, D nu. Global max pooling: K = D."""
    kind, shape = node.attrs["kind"], node.outputs[0].shape
    count = max(prod(x.shape[a] for a in node.attrs.get("axes") or range(x.ndim)), 1)
    if kind == "mean":
        return iid(shape, x.mean, x.variance / count)
    if kind == "sum":
        return iid(shape, count * x.mean, count * x.variance)
    return _maximum(x, count, shape) if kind == "max" else passed(node, ctx, x)


def choose(node: Node, ctx: Context, condition: Signal, *branches: Signal) -> tuple[Signal, ...]:
    """A choice is unknown to the paper: the first branch is passed on."""
    return passed(node, ctx, None, *branches)


# --- the set of rules -------------------------------------------------------------------------------------------------

_LAYERS: dict[str, Rule] = {
    "elementwise": elementwise, "affine": affine, "dropout": dropout, "average_pool": average_pool,
    "max_pool": max_pool, "reduce": reduce, "normalize": normalize, "concat": concatenate, "stack": concatenate,
    "write": write, "pad": pad, "where": choose, "interpolate": unchanged,
}  # fmt: skip
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
            table[op] = _of_data(op, _LAYERS.get(op) or (unchanged if spec.moves else passed))
    return table


paper = RuleSet(_table(), project=two_numbers)
