"""The paper's formulas for sums of products: dense and convolution layers, matrix products, attention.

All are one formula. For n products of independent entries a and b

    mu = n mu_a mu_b,    nu = n ((nu_a + mu_a^2)(nu_b + mu_b^2) - mu_a^2 mu_b^2)

(paragraph "Matrix Multiplication"). With a weight of mean zero in place of b it is the formula of "Convolution and
Dense Layers", nu = fan_in Var(W) (nu_a + mu_a^2), which is solved for Var(W).

fan_in is that of a dense layer over the same channels and taps: a convolution counts all channels of its input times
all taps of its kernel. Padding, stride, groups and transposition do not enter.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ..core.graph.graph import Node
from ..core.signal.contraction import label_sizes
from ..core.signal.signal import Signal, iid
from .attention import scale_of
from .contract import embedding, solved
from .registry import Context, Rule


def sum_of_products(shape: Sequence[int], n: int, a: Signal, b: Signal) -> Signal:
    """A sum of n products of independent entries."""
    seconds, means = a.second * b.second, a.mean**2 * b.mean**2
    return iid(shape, n * a.mean * b.mean, max(n * (seconds - means), 0.0))


def added(shape: Sequence[int], u: Signal, v: Signal | None, sign: float = 1.0) -> Signal:
    """Add, Subtract: means add with their sign, variances add."""
    return u if v is None else iid(shape, u.mean + sign * v.mean, u.variance + v.variance)


def _solved(node: Node, ctx: Context, slot: int, x: Signal, n: int) -> Signal:
    """Contract x with the weight in `slot` over n connections, after the context has set its scale."""
    return solved(node, ctx, slot, lambda w: sum_of_products(node.outputs[0].shape, n, x, w))


def dense(node: Node, ctx: Context, x: Signal, w: Signal | None, bias: Signal | None = None) -> Signal:
    """Dense: W ~ N(0, 1 / sqrt(fan_in (nu + mu^2))) gives mean 0 and variance 1."""
    return added(node.outputs[0].shape, _solved(node, ctx, 1, ctx.centred(node, x), x.shape[-1]), bias)


def convolution(node: Node, ctx: Context, x: Signal, w: Signal | None, bias: Signal | None = None) -> Signal:
    """Conv, DepthwiseConv: a dense layer over all channels and all taps."""
    kernel = node.inputs[1].shape  # type: ignore[union-attr]
    taps = prod(kernel[axis] for axis in node.attrs["w_axes"][2:])
    fan_in = x.shape[node.attrs["x_axes"][1]] * taps
    return added(node.outputs[0].shape, _solved(node, ctx, 1, ctx.centred(node, x), fan_in), bias)


def grouped_dense(node: Node, ctx: Context, x: Signal, w: Signal | None) -> Signal:
    """Every row meets one expert: a dense layer."""
    return _solved(node, ctx, 1, x, x.shape[-1])


def bilinear(node: Node, ctx: Context, x1: Signal, x2: Signal, w: Signal | None, bias: Signal | None = None) -> Signal:
    """Multiply of every pair of features, then a dense layer."""
    pairs = sum_of_products((*x1.shape, x2.shape[-1]), 1, x1, x2)
    return added(node.outputs[0].shape, _solved(node, ctx, 2, pairs, x1.shape[-1] * x2.shape[-1]), bias)


def matmul(node: Node, ctx: Context, a: Signal | None, b: Signal | None) -> Signal:
    """tf.matmul; a dense layer where one side is a weight."""
    return _two(node, ctx, a, b, node.inputs[0].shape[-1])  # type: ignore[union-attr]


def _two(node: Node, ctx: Context, a: Signal | None, b: Signal | None, n: int) -> Signal:
    for slot, x in ((1, a), (0, b)):
        if slot in node.attrs.get("weights", ()):
            assert x is not None
            return _solved(node, ctx, slot, x, n)
    assert a is not None and b is not None
    return sum_of_products(node.outputs[0].shape, n, a, b)


def einsum(node: Node, ctx: Context, *operands: Signal | None) -> Signal:
    """The matrix product over all labels that are summed; several operands are multiplied before they are."""
    n = _summed(node)
    if len(operands) == 2:
        return _two(node, ctx, operands[0], operands[1], n)
    *rest, last = [s for s in operands if s is not None]
    shape = node.outputs[0].shape
    product = iid(shape, 1.0, 0.0)
    for signal in rest:
        product = sum_of_products(shape, 1, product, signal)
    return sum_of_products(shape, n, product, last)


def weighted_sum(node: Node, ctx: Context, x: Signal, w: Signal | None) -> Signal:
    """Multiply with a weight, then sum or average: a dense layer over what is summed."""
    factor = float(node.attrs["factor"])
    return _solved(node, ctx, 1, iid(x.shape, x.mean * factor, x.variance * factor**2), _summed(node))


def _summed(node: Node) -> int:
    """How many products a label equation adds up."""
    left, _, out = node.attrs["equation"].replace(" ", "").partition("->")
    sizes = label_sizes(left.split(","), [ref for ref in node.inputs if ref is not None])
    return prod(size for label, size in sizes.items() if label not in out)


def attention(node: Node, ctx: Context, q: Signal, k: Signal, v: Signal, mask: Signal | None = None) -> Signal:
    """As written out: matmul, a number, softmax (unknown to the paper: passed on), dropout, matmul."""
    keys, scale = k.shape[-2], scale_of(node, q)
    logits = sum_of_products((*q.shape[:-1], keys), q.shape[-1], q, k)
    keep = 1.0 - float(node.attrs.get("dropout") or 0.0)
    variance = logits.variance * scale**2 / keep if keep > 0.0 else 0.0
    ctx.note(node, "passed", "the paper has no formula for softmax: mean and variance passed on")
    return sum_of_products(node.outputs[0].shape, keys, iid(logits.shape, logits.mean * scale, variance), v)


PAPER_CONTRACTIONS: dict[str, Rule] = {
    "linear": dense, "conv": convolution, "grouped_linear": grouped_dense, "bilinear": bilinear, "matmul": matmul,
    "einsum": einsum, "attention": attention, "weighted_sum": weighted_sum, "embedding": embedding,
}  # fmt: skip
"""The paper is silent on embeddings: rows of a table of the target variance, as in our own rules."""
