"""Attention, written out: a product of queries and keys, a mask, a softmax, a product with values.

Products name their axes: what both operands share (samples, heads), tokens of one, tokens of the other. From the second
product these are followed back through moves to the first one.
"""

from __future__ import annotations

from typing import NamedTuple

from ....core.graph.canonical.layout import Axis, Digit, Layout, Parts, of_base
from ....core.signal.masks import DEAD
from ..tape import Atom, Of, Step, Whole, number_of
from .matching import substituted, view


class Logits(NamedTuple):
    """The product that shares come from, `layout`: the shares as a view of it."""

    product: Step
    layout: Layout
    scale: float
    masks: tuple[Masked, ...]
    dropout: float


class Masked(NamedTuple):
    """What is hidden: where `chosen` has this value; `layout`: its axes as a view of the product."""

    chosen: Atom
    hidden: bool
    layout: Layout


def attention_of(step: Step) -> Whole | None:
    """What a product of shares and values is, if the shares come from a product of queries and keys."""
    if step.name != "dot_general":
        return None
    for slot in (0, 1):
        found = _logits(step.inputs[slot]) if step.inputs[slot].is_signal else None
        made = None if found is None else _matched(step, slot, found)
        if made is not None:
            return made
    return None


def _logits(shares: Atom) -> Logits | None:
    """Back from shares to the product that they are a softmax of."""
    found = view(shares)
    rate = 0.0
    whole = found.step.whole if found.step is not None else None
    layout: Layout | None = found.layout
    if whole is not None and whole.op == "dropout" and whole.attrs["kind"] == "inverted" and not whole.attrs["shared"]:
        rate, inner = float(whole.attrs["rate"]), whole.operands[0]
        assert inner is not None and layout is not None
        found = view(inner)
        layout = substituted(layout, found.layout)
        whole = found.step.whole if found.step is not None else None
    if whole is None or whole.op != "softmax" or whole.attrs["log"] or layout is None:
        return None
    last = of_base(0, found.base.shape).axes[whole.attrs["axis"]]
    if sum(parts == last for parts in layout.axes) != 1:
        return None
    atom, axes = whole.operands[0], found.base.shape
    assert atom is not None
    factor = 1.0
    masks: list[Masked] = []
    own = of_base(0, axes)
    for _ in range(8):
        seen = view(atom, scaled=True)
        factor *= seen.factor
        further, inside = substituted(layout, seen.layout), substituted(own, seen.layout)
        if further is None or inside is None or seen.step is None:
            return None
        layout, own, atom = further, inside, seen.base
        if seen.step.name == "dot_general" and seen.step.whole is None:
            masks = [m._replace(layout=made) for m in masks if (made := substituted(m.layout, own)) is not None]
            return Logits(seen.step, layout, factor, tuple(masks), rate)
        masked = _masked(seen.step)
        if masked is None or factor != 1.0:
            return None
        atom = masked[0]
        masks = [*masks, Masked(masked[1], masked[2], of_base(0, atom.shape))]
        own = of_base(0, atom.shape)
    return None


def _masked(step: Step) -> tuple[Atom, Atom, bool] | None:
    """(what is masked, by what, the value of that where it is hidden)."""
    if step.name != "select_n" or step.whole is not None or len(step.inputs) != 3 or not step.inputs[0].is_given:
        return None
    chosen, no, yes = step.inputs
    for x, other, hidden in ((yes, no, False), (no, yes, True)):
        number = number_of(other)
        if number is not None and number <= DEAD and x.shape == chosen.shape:
            return x, chosen, hidden
    return None


class Label(NamedTuple):
    """An axis of the products: one that is shared (samples, heads), or an axis of one operand alone."""

    kind: str
    number: int


VALUES = Label("values", 0)


class _Labels:
    """The axes of the first product, and what is one of them as a view."""

    def __init__(self, product: Step) -> None:
        self.inner, self.batch = product.params["dimension_numbers"]
        self.operands = product.inputs
        self.free = [
            [a for a in range(len(x.shape)) if a not in (*batch, *inner)]
            for x, batch, inner in zip(product.inputs, self.batch, self.inner, strict=True)
        ]
        labels = [Label("shared", k) for k in range(len(self.batch[0]))]
        labels += [Label(side, a) for side, axes in zip(("one", "two"), self.free, strict=True) for a in axes]
        sizes = product.outputs[0].shape
        self.shared = [label for label, n in zip(labels, sizes, strict=True) if label.kind == "shared" and n > 1]
        self._named = {Axis(0, k, n): label for k, (label, n) in enumerate(zip(labels, sizes, strict=True))}

    def of(self, parts: Parts) -> Label | None:
        """The axis that this is all of."""
        one = parts[0] if len(parts) == 1 else None
        if not isinstance(one, Digit) or not isinstance(one.root, Axis) or one.size != one.root.size:
            return None
        return self._named[one.root]

    def tokens(self, side: int) -> Label | None:
        """The one axis of an operand that is longer than 1 and that the other one does not have."""
        wide = [a for a in self.free[side] if self.operands[side].shape[a] > 1]
        return Label(("one", "two")[side], wide[0]) if len(wide) == 1 else None

    def order(self, side: int, tokens: Label) -> tuple[int, ...]:
        """The axes of an operand as (shared, tokens, features)."""
        return (*(self.batch[side][label.number] for label in self.shared), tokens.number, self.inner[side][0])


def _matched(step: Step, slot: int, found: Logits) -> Whole | None:
    """Axes of both products brought together."""
    labels = _Labels(found.product)
    inner, batch = step.params["dimension_numbers"]
    values = step.inputs[1 - slot]
    if len(labels.inner[0]) != 1 or len(inner[0]) != 1 or len(found.masks) > 1:
        return None
    if any(atom.of is Of.PARAMETERS for atom in (*labels.operands, values)):
        return None
    names = [labels.of(parts) for parts in found.layout.axes]
    keys = names[inner[slot][0]]
    side = 0 if keys == labels.tokens(0) else 1
    queries = labels.tokens(1 - side)
    at = {names[a]: v for a, v in zip(batch[slot], batch[1 - slot], strict=True) if names[a] is not None}
    wide = [a for a, n in enumerate(values.shape) if a not in (*batch[1 - slot], *inner[1 - slot]) and n > 1]
    if keys is None or keys != labels.tokens(side) or queries is None or len(wide) != 1:
        return None
    if set(at) != set(labels.shared):
        return None
    kept = [label for a, label in enumerate(names) if a not in (*batch[slot], *inner[slot])]
    own: list[Label | None] = [VALUES]
    made = [*(names[a] for a in batch[slot]), *([*kept, *own] if slot == 0 else [*own, *kept])]
    order = [*labels.shared, queries, VALUES]
    if sorted(label for label in made if label is not None) != sorted(order):
        return None
    attrs = {
        "orders": (labels.order(1 - side, queries), labels.order(side, keys),
                   (*(at[label] for label in labels.shared), inner[1 - slot][0], wide[0])),
        "perm": tuple(order.index(label) for label in made if label is not None), "scale": found.scale,
        "dropout": found.dropout, "mask": None,
    }  # fmt: skip
    operands = [labels.operands[1 - side], labels.operands[side], values]
    for mask in found.masks:
        places = [labels.of(parts) for parts in mask.layout.axes]
        wanted = [*labels.shared, queries, keys]
        if any(label not in wanted for label in places if label is not None):
            return None
        attrs["mask"] = (tuple(None if label is None else wanted.index(label) for label in places), mask.hidden)
        operands.append(mask.chosen)
    return Whole("attention", "attention", tuple(operands), attrs)
