"""The paper's formulas for sums of products: dense and convolution layers, matrix products, attention.

All are one formula. For n products of independent entries a and b

    mu = n mu_a mu_b,    nu = n ((nu_a + mu_a^2)(nu_b + mu_b^2) - mu_a^2 mu_b^2)

(paragraph "Matrix Multiplication"). With a weight of mean zero in place of b it is the formula of "Convolution and
Dense Layers", nu = fan_in Var(W) (nu_a + mu_a^2), which is solved for Var(W).

fan_in is that of a dense layer over the same channels and taps: a convolution counts all channels of its input times
all taps of its kernel. Padding, stride, groups and transposition do not enter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from ..core.graph.graph import Node
from ..core.signal.signal import Signal, iid
from .registry import RULES, Context, Rule

PAPER_CONTRACTIONS: dict[str, Rule] = {}


def sum_of_products(shape: Sequence[int], n: int, a: Signal, b: Signal) -> Signal:
    """A sum of n products of independent entries."""
    seconds, means = a.second * b.second, a.mean**2 * b.mean**2
    return iid(shape, n * a.mean * b.mean, max(n * (seconds - means), 0.0))


def _plus(y: Signal, bias: Signal | None) -> Signal:
    return y if bias is None else iid(y.shape, y.mean + bias.mean, y.variance + bias.variance)


def _solved(node: Node, ctx: Context, slot: int, x: Signal, n: int) -> Signal:
    """Contract x with the weight in `slot` over n connections, after the context has set its scale."""
    through: Callable[[Signal], Signal] = lambda w: sum_of_products(node.outputs[0].shape, n, x, w)  # noqa: E731
    return through(ctx.weight(node, slot, lambda w: through(w).second))


def dense(node: Node, ctx: Context, x: Signal, w: Signal | None, bias: Signal | None = None) -> Signal:
    """Dense: W ~ N(0, 1 / sqrt(fan_in (nu + mu^2))) gives mean 0 and variance 1."""
    return _plus(_solved(node, ctx, 1, ctx.centred(node, x), x.shape[-1]), bias)


def convolution(node: Node, ctx: Context, x: Signal, w: Signal | None, bias: Signal | None = None) -> Signal:
    """Conv, DepthwiseConv: a dense layer over all channels and all taps."""
    kernel = node.inputs[1].shape  # type: ignore[union-attr]
    taps = prod(kernel[axis] for axis in node.attrs["w_axes"][2:])
    fan_in = x.shape[node.attrs["x_axes"][1]] * taps
    return _plus(_solved(node, ctx, 1, ctx.centred(node, x), fan_in), bias)


def grouped_dense(node: Node, ctx: Context, x: Signal, w: Signal | None) -> Signal:
    """Every row meets one expert: a dense layer."""
    return _solved(node, ctx, 1, x, x.shape[-1])


def bilinear(node: Node, ctx: Context, x1: Signal, x2: Signal, w: Signal | None, bias: Signal | None = None) -> Signal:
    """Multiply of every pair of features, then a dense layer."""
    pairs = sum_of_products((*x1.shape, x2.shape[-1]), 1, x1, x2)
    return _plus(_solved(node, ctx, 2, pairs, x1.shape[-1] * x2.shape[-1]), bias)


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
    left, _, out = node.attrs["equation"].replace(" ", "").partition("->")
    sizes = _sizes(left.split(","), node)
    n = prod(size for label, size in sizes.items() if label not in out)
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
    left, _, out = node.attrs["equation"].partition("->")
    sizes = _sizes(left.split(","), node)
    factor = float(node.attrs["factor"])
    scaled = iid(x.shape, x.mean * factor, x.variance * factor**2)
    return _solved(node, ctx, 1, scaled, prod(size for label, size in sizes.items() if label not in out))


def _sizes(names: list[str], node: Node) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for labels, ref in zip(names, node.inputs, strict=True):
        for label, size in zip(labels, ref.shape, strict=True):  # type: ignore[union-attr]
            sizes[label] = max(size, sizes.get(label, 1))
    return sizes


def attention(node: Node, ctx: Context, q: Signal, k: Signal, v: Signal, mask: Signal | None = None) -> Signal:
    """As written out: matmul, a number, softmax (unknown to the paper: passed on), dropout, matmul."""
    width, keys = q.shape[-1], k.shape[-2]
    given = node.attrs.get("scale")
    scale = width**-0.5 if given is None else float(given)
    logits = sum_of_products((*q.shape[:-1], keys), width, q, k)
    keep = 1.0 - float(node.attrs.get("dropout") or 0.0)
    variance = logits.variance * scale**2 / keep if keep > 0.0 else 0.0
    ctx.note(node, "passed", "the paper has no formula for softmax: mean and variance passed on")
    return sum_of_products(node.outputs[0].shape, keys, iid(logits.shape, logits.mean * scale, variance), v)


def embedding(node: Node, ctx: Context, w: Signal | None, indices: Signal | None = None) -> Signal:
    """The paper is silent: rows of a table of the target variance, as in our own rules."""
    made = RULES["embedding"](node, ctx, w, indices)
    assert isinstance(made, Signal)
    return made


PAPER_CONTRACTIONS.update(
    linear=dense, conv=convolution, grouped_linear=grouped_dense, bilinear=bilinear, matmul=matmul, einsum=einsum,
    attention=attention, embedding=embedding, weighted_sum=weighted_sum,
)  # fmt: skip
