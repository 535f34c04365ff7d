"""Functions of entries.

For y = f(u) the gradients of u are f'(u) g, so K'(S) = E[f'(u) f'(v)] K_g(S), where f is the whole chain of functions
back to the tensor u that they share. Where g itself depends on the entry that it belongs to (no fresh weights lie
between), E[g^2 | u] at the points of the law of u says how: E[f'^2 g^2] is a mean over these points.

Of sums every term gets g; what it knows of its own entry is averaged over the other term. Factors get g times the
other one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...core.backward.law import Law, Own, added, level_places, times
from ...core.backward.passing import Backward
from ...core.gaussian.activations import FUNCTIONS
from ...core.gaussian.expression import Expr, X, apply
from ...core.gaussian.slopes import Slopes
from ...core.graph.graph import Node, Value
from ...core.signal.axis_maps import levelled
from ...core.signal.broadcast import aligned
from ...core.signal.marginal import normal_points, points_of
from ...core.signal.profiles import Array
from ...core.signal.signal import Signal
from ..normalize import by_own_statistics
from .normalize import felt, through_statistics
from .registry import adjoint

STEP = 0.05
FEW = 32
"""Points of the other term of a sum."""


@adjoint("elementwise")
def elementwise(node: Node, back: Backward, g: Law) -> None:
    chain = back.chains.of(node)
    if chain is not None:
        through_function(node, back, chain.of, chain.f, g)
        return
    fn, data = node.attrs["fn"], [k for k, ref in enumerate(node.inputs) if ref is not None]
    if fn in ("add", "sub"):
        for slot in data:
            back.send(node.inputs[slot], _of_term(node, back, slot, g))
    elif fn in ("mul", "div") and len(data) == 2:
        _factors(node, back, fn, g)
    elif len(data) == 1:
        _one_operand(node, back, data[0], g)
    elif fn == "where":
        _chosen(node, back, g)
    else:
        _several(node, back, data, g)


@adjoint("identity")
def identity(node: Node, back: Backward, g: Law) -> None:
    back.send(node.inputs[0], g)


def through_function(node: Node, back: Backward, of: Value, f: Expr, g: Law) -> None:
    """Send what comes of y = f(u) to u."""
    u = back.run.signals[of.id]
    back.send(of, law_through(u, f, g))


def law_through(u: Signal, f: Expr, g: Law) -> Law:
    """The law of g f'(u)."""
    if g.parts:
        return replace(added([law_through(u, f, part) for part in g.parts]), parts=())
    if f.line is not None:
        return _kept(g, f.line[0])
    source = u.source
    slopes = Slopes(f, u.expr, source.mean, source.variance)
    table = slopes.pair(_as_alike(source)) if source.variance > 0.0 else np.full(u.K.shape, slopes.second)
    points = slopes.at(points_of(u))
    squares, amplitudes = points**2, points
    if g.own is not None:
        squares, amplitudes = squares * g.own.squares, amplitudes * g.own.amplitudes
    if g.own is not None or source.parts is not None:  # the law of u is no Gaussian, or g knows it
        first, second = float(amplitudes.mean()), float(squares.mean())
        low, high = slopes.first**2, slopes.second
        share = (table - low) / (high - low) if high - low > 1e-12 * high else np.ones_like(table)
        table = first**2 + share * (second - first**2)
    made = times(g.moments, table)
    bend = _bend(slopes) if any(p is not None for p in source.profiles) else 0.0
    for axis, p in enumerate(source.profiles):
        if p is not None and bend:
            made = level_places(made, axis, np.maximum(p, 1e-12) ** bend)
    return Law(made, Own.of(squares, amplitudes))


def _bend(slopes: Slopes) -> float:
    """c with E[f'^2] ~ var^c: where the signal is small, by borders, slopes are those of a smaller variance."""
    if slopes.var <= 0.0 or not slopes.second > 0.0:
        return 0.0
    wider = Slopes(slopes.f, slopes.inner, slopes.mean, slopes.var * (1.0 + STEP)).second
    bend = float(np.log(max(wider, 1e-300) / slopes.second) / np.log1p(STEP))
    return float(np.clip(bend, -3.0, 3.0)) if abs(bend) > 1e-3 else 0.0


