"""Contractions in the harness: the weight is either one of the sampled operands or an array that is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoinit.core.graph.graph import Node, Value
from autoinit.core.signal.measured import from_array
from autoinit.core.signal.signal import Signal
from autoinit.rules.registry import RULES

from .harness import FakeContext, compare, measure


class GivenWeights(FakeContext):
    """A context that answers every question for a weight with the moments it was given."""

    def __init__(self, weights: dict[int, Signal], arrays: dict[int, Any] | None = None) -> None:
        super().__init__(arrays, kept=tuple(arrays or ()))
        self.weights = weights

    def weight(self, node: Node, slot: int, second_moment: Callable[[Signal], float]) -> Signal:
        given = self.weights[slot]
        assert np.isfinite(second_moment(given))
        return given

    def centred(self, node: Node, x: Signal) -> Signal:
        return x


def predicted(
    op: str, signals: Sequence[Signal], given: dict[int, Signal], shape: Sequence[int], *, arrays: Any = None,
    **attrs: Any,
) -> Signal:  # fmt: skip
    """The rule's answer; operands named in `given` are asked for through the context."""
    inputs: tuple[Any, ...] = tuple(Value(k, s.shape) for k, s in enumerate(signals))
    if op in ("linear", "conv") and len(inputs) == 2:
        inputs = (*inputs, None)
    node = Node(op, inputs, (Value(100, tuple(shape)),), attrs)
    operands = [None if k in given else s for k, s in enumerate(signals)]
    return RULES[op](node, GivenWeights(given, arrays), *operands)


def check_fresh(
    op: str, signals: Sequence[Signal], slot: int | None, run: Any, *, repeats: int = 150, seed: int = 0,
    mean_error: float = 0.0, model_error: float = 0.0, **attrs: Any,
) -> Signal:  # fmt: skip
    """All operands are drawn anew each time, the weight in `slot` included: averages over weights and data."""
    measured = measure(signals, run, repeats, seed)
    shape = _shape(signals, run)
    made = predicted(op, signals, {} if slot is None else {slot: signals[slot]}, shape, **attrs)
    assert made.shape == shape
    compare(made, measured[0], mean_error=mean_error, model_error=model_error)
    return made


def check_kept(
    op: str, signals: Sequence[Signal], arrays: dict[int, Any], run: Any, *, repeats: int = 150, seed: int = 0,
    weight: int = 1, mean_error: float = 0.0, model_error: float = 0.0, **attrs: Any,
) -> Signal:  # fmt: skip
    """Parameters keep the values of `arrays`; `run` gets the sampled operands only and uses the same values."""
    measured = measure(signals, run, repeats, seed)
    shape = _shape(signals, run)
    moments = {slot: from_array(a) for slot, a in arrays.items()}
    operands = list(signals)
    for slot in sorted(moments):
        operands.insert(slot, moments[slot])
    made = predicted(op, operands, {weight: moments[weight]}, shape, arrays=arrays, **attrs)
    assert made.shape == shape
    compare(made, measured[0], mean_error=mean_error, model_error=model_error)
    return made


def _shape(signals: Sequence[Signal], run: Any) -> tuple[int, ...]:
    found: list[tuple[int, ...]] = []

    def note(*tensors: Any) -> Any:
        out = run(*tensors)
        found.append(tuple(out.shape))
        return out

    measure(signals, note, 2)
    return found[0]
