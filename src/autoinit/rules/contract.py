"""Contractions: dense, bilinear, einsum, matmul, embeddings (convolutions: `convolution`).

Fresh i.i.d. zero-mean weights of variance s^2 contracted over a fan n give m' = 0 and K'(S) = n s^2 K(S) where the
output feature is the same, 0 where it differs. The context solves n s^2 K(0) = v for s (`ctx.weight`). Weights
that are kept have moments of their own; then the general two-operand rule applies,

    K'(S) = sum over subsets T of contracted axes of count(T) K_x(S_x, T) K_w(S_w, T).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..core.graph.graph import Node, Reference
from ..core.signal import axes as K_axes
from ..core.signal.axis_maps import averaged_over
from ..core.signal.broadcast import aligned
from ..core.signal.contraction import einsum_moments
from ..core.signal.merged_axes import MOST_AXES, fine_of, finely, merged
from ..core.signal.positive import exponential, is_nonnegative
from ..core.signal.signal import Signal
from ..core.signal.volatility import contracted, pair_volatility
from .attention import shared_input
from .registry import Context, rule
from .shape import permuted, reshaped


def with_bias(y: Signal, bias: Signal | None, axis: int, cross: tuple[float, float] | None = None) -> Signal:
    """y + bias, the bias running along `axis`. `cross`: E[y b] for the same and for different outputs, if known."""
    if bias is None or (bias.is_constant and bias.mean == 0.0):
        return y
    shape = [1] * y.ndim
    shape[axis] = bias.shape[-1] if bias.ndim else 1
    b = aligned(reshaped(bias, shape), y.shape)
    table = np.full(y.K.shape, y.mean * b.mean)
    if cross is not None:
        table = np.stack([np.full(y.K.shape[1:], c) for c in cross], axis=axis)
    K = y.K + b.K + 2 * table
    K.flat[0] = max(K.flat[0], 0.0)
    return Signal(y.shape, y.mean + b.mean, K, profiles=y.profiles, deficiency=y.deficiency, volatility=y.volatility)


def kept_cross(node: Node, ctx: Context, x: Signal, taps: float = 1.0) -> tuple[float, float] | None:
    """E[y b] of a weight and bias that both stay as they are: the mean of y_o is mu times the row sum of W.

    In trained networks, and with centring biases, the two are far from independent. `taps` is the live share of taps.
    """
    if x.mean == 0.0 or node.inputs[2] is None or not (ctx.kept(node, 1) and ctx.kept(node, 2)):
        return None
    w, b = ctx.array(node, 1), ctx.array(node, 2)
    if w is None or b is None or not (np.isfinite(w).all() and np.isfinite(b).all()):
        return None
    rows, groups = node.attrs.get("w_axes", (0,))[0], int(node.attrs.get("groups", 1))
    if rows != 0:  # transposed: inputs (by group), outputs per group, taps
        w = np.moveaxis(w.reshape(groups, w.shape[0] // groups, *w.shape[1:]), 2, 1)
    sums = np.asarray(w, float).reshape(b.size, -1).sum(axis=1) * (x.mean * taps)
    same = float(np.mean(sums * b))
    n = b.size
    return same, (float(sums.mean() * b.mean()) - same / n) * n / (n - 1) if n > 1 else same


def is_fresh(w: Signal) -> bool:
    """Zero mean and uncorrelated entries: the closed form applies."""
    return w.mean == 0.0 and not np.any(w.K[_can_depend(w.shape)])


@lru_cache(maxsize=4096)
def _can_depend(shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Patterns that differ somewhere, and only on axes longer than one: there K can carry dependence."""
    mask = np.ones((2,) * len(shape), bool)
    mask.flat[0] = False
    for axis, n in enumerate(shape):
        if n == 1:
            mask[(slice(None),) * axis + (1,)] = False
    return mask


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
        return Signal(y.shape, y.mean, y.K * (w.second / variance), profiles=y.profiles, deficiency=y.deficiency,
                      volatility=y.volatility)  # fmt: skip


