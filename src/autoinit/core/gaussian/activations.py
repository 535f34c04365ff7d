"""The one table of elementwise functions: how to compute each, where it is not smooth, what is known of it.

A function of one argument may have closed Gaussian moments; all others are integrated. To add a function,
call `register` once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from . import functions as ew
from .closed_forms import ERF, GELU, SQUARE, ClosedForm, Exponentials
from .piecewise import PiecewiseLinear

Params = tuple[float, ...]
Range = tuple[float, float]
EVERYTHING: Range = (-math.inf, math.inf)


@dataclass(frozen=True)
class Function:
    """One elementwise function: `fn(x, *params)`, or `fn(x, y, *params)` when the arity is 2, and so on.

    kinks: where f or f' is not smooth. lattice: kinks at every integer plus this offset.
    monotone: +1 never falls, -1 never rises, 0 neither is known (a callable sees the parameters).
    within: an interval of all its values, where the monotony does not say it.
    closed: its Gaussian moments in closed form.
    """

    name: str
    fn: Callable[..., Any]
    arity: int = 1
    defaults: Params = ()
    kinks: Params | Callable[..., Params] = ()
    lattice: float | None = None
    monotone: int | Callable[..., int] = 0
    within: Range = EVERYTHING
    closed: Callable[..., ClosedForm] | None = None

    def with_defaults(self, params: Params) -> Params:
        """The given parameters, completed by the default values of the ones left out."""
        if len(params) > len(self.defaults):
            raise ValueError(f"{self.name} takes at most {len(self.defaults)} parameters, received {len(params)}")
        return tuple(map(float, params)) + self.defaults[len(params) :]

    def kinks_for(self, params: Params) -> Params:
        return tuple(self.kinks(*params)) if callable(self.kinks) else self.kinks

    def monotone_for(self, params: Params) -> int:
        return self.monotone(*params) if callable(self.monotone) else self.monotone


FUNCTIONS: dict[str, Function] = {}


def register(name: str, fn: Callable[..., Any], **known: Any) -> None:
    """Add a function to the table; a name can be taken only once."""
    if name in FUNCTIONS:
        raise ValueError(f"an elementwise function named {name!r} is already registered")
    if not callable(fn):
        raise TypeError(f"the function registered as {name!r} is not callable: {fn!r}")
    FUNCTIONS[name] = Function(name=name, fn=fn, **known)


def register_pieces(name: str, fn: Callable[..., Any], pieces: Callable[..., PiecewiseLinear], **known: Any) -> None:
    """Add a piecewise linear function: kinks and moments follow from its pieces."""
    register(name, fn, kinks=lambda *params: pieces(*params).breaks, closed=pieces, **known)


# --- piecewise linear ------------------------------------------------------------------------------


def _leaky(slope: float) -> PiecewiseLinear:
    return PiecewiseLinear((0.0,), (slope, 1.0), (0.0, 0.0))


def _clamp(low: float, high: float) -> PiecewiseLinear:
    if low >= high:
        return _flat(high)
    breaks, slopes, intercepts = [], [1.0], [0.0]
    if low > -math.inf:
        breaks, slopes, intercepts = [low], [0.0, 1.0], [low, 0.0]
    if high < math.inf:
        breaks, slopes, intercepts = [*breaks, high], [*slopes, 0.0], [*intercepts, high]
    return PiecewiseLinear(tuple(breaks), tuple(slopes), tuple(intercepts))


def _step(place: float, below: float, above: float) -> PiecewiseLinear:
    if not math.isfinite(place):  # every comparison with NaN is false
        return _flat(0.0 if math.isnan(place) else below if place > 0.0 else above)
    return PiecewiseLinear((place,), (0.0, 0.0), (below, above))


def _flat(value: float) -> PiecewiseLinear:
    return PiecewiseLinear((), (0.0,), (value,))


def _line(factor: float = 1.0, offset: float = 0.0) -> PiecewiseLinear:
    return PiecewiseLinear((), (factor,), (offset,))


def _shrink(lambd: float, offset: float) -> PiecewiseLinear:
    return PiecewiseLinear((-lambd, lambd), (1.0, 0.0, 1.0), (offset, 0.0, -offset))


_RELU, _ABS = _leaky(0.0), _leaky(-1.0)
_HARDSIGMOID = PiecewiseLinear((-3.0, 3.0), (0.0, 1.0 / 6.0, 0.0), (0.0, 0.5, 1.0))

register_pieces("identity", ew.identity, _line, monotone=1)
register_pieces("nan_to_num", np.nan_to_num, _line, monotone=1)
register_pieces("neg", np.negative, lambda: _line(-1.0), monotone=-1)
register_pieces(
    "affine", lambda x, factor, offset: factor * x + offset, _line, defaults=(1.0, 0.0),
    monotone=lambda factor, offset: (factor > 0.0) - (factor < 0.0),
)  # fmt: skip
register_pieces("relu", ew.relu, lambda: _RELU, monotone=1)
register_pieces("relu6", lambda x: ew.clamp(x, 0.0, 6.0), lambda: _clamp(0.0, 6.0), monotone=1)
register_pieces("hardtanh", ew.clamp, _clamp, defaults=(-1.0, 1.0), monotone=1)
register_pieces("clamp", ew.clamp, _clamp, defaults=EVERYTHING, monotone=1)
for _name, _slope in (("leaky_relu", 0.01), ("prelu", 0.25)):
    register_pieces(_name, ew.leaky_relu, _leaky, defaults=(_slope,), monotone=lambda slope: int(slope >= 0.0))
register_pieces(  # the randomised one as it is in evaluation mode: the mean slope
    "rrelu", lambda x, lower, upper: ew.leaky_relu(x, 0.5 * (lower + upper)),
    lambda lower, upper: _leaky(0.5 * (lower + upper)), defaults=(1.0 / 8.0, 1.0 / 3.0),
    monotone=lambda lower, upper: int(lower + upper >= 0.0),
)  # fmt: skip
register_pieces("hardsigmoid", ew.hardsigmoid, lambda: _HARDSIGMOID, monotone=1)
register_pieces("abs", np.abs, lambda: _ABS, within=(0.0, math.inf))
register_pieces("sign", np.sign, lambda: _step(0.0, -1.0, 1.0), monotone=1)
register_pieces("signbit", ew.number(np.signbit), lambda: _step(0.0, 1.0, 0.0), monotone=-1)
register_pieces("softshrink", ew.softshrink, lambda lambd: _shrink(lambd, lambd), defaults=(0.5,), monotone=1)
register_pieces("hardshrink", lambda x, lambd: np.where(np.abs(x) > lambd, x, 0.0), lambda lambd: _shrink(lambd, 0.0),
                defaults=(0.5,), monotone=1)  # fmt: skip
register_pieces(
    "threshold", lambda x, level, value: np.where(x > level, x, value),
    lambda level, value: PiecewiseLinear((level,), (0.0, 1.0), (value, 0.0)), defaults=(0.0, 0.0),
    monotone=lambda level, value: int(value <= level),
)  # fmt: skip


def _rises(place: float) -> PiecewiseLinear:
    return _step(place, 0.0, 1.0)


def _falls(place: float) -> PiecewiseLinear:
    return _step(place, 1.0, 0.0)


for _name, _test, _pieces, _sign in (
    ("gt", np.greater, _rises, 1), ("ge", np.greater_equal, _rises, 1),
    ("lt", np.less, _falls, -1), ("le", np.less_equal, _falls, -1),
    ("eq", np.equal, lambda place: _flat(0.0), 0), ("ne", np.not_equal, lambda place: _flat(1.0), 0),
):  # fmt: skip
    register(_name, ew.number(_test), arity=2, within=(0.0, 1.0))
    register_pieces(f"{_name}_scalar", ew.number(_test), _pieces, defaults=(0.0,), monotone=_sign, within=(0.0, 1.0))
for _name, _unary, _value in (
    ("logical_not", np.logical_not, 0.0), ("isnan", np.zeros_like, 0.0), ("isinf", np.zeros_like, 0.0),
    ("isfinite", np.ones_like, 1.0), ("zeros_like", np.zeros_like, 0.0), ("ones_like", np.ones_like, 1.0),
):  # fmt: skip
    register_pieces(_name, ew.number(_unary), lambda value=_value: _flat(value), within=(0.0, 1.0))

# --- exponentials and the like ---------------------------------------------------------------------


def _register_exponentials(name: str, fn: Callable[..., Any], *terms: tuple[complex, complex], **known: Any) -> None:
    form = Exponentials(fn, terms)
    register(name, fn, closed=lambda: form, **known)


_register_exponentials("exp", np.exp, (1.0, 1.0), monotone=1)
_register_exponentials("exp2", np.exp2, (1.0, math.log(2.0)), monotone=1)
_register_exponentials("expm1", np.expm1, (1.0, 1.0), (-1.0, 0.0), monotone=1)
_register_exponentials("sin", np.sin, (-0.5j, 1j), (0.5j, -1j), within=(-1.0, 1.0))
_register_exponentials("cos", np.cos, (0.5, 1j), (0.5, -1j), within=(-1.0, 1.0))
_register_exponentials("sinh", np.sinh, (0.5, 1.0), (-0.5, -1.0), monotone=1)
_register_exponentials("cosh", np.cosh, (0.5, 1.0), (0.5, -1.0), within=(1.0, math.inf))
register("square", np.square, closed=lambda: SQUARE, within=(0.0, math.inf))
register("erf", special.erf, closed=lambda: ERF, monotone=1)
register("gelu", ew.gelu, closed=lambda: GELU, within=(-0.16997121, math.inf))

# --- exponential linear units ----------------------------------------------------------------------

register(
    "elu", ew.elu, defaults=(1.0, 1.0, 1.0), kinks=(0.0,),
    monotone=lambda alpha, scale, input_scale: int(min(alpha, scale, input_scale) >= 0.0),
)  # fmt: skip
register("selu", lambda x: ew.elu(x, ew.SELU_ALPHA, ew.SELU_SCALE, 1.0), kinks=(0.0,), monotone=1)
register("celu", lambda x, alpha: ew.elu(x, alpha, 1.0, 1.0 / alpha), defaults=(1.0,), kinks=(0.0,),
         monotone=lambda alpha: int(alpha > 0.0))  # fmt: skip

# --- smooth ----------------------------------------------------------------------------------------

register("gelu_tanh", ew.gelu_tanh, within=(-0.17004069, math.inf))
register("quick_gelu", lambda x: x * special.expit(1.702 * x), within=(-0.16360686, math.inf))
register("silu", lambda x: x * special.expit(x), within=(-0.27846455, math.inf))
register("mish", ew.mish, within=(-0.30884086, math.inf))
register("sigmoid", special.expit, monotone=1)
register("log_sigmoid", special.log_expit, monotone=1)
register("softplus", ew.softplus, defaults=(1.0, 20.0), kinks=lambda beta, limit: (limit / beta,), monotone=1)
register("squareplus", ew.squareplus, defaults=(4.0,), monotone=1)
register("softsign", ew.softsign, kinks=(0.0,), monotone=1)
register("hardswish", lambda x: x * ew.hardsigmoid(x), kinks=(-3.0, 3.0), within=(-0.375, math.inf))
register("tanh", np.tanh, monotone=1)
register("tanhshrink", ew.tanhshrink, monotone=1)
register("asinh", np.arcsinh, monotone=1)
register("atan", np.arctan, monotone=1)
register("erfc", special.erfc, monotone=-1)
register("sinc", np.sinc, within=(-0.21723363, 1.0))
register("i0", special.i0, within=(1.0, math.inf))
register("i0e", special.i0e, kinks=(0.0,), within=(0.0, 1.0))
register("i1", special.i1, monotone=1)
register("i1e", special.i1e, kinks=(0.0,), within=(-0.21950314, 0.21950314))
register("bessel_j0", special.j0, within=(-0.40275940, 1.0))
register("bessel_j1", special.j1, within=(-0.58186523, 0.58186523))

# --- with a bounded domain, or poles ---------------------------------------------------------------

_POLES = tuple(float(-n) for n in range(64))

register("log", np.log, kinks=(0.0,), monotone=1)
register("log2", np.log2, kinks=(0.0,), monotone=1)
register("log10", np.log10, kinks=(0.0,), monotone=1)
register("log1p", np.log1p, kinks=(-1.0,), monotone=1)
register("sqrt", np.sqrt, kinks=(0.0,), monotone=1)
register("rsqrt", lambda x: 1.0 / np.sqrt(x), kinks=(0.0,), monotone=-1)
register("reciprocal", lambda x: np.divide(1.0, x), kinks=(0.0,))
register("power_scalar", np.power, defaults=(1.0,), kinks=(0.0,))
register("tan", np.tan, kinks=tuple((n + 0.5) * math.pi for n in range(-20, 20)))
register("asin", np.arcsin, kinks=(-1.0, 1.0), monotone=1)
register("acos", np.arccos, kinks=(-1.0, 1.0), monotone=-1)
register("atanh", np.arctanh, kinks=(-1.0, 1.0), monotone=1)
register("acosh", np.arccosh, kinks=(1.0,), monotone=1)
register("erfinv", special.erfinv, kinks=(-1.0, 1.0), monotone=1)
register("logit", ew.logit, defaults=(-1.0,), kinks=lambda eps: (max(eps, 0.0), 1.0 - max(eps, 0.0)), monotone=1)
register("digamma", special.digamma, kinks=_POLES)
register("lgamma", special.gammaln, kinks=_POLES)

# --- rounding --------------------------------------------------------------------------------------

register("floor", np.floor, lattice=0.0, monotone=1)
register("ceil", np.ceil, lattice=0.0, monotone=1)
register("trunc", np.trunc, lattice=0.0, monotone=1)
register("round", np.round, lattice=0.5, monotone=1)
register("frac", lambda x: x - np.trunc(x), lattice=0.0, within=(-1.0, 1.0))

# --- of two and three arguments --------------------------------------------------------------------

for _name, _binary in {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.true_divide, "maximum": np.maximum,
    "minimum": np.minimum, "pow": np.power, "atan2": np.arctan2, "fmod": np.fmod, "remainder": np.remainder,
    "floor_divide": np.floor_divide, "hypot": np.hypot, "logaddexp": np.logaddexp, "logaddexp2": np.logaddexp2,
    "xlogy": special.xlogy, "copysign": np.copysign, "squared_difference": lambda x, y: np.square(x - y),
}.items():  # fmt: skip
    register(_name, _binary, arity=2)
for _logical in (np.logical_and, np.logical_or, np.logical_xor):
    register(_logical.__name__, ew.number(_logical), arity=2, within=(0.0, 1.0))
register("where", lambda test, x, y: np.where(np.asarray(test) != 0.0, x, y), arity=3)
register("lerp", lambda start, end, weight: start + weight * (end - start), arity=3)
register("addcmul", lambda x, y, z: x + y * z, arity=3)
