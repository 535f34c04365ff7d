"""Contractions and products of signals: the gradient of each operand is the same sum of products with g in its place.

A weight's gradient is one of them: E[(dL/dW)^2] = sum over t, t' of K_g(t, t') K_x(t, t') (`core.backward.products`).
"""

from __future__ import annotations

from dataclasses import replace
from string import ascii_letters
from typing import Any

import numpy as np

from ...core.backward.law import Law, times
from ...core.backward.passing import Backward
from ...core.backward.products import product
from ...core.graph.graph import Node
from ...core.signal import axes as K_axes
from ...core.signal.contraction import label_sizes, matmul_equation
from ...core.signal.merged_axes import fine_of, finely
from ...core.signal.profiles import Array
from ...core.signal.signal import Signal
from ..shape import reshaped, same_row
from .registry import adjoint


def through_product(
    node: Node, back: Backward, names: list[str], out: str, g: Law, refined: dict[int, Signal] | None = None
) -> None:
    """Send to every operand of a product what its labels say; `refined`: operands whose merged axes are known."""
    refined = refined or {}
    signals = [refined.get(slot) or back.operand(node, slot) for slot in range(len(names))]
    if any(len(set(labels)) < len(labels) for labels in names) or any(x is None for x in signals):
        back.pass_on(node, g)
        return
    known = [x for x in signals if x is not None]
    weights = back.run.weights_of(node)
    for slot in range(len(names)):
        if back.wants(node.inputs[slot]):
            made = of_operand(slot, names, out, known, g)
            if g.divided and weights:
                fan = float(np.prod([n for n, c in zip(known[min(weights)].shape, names[min(weights)], strict=True)
                                     if c not in out]))  # fmt: skip
                made = made.scaled(cancelled(g.divided, fan, slot in weights) ** 0.5)
            back.send(node.inputs[slot], _merged(made, node, slot) if slot in refined else made)


def _merged(made: Law, node: Node, slot: int) -> Law:
    """The law of an operand all of whose axes but the last are merged into one, which remembers them."""
    ref, fine = node.inputs[slot], made.moments
    assert ref is not None
    return replace(made, moments=finely(reshaped(fine, ref.shape), fine, [fine.ndim - 1, 1]))


def cancelled(divided: float, fan: float, weight: bool) -> float:
    """A weight w before a norm of its output: |w|^2/s does not scatter by |w|^2, and the gradient of w has no part
    along w.

    With s = w^T C w and t = 2 tr C^2 / (tr C)^2 its relative variance, E[|w|^2/s] = (1 + (t - 2/fan)/(1 - t)) of what
    the means say: 1 for C = 1, t = 2/fan. E[1/s] alone would be 1 + t = `divided`.
    """
    if weight:
        return 1.0 - 1.0 / max(fan, 2.0)
    t = divided - 1.0
    return max(1.0 + (t - 2.0 / fan) / (1.0 - min(t, 0.5)), 0.5) / divided


def of_operand(slot: int, names: list[str], out: str, signals: list[Signal], g: Law) -> Law:
    """The law of the gradients of one operand."""
    others = [k for k in range(len(names)) if k != slot]
    sizes = label_sizes(names, signals)
    made = product([out, *(names[k] for k in others)], names[slot], [g.moments, *(signals[k] for k in others)], sizes)
    if g.shared is not None and len(others) == 1:
        made = _with_shared(made, names[slot], out, names[others[0]], g.shared, signals[others[0]])
    width = max((signals[k].deficiency for k in others), default=0.0)
    return Law(made, inverse_width=width if width > 0.0 else g.inverse_width)


def _with_shared(made: Signal, labels: str, out: str, other: str, shared: Array, keys: Signal) -> Signal:
    """Queries: what values and keys have in common beyond chance (see `attention`)."""
    token = out[-1]
    if token in labels or token not in other or any(c not in out[:-1] + other for c in labels):
        return made
    axis = other.index(token)
    spread = K_axes.same(keys.K, axis) - K_axes.different(keys.K, axis)
    rest = other.replace(token, "")
    numbers = {c: k for k, c in enumerate(dict.fromkeys(out + other))}
    operands: list[Any] = [shared, [numbers[c] for c in out[:-1]], spread, [numbers[c] for c in rest]]
    extra = np.einsum(*operands, [numbers[c] for c in labels])
    return Signal(made.shape, 0.0, made.K + extra, profiles=made.profiles)


@adjoint("linear")
def linear(node: Node, back: Backward, g: Law) -> None:
    lead = ascii_letters[: len(node.outputs[0].shape) - (len(node.inputs[1].shape) - 1)]  # type: ignore[union-attr]
    vector = len(node.inputs[1].shape) == 1  # type: ignore[union-attr]
    names, out = ([f"{lead}Y", "Y"], lead) if vector else ([f"{lead}Y", "ZY"], f"{lead}Z")
    found, x = fine_of(g.moments), back.operand(node, 0)
    if found is not None and x is not None and len(found.groups) == 2 and len(found.groups[1]) == 1:
        # rows that are (batch, tokens) merged: what rows of one sample have in common
        fine, lead = found.signal, ascii_letters[: found.signal.ndim - 1]
        known = reshaped(x, (*fine.shape[:-1], x.shape[-1]))
        through_product(node, back, [f"{lead}Y", "ZY"], f"{lead}Z", replace(g, moments=fine), {0: known})
    else:
        through_product(node, back, names, out, g)
    bias_of(node, back, 2, g.moments, g.moments.ndim - 1)