def linear_map(x: Signal, w: Signal, shape: tuple[int, ...]) -> Signal:
    """y = x W^T over the last axis of x; W is (out, in)."""
    n = x.shape[-1]
    if is_fresh(w):
        same = n * w.second * x.K[..., 0]
        K = np.stack([same, np.zeros_like(same)], axis=-1)
        made = Signal(shape, 0.0, K, profiles=(*x.profiles[:-1], None), deficiency=1.0 / n + x.deficiency,
                      volatility=contracted(x, x.ndim - 1, n))  # fmt: skip
        return _rows_refined(made, x, n * w.second)
    # T = different: E[x_k x_l] E[w_ok w_ol] over n (n - 1) ordered pairs
    same_x, other_x = x.K[..., 0], x.K[..., 1]
    columns = [n * same_x * w.K[o, 0] + n * (n - 1) * other_x * w.K[o, 1] for o in (0, 1)]
    return Signal(shape, n * x.mean * w.mean, np.stack(columns, axis=-1), profiles=(*x.profiles[:-1], None),
                  deficiency=1.0 / n + x.deficiency, volatility=contracted(x, x.ndim - 1, n))  # fmt: skip


def _rows_refined(made: Signal, x: Signal, gain: float) -> Signal:
    """The rows of x may be (batch, tokens) merged: keep that (fresh weights)."""
    found = fine_of(x)
    if found is None or len(found[1][-1]) != 1:
        return made
    K = np.stack([gain * found[0].K[..., 0], np.zeros(found[0].K.shape[:-1])], axis=-1)
    fine = Signal((*found[0].shape[:-1], made.shape[-1]), 0.0, K)
    return finely(made, fine, [len(g) for g in found[1]])


@rule("linear")
def linear(node: Node, ctx: Context, x: Signal, w: Signal | None, bias: Signal | None = None) -> Signal:
    shape = node.outputs[0].shape
    if len(node.inputs[1].shape) == 1:  # type: ignore[union-attr]
        lead = _letters(x.ndim - 1)
        vector = ctx.weight(node, 1, lambda w: contract(f"{lead}y,y->{lead}", shape, x, w).second)
        return contract(f"{lead}y,y->{lead}", shape, x, vector)
    x = ctx.centred(node, x)
    through = ByVariance(lambda w: linear_map(x, w, shape))
    weight = ctx.weight(node, 1, lambda w: through(w).second)
    made = with_bias(through(weight), bias, len(shape) - 1, kept_cross(node, ctx, x))
    return made if x.logits is None else made.but(logits=x.logits)  # heads mixed after a softmax


def _letters(n: int, start: int = 0) -> str:
    return "".join(chr(ord("a") + start + k) for k in range(n))


def contract(equation: str, shape: tuple[int, ...], *operands: Signal) -> Signal:
    """Two operands by an einsum equation."""
    left, out = equation.split("->")
    names = left.split(",")
    sizes: dict[str, int] = {}
    for labels, signal in zip(names, operands, strict=True):
        for label, n in zip(labels, signal.shape, strict=True):
            sizes[label] = max(n, sizes.get(label, 1))
    mean, K = einsum_moments(names, out, list(operands), sizes)
    if mean > 0.0 and all(is_nonnegative(s) for s in operands):  # sums of positive products stay positive
        return exponential(shape, mean, K)
    made = Signal(shape, mean, K)
    return _contract_refined(made, names, out, operands) if all(sizes[c] > 0 for c in out) else made


def _contract_refined(made: Signal, names: list[str], out: str, operands: tuple[Signal, ...]) -> Signal:
    """The same contraction over the axes that were merged into those of the operands."""
    known = [fine_of(s) for s in operands]
    parts: dict[str, tuple[int, ...]] = {}
    for labels, found in zip(names, known, strict=True):
        for label, group in zip(labels, () if found is None else found[1], strict=False):
            if found is not None and len(group) > 1:
                sizes = tuple(found[0].shape[i] for i in group)
                if parts.setdefault(label, sizes) != sizes:
                    return made
    if not parts or sum(len(parts.get(c, "1")) for c in out) > MOST_AXES:
        return made
    letters = iter(_letters(26, 0).upper() + "αβγδεζηθικλμνξοπρστυφχψω")
    spelt = {
        label: "".join(next(letters) for _ in parts.get(label, "1")) for label in dict.fromkeys("".join(names) + out)
    }
    fine_names, signals = [], []
    for labels, signal, found in zip(names, operands, known, strict=True):
        K, at = (signal if found is None else found[0]).K, 0
        shape: list[int] = []
        for axis, label in enumerate(labels):
            sizes = parts.get(label, (signal.shape[axis],))
            if found is None or len(found[1][axis]) == 1:
                K = K_axes.split(K, at, len(sizes))
                sizes = sizes if signal.shape[axis] > 1 else (1,) * len(sizes)
            shape += sizes
            at += len(sizes)
        fine_names.append("".join(spelt[label] for label in labels))
        signals.append(Signal(shape, signal.mean, K))
    sizes_of: dict[str, int] = {}
    for labels, signal in zip(fine_names, signals, strict=True):
        for letter, n in zip(labels, signal.shape, strict=True):
            sizes_of[letter] = max(n, sizes_of.get(letter, 1))
    fine_out = "".join(spelt[c] for c in out)
    mean, K = einsum_moments(fine_names, fine_out, signals, sizes_of)
    lengths, shape = [len(spelt[c]) for c in out], [sizes_of[c] for c in fine_out]
    better = Signal(made.shape, mean, merged(K, shape, lengths))
    if len(shape) > len(out):
        return finely(better, Signal(shape, mean, K), lengths)
    return better