def _as_alike(source: Signal) -> Array:
    """The covariance, were all places of one size: how alike two places are decides whether both slopes are on."""
    made = np.asarray(source.covariance, float)
    for axis, p in enumerate(source.profiles):
        made = made if p is None else levelled(made, axis, p)
    return made


def _kept(g: Law, factor: float) -> Law:
    """The law of factor * g: what it knows of its entry stays."""
    made = g.scaled(factor)
    return Law(made.moments, g.own, made.shared, g.inverse_width)


def _one_operand(node: Node, back: Backward, slot: int, g: Law) -> None:
    """A function of one tensor whose law is no function of a Gaussian: its entries as if they were."""
    ref, u = node.inputs[slot], back.operand(node, slot)
    if u is None or u.variance <= 0.0:
        back.send(ref if u is not None else None, g.plain())
        return
    scalars = node.attrs.get("scalars", {})
    args = [X if k == slot else float(scalars[k]) for k in range(len(node.inputs))]
    f = apply(node.attrs["fn"], *args, params=tuple(node.attrs.get("params", ())))
    back.send(ref, law_through(Signal(u.shape, u.mean, u.K), f, g.plain()))


def _of_term(node: Node, back: Backward, slot: int, g: Law) -> Law:
    ref = node.inputs[slot]
    if ref is None or ref.shape != g.moments.shape:
        return g.plain()
    own = None
    others = [k for k, other in enumerate(node.inputs) if k != slot and other is not None]
    made = back.made(node)
    if g.own is not None and made is not None and len(others) == 1:
        u, v = back.operand(node, slot), back.operand(node, others[0])
        if u is not None and v is not None and u.variance > 0.0:
            own = _averaged(u, v, made, g.own, 1.0 if node.attrs["fn"] == "add" else -1.0)
    return Law(g.moments, own, g.shared, g.inverse_width)


def _averaged(u: Signal, v: Signal, y: Signal, own: Own, sign: float) -> Own | None:
    """What g knows of u + v, averaged over v at the points of u."""
    places, values = points_of(y), points_of(u)
    order = np.argsort(places, kind="stable")
    other = np.sort(points_of(v) if v.variance > 0.0 else v.mean + 0.0 * normal_points())
    sums = np.add.outer(values, sign * other.reshape(FEW, -1).mean(axis=1))
    squares, amplitudes = (
        np.interp(sums, places[order], known[order]).mean(axis=1) for known in (own.squares, own.amplitudes)
    )
    return Own.of(squares, amplitudes)


def _factors(node: Node, back: Backward, fn: str, g: Law) -> None:
    shape = node.outputs[0].shape
    u, v = back.operand(node, 0), back.operand(node, 1)
    if u is None or v is None:
        back.pass_on(node, g)
        return
    if _by_statistic(node, back, fn, u, v, g):
        return
    if fn == "div":
        v = Signal.function(v.source, apply("reciprocal", v.expr))
    for slot, (own, other) in enumerate(((u, v), (v, u))):
        ref = node.inputs[slot]
        if not back.wants(ref):
            continue
        moments = _times(g.moments, aligned(other, shape))
        if g.own is not None and other.shape == shape and _steady(own):  # g knows u v, and so it knows v
            moments = times(g.moments, felt(other, g.own))
            moments = Signal(shape, 0.0, moments.K, profiles=_times(g.moments, other).profiles)
        if fn == "div" and slot == 1:  # d(1/w) = -1/w^2
            moments = _times(moments, aligned(Signal.function(own.source, apply("square", own.expr)), shape))
        if other.is_constant:
            moments = times(g.moments, other.mean**2)
            same = ref is not None and ref.shape == shape
            back.send(ref, _kept(g, other.mean) if same else moments)
        else:
            knows = g.own is not None and _steady(other) and ref is not None and ref.shape == shape
            back.send(ref, Law(moments, g.own if knows else None))


