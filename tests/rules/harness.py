"""Predicted moments against the real op on samples.

`check` draws inputs with the moments of the given signals, runs the real function on them, and measures m and
every K(S) of the output with `from_array` (an unbiased estimate of both). This is repeated independently; the
standard error of the average over the repeats is known from their scatter, and the prediction has to lie
within

    SIGMAS standard errors  +  model_error * E[y^2]     (for the mean: mean_error * sqrt(E[y^2])),

where both errors are stated by each test and are 0 (up to rounding) for rules that are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from autoinit.core.dependence.relations import Relations
from autoinit.core.graph.checking import checked
from autoinit.core.graph.graph import Constant, Node, Value
from autoinit.core.signal.measured import from_array
from autoinit.core.signal.samples import sample
from autoinit.core.signal.signal import Signal
from autoinit.rules.registry import RULES
from tests.rules.facts import check_facts
from tests.rules.past import Past

torch.set_num_threads(1)

SIGMAS = 5.0
ROUNDING = 1e-6
PAST = Past()


class FakeContext:
    """Just enough of the interpreter: known arrays per slot, and the notes that were left."""

    training = True

    def __init__(
        self, arrays: Mapping[int, Any] | None = None, kept: Sequence[int] = (), past: Past | None = None
    ) -> None:
        self.arrays, self.kept_slots, self.past = dict(arrays or {}), set(kept), past
        self.notes: list[tuple[str, str]] = []

    def weight(self, node: Node, slot: int, second_moment: Callable[[Signal], float]) -> Signal:
        raise AssertionError("these rules solve for no weights")

    def array(self, node: Node, slot: int) -> Any:
        return self.arrays.get(slot)

    def kept(self, node: Node, slot: int) -> bool:
        return slot in self.kept_slots

    def relations(self, node: Node) -> Relations:
        return Relations(None, node) if self.past is None else self.past.relations(node)

    def related(self, node: Node, slot: int, other: int) -> bool:
        return False

    def of_rows(self, node: Node, slot: int, axis: int, rows: tuple[int, ...]) -> Signal | None:
        return None

    def doubt(self, why: str) -> None:
        """Rules are tested without a graph: there is nothing to trace back."""

    def varies(self, node: Node, slot: int) -> bool:
        return slot not in self.arrays

    def note(self, node: Node, kind: str, message: str) -> None:
        self.notes.append((kind, message))


def components(shape: Sequence[int], mean: float, parts: Mapping[tuple[int, ...], float]) -> Signal:
    """mean + a sum of independent Gaussian arrays, each varying along its axes and constant along others."""
    d = len(shape)
    C = np.zeros((2,) * d)
    for S in np.ndindex(*C.shape):
        C[S] = sum(v for axes, v in parts.items() if not any(S[a] for a in axes))
    return Signal(shape, mean, C + mean * mean)


def predict(
    op: str, signals: Sequence[Signal | None], shapes: Sequence[Sequence[int]], *, arrays: Any = None, kept:
    Any = (), **attrs: Any,
) -> Any:  # fmt: skip
    """The rule's answer for one call; signals that earlier calls gave are known as what they were made of."""
    inputs: list[Any] = [None if s is None else PAST.value(s) for s in signals]
    for slot, array in (arrays or {}).items():
        inputs[slot] = inputs[slot] or Constant(array.shape, lambda array=array: array)
    outputs = [PAST.new(shapes[0])]
    for shape in shapes[1:]:
        outputs.append(Value(outputs[-1].id + 1, tuple(shape)))
    node = checked(Node(op, tuple(inputs), tuple(outputs), attrs))
    made = RULES[op](node, FakeContext(arrays, kept, PAST), *signals)
    PAST.seen(node, made)
    return made


def measure(signals: Sequence[Signal], run: Callable[..., Any], repeats: int, seed: int = 0) -> Any:
    """Per output: (mean, its standard error, K, its standard error)."""
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    collected: list[list[tuple[float, Any]]] = []
    for _ in range(repeats):
        drawn = [torch.from_numpy(sample(s, rng, None)) for s in signals]
        with torch.no_grad():
            result = run(*drawn)
        results = result if isinstance(result, (tuple, list)) else [result]
        measured = [from_array(r.double().numpy()) for r in results]
        collected.append([(m.mean, m.K) for m in measured])
    answers = []
    for k in range(len(collected[0])):
        means = np.array([c[k][0] for c in collected])
        tables = np.array([c[k][1] for c in collected])
        root = np.sqrt(repeats)
        answers.append((means.mean(), means.std(ddof=1) / root, tables.mean(0), tables.std(0, ddof=1) / root))
    return answers


def compare(predicted: Signal, measured: Any, *, mean_error: float = 0.0, model_error: float = 0.0) -> None:
    """Assert that the prediction lies within the stated tolerance; say how far off it is if not."""
    mean, mean_se, K, K_se = measured
    second = float(K.flat[0])
    slack = SIGMAS * mean_se + mean_error * np.sqrt(second) + ROUNDING * max(np.sqrt(second), 0.01)
    assert abs(predicted.mean - mean) <= slack, f"mean {predicted.mean:.5g}, measured {mean:.5g} +- {mean_se:.2g}"
    allowed = SIGMAS * K_se + model_error * second + ROUNDING * max(second, 1e-3)
    wrong = np.abs(predicted.K - K) - allowed
    S = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    assert wrong[S] <= 0, (
        f"K{S}: {predicted.K[S]:.5g}, measured {K[S]:.5g} +- {K_se[S]:.2g}; "
        f"K0 {predicted.second:.5g} vs {second:.5g}\n"
        f"predicted\n{predicted.K}\nmeasured\n{K}\nerror/second\n{(predicted.K - K) / second}"
    )


def check(
    op: str,
    signals: Sequence[Signal],
    run: Callable[..., Any],
    *,
    repeats: int = 240,
    mean_error: float = 0.0,
    model_error: float = 0.0,
    arrays: Any = None,
    extra: Sequence[Signal | None] = (),
    seed: int = 0,
    **attrs: Any,
) -> Signal:
    """Predict, measure, compare; returns the (first) prediction. `extra` are signals that are not sampled."""
    check_facts(op, signals, run, attrs)
    measured = measure(signals, run, repeats, seed)
    shapes = [_shape_of(signals, run, k) for k in range(len(measured))]
    predicted = predict(op, [*signals, *extra], shapes, arrays=arrays, **attrs)
    answers = predicted if isinstance(predicted, tuple) else (predicted,)
    for answer, numbers, shape in zip(answers, measured, shapes, strict=True):
        assert answer.shape == shape
        compare(answer, numbers, mean_error=mean_error, model_error=model_error)
    return answers[0]


def _shape_of(signals: Sequence[Signal], run: Callable[..., Any], k: int) -> tuple[int, ...]:
    with torch.no_grad():
        result = run(*[torch.from_numpy(sample(s, np.random.default_rng(0), None)) for s in signals])
    results = result if isinstance(result, (tuple, list)) else [result]
    return tuple(results[k].shape)
