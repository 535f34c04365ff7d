"""The one table of elementwise functions: how to compute each, where it is not smooth, what is known of it.

A function of one argument may carry closed Gaussian moments. Piecewise linear functions give their
pieces and get exact moments from them. To add a function, call `register` once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from autoinit.core.gaussian import closed_forms as closed
from autoinit.core.gaussian import functions as ew
from autoinit.core.gaussian.functions import Array
from autoinit.core.gaussian.piecewise import PiecewiseLinear

Params = tuple[float, ...]
Places = tuple[float, ...] | Callable[..., tuple[float, ...]]


@dataclass(frozen=True)
class Function:
    """One elementwise function: `fn(x, *params)`, or `fn(x, y, *params)` when the arity is 2, and so on.

    kinks: where f or f' is not smooth. lattice: kinks at every integer plus this offset.
    monotone: +1 never falls, -1 never rises, 0 neither is known (a callable sees the parameters).
    moments: (mean, std, *params) -> (E f, E f²); pair: (mean, var, cov, *params) -> E[f(u)f(v)];
    both may answer None where the closed form is not usable. pieces: the exact piecewise linear form.
    """

    name: str
    fn: Callable[..., Array]
    arity: int = 1
    defaults: Params = ()
    kinks: Places = ()
    lattice: float | None = None
    monotone: int | Callable[..., int] = 0
    moments: Callable[..., tuple[float, float] | None] | None = None
    pair: Callable[..., Array | None] | None = None
    pieces: Callable[..., PiecewiseLinear] | None = None

    def with_defaults(self, params: Params) -> Params:
        """The given parameters, completed by the default values of the ones left out."""
        if len(params) > len(self.defaults):
            raise ValueError(f"{self.name} takes at most {len(self.defaults)} parameters, received {len(params)}")
        return tuple(map(float, params)) + self.defaults[len(params) :]

    def kinks_for(self, params: Params) -> tuple[float, ...]:
        return tuple(self.kinks(*params)) if callable(self.kinks) else self.kinks

    def monotone_for(self, params: Params) -> int:
        return self.monotone(*params) if callable(self.monotone) else self.monotone


FUNCTIONS: dict[str, Function] = {}


def register(name: str, fn: Callable[..., Any], **known: Any) -> Function:
    """Add a function to the table; a name can be taken only once."""
    if name in FUNCTIONS:
        raise ValueError(f"an elementwise function named {name!r} is already registered")
    if not (callable(fn)):
        raise TypeError(f"the function registered as {name!r} is not callable: {fn!r}")
    function = Function(name=name, fn=fn, **known)
    FUNCTIONS[name] = function
    return function


def register_pieces(name: str, fn: Callable[..., Any], pieces: Callable[..., PiecewiseLinear], **known: Any) -> None:
    """Add a piecewise linear function: kinks, moments and pair moments follow from its pieces."""
    register(
        name,
        fn,
        pieces=pieces,
        kinks=lambda *params: pieces(*params).breaks,
        moments=lambda mean, std, *params: pieces(*params).moments(mean, std),
        pair=lambda mean, var, cov, *params: pieces(*params).pair(mean, var, cov),
        **known,
    )


# --- piecewise linear ------------------------------------------------------------------------------


def _leaky_pieces(slope: float) -> PiecewiseLinear:
    return PiecewiseLinear((0.0,), (slope, 1.0), (0.0, 0.0))


def _clamp_pieces(low: float, high: float) -> PiecewiseLinear:
    if low >= high:
        return PiecewiseLinear((), (0.0,), (high,))
    breaks, slopes, intercepts = [], [1.0], [0.0]
    if low > -math.inf:
        breaks, slopes, intercepts = [low], [0.0, 1.0], [low, 0.0]
    if high < math.inf:
        breaks, slopes, intercepts = [*breaks, high], [*slopes, 0.0], [*intercepts, high]
    return PiecewiseLinear(tuple(breaks), tuple(slopes), tuple(intercepts))


def _step_pieces(place: float, below: float, above: float) -> PiecewiseLinear:
    if not math.isfinite(place):  # every comparison with NaN is false
        return _flat_pieces(0.0 if math.isnan(place) else below if place > 0.0 else above)
    return PiecewiseLinear((place,), (0.0, 0.0), (below, above))


def _flat_pieces(value: float) -> PiecewiseLinear:
    return PiecewiseLinear((), (0.0,), (value,))


def _rising_if(condition: bool) -> int:
    return 1 if condition else 0


_RELU = _leaky_pieces(0.0)
_ABS = _leaky_pieces(-1.0)
_HARDSIGMOID = PiecewiseLinear((-3.0, 3.0), (0.0, 1.0 / 6.0, 0.0), (0.0, 0.5, 1.0))
_SIGN = _step_pieces(0.0, -1.0, 1.0)

register_pieces("relu", ew.relu, lambda: _RELU, monotone=1)
register_pieces("relu6", lambda x: ew.clamp(x, 0.0, 6.0), lambda: _clamp_pieces(0.0, 6.0), monotone=1)
register_pieces("hardtanh", ew.clamp, _clamp_pieces, defaults=(-1.0, 1.0), monotone=1)
register_pieces("clamp", ew.clamp, _clamp_pieces, defaults=(-math.inf, math.inf), monotone=1)
for _name, _slope in (("leaky_relu", 0.01), ("prelu", 0.25)):
    register_pieces(
        _name,
        ew.leaky_relu,
        _leaky_pieces,
        defaults=(_slope,),
        monotone=lambda slope: _rising_if(slope >= 0.0),
    )
register_pieces(
    "rrelu",
    ew.rrelu,
    lambda lower, upper: _leaky_pieces(0.5 * (lower + upper)),
    defaults=(1.0 / 8.0, 1.0 / 3.0),
    monotone=lambda lower, upper: _rising_if(lower + upper >= 0.0),
)
register_pieces("hardsigmoid", ew.hardsigmoid, lambda: _HARDSIGMOID, monotone=1)
register_pieces("abs", np.abs, lambda: _ABS)
register_pieces("sign", np.sign, lambda: _SIGN, monotone=1)
register_pieces("signbit", ew.signbit, lambda: _step_pieces(0.0, 1.0, 0.0), monotone=-1)
register_pieces(
    "softshrink",
    ew.softshrink,
    lambda lambd: PiecewiseLinear((-lambd, lambd), (1.0, 0.0, 1.0), (lambd, 0.0, -lambd)),
    defaults=(0.5,),
    monotone=1,
)
register_pieces(
    "hardshrink",
    ew.hardshrink,
    lambda lambd: PiecewiseLinear((-lambd, lambd), (1.0, 0.0, 1.0), (0.0, 0.0, 0.0)),
    defaults=(0.5,),
    monotone=1,
)
register_pieces(
    "threshold",
    ew.threshold,
    lambda level, value: PiecewiseLinear((level,), (0.0, 1.0), (value, 0.0)),
    defaults=(0.0, 0.0),
    monotone=lambda level, value: _rising_if(value <= level),
)
for _name, _fn, _above in (
    ("gt_scalar", ew.greater, 1.0),
    ("ge_scalar", ew.greater_equal, 1.0),
    ("lt_scalar", ew.less, 0.0),
    ("le_scalar", ew.less_equal, 0.0),
):
    register_pieces(
        _name,
        _fn,
        lambda place, above=_above: _step_pieces(place, 1.0 - above, above),
        defaults=(0.0,),
        monotone=1 if _above else -1,
    )
for _name, _fn, _value in (
    ("eq_scalar", ew.equal, 0.0),
    ("ne_scalar", ew.not_equal, 1.0),
):
    register_pieces(_name, _fn, lambda place, value=_value: _flat_pieces(value), defaults=(0.0,))
for _name, _unary, _value in (
    ("logical_not", ew.logical_not, 0.0),
    ("isnan", ew.zero, 0.0),
    ("isinf", ew.zero, 0.0),
    ("isfinite", ew.one, 1.0),
    ("zeros_like", ew.zero, 0.0),
    ("ones_like", ew.one, 1.0),
):
    register_pieces(_name, _unary, lambda value=_value: _flat_pieces(value))

# --- lines and exponentials ------------------------------------------------------------------------


def _line(factor: float) -> dict[str, Any]:
    return {
        "moments": lambda mean, std: closed.affine_moments(mean, std, factor, 0.0),
        "pair": lambda mean, var, cov: closed.affine_pair(mean, var, cov, factor, 0.0),
        "monotone": 1 if factor > 0.0 else -1,
    }


register("identity", ew.identity, **_line(1.0))
register("nan_to_num", ew.nan_to_num, **_line(1.0))
register("neg", np.negative, **_line(-1.0))
register(
    "affine",
    ew.affine,
    defaults=(1.0, 0.0),
    moments=closed.affine_moments,
    pair=closed.affine_pair,
    monotone=lambda factor, offset: (factor > 0.0) - (factor < 0.0),
)
register("square", np.square, moments=closed.square_moments, pair=closed.square_pair)
register("exp", np.exp, monotone=1, moments=closed.exp_moments, pair=closed.exp_pair)
register(
    "exp2",
    np.exp2,
    monotone=1,
    moments=lambda mean, std: closed.exp_moments(mean, std, math.log(2.0)),
    pair=lambda mean, var, cov: closed.exp_pair(mean, var, cov, math.log(2.0)),
)
register("expm1", np.expm1, monotone=1, moments=closed.expm1_moments, pair=closed.expm1_pair)
register("sin", np.sin, moments=closed.sin_moments, pair=closed.sin_pair)
register("cos", np.cos, moments=closed.cos_moments, pair=closed.cos_pair)
register("sinh", np.sinh, monotone=1, moments=closed.sinh_moments, pair=closed.sinh_pair)
register("cosh", np.cosh, moments=closed.cosh_moments, pair=closed.cosh_pair)
register("erf", special.erf, monotone=1, moments=closed.erf_moments, pair=closed.erf_pair)
register("gelu", ew.gelu, moments=closed.gelu_moments, pair=closed.gelu_pair)

# --- exponential linear units ----------------------------------------------------------------------


def _elu_rises(alpha: float, scale: float = 1.0, input_scale: float = 1.0) -> int:
    return _rising_if(alpha >= 0.0 and scale >= 0.0 and input_scale >= 0.0)


register(
    "elu",
    ew.elu,
    defaults=(1.0, 1.0, 1.0),
    kinks=(0.0,),
    monotone=_elu_rises,
    moments=closed.elu_moments,
)
register(
    "selu",
    lambda x: ew.elu(x, ew.SELU_ALPHA, ew.SELU_SCALE, 1.0),
    kinks=(0.0,),
    monotone=1,
    moments=lambda mean, std: closed.elu_moments(mean, std, ew.SELU_ALPHA, ew.SELU_SCALE, 1.0),
)
register(
    "celu",
    ew.celu,
    defaults=(1.0,),
    kinks=(0.0,),
    monotone=lambda alpha: _rising_if(alpha > 0.0),
    moments=lambda mean, std, alpha: closed.elu_moments(mean, std, alpha, 1.0, 1.0 / alpha),
)

# --- smooth, by quadrature -------------------------------------------------------------------------

register("gelu_tanh", ew.gelu_tanh)
register("quick_gelu", ew.quick_gelu)
register("silu", ew.silu)
register("mish", ew.mish)
register("sigmoid", ew.sigmoid, monotone=1)
register("log_sigmoid", ew.log_sigmoid, monotone=1)
register("softplus", ew.softplus, defaults=(1.0, 20.0), kinks=lambda beta, limit: (limit / beta,), monotone=1)
register("squareplus", ew.squareplus, defaults=(4.0,), monotone=1)
register("softsign", ew.softsign, kinks=(0.0,), monotone=1)
register("hardswish", ew.hardswish, kinks=(-3.0, 3.0))
register("tanh", np.tanh, monotone=1)
register("tanhshrink", ew.tanhshrink, monotone=1)
register("asinh", np.arcsinh, monotone=1)
register("atan", np.arctan, monotone=1)
register("erfc", special.erfc, monotone=-1)
register("sinc", np.sinc)
register("i0", special.i0)
register("i0e", special.i0e, kinks=(0.0,))
register("i1", special.i1, monotone=1)
register("i1e", special.i1e, kinks=(0.0,))
register("bessel_j0", special.j0)
register("bessel_j1", special.j1)

# --- with a bounded domain, or poles ---------------------------------------------------------------

_POLES = tuple(float(-n) for n in range(64))

register("log", np.log, kinks=(0.0,), monotone=1)
register("log2", np.log2, kinks=(0.0,), monotone=1)
register("log10", np.log10, kinks=(0.0,), monotone=1)
register("log1p", np.log1p, kinks=(-1.0,), monotone=1)
register("sqrt", ew.sqrt, kinks=(0.0,), monotone=1)
register("rsqrt", ew.rsqrt, kinks=(0.0,), monotone=-1)
register("reciprocal", ew.reciprocal, kinks=(0.0,))
register("power_scalar", ew.power, defaults=(1.0,), kinks=(0.0,))
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
register("frac", ew.frac, lattice=0.0)

# --- of two and three arguments --------------------------------------------------------------------

for _name, _binary in (
    ("add", np.add),
    ("sub", np.subtract),
    ("mul", np.multiply),
    ("div", ew.div),
    ("maximum", np.maximum),
    ("minimum", np.minimum),
    ("pow", np.power),
    ("atan2", np.arctan2),
    ("fmod", np.fmod),
    ("remainder", np.remainder),
    ("floor_divide", np.floor_divide),
    ("hypot", np.hypot),
    ("logaddexp", np.logaddexp),
    ("logaddexp2", np.logaddexp2),
    ("xlogy", special.xlogy),
    ("copysign", np.copysign),
    ("squared_difference", ew.squared_difference),
    ("gt", ew.greater),
    ("ge", ew.greater_equal),
    ("lt", ew.less),
    ("le", ew.less_equal),
    ("eq", ew.equal),
    ("ne", ew.not_equal),
    ("logical_and", ew.logical_and),
    ("logical_or", ew.logical_or),
    ("logical_xor", ew.logical_xor),
):
    register(_name, _binary, arity=2)
for _name, _ternary in (("where", ew.where), ("lerp", ew.lerp), ("addcmul", ew.addcmul)):
    register(_name, _ternary, arity=3)
