"""Elementwise ops. Functions of one source stay one function; independent sources are combined by their moments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..core.dependence.functions import moment_together, on_grid
from ..core.gaussian.expression import Expr, X, apply, evaluate
from ..core.graph.graph import Node
from ..core.signal.broadcast import aligned
from ..core.signal.marginal import Sum, matters
from ..core.signal.measured import from_array
from ..core.signal.merged_axes import fine_of, finely
from ..core.signal.positive import sign_of, signed
from ..core.signal.profiles import Array
from ..core.signal.signal import Signal, constant
from ..core.signal.volatility import TRUSTED, bounded, square_covariance, summed
from .merge import blended_profiles, chosen_by
from .normalize import by_own_statistics
from .registry import Context, rule
from .scatter import per_place

Operand = Signal | float


@rule("elementwise")
def elementwise(node: Node, ctx: Context, *signals: Signal | None) -> Signal:
    """A function of one source, however long the chain: m' = E[f(u)], K'(S) = E[f(u) f(v)], u and v Gaussian.

    The integrals are closed forms or quadratures, see the table of functions. Of two sources x and y:

        x + y    m' = m_x + m_y, K' = K_x + K_y + 2 E[x y']
        x y      m' = m_x m_y + c_0, K' = K_x K_y if they are independent, else by Isserlis (`product_of`)
        x / y    x times 1/y; a divisor that may be near zero is sampled
        f(x, y)  an integral over both (`two_sources`)

    E[x y'] = m_x m_y + cov(x, y'), the covariance being found by going back through the graph (`core.dependence`).
    """
    shape = node.outputs[0].shape
    scalars = node.attrs.get("scalars", {})
    operands: list[Operand] = []
    live = None
    for k, signal in enumerate(signals):
        if signal is None:
            operands.append(float(scalars[k]))
            continue
        if signal.live is not None:
            live = signal.live if live is None else live & signal.live
        plain = signal.source is signal and signal.live is None and signal.is_constant
        operands.append(signal.mean if plain else aligned(signal, shape))
    fn, params = node.attrs["fn"], tuple(node.attrs.get("params", ()))
    made = combine(node, ctx, fn, params, operands, shape)
    if live is None and fn == "exp":
        doubt_exponential(ctx, operands[0])
    if live is not None and fn == "exp":
        made = masked_exponential(node, ctx, made, operands[0], live, shape)
    if live is not None and fn in ("add", "sub", "mul", "div"):
        made = Signal(made.shape, made.mean, made.K, profiles=made.profiles, live=live, volatility=made.volatility)
    if made._K is not None and made.problem:
        ctx.note(node, "warning", made.problem)
    return made


def combine(
    node: Node, ctx: Context, fn: str, params: tuple[float, ...], operands: list[Operand], shape: tuple[int, ...]
) -> Signal:
    signals = [s for s in operands if isinstance(s, Signal)]
    if not signals:
        value = apply(fn, *(float(s) for s in operands if not isinstance(s, Signal)), params=params)
        return constant(shape, float(np.asarray(evaluate(value, np.zeros(1))).flat[0]))
    source = signals[0].source
    if all(s.source is source for s in signals):
        args: list[Expr | float] = [s.expr if isinstance(s, Signal) else float(s) for s in operands]
        return Signal.function(source, apply(fn, *args, params=params))
    if fn in ("add", "sub"):
        return total(node, ctx, *signals, sign=1.0 if fn == "add" else -1.0)
    if fn in ("mul", "div"):
        found = per_place(node, ctx, fn, signals[0]) or by_statistic(node, ctx, fn, signals)
        if found is not None:
            return found
    if fn == "mul":
        return product_of(node, ctx, signals, shape)
    if fn == "div":
        u, v = signals
        known = known_inverse(node, ctx, shape)
        if known is None:
            doubt_quotient(node, ctx, v)
        inverse = known or Signal.function(v.source, apply("reciprocal", v.expr))
        return product_of(node, ctx, [u, inverse], shape, related=False)
    if fn == "where":
        return chosen_by(node, ctx, *(s if isinstance(s, Signal) else constant(shape, float(s)) for s in operands))
    return two_sources(fn, params, operands, shape)


LARGE_EXPONENTIAL = 10.0
NEAR_ZERO = 3.0
"""A divisor of unknown sign whose mean is fewer standard deviations from zero than this has no mean inverse."""
MOST_EXPONENT = 46.0
"""E[exp(2x)] = exp(2m + 2v) beyond the exponential of this is no prediction: x is no Gaussian that far out."""


def doubt_exponential(ctx: Context, x: Operand) -> None:
    """Exponents of unknown sign so wide are differences of running sums, whose sign depends on the place."""
    if isinstance(x, Signal) and 2 * (x.mean + x.variance) > MOST_EXPONENT and not sign_of(x):
        ctx.doubt("the exponent is too wide for its moments to tell")


def masked_exponential(
    node: Node, ctx: Context, made: Signal, x: Operand, live: NDArray[np.bool_], shape: tuple[int, ...]
) -> Signal:
    """exp under a mask of minus infinity: zeros there. Scans make such tables of decays, with exponents of at most 0.

    Exponents are sums over segments of any length, so that one Gaussian law for all of them may promise large powers
    of e; then they are cut at zero.
    """
    if isinstance(x, Signal) and not made.second < LARGE_EXPONENTIAL:
        ctx.note(node, "info", "exp of masked entries: taken as decays, with exponents of at most zero")
        made = Signal.function(x.source, apply("exp", apply("minimum", x.expr, 0.0)))
    keep = aligned(from_array(np.broadcast_to(live, (*(1,) * (len(shape) - live.ndim), *live.shape))), shape)
    return signed(Signal(shape, made.mean * keep.mean, made.K * keep.K), 1)


def by_statistic(node: Node, ctx: Context, fn: str, signals: list[Signal]) -> Signal | None:
    """x times (or divided by) a function of its own mean square or variance: a normalisation written out by hand."""
    for slot in (1, 0) if fn == "mul" else (1,):
        if fn == "mul" and signals[slot].expr.monotone == 1:
            continue  # x |x|: the larger the statistic, the larger what comes out
        found = ctx.relations(node).statistic(slot, 1 - slot, signals[slot])
        if found is not None:
            factor = found.factor(signals[slot], inverse=fn == "div")
            return by_own_statistics(found.of, found.axes, found.centred, 0.0).scaled(factor)
    return None


def doubt_quotient(node: Node, ctx: Context, v: Signal) -> None:
    """Moments say little about u/v if v may be near zero, or if both are made of the same thing."""
    if v.mean**2 < NEAR_ZERO**2 * v.variance and not sign_of(v):
        ctx.doubt("the divisor may be near zero")
    elif ctx.related(node, 0, 1):
        ctx.doubt("dividend and divisor are made of the same tensor")


def known_inverse(node: Node, ctx: Context, shape: tuple[int, ...]) -> Signal | None:
    """1/v of a divisor whose values are known: measured, because a Gaussian with its moments may come near zero."""
    array = ctx.array(node, 1)
    if array is None or not np.all(array):
        return None
    inverse = 1.0 / np.asarray(array, float)
    return aligned(from_array(inverse), shape) if np.isfinite(inverse).all() else None


def cross_of(node: Node, ctx: Context, u: Signal, v: Signal) -> Array:
    """E[u_i v_j]; what nobody can say is run on samples, or taken as independent."""
    if u.source is v.source:
        return moment_together(u, v)
    relations = ctx.relations(node)
    found = relations.covariance(0, 1)
    unfollowed = relations.unfollowed(0, 1) if found is None else ""
    if unfollowed:
        ctx.doubt(f"what {unfollowed} has in common with what goes into it is not followed, and here both meet")
    return np.full(u.K.shape, u.mean * v.mean) if found is None else u.mean * v.mean + found


def total(node: Node, ctx: Context, u: Signal, v: Signal, *, sign: float) -> Signal:
    """u + v: m = m_u + m_v, K = K_u + K_v + 2 E[u v'], where the cross moment is m_u m_v if they are independent.

    So it is over the axes that were merged into those of u and v, if both know them.
    """
    cross = cross_of(node, ctx, u, v)
    K = np.array(u.K + v.K + 2 * sign * cross)
    K.flat[0] = max(K.flat[0], 0.0)
    shares = [s.variance / max(u.variance + v.variance, 1e-300) for s in (u, v)]
    moving = [s for k, s in enumerate((u, v)) if ctx.varies(node, k)]
    made = Signal(
        u.shape, u.mean + sign * v.mean, K, profiles=blended_profiles([(u.second, u), (v.second, v)]),
        deficiency=shares[0] ** 2 * u.deficiency + shares[1] ** 2 * v.deficiency,
        volatility=moving[0].volatility if len(moving) == 1 else summed([(shares[0], u), (shares[1], v)]),
    )  # fmt: skip
    if np.any(np.abs(cross - u.mean * v.mean) > 1e-6 * np.sqrt(max(u.second * v.second, 1e-300))):
        return made
    if matters(u, v):
        made = made.but(parts=Sum(1.0, u, sign, v))
    fine_u, fine_v = fine_of(u), fine_of(v)
    if fine_u is None or fine_v is None or fine_u.signal.shape != fine_v.signal.shape:
        return made
    f, g = fine_u.signal, fine_v.signal
    fine = Signal(f.shape, made.mean, f.K + g.K + 2 * sign * f.mean * g.mean)
    return finely(made, fine, [len(group) for group in fine_u.groups])


def product_of(
    node: Node, ctx: Context, signals: list[Signal], shape: tuple[int, ...], related: bool = True
) -> Signal:
    """u v; not `related`: not the operands themselves. Independent: K = K_u K_v (and what their scales share).

    Correlated Gaussians (Isserlis), with a, b the covariances of each, c0 and c those across:
    E = (m_u m_v + c0)^2 + m_u^2 b + m_v^2 a + 2 m_u m_v c + a b + c^2.

    Squares may vary together where entries do not (x and its norm): E[u^2 v^2] = E[u^2] E[v^2] + cov(u^2, v^2).
    """
    u, v = signals
    profiles, level = _product_profiles(u, v)
    cross = (cross_of(node, ctx, u, v) if related else np.full(u.K.shape, u.mean * v.mean)) - u.mean * v.mean
    squares = ctx.relations(node).of_squares(0, 1) if related and _is_broadcast(node, ctx) else None
    together = None if squares is None else squares / max(u.second * v.second, 1e-300)
    if np.max(np.abs(cross)) <= 1e-9 * np.sqrt(max(u.variance * v.variance, 1e-300)):
        K = u.K * v.K * (common_scale(node, ctx, u, v) if related else 1.0)
        if together is not None:
            K = K * (1.0 + np.maximum(together, -0.9))
        varies = [ctx.varies(node, k) for k in (0, 1)] if related else (True, True)
        made = Signal(shape, u.mean * v.mean, K * level, profiles=profiles, volatility=_shaken(u, v, varies),
                      deficiency=max(u.deficiency, v.deficiency))  # fmt: skip
        return signed(made, sign_of(u) * sign_of(v))
    if ctx.relations(node).has_share(0, 1):
        ctx.doubt("a softmax and what it is made of are multiplied")
    a, b, c0 = u.covariance, v.covariance, float(cross.flat[0])
    mean = u.mean * v.mean + c0
    K = mean**2 + u.mean**2 * b + v.mean**2 * a + 2 * u.mean * v.mean * cross + a * b + cross**2
    if together is not None and K.flat[0] > mean**2:
        known = u.second * v.second * (1.0 + float(together.flat[0]))
        K = mean**2 + (K - mean**2) * max((known - mean**2) / (K.flat[0] - mean**2), 0.1)
    return Signal(shape, mean, K)


def _is_broadcast(node: Node, ctx: Context) -> bool:
    """Whether one operand may be a statistic of the other: it is broadcast to it, and both vary."""
    one, two = node.inputs[:2]
    unlike = one is not None and two is not None and one.shape != two.shape
    return unlike and all(ctx.varies(node, k) for k in (0, 1))


def common_scale(node: Node, ctx: Context, u: Signal, v: Signal) -> Array | float:
    """E[r_u r_v'] of the local variances of two parts of one tensor (a gate and what it gates): they move together.

    With V of two features of that tensor and powers a, b of r in E[u^2], E[v^2] it is (1 + V)^(a b) for a log-normal r.
    """
    found = ctx.relations(node).siblings(0, 1)
    if found is None or found[0].volatility is None:
        return 1.0
    different = np.take(found[0].volatility, [1, 1], axis=found[1])
    powers = [1.0 if s.expr is X else float(np.clip(s.analysis().slope, 0.0, 3.0)) for s in (u, v)]
    return np.asarray((1.0 + np.clip(different, 0.0, TRUSTED)) ** (powers[0] * powers[1]))


def _shaken(u: Signal, v: Signal, varies: Sequence[bool]) -> Array | None:
    """Volatility of a product: 1 + V = (1 + V_u)(1 + V_v), and a factor that is shared along axes on which the other
    varies (a gate) moves the variance there together, by the covariance of its squares. A table of constants does not:
    it scales the same places in every draw."""
    total = np.ones(u.K.shape)
    for own, other, moves in ((u, v, varies[0]), (v, u, varies[1])):
        if own.volatility is not None:
            total = total * (1 + own.volatility)
        if moves and _is_shared_where(own, other) and own.second > 0:
            total = total * (1 + np.maximum(_gate_volatility(own), 0.0))
    total = total - 1
    return total if float(np.max(np.abs(total))) > 1e-9 else None


def _gate_volatility(g: Signal) -> Array:
    """Volatility of g^2 for a gate: a log-normal with the gate's own E[g] and E[g g'] has 1 + V = (K/m^2)^4."""
    if g.mean**2 > 0.3 * g.second:
        return bounded(np.maximum(g.K / g.mean**2, 1.0) ** 4 - 1.0)
    return square_covariance(g)


def _is_shared_where(g: Signal, x: Signal) -> bool:
    """g is (nearly) constant along an axis on which x varies, and not constant altogether."""
    if g.is_constant or g.source.K.shape != g.K.shape:
        return False
    return any(n > 1 and g.correlation(axis) > 0.999 and x.correlation(axis) < 0.999 for axis, n in enumerate(g.shape))


def _product_profiles(u: Signal, v: Signal) -> tuple[tuple[Array | None, ...], float]:
    out: list[Array | None] = []
    level = 1.0
    for p, q in zip(u.profiles, v.profiles, strict=True):
        if p is None or q is None:
            out.append(p if q is None else q)
            continue
        r = p * q
        mean = float(r.mean())
        level *= mean
        out.append(r / mean if mean > 0 else None)
    return tuple(out), level


def two_sources(fn: str, params: tuple[float, ...], operands: list[Operand], shape: tuple[int, ...]) -> Signal:
    """Any other f(u, v) of different sources: moments on a 2-D Gauss grid; the covariance is split into the part
    linear in u, the part linear in v, and a rest that needs both to coincide."""
    signals, law = [s for s in operands if isinstance(s, Signal)], on_grid(fn, params, operands)
    mean, second = law.mean(), law.mean(law.values)
    rest = second - mean**2
    cov: Array = np.zeros(signals[0].K.shape)
    mixed: Array = np.ones(signals[0].K.shape)
    for s, z in zip(signals, law.scores, strict=True):
        slope = law.mean(z) ** 2
        variance = s.source.variance
        rho = s.source.covariance / variance if variance > 0 else np.ones(s.K.shape)
        cov = cov + slope * rho
        mixed = mixed * np.clip(rho, 0.0, 1.0)
        rest -= slope
    K = mean**2 + cov + max(rest, 0.0) * mixed
    return Signal(shape, mean, K)