def bias_of(node: Node, back: Backward, slot: int, g: Signal, axis: int) -> None:
    """The sum over all but one axis."""
    ref = node.inputs[slot] if len(node.inputs) > slot else None
    if ref is not None and back.wants(ref):
        labels = ascii_letters[: g.ndim]
        back.send(ref, reshaped(product([labels], labels[axis], [g]), ref.shape))


@adjoint("bilinear")
def bilinear(node: Node, back: Backward, g: Law) -> None:
    lead = ascii_letters[: g.moments.ndim - 1]
    through_product(node, back, [f"{lead}X", f"{lead}Y", "ZXY"], f"{lead}Z", g)
    bias_of(node, back, 3, g.moments, g.moments.ndim - 1)


@adjoint("matmul")
def matmul(node: Node, back: Backward, g: Law) -> None:
    left, right = (len(ref.shape) for ref in node.inputs)  # type: ignore[union-attr]
    names, out = matmul_equation(left, right).split("->")
    through_product(node, back, names.split(","), out, g)


@adjoint("einsum")
def einsum(node: Node, back: Backward, g: Law) -> None:
    names, _, out = node.attrs["equation"].replace(" ", "").partition("->")
    through_product(node, back, names.split(","), out, g)


@adjoint("weighted_sum")
def weighted_sum(node: Node, back: Backward, g: Law) -> None:
    names, _, out = node.attrs["equation"].partition("->")
    x, w = back.operand(node, 0), back.operand(node, 1)
    if x is None or w is None:
        back.pass_on(node, g)
        return
    sizes = label_sizes(names.split(","), [x, w])
    flat = reshaped(g.moments, tuple(sizes[c] for c in out))
    through_product(node, back, names.split(","), out, Law(times(flat, float(node.attrs["factor"]) ** 2)))


@adjoint("grouped_linear")
def grouped_linear(node: Node, back: Backward, g: Law) -> None:
    """Two rows meet the same expert with chance c; an expert sees its share of the rows."""
    x, w = back.operand(node, 0), back.operand(node, 1)
    assert x is not None and w is not None
    experts, chance = w.shape[0], node.attrs.get("chance")
    c = 1.0 / max(experts, 1) if chance is None else float(chance)
    rows = Signal((x.shape[0], *w.shape[1:]), w.mean, np.stack([w.K[0], c * w.K[0] + (1 - c) * w.K[1]]))
    back.send(node.inputs[0], product(["ro", "rio"], "ri", [g.moments, rows]))
    n = x.shape[0]
    table = np.multiply.outer(x.K, g.moments.K).transpose(0, 2, 1, 3)  # row, row, in, out
    same = n * table[0, 0] + n * (n - 1) * c * table[1, 1]
    other = n * (n - 1) * (1 - c) * table[1, 1]
    made = np.stack([same / experts, other / max(experts * (experts - 1), 1)])
    back.send(node.inputs[1], Signal(w.shape, 0.0, made))


@adjoint("embedding")
def embedding(node: Node, back: Backward, g: Law) -> None:
    """Rows of a table get the sum of the gradients of the places where they were looked up."""
    table = node.inputs[0]
    assert table is not None
    picks = shape = node.outputs[0].shape[:-1]
    K, bag = g.moments.K, node.attrs.get("bag")
    if bag:
        size = int(node.attrs["bag_size"])
        K = np.stack([K, K], axis=1) / (1.0 if bag == "sum" else float(size) ** 2)
        shape = (picks[0], size, *picks[1:])
    chance = same_row(node.attrs.get("chance"), len(shape), node.attrs["vocabulary"])
    back.send(table, Signal(table.shape, 0.0, scattered(K, 0, shape, chance, table.shape[0])))


def scattered(K: Array, axis: int, picks: tuple[int, ...], chance: Array, rows: int) -> Array:
    """The moments of rows to which the entries at some axes (from `axis` on, of sizes `picks`) are added up.

    `chance`: that two of them go to the same row. Sums over all pairs, per row or pair of different rows.
    """
    table = np.moveaxis(K, range(axis, axis + len(picks)), range(len(picks)))
    pairs = np.ones(())
    for n in picks:
        pairs = np.multiply.outer(pairs, np.array([n, n * (n - 1.0)]))
    axes = list(range(len(picks)))
    same = np.tensordot(pairs * chance, table, axes=(axes, axes)) / rows
    other = np.tensordot(pairs * (1.0 - chance), table, axes=(axes, axes)) / max(rows * (rows - 1.0), 1.0)
    return np.stack([same, other], axis=axis)
