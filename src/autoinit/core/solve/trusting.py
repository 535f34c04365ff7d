"""Rules of users are strangers: what goes into them is protected, what comes out of them is looked at.

An error inside a rule, or a result that cannot be the moments of a tensor, becomes a `UserRuleError` that names the
layer. For every tensor E[x]^2 <= E[x^2] and |E[x x']| <= E[x^2] (Cauchy-Schwarz).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...errors import AutoInitError, UserRuleError
from ..checks import brief
from ..graph.graph import Node
from ..signal.signal import Signal

TOLERANCE = 1e-6
"""Relative; rounding may leave |K(S)| a little above K(0)."""
FIX = "return autoinit.Signal(shape, mean, K), one for each output; x.K.copy() is a start"
KEPT = tuple(name for name in Signal.__slots__ if name not in ("_once", "_problem"))


def called(node: Node, rule: Callable[..., Any], arguments: tuple[Any, ...], name: str) -> tuple[Signal, ...]:
    """What a user's rule makes of its arguments: one proper signal per output of the node."""
    signals = [a for a in arguments if isinstance(a, Signal)]
    try:
        with protected(signals):
            made = rule(*arguments)
    except AutoInitError as error:
        if error.where:
            raise
        raise _wrong(node, name, error.why, brief(error.received), error.fix or FIX) from error
    except Exception as error:
        received = f"{type(error).__name__}: {error}"
        raise _wrong(node, name, "the rule raised an error", received, _way_out(error)) from error
    results = made if isinstance(made, tuple) else (made,)
    if len(results) != len(node.outputs) or not all(isinstance(s, Signal) for s in results):
        wanted = "one Signal" if len(node.outputs) == 1 else f"a tuple of {len(node.outputs)} Signals"
        raise _wrong(node, name, f"the rule must return {wanted}", _described(made))
    for signal, value in zip(results, node.outputs, strict=True):
        try:
            why = _doubtful(signal, value.shape)
        except Exception as error:
            received = f"{type(error).__name__}: {error}"
            raise _wrong(node, name, "the moments of the signal cannot be worked out", received) from error
        if why:
            raise _wrong(node, name, why[0], why[1])
    return results


def guarded(rule: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A user's rule for an op of the vocabulary, ``rule(node, ctx, *signals)``."""

    def trusted(node: Node, ctx: Any, *signals: Signal | None) -> Any:
        made = called(node, rule, (node, ctx, *signals), name)
        return made[0] if len(made) == 1 else made

    return trusted


@contextmanager
def protected(signals: list[Signal]) -> Iterator[None]:
    """Signals that a rule is given are the same afterwards: their arrays refuse to be written, the rest is put back."""
    for signal in signals:
        _ = signal.K  # worked out now, so that it can be protected
    before = [{name: getattr(s, name) for name in KEPT} for s in signals]
    arrays = [a for state in before for a in (state["_K"], *state["profiles"]) if isinstance(a, np.ndarray)]
    writeable = [a.flags.writeable for a in arrays]
    for array in arrays:
        array.flags.writeable = False
    try:
        yield
        changed = next((n for s, state in zip(signals, before, strict=True) for n in _changed(s, state)), None)
        if changed is not None:
            raise UserRuleError("the rule changed the signal that it was given", received=f"signal.{changed} assigned",
                                fix="make a new one: autoinit.Signal(x.shape, x.mean, x.K.copy())")  # fmt: skip
    finally:
        for array, flag in zip(arrays, writeable, strict=True):
            array.flags.writeable = flag
        for signal, state in zip(signals, before, strict=True):
            for name in _changed(signal, state):
                setattr(signal, name, state[name])


def _changed(signal: Signal, state: dict[str, Any]) -> list[str]:
    return [name for name, value in state.items() if getattr(signal, name) is not value]


def _doubtful(signal: Signal, shape: tuple[int, ...]) -> tuple[str, str] | None:
    """(why, what) these are not the moments of a tensor of this shape."""
    if tuple(signal.shape) != tuple(shape):
        return "the rule returned a signal of the wrong shape", f"{signal.shape}, expected {shape}"
    mean, K = signal.mean, np.asarray(signal.K)
    if K.shape != (2,) * len(shape):
        return "K has one axis of size 2 for every axis of the tensor", f"K of shape {K.shape} for {shape}"
    second = float(K.flat[0])
    if not (np.isfinite(mean) and np.isfinite(K).all()):
        return "moments are finite numbers", f"mean {mean:.4g}, E[x^2] {second:.4g}"
    if second < 0 or mean * mean > second * (1 + TOLERANCE) + 1e-300:
        return "E[x^2] (K.flat[0]) is at least the square of the mean", f"mean {mean:.4g}, E[x^2] {second:.4g}"
    largest = float(np.abs(K).max())
    if largest > second * (1 + TOLERANCE) + 1e-300:
        return "no |K(S)| is larger than E[x^2] = K.flat[0]", f"|K(S)| = {largest:.4g}, E[x^2] = {second:.4g}"
    return None


def _described(made: Any) -> str:
    if isinstance(made, tuple):
        return f"a tuple of {len(made)}: {', '.join(type(m).__name__ for m in made[:4])}"
    return "None (is there a return?)" if made is None else f"{type(made).__name__}: {brief(made)}"


def _way_out(error: Exception) -> str:
    if "read-only" in str(error):
        return "signals are not changed in place: K = x.K.copy() first, then autoinit.Signal(x.shape, x.mean, K)"
    return f"mend the rule; {FIX}"


def _wrong(node: Node, name: str, why: str, received: str, fix: str = FIX) -> UserRuleError:
    return UserRuleError(f"{name}: {why}", where=f"layer '{node.place}'", received=received, fix=fix)