@rule("matmul")
def matmul(node: Node, ctx: Context, a: Signal | None, b: Signal | None) -> Signal:
    """torch.matmul: vectors, matrices, batches with broadcasting. Either side may be a weight."""
    shape_a, shape_b = node.inputs[0].shape, node.inputs[1].shape  # type: ignore[union-attr]
    batch = max(len(shape_a) - 2, len(shape_b) - 2, 0)
    names = _letters(batch)
    row, inner, column = "x", "y", "z"
    left = names[batch - (len(shape_a) - 2) :] + row + inner if len(shape_a) > 1 else inner
    right = names[batch - (len(shape_b) - 2) :] + inner + column if len(shape_b) > 1 else inner
    out = names + (row if len(shape_a) > 1 else "") + (column if len(shape_b) > 1 else "")
    made = _two_operands(node, ctx, f"{left},{right}->{out}", a, b)
    if a is not None and b is not None and a.mean == b.mean == 0.0 and 2 < a.ndim == b.ndim == made.ndim:
        shaken = pair_volatility(a, permuted(b, (*range(b.ndim - 2), b.ndim - 1, b.ndim - 2)))
        made = made.but(volatility=shaken)
    return _attended(made, a, b)


def _two_operands(node: Node, ctx: Context, equation: str, a: Signal | None, b: Signal | None) -> Signal:
    shape = node.outputs[0].shape
    weights = node.attrs.get("weights", ())
    slots = [a, b]
    for slot in (1, 0):
        if slot in weights:
            other = 1 - slot

            def second(w: Signal, slot: int = slot, other: int = other) -> float:
                pair = [w, w]
                pair[other] = slots[other]  # type: ignore[assignment]
                pair[slot] = w
                return contract(equation, shape, *pair).second

            slots[slot] = ctx.weight(node, slot, second)
            break
    assert slots[0] is not None and slots[1] is not None
    made = contract(equation, shape, slots[0], slots[1])
    data = slots[1 - weights[0]] if weights else None
    return made if data is None else _with_profiles(made, equation, 1 - weights[0], data)


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
    if p is None or logits is None or v is None or v.ndim < 2 or logits.shape != p.shape:
        return y
    n = p.shape[-1]
    total = n * n * float(averaged_over(p.K, (p.ndim - 1,), p.shape).flat[0])
    return shared_input(y, v, logits, logits.live, total=total)


@rule("einsum")
def einsum(node: Node, ctx: Context, *operands: Signal | None) -> Signal:
    """Any equation; more than two operands are contracted from the left."""
    equation = node.attrs["equation"].replace(" ", "")
    left, _, out = equation.partition("->")
    names = left.split(",")
    if len(names) == 1:
        return _single(names[0], out, operands[0], node.outputs[0].shape)
    if len(names) == 2:
        return _two_operands(node, ctx, f"{left}->{out}", operands[0], operands[1])
    current, labels = operands[0], names[0]
    assert current is not None
    for k in range(1, len(names)):
        rest = set("".join(names[k + 1 :])) | set(out)
        keep = "".join(dict.fromkeys(c for c in labels + names[k] if c in rest))
        target = out if k == len(names) - 1 else keep
        sizes: dict[str, int] = {}
        other = operands[k]
        assert other is not None
        for text, signal in ((labels, current), (names[k], other)):
            for label, n in zip(text, signal.shape, strict=True):
                sizes[label] = max(n, sizes.get(label, 1))
        current = contract(f"{labels},{names[k]}->{target}", tuple(sizes[c] for c in target), current, other)
        labels = target
    return current


