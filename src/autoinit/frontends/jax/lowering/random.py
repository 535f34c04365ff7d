"""Fresh random numbers, by the functions of `jax.random` whose laws are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scipy import stats

from ..tape import number_of
from .table import lax

if TYPE_CHECKING:
    from ..call import Call


def _standard_normal(call: Call, outputs: list[Any] | None = None) -> Any:
    return call.emit("noise", [], outputs, mean=0.0, variance=1.0)[0]


def _uniform(call: Call) -> Any:
    """U(0, 1) as the normal distribution function of a standard normal, so that functions of it stay exact."""
    shape = call.out.shape
    z = _standard_normal(call, [shape])
    (scaled,) = call.entries("mul", [z, 2**-0.5], [shape])
    (bent,) = call.entries("erf", [scaled], [shape])
    (half,) = call.entries("mul", [bent, 0.5], [shape])
    return call.entries("add", [half, 0.5], [shape])[0]


@lax("normal", "normal_real")
def normal(call: Call) -> None:
    _standard_normal(call)


@lax("uniform")
def uniform(call: Call) -> None:
    """Between two ends, which may be arrays."""
    low, high = call.args[1:3]
    ends = number_of(low), number_of(high)
    made, shape = _uniform(call), call.out.shape
    if ends[0] is not None and ends[1] is not None:
        (scaled,) = call.entries("mul", [made, ends[1] - ends[0]], [shape])
        call.entries("add", [scaled, ends[0]])
        return
    (width,) = call.entries("sub", [high, low], [shape])
    (scaled,) = call.entries("mul", [made, width], [shape])
    call.entries("add", [scaled, low])


@lax("truncated_normal")
def truncated_normal(call: Call) -> None:
    low, high = (number_of(end) for end in call.args[1:3])
    if low is None or high is None:
        call.unknown()
        return
    mean, variance = stats.truncnorm.stats(low, high, moments="mv")
    call.emit("noise", [], mean=float(mean), variance=float(variance))


@lax("bernoulli")
def bernoulli(call: Call) -> None:
    call.entries("lt", [_uniform(call), call.args[1]])