def _steady(gate: Signal) -> bool:
    """A factor that rescales more than it turns: products lie in the order of the other one."""
    return gate.mean**2 > 0.5 * gate.second


def _times(g: Signal, other: Signal) -> Signal:
    """K_g K_other, and the profiles of both."""
    made = Signal(g.shape, 0.0, g.K * other.K, profiles=g.profiles)
    for axis, p in enumerate(other.profiles):
        if p is not None and p.size == g.shape[axis]:
            made = level_places(made, axis, p)
    return made


def _by_statistic(node: Node, back: Backward, fn: str, u: Signal, v: Signal, g: Law) -> bool:
    """A normalisation that is written out by hand: what the statistic has in common with x is taken off, too."""
    signals = (u, v)
    for slot in (1, 0) if fn == "mul" else (1,):
        found = back.run.relations(node).statistic(slot, 1 - slot, signals[slot])
        if found is not None:
            factor = found.factor(signals[slot], inverse=fn == "div")
            x = found.of
            unit = by_own_statistics(x, found.axes, found.centred, 0.0)
            scaled = Law(times(g.moments, factor**2))
            back.send(node.inputs[1 - slot], through_statistics(x, unit, found.axes, found.centred, 0.0, scaled))
            return True
    return False


def _chosen(node: Node, back: Backward, g: Law) -> None:
    """where(c, a, b): a gets the gradients where c is true, b where it is not."""
    shape = node.outputs[0].shape
    condition = back.operand(node, 0)
    if condition is None:
        back.pass_on(node, g)
        return
    c = aligned(condition, shape)
    share = min(max(c.mean, 0.0), 1.0)
    back.send(node.inputs[1], _times(g.moments, c))
    back.send(node.inputs[2], times(g.moments, np.maximum(1.0 - 2.0 * share + c.K, 0.0)))


_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(48)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


def _several(node: Node, back: Backward, data: list[int], g: Law) -> None:
    """Any other f(u, v, ...) of different tensors, as if they were Gaussian and independent: E[(df/du)^2] on a grid.

    Of two entries that differ, the part that E[df/du] makes stays; the rest is theirs alone.
    """
    signals = [back.operand(node, slot) for slot in data]
    if any(s is None for s in signals) or len(data) > 3:
        back.pass_on(node, g)
        return
    known = [s for s in signals if s is not None]
    scores = np.meshgrid(*[_NODES] * len(data), indexing="ij")
    weight = np.ones(())
    for _ in data:
        weight = np.multiply.outer(weight, _WEIGHTS)
    values = [s.mean + np.sqrt(s.variance) * z for s, z in zip(known, scores, strict=True)]
    function, params = FUNCTIONS[node.attrs["fn"]], tuple(node.attrs.get("params", ()))
    scalars = node.attrs.get("scalars", {})

    def evaluated(which: int, step: float) -> Array:
        shifted = [v + step * (k == which) for k, v in enumerate(values)]
        args = [shifted[data.index(k)] if k in data else float(scalars[k]) for k in range(len(node.inputs))]
        with np.errstate(all="ignore"):
            return np.asarray(np.nan_to_num(np.asarray(function.fn(*args, *params), float), posinf=0.0, neginf=0.0))

    for which, slot in enumerate(data):
        step = 1e-5 * max(float(np.sqrt(known[which].second)), 1e-150)
        slope = (evaluated(which, step) - evaluated(which, -step)) / (2.0 * step)
        first, second = float((weight * slope).sum()), float((weight * slope**2).sum())
        table = np.full(g.moments.K.shape, first**2)
        table.flat[0] = second
        back.send(node.inputs[slot], times(g.moments, table))


@adjoint("affine")
def affine(node: Node, back: Backward, g: Law) -> None:
    gain = back.operand(node, 1)
    assert gain is not None
    back.send(node.inputs[0], _times(g.moments, aligned(gain, g.moments.shape)))
