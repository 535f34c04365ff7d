"""Contractions: dense, grouped, bilinear, einsum, matmul, embeddings (convolutions: `convolution`).

Fresh i.i.d. zero-mean weights of variance s^2 contracted over a fan n give m' = 0 and K'(S) = n s^2 K(S) where the
output feature is the same, 0 where it differs. The context solves n s^2 K(0) = v for s (`ctx.weight`). Weights
that are kept have moments of their own; then the general two-operand rule applies,

    K'(S) = sum over subsets T of contracted axes of count(T) K_x(S_x, T) K_w(S_w, T).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from ..core.graph.graph import Node
from ..core.signal import axes as K_axes
from ..core.signal.axis_maps import apart, averaged_over, placed, transform, within
from ..core.signal.contraction import einsum_moments, label_sizes, matmul_equation
from ..core.signal.merged_axes import MOST_AXES, fine_of, finely, merged
from ..core.signal.positive import exponential, is_nonnegative
from ..core.signal.signal import Signal
from ..core.signal.volatility import contracted, pair_volatility
from .attention import doubt_relatives, shared_input
from .registry import Context, rule
from .shape import permuted, reshaped, same_row


def with_bias(y: Signal, bias: Signal | None, axis: int, cross: tuple[float, float] | None = None) -> Signal:
    """y + bias, the bias running along `axis`. `cross`: E[y b] for the same and for different outputs, if known."""
    if bias is None or (bias.is_constant and bias.mean == 0.0):
        return y
    together = np.array(cross or (y.mean * bias.mean,) * 2)
    K = y.K + placed(reshaped(bias, (prod(bias.shape),)).K + 2 * together, (axis,), y.ndim)
    K.flat[0] = max(K.flat[0], 0.0)
    return y.having(y.mean + bias.mean, K)


def kept_cross(node: Node, ctx: Context, x: Signal, taps: float = 1.0) -> tuple[float, float] | None:
    """E[y b] of a weight and bias that both stay as they are: the mean of y_o is mu times the row sum of W.

    In trained networks, and with centring biases, the two are far from independent. `taps` is the live share of taps.
    """
    if x.mean == 0.0 or node.inputs[2] is None or not (ctx.kept(node, 1) and ctx.kept(node, 2)):
        return None
    w, b = ctx.array(node, 1), ctx.array(node, 2)
    if w is None or b is None or not (np.isfinite(w).all() and np.isfinite(b).all()):
        return None
    rows = np.asarray(w, float).transpose(node.attrs.get("w_axes", range(w.ndim)))  # (outputs, ...)
    if len(rows) != b.size:  # transposed: outputs of one group, inputs of all
        rows = rows.reshape(len(rows), b.size // len(rows), -1).swapaxes(0, 1)
    sums = rows.reshape(b.size, -1).sum(axis=1) * (x.mean * taps)
    return float(np.mean(sums * b)), apart(sums, np.ravel(b).astype(float))


def is_fresh(w: Signal) -> bool:
    """Zero mean and uncorrelated entries: the closed form applies."""
    return w.mean == 0.0 and not np.count_nonzero(w.K[~within(w.shape)])


class ByVariance:
    """A moment map of a weight, worked out once for fresh weights: there only their variance counts."""

    def __init__(self, through: Callable[[Signal], Signal]) -> None:
        self.through = through
        self.known: tuple[float, Signal] | None = None

    def __call__(self, w: Signal) -> Signal:
        if not is_fresh(w) or w.second <= 0.0:
            return self.through(w)
        if self.known is None:
            self.known = w.second, self.through(w)
        variance, y = self.known
        return y.having(y.mean, y.K * (w.second / variance))


def solved(node: Node, ctx: Context, slot: int, through: Callable[[Signal], Signal]) -> Signal:
    """What `through` makes of the weight in `slot`, which is set to give that the target variance."""
    return through(ctx.weight(node, slot, lambda w: through(w).second))


def linear_map(x: Signal, w: Signal, shape: tuple[int, ...]) -> Signal:
    """y = x W^T over the last axis of x; W is (out, in)."""
    n = x.shape[-1]
    K = transform(x.K, x.ndim - 1, w.K * (n, n * (n - 1)))  # E[x_k x_l] E[w_ok w_ol] over n (n - 1) ordered pairs
    made = Signal(shape, n * x.mean * w.mean, K, profiles=(*x.profiles[:-1], None), deficiency=1.0 / n + x.deficiency,
                  volatility=contracted(x, x.ndim - 1, n))  # fmt: skip
    found = fine_of(x)
    if found is None or not is_fresh(w) or len(found.groups[-1]) != 1:
        return made
    # The rows of x may be (batch, tokens) merged: keep that.
    same = n * w.second * found.signal.K[..., 0]
    fine = Signal((*found.signal.shape[:-1], shape[-1]), 0.0, K_axes.of_both(same, np.zeros(same.shape), same.ndim))
    return finely(made, fine, [len(group) for group in found.groups])


@rule("linear")
def linear(node: Node, ctx: Context, x: Signal, w: Signal | None, bias: Signal | None = None) -> Signal:
    """y = x W^T + b over a fan of n: m' = 0, K'(S) = n s^2 K(S) for the same output feature, 0 for different ones.

    A weight that is kept has moments of its own, of entries that agree or differ in output o and input (same, other):

        K'(S) = n K(S, same) K_w(o, same) + n (n - 1) K(S, other) K_w(o, other)
    """
    shape = node.outputs[0].shape
    if len(node.inputs[1].shape) == 1:  # type: ignore[union-attr]
        lead = _letters(x.ndim - 1)
        return solved(node, ctx, 1, lambda w: contract(f"{lead}y,y->{lead}", x, w))
    x = ctx.centred(node, x)
    made = solved(node, ctx, 1, ByVariance(lambda w: linear_map(x, w, shape)))
    made = with_bias(made, bias, len(shape) - 1, kept_cross(node, ctx, x))
    return made if x.logits is None else made.but(logits=x.logits)  # heads mixed after a softmax


def _letters(n: int) -> str:
    return "".join(chr(ord("a") + k) for k in range(n))


def contract(equation: str, *operands: Signal) -> Signal:
    """Independent operands by an einsum equation."""
    left, out = equation.split("->")
    names = left.split(",")
    sizes = label_sizes(names, operands)
    shape = tuple(sizes[c] for c in out)
    mean, K = einsum_moments(names, out, operands)
    if mean > 0.0 and all(is_nonnegative(s) for s in operands):  # sums of positive products stay positive
        return exponential(shape, mean, K)
    made = Signal(shape, mean, K)
    return made if 0 in shape else _contract_refined(made, names, out, operands)


def _contract_refined(made: Signal, names: list[str], out: str, operands: Sequence[Signal]) -> Signal:
    """The same contraction over the axes that were merged into those of the operands."""
    known = [fine_of(s) for s in operands]
    parts: dict[str, tuple[int, ...]] = {}
    for labels, found in zip(names, known, strict=True):
        for label, group in zip(labels, () if found is None else found.groups, strict=False):
            if found is not None and len(group) > 1:
                sizes = tuple(found.signal.shape[i] for i in group)
                if parts.setdefault(label, sizes) != sizes:
                    return made
    if not parts or sum(len(parts.get(c, "1")) for c in out) > MOST_AXES:
        return made
    letters = iter("ABCDEFGHIJKLMNOPQRSTUVWXYZαβγδεζηθικλμνξοπρστυφχψω")
    spelt = {
        label: "".join(next(letters) for _ in parts.get(label, "1")) for label in dict.fromkeys("".join(names) + out)
    }
    signals = []
    for labels, signal, found in zip(names, operands, known, strict=True):
        K, shape = (signal if found is None else found.signal).K, list[int]()
        for axis, (label, n) in enumerate(zip(labels, signal.shape, strict=True)):
            sizes = parts.get(label, (n,))
            if found is None or len(found.groups[axis]) == 1:
                K = K_axes.split(K, len(shape), len(sizes))
                sizes = sizes if n > 1 else (1,) * len(sizes)
            shape += sizes
        signals.append(Signal(shape, signal.mean, K))
    fine_names, fine_out = ["".join(spelt[c] for c in labels) for labels in names], "".join(spelt[c] for c in out)
    mean, K = einsum_moments(fine_names, fine_out, signals)
    sizes_of = label_sizes(fine_names, signals)
    lengths, shape = [len(spelt[c]) for c in out], [sizes_of[c] for c in fine_out]
    better = Signal(made.shape, mean, merged(K, shape, lengths))
    return finely(better, Signal(shape, mean, K), lengths) if len(shape) > len(out) else better


@rule("matmul")
def matmul(node: Node, ctx: Context, a: Signal | None, b: Signal | None) -> Signal:
    """torch.matmul: vectors, matrices, batches with broadcasting. Either side may be a weight.

    K'(S) = n K_1(S, same) K_2(S, same) + n (n - 1) K_1(S, other) K_2(S, other), same or other along the summed axis.
    """
    left, right = (len(ref.shape) for ref in node.inputs)  # type: ignore[union-attr]
    made = _two_operands(node, ctx, matmul_equation(left, right), a, b)
    if a is not None and b is not None and a.mean == b.mean == 0.0 and 2 < a.ndim == b.ndim == made.ndim:
        shaken = pair_volatility(a, permuted(b, (*range(b.ndim - 2), b.ndim - 1, b.ndim - 2)))
        made = made.but(volatility=shaken)
    return _attended(made, a, b)


def _two_operands(node: Node, ctx: Context, equation: str, a: Signal | None, b: Signal | None) -> Signal:
    weights = node.attrs.get("weights", ())
    slot = next((k for k in (1, 0) if k in weights), None)
    if slot is None:
        assert a is not None and b is not None
        doubt_relatives(node, ctx, equation)
        return contract(equation, a, b)
    x = (b, a)[slot]
    assert x is not None
    made = solved(node, ctx, slot, lambda w: contract(equation, x, w) if slot else contract(equation, w, x))
    return _with_profiles(made, equation, 1 - slot, x)


def _with_profiles(made: Signal, equation: str, slot: int, x: Signal) -> Signal:
    """Along axes that a weight does not contract, E[y²] varies as that of the data does."""
    left, out = equation.split("->")
    if all(p is None for p in x.profiles) or made.source is not made:
        return made
    labels = left.split(",")[slot]
    known = {label: p for label, p in zip(labels, x.profiles, strict=True) if p is not None}
    profiles = [known[c] if c in known and known[c].size == n else None for c, n in zip(out, made.shape, strict=True)]
    return made.but(profiles=tuple(profiles))


def _attended(y: Signal, p: Signal | None, v: Signal | None) -> Signal:
    """softmax(logits) @ v, written out: keys and values share their input as in `attention`.

    Heads may have been mixed after the softmax (talking heads): then rows do not sum to one.
    """
    logits = None if p is None else p.logits
    if logits is None and p is not None and v is not None and v.logits is not None and p.ndim == v.ndim == y.ndim > 1:
        back = (*range(y.ndim - 2), y.ndim - 1, y.ndim - 2)  # v p^T
        made = _attended(permuted(y, back), permuted(v, back), permuted(p, back))
        return permuted(made, back)
    if p is None or logits is None or v is None or v.ndim < 2 or logits.shape != p.shape:
        return y
    n = p.shape[-1]
    total = n * n * float(averaged_over(p.K, (p.ndim - 1,), p.shape).flat[0])
    return shared_input(y, v, logits, logits.live, total=total)


@rule("einsum")
def einsum(node: Node, ctx: Context, *operands: Signal | None) -> Signal:
    """Any equation; of two operands either may be a weight. Of one: a permutation, sums, diagonals.

    Over all ways T in which the labels that are summed may be the same (n pairs) or different (n (n - 1) pairs):

        K'(S) = sum over T of pairs(T) K_1(S, T) K_2(S, T)
    """
    left, _, out = node.attrs["equation"].replace(" ", "").partition("->")
    if len(operands) == 2:
        return _two_operands(node, ctx, f"{left}->{out}", *operands)
    known = [x for x in operands if x is not None]
    if sorted(left) == sorted(out):
        return permuted(known[0], [left.index(c) for c in out])
    return contract(f"{left}->{out}", *known)


@rule("weighted_sum")
def weighted_sum(node: Node, ctx: Context, x: Signal, w: Signal | None) -> Signal:
    """y = factor * sum over some axes of x w, broadcast against each other: K' as for einsum, times factor^2."""
    a = node.attrs
    made = solved(node, ctx, 1, lambda w: contract(a["equation"], x, w).scaled(float(a["factor"])))
    return reshaped(made, node.outputs[0].shape)