@rule("weighted_sum")
def weighted_sum(node: Node, ctx: Context, x: Signal, w: Signal | None) -> Signal:
    """factor * sum over some axes of x w, broadcast against each other: a contraction with the weight w."""
    shape, factor = node.outputs[0].shape, float(node.attrs["factor"])
    kept = tuple(n for n in shape)
    names, _, out = node.attrs["equation"].partition("->")
    inner = tuple(_sizes(names.split(","), node.inputs)[c] for c in out)

    def through(w: Signal) -> Signal:
        return contract(node.attrs["equation"], inner, x, w).scaled(factor)

    weight = ctx.weight(node, 1, lambda w: through(w).second)
    made = through(weight)
    return made if made.shape == kept else reshaped(made, kept)


def _sizes(names: list[str], inputs: Sequence[Reference]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for labels, ref in zip(names, inputs, strict=True):
        for label, n in zip(labels, ref.shape, strict=True):  # type: ignore[union-attr]
            sizes[label] = max(n, sizes.get(label, 1))
    return sizes


def _single(labels: str, out: str, x: Signal | None, shape: tuple[int, ...]) -> Signal:
    """One operand: a permutation and sums; repeated labels (a trace) are treated as a sum over the diagonal."""
    assert x is not None
    K, mean, names = x.K, x.mean, list(labels)
    for label in dict.fromkeys(labels):
        while names.count(label) > 1:
            i = names.index(label)
            j = names.index(label, i + 1)
            moved = np.moveaxis(K, (i, j), (-2, -1))
            K = np.moveaxis(np.stack([moved[..., 0, 0], moved[..., 1, 1]], axis=-1), -1, i)
            del names[j]
    sizes = dict(zip(labels, x.shape, strict=True))
    for label in [c for c in names if c not in out]:
        axis = names.index(label)
        n = sizes[label]
        K, mean = K_axes.mean_over(K, axis, n) * n * n, mean * n
        del names[axis]
    return Signal(shape, mean, K.transpose([names.index(c) for c in out]))


@rule("bilinear")
def bilinear(node: Node, ctx: Context, x1: Signal, x2: Signal, w: Signal | None, bias: Signal | None = None) -> Signal:
    """y_o = sum_ij w_oij x1_i x2_j: the outer product of the inputs, contracted."""
    shape = node.outputs[0].shape
    lead = _letters(x1.ndim - 1)
    outer_shape = (*x1.shape, x2.shape[-1])
    outer = contract(f"{lead}x,{lead}y->{lead}xy", outer_shape, x1, x2)
    flat = reshaped(outer, (*x1.shape[:-1], x1.shape[-1] * x2.shape[-1]))

    def through(w: Signal) -> Signal:
        return linear_map(flat, reshaped(w, (w.shape[0], w.shape[1] * w.shape[2])), shape)

    weight = ctx.weight(node, 2, lambda w: through(w).second)
    return with_bias(through(weight), bias, len(shape) - 1)


@rule("embedding")
def embedding(node: Node, ctx: Context, w: Signal | None, indices: Signal | None = None) -> Signal:
    """Rows of a table. Two tokens share their row as often as their indices are equal."""
    shape = node.outputs[0].shape
    bag = node.attrs.get("bag")
    tokens = len(shape) - 1 + bool(bag)  # a bag has an axis more, over which its rows are summed or averaged
    chance = node.attrs.get("chance")
    if chance is None:
        chance = np.full((2,) * tokens, 1.0 / max(node.attrs["vocabulary"], 1))
        if tokens:
            chance.flat[0] = 1.0
    c = np.asarray(chance, float).reshape((2,) * tokens)[..., None]

    def picked(table: Signal) -> Signal:
        K, mean = c * table.K[0] + (1 - c) * table.K[1], table.mean
        if bag:
            size = node.attrs["bag_size"]
            factor = float(size if bag == "sum" else 1.0)
            K, mean = K_axes.mean_over(K, 1, size) * factor**2, mean * factor
        return Signal(shape, mean, K)

    return picked(ctx.weight(node, 0, lambda w: picked(w).second))
