"""How two values vary together: asked on demand, answered by a recursion over the graph.

cov(u, v) with u, v views of values. Views of one value meet the same entries as often as `coincidence` says; functions
of one Gaussian source are integrated together; else the value that came later is written as its linear form
(`forms`) in terms of earlier ones. A contraction with a weight of its own varies with nothing that came before; two
with the same weight vary together as much as what they contract. Constants and parameters that are used as data are
leaves: equal ones are one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from ..gaussian.expression import apply
from ..graph.canonical.layout import Axis, Digit, Layout, of_base
from ..graph.canonical.moves import part_of
from ..graph.canonical.pieces import Pieces, pieces_of, resolved
from ..graph.canonical.substitution import Lost, Unfollowed, along, through
from ..graph.graph import Node, Value
from ..graph.roles import feature_axis
from ..graph.specs import spec_of
from ..signal import axes as K_axes
from ..signal.signal import Signal
from .coincidence import chances, different, index_of, pushed
from .forms import FORMS
from .functions import covariance_of_functions, moment_together
from .stencils import TAPS, taps_of
from .story import Story

Array = NDArray[np.float64]
MOST_STEPS = 300
"""Longer stories are not followed."""
MOST_PIECES = 16


class Joint:
    """The covariances of the values of one run, or of weights in the making at one scale."""

    def __init__(self, story: Story, signals: Callable[[int], Signal | None]) -> None:
        self.story, self._signals = story, signals
        self._known: dict[tuple[Layout, Layout], Array] = {}
        self._steps = 0

    def covariance(self, one: Value, two: Value, shape: Sequence[int]) -> Array | None:
        """cov(u_i, v_j) for every pattern of a shape that both broadcast to; None where it cannot be told."""
        return self._asked(self.view(one, len(shape)), self.view(two, len(shape)), tuple(shape))

    def unfollowed(self, one: Value, two: Value, shape: Sequence[int]) -> str:
        """The op that keeps a covariance from being told, though both are made of the same; nothing if none does."""
        try:
            self.between(self.view(one, len(shape)), self.view(two, len(shape)), tuple(shape))
        except Unfollowed as error:
            return str(error)
        except (ValueError, RecursionError):
            pass
        return ""

    def across(self, one: Value, two: Value, axis: int) -> Array | None:
        """`covariance` averaged over all pairs of places along an axis, which may be longer in one of them."""
        a, b = self.view(one, len(one.shape)), self.view(two, len(two.shape))
        shape = (*one.shape[: axis + 1], two.shape[axis], *one.shape[axis + 1 :])
        found = self._asked(a.with_axis(axis + 1), b.with_axis(axis), shape)
        return None if found is None else np.asarray(found.take(0, axis=axis).take(0, axis=axis))

    def by_label(self, one: Value, two: Value, names: Sequence[str]) -> Array | None:
        """`covariance` over all axes of an equation, one letter each: of what a contraction multiplies."""
        if any(len(set(letters)) < len(letters) for letters in names):
            return None
        values, labels = (one, two), "".join(dict.fromkeys("".join(names)))
        sizes = dict.fromkeys(labels, 1)
        views: list[Layout] = []
        for value, letters in zip(values, names, strict=True):
            layout = self.view(value, len(letters))
            axes = dict(zip(letters, layout.axes, strict=True))
            views.append(layout._replace(axes=tuple(axes.get(c, ()) for c in labels)))
            for c, n in zip(letters, layout.shape, strict=True):
                if n > 1 and sizes[c] not in (1, n):
                    return None
                sizes[c] = max(n, sizes[c])
        return self._asked(views[0], views[1], tuple(sizes[c] for c in labels))

    def of_squares(self, one: Value, two: Value, shape: Sequence[int]) -> Array | None:
        """cov(u_i^2, v_j^2)."""
        try:
            a, b = (self._squares_seen(self.view(value, len(shape))) for value in (one, two))
        except Lost:
            return None
        return self._asked(a, b, tuple(shape))

    def _squares_seen(self, view: Layout) -> Layout:
        base = Value(view.base, self.signal(view.base).shape)
        return _of(self.square(base).id, view, base.shape)

    def square(self, x: Value, off: float = 0.0) -> Value:
        """(x - off)^2, as a value of the story that no node computes."""

        def signal() -> Signal:
            of = self.signal(x)
            return Signal.function(of.source, apply("square", apply("sub", of.expr, off) if off else of.expr))

        return self.story.imagined(x, ("square", x.id, off), signal)

    def _asked(self, a: Layout, b: Layout, shape: tuple[int, ...]) -> Array | None:
        self._steps = 0
        try:
            return self.between(a, b, shape)
        except (ValueError, RecursionError):
            return None

    # --- what linear forms ask --------------------------------------------------------------------------------------

    def view(self, value: Value, ndim: int) -> Layout:
        layout = self.story.layouts.get(value.id) or of_base(value.id, value.shape)
        return layout._replace(axes=((),) * (ndim - len(layout.axes)) + layout.axes)

    def signal(self, value: Value | int) -> Signal:
        found = self._signals(value if isinstance(value, int) else value.id)
        if found is None:
            raise Lost
        return found

    def operand(self, node: Node, slot: int) -> Value | None:
        return self.story.operand(node, slot)

    def data(self, node: Node) -> list[tuple[int, Value]]:
        """The operands that are no numbers."""
        found = [(k, x) for k in range(len(node.inputs)) if (x := self.operand(node, k)) is not None]
        return [(k, x) for k, x in found if (s := self._signals(x.id)) is None or not s.is_constant]

    def mean(self, node: Node, slot: int) -> float:
        value = self.operand(node, slot)
        return float(node.attrs.get("scalars", {}).get(slot, 0.0)) if value is None else self.signal(value).mean

    def slope(self, made: Value, x: Value) -> float | None:
        """E[f'] of a pointwise function."""
        f, u = self.signal(made), self.signal(x)
        if f.source is not u.source or u.variance <= 0.0:
            return None
        return (float(moment_together(f, u).flat[0]) - f.mean * u.mean) / u.variance

    # --- the recursion ----------------------------------------------------------------------------------------------

    def between(self, a: Layout, b: Layout, shape: tuple[int, ...]) -> Array:
        key = (a, b)
        if key not in self._known:
            self._steps += 1
            if self._steps > MOST_STEPS:
                raise Lost
            self._known[key] = self._worked_out(a, b, shape)
        return self._known[key]

    def _worked_out(self, a: Layout, b: Layout, shape: tuple[int, ...]) -> Array:
        nothing = np.zeros((2,) * len(shape))
        u = self.signal(a.base)
        if a.base == b.base:
            return pushed(u.covariance, a.base, u.shape, a, b, shape)
        v = self.signal(b.base)
        if u.source is v.source and u.shape == v.shape:
            together = moment_together(u, v) - u.mean * v.mean
            return pushed(together, a.base, u.shape, a, _of(a.base, b, u.shape), shape)
        if self.story.when(a.base) < self.story.when(b.base):
            a, b, u, v = b, a, v, u
        if u.source is not u:  # what is no function, but linear in what made it, is expanded
            one, two = self.source(a.base), self.source(b.base)
            if one is not None and two is not None and u.shape != v.shape and _is_all(a, u) and _is_all(b, v):
                sources = self.between(self.down(_of(one.id, a, u.shape)), self.down(_of(two.id, b, v.shape)), shape)
                return covariance_of_functions(u, v, sources)
            if one is not None and two is not None and u.shape == v.shape:
                inner = self.between(self.view(one, u.ndim), self.view(two, v.ndim), u.shape)
                if not inner.any():
                    return nothing
                table = covariance_of_functions(u, v, inner)
                return pushed(table, a.base, u.shape, a, _of(a.base, b, u.shape), shape)
        node, other = self.story.producer(a.base), self.story.producer(b.base)
        if node is None:
            return nothing  # two inputs
        if self.story.weights_of(node):
            if other is None or not self.story.is_shared(node):
                return nothing
            if self.story.weights_of(other):
                return self._by_weight(node, other, a, b, shape)
            node, a, b = other, b, a  # the weight may be in the past of the other
        if spec_of(node.op).source:
            return nothing
        if spec_of(node.op).joins:
            return self._by_pieces(node, a, b, shape)
        form = FORMS[node.op](self, node, a) if node.op in FORMS else None
        if form is None and self.is_apart(a, b):
            return nothing
        if form is None:  # entries that went elsewhere hardly ever meet themselves
            raise Lost if spec_of(node.op).moves and node.op not in FORMS else Unfollowed(node.label or node.op)
        return self._summed([(coefficient, view) for coefficient, view in form if coefficient], b, shape)

    def _summed(self, terms: Sequence[tuple[float, Layout]], b: Layout, shape: tuple[int, ...]) -> Array:
        """The covariance of a linear form: a term that cannot be told counts as independent, if others can be."""
        total, lost, why = np.zeros((2,) * len(shape)), 0, Lost()
        for coefficient, view in terms:
            try:
                total = total + coefficient * self.between(self.down(view), b, shape)
            except Lost as error:
                if self._steps > MOST_STEPS:
                    raise
                lost += 1
                why = error if isinstance(error, Unfollowed) else why
        if terms and lost == len(terms):
            raise why
        return total

    def source(self, base: int) -> Value | None:
        """The value that a signal is a pointwise function of; itself if it is a source."""
        signal = self.signal(base)
        at = Value(base, signal.shape)
        while self.signal(at).source is not self.signal(at):
            x = self.argument(at.id)
            if x is None or x.shape != at.shape:
                return None
            at = x
        return at if self.signal(at) is signal.source else None

    def argument(self, value: int) -> Value | None:
        """x of a value that is a function of x alone, entry by entry."""
        node = self.story.producer(value)
        data = self.data(node) if node is not None and spec_of(node.op).pointwise else []
        return data[0][1] if len(data) == 1 else None

    def is_apart(self, one: Value | Layout, two: Value | Layout) -> bool:
        """Whether two values come of other weights and inputs, as far as these vary."""
        first, second = (self.story.roots(x.id if isinstance(x, Value) else x.base) for x in (one, two))
        return not first & second

    def is_drawn(self, x: Value) -> bool:
        """Whether a value is what a weight makes, or a part of that: entries with nothing in common but a weight."""
        node = self.story.producer(self.down(self.view(x, len(x.shape))).base)
        return node is not None and bool(self.story.weights_of(node))

    def is_factor(self, x: Value, product: Value) -> bool:
        """Whether x is a factor of a product of pairs: x^T x meets x."""
        at = self.source(self.view(product, 0).base)
        node = None if at is None else self.story.producer(self.down(self.view(at, 0)).base)
        if node is None or not spec_of(node.op).pairs or self.story.weights_of(node):
            return False

        def entries(value: Value) -> object:
            layout = self.view(value, 0)
            return layout.base, layout.fixed, frozenset(part for parts in layout.axes for part in parts)

        return any(entries(factor) == entries(x) for _, factor in self.data(node))

    def source_argument(self, value: Value) -> Value:
        """The value of the same shape that one is a function of, entry by entry, in the same view of a source."""
        x = self.argument(value.id)
        while x is not None and x.shape == value.shape and self.signal(x).source is self.signal(value).source:
            value, x = x, self.argument(x.id)
        return value

    def is_placed(self, value: Value) -> bool:
        """Whether a value is a function of sums of rows at known places, alone or times a table."""
        node = self.story.producer(value.id)
        while node is not None and spec_of(node.op).pointwise:
            made = [x for _, x in self.data(node) if self.story.producer(x.id) is not None]
            node = self.story.producer(made[0].id) if len(made) == 1 else None
        return node is not None and node.attrs.get("places") is not None

    def is_share(self, value: Value) -> bool:
        at = self.source(self.view(value, len(value.shape)).base)
        node = None if at is None else self.story.producer(at.id)
        return node is not None and spec_of(node.op).shares

    def origin(self, value: Value) -> Layout | None:
        """The view, of a value that is no view, that a value is a pointwise function of."""
        layout = self.view(value, len(value.shape))
        source = self.source(layout.base)
        if source is None:
            return None
        return self.down(_of(source.id, layout, source.shape))

    def down(self, view: Layout) -> Layout:
        """A view of a value that is a view itself, as one of its base."""
        inner = self.story.layouts.get(view.base)
        if inner is None or inner.base == view.base:
            return view
        axes = {Axis(view.base, k, n): inner.axes[k] for k, n in enumerate(inner.shape) if n > 1}
        return through(view, inner.base, axes, inner.fixed)

    def _by_weight(self, node: Node, other: Node, a: Layout, b: Layout, shape: tuple[int, ...]) -> Array:
        """Two contractions with the same weight: E[y y'] = n s^2 E[x x'] for the same feature, else 0."""
        nothing = np.zeros((2,) * len(shape))
        slots = self.story.weights_of(node)
        if self.story.weights_of(other) != slots or any(node.inputs[slot] != other.inputs[slot] for slot in slots):
            return nothing
        if len(slots) != 1 or node.op != other.op:
            raise Lost
        x, y = node.inputs[0], other.inputs[0]
        axis = feature_axis(node)
        if axis is None or not isinstance(x, Value) or not isinstance(y, Value):
            raise Lost
        out = node.outputs[0]
        if x.shape != y.shape or len(x.shape) != len(out.shape):
            raise Lost
        u, v = self.signal(x), self.signal(y)
        if u.second <= 0.0:
            return nothing
        gain, other_view = self.signal(out).second / u.second, _of(a.base, b, out.shape)
        taps = list(zip(taps_of(node, x, a), taps_of(other, y, b), strict=True)) if node.op in TAPS else []
        if len(taps) > 1 and a != other_view:  # other places: the same tap reads places that are as far apart
            wide = (*shape, x.shape[axis])
            pairs = [self.between(self.down(one), self.down(two), wide).take(0, axis=-1) for one, two in taps]
            root = Axis(a.base, axis, out.shape[axis])
            alike = chances(index_of(a, root), index_of(other_view, root), shape)
            return np.asarray(gain * different(alike, shape) * (np.mean(pairs, axis=0) + u.mean * v.mean))
        inner = self.between(self.view(x, u.ndim), self.view(y, v.ndim), u.shape) + u.mean * v.mean
        alike = np.take(inner, 0, axis=axis) * gain
        table = np.stack([alike, np.zeros_like(alike)], axis=axis)
        return pushed(table, a.base, out.shape, a, other_view, shape)

    def _by_pieces(self, node: Node, whole: Layout, other: Layout, shape: tuple[int, ...]) -> Array:
        """cov([a, b, ...], v) is cov(a, its part of v), cov(b, ...): of a size s of n as much as s/n tells, and of two
        different places s (s - 1) / (n (n - 1)) within a piece."""
        pieces = self._pieces(node)
        if whole != of_base(whole.base, node.outputs[0].shape) or len(pieces.sizes) > MOST_PIECES:
            raise Lost
        maker, axis = self.story.producer(other.base), pieces.axis
        known = {other.base: self._pieces(maker)} if maker is not None and spec_of(maker.op).joins else {}
        same, different, n, at = np.zeros(()), np.zeros(()), shape[axis], 0
        for size, piece in zip(pieces.sizes, pieces.layouts, strict=True):
            if piece is None:
                raise Lost
            part = resolved(part_of(other, axis, at, 1, size), known)
            C = self.between(piece, part, (*shape[:axis], size, *shape[axis + 1 :]))
            same = same + size / n * K_axes.same(C, axis)
            different = different + size * (size - 1) / max(n * (n - 1), 1) * K_axes.different(C, axis)
            at += size
        return np.stack([same, different], axis=axis)

    def _pieces(self, node: Node) -> Pieces:
        def layout(slot: int) -> Layout | None:
            piece = self.operand(node, slot)
            return None if piece is None else self.view(piece, len(piece.shape))

        return pieces_of(node, layout)


def _is_all(view: Layout, of: Signal) -> bool:
    """Whether every entry of a tensor is in a view of it: then the view averages over none."""
    return prod(part.size for parts in view.axes for part in parts if isinstance(part, Digit)) == prod(of.shape)


def _of(base: int, view: Layout, shape: tuple[int, ...]) -> Layout:
    """The same view of another value of the same shape."""
    return along(view, Value(view.base, shape), Value(base, shape))