@rule("bilinear")
def bilinear(node: Node, ctx: Context, x1: Signal, x2: Signal, w: Signal | None, bias: Signal | None = None) -> Signal:
    """y_o = sum_ij w_oij x1_i x2_j: the outer product of the inputs, K_1 K_2, contracted as by linear."""
    shape = node.outputs[0].shape
    lead = _letters(x1.ndim - 1)
    outer = contract(f"{lead}x,{lead}y->{lead}xy", x1, x2)
    flat = reshaped(outer, (*x1.shape[:-1], x1.shape[-1] * x2.shape[-1]))

    def through(w: Signal) -> Signal:
        return linear_map(flat, reshaped(w, (w.shape[0], w.shape[1] * w.shape[2])), shape)

    return with_bias(solved(node, ctx, 2, through), bias, len(shape) - 1)


@rule("grouped_linear")
def grouped_linear(node: Node, ctx: Context, x: Signal, w: Signal | None) -> Signal:
    """y_r = x_r W_e(r): every row meets one of E slices of the weight, two rows the same one with chance c.

    So two rows meet weights of moments c K_w(same slice) + (1 - c) K_w(another). Fresh weights: n s^2 K_x(S) for the
    same output feature, times c for different rows.
    """
    shape, n = node.outputs[0].shape, x.shape[-1]
    chance = node.attrs.get("chance")
    c = 1.0 / max(node.inputs[1].shape[0], 1) if chance is None else float(chance)  # type: ignore[union-attr]

    def through(w: Signal) -> Signal:
        rows = Signal((x.shape[0], *w.shape[1:]), w.mean, np.stack([w.K[0], c * w.K[0] + (1 - c) * w.K[1]]))
        mean, K = einsum_moments(["ri", "rio"], "ro", [x, rows])
        return Signal(shape, mean, K, profiles=(x.profiles[0], None), deficiency=1.0 / n + x.deficiency,
                      volatility=contracted(x, x.ndim - 1, n))  # fmt: skip

    return solved(node, ctx, 1, ByVariance(through))


@rule("embedding")
def embedding(node: Node, ctx: Context, w: Signal | None, indices: Signal | None = None) -> Signal:
    """Rows of a table. Two tokens share their row as often as their indices are equal, with chance c(S):

    K'(S) = c(S) K_w(same row) + (1 - c(S)) K_w(another row). A bag sums or averages its rows: K' over all their pairs.
    """
    shape = node.outputs[0].shape
    bag = node.attrs.get("bag")
    tokens = len(shape) - 1 + bool(bag)  # a bag has an axis more, over which its rows are summed or averaged
    c = same_row(node.attrs.get("chance"), tokens, node.attrs["vocabulary"])[..., None]

    def picked(table: Signal) -> Signal:
        K, mean = c * table.K[0] + (1 - c) * table.K[1], table.mean
        if bag:
            size = node.attrs["bag_size"]
            factor = float(size if bag == "sum" else 1.0)
            K, mean = K_axes.mean_over(K, 1, size) * factor**2, mean * factor
        return Signal(shape, mean, K)

    return solved(node, ctx, 0, picked)
