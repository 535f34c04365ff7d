"""The paper's formulas for everything but weights: two numbers in, two numbers out.

Entries count as independent and normal. Where the paper has no formula the layer is unknown to it, and "the mean and
variance are not changed by that layer" (its appendix "Support for New Layer Types"): `passed` does that, and says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ..core.gaussian.expression import Expr, X, apply, evaluate
from ..core.gaussian.maximum import extreme_moments
from ..core.graph.graph import Node
from ..core.signal.signal import Signal, constant, iid
from .registry import Context


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
    """A function of one tensor: its integrals over N(mu, nu). Of several: Add, Subtract, Multiply of independents."""
    shape, scalars = node.outputs[0].shape, node.attrs.get("scalars", {})
    fn, params = node.attrs["fn"], tuple(node.attrs.get("params", ()))
    operands = [
        float(scalars[k]) if s is None else s.mean if s.is_constant else s for k, s in enumerate(signals)
    ]  # fmt: skip
    data = [s for s in operands if isinstance(s, Signal)]
    if not data:
        return constant(
            shape,
            float(np.asarray(evaluate(apply(fn, *map(_expression, operands), params=params), np.zeros(1))).flat[0]),
        )
    if len(data) == 1:
        made = _activation(node, ctx, fn, params, operands, shape)
    elif "prelu" in node.label and fn == "sub":
        return iid(shape, data[0].mean, data[0].variance)  # the slope counts as zero: what is left is ReLU
    elif fn in ("add", "sub"):
        made = _added(data[0], data[1], 1.0 if fn == "add" else -1.0, shape)
    elif fn == "mul":
        made = _multiplied(data[0], data[1], shape)
    elif fn == "div" and _common_root(data) is not None:
        made = _quotient(node, ctx, operands, shape)
    else:
        return passed(node, ctx, *((None, *signals[1:]) if fn == "where" else signals))
    root = _common_root(data)
    if root is None:
        return made
    return made.but(function_of=(root, apply(fn, *map(_expression, operands), params=params)))


def _activation(
    node: Node, ctx: Context, fn: str, params: tuple[float, ...], operands: Sequence[Any], shape: Sequence[int]
) -> Signal:
    """mu = E[f(x)], nu = E[f(x)^2] - mu^2, x ~ N(mu_in, nu_in)."""
    x = next(s for s in operands if isinstance(s, Signal))
    return _integrated(node, ctx, x, apply(fn, *(X if s is x else s for s in operands), params=params), shape)


def _integrated(node: Node, ctx: Context, x: Signal, f: Expr, shape: Sequence[int]) -> Signal:
    made = Signal.function(iid(shape, x.mean, x.variance), f)
    if made.problem:
        ctx.note(node, "warning", made.problem)
    return iid(shape, made.mean, made.variance)


def _expression(operand: Any) -> Expr | float:
    if not isinstance(operand, Signal):
        return float(operand)
    return X if operand.function_of is None else operand.function_of[1]


def _common_root(data: Sequence[Signal]) -> Signal | None:
    """The tensor that all are elementwise functions of, if there is one."""
    roots = [s if s.function_of is None else s.function_of[0] for s in data]
    return roots[0] if all(root is roots[0] for root in roots) else None


def _quotient(node: Node, ctx: Context, operands: Sequence[Any], shape: Sequence[int]) -> Signal:
    """f(x)/g(x) of one tensor is an activation function that is spelt out (softsign is x/(1 + |x|))."""
    root = _common_root([s for s in operands if isinstance(s, Signal)])
    assert root is not None
    return _integrated(node, ctx, root, apply("div", *map(_expression, operands)), shape)


def _added(u: Signal, v: Signal, sign: float, shape: Sequence[int]) -> Signal:
    """Add, Subtract: means add with their sign, variances add."""
    return iid(shape, u.mean + sign * v.mean, u.variance + v.variance)


def _multiplied(u: Signal, v: Signal, shape: Sequence[int]) -> Signal:
    """Multiply: second moments multiply, and so do means."""
    return iid(shape, u.mean * v.mean, max(u.second * v.second - (u.mean * v.mean) ** 2, 0.0))


def affine(node: Node, ctx: Context, x: Signal, scale: Signal, shift: Signal) -> Signal:
    """A known scale and shift: Multiply, then Add (alpha + beta mu, beta^2 nu for plain numbers)."""
    return _added(_multiplied(x, scale, x.shape), shift, 1.0, x.shape)


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
    return iid(node.outputs[0].shape, x.mean, x.variance / _window(node))


def max_pool(node: Node, ctx: Context, x: Signal) -> Signal:
    """MaxPooling over K independent entries: the integrals that the paper samples, in one dimension."""
    return _maximum(x, _window(node), node.outputs[0].shape)


def _window(node: Node) -> int:
    window = node.attrs["window"]
    return int(window) ** len(node.attrs["axes"]) if isinstance(window, int) else prod(window)


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
    ctx.note(node, "passed", f"the paper has no formula for {node.label or node.op}: mean and variance passed on")
    shape = node.outputs[0].shape
    data = [b for k, b in enumerate(branches, 1) if ctx.varies(node, k)] or list(branches)
    return (iid(shape, data[0].mean, data[0].variance),)
