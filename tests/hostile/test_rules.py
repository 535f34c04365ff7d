"""Rules of users that are wrong: the error names the layer, what came back and how to mend it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import autoinit  # noqa: E402
from autoinit import Signal  # noqa: E402
from autoinit.errors import OptionError, RuleError  # noqa: E402

X = (8, 16)


class Own(nn.Module):
    def forward(self, x: Any) -> Any:
        return x * 2


class Split(nn.Module):
    def forward(self, x: Any) -> Any:
        return x[:, :8], x[:, 8:]


class Joined(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.split, self.layer = Split(), nn.Linear(8, 4)

    def forward(self, x: Any) -> Any:
        first, second = self.split(x)
        return self.layer(first + second)


def net() -> nn.Module:
    return nn.Sequential(nn.Linear(16, 16), nn.Sequential(nn.ReLU(), Own()), nn.Linear(16, 4))


def signal(x: Signal, mean: Any = 0.0, first: float = 1.0, other: float = 0.0) -> Signal:
    K = np.full(x.K.shape, other)
    K.flat[0] = first
    return Signal(x.shape, mean, K)


def raises(error: BaseException) -> Any:
    def rule(layer: Any, x: Signal) -> Signal:
        raise error

    return rule


def in_place(layer: Any, x: Signal) -> Signal:
    x.K[...] *= 4
    return x


def assigned(layer: Any, x: Signal) -> Signal:
    x.shape = (1, 1)
    return signal(x)


def moments_replaced(layer: Any, x: Signal) -> Signal:
    x._K = x.K * 4
    return x


def mean_assigned(layer: Any, x: Signal) -> Signal:
    x.mean = 3.0
    return x


WRONG = {
    "NaN as mean": (lambda layer, x: signal(x, math.nan), "finite"),
    "NaN in K": (lambda layer, x: signal(x, 0.0, math.nan), "finite"),
    "infinite": (lambda layer, x: signal(x, 0.0, math.inf), "finite"),
    "a negative second moment": (lambda layer, x: signal(x, 0.0, -1.0), "at least the square"),
    "a mean larger than the second moment": (lambda layer, x: signal(x, 3.0, 1.0), "at least the square"),
    "covariances larger than the variance": (lambda layer, x: signal(x, 0.0, 1.0, 5.0), "no |K(S)| is larger"),
    "negative covariances larger than the variance": (lambda layer, x: signal(x, 0.0, 1.0, -5.0), "no |K(S)|"),
    "None": (lambda layer, x: None, "is there a return?"),
    "a pair": (lambda layer, x: (x, x), "a tuple of 2: Signal, Signal"),
    "an empty tuple": (lambda layer, x: (), "a tuple of 0"),
    "a list": (lambda layer, x: [x], "list"),
    "a tensor": (lambda layer, x: torch.zeros(8, 16), "Tensor"),
    "an array": (lambda layer, x: x.K, "ndarray"),
    "a number": (lambda layer, x: 1.0, "float: 1.0"),
    "the class": (lambda layer, x: Signal, "type"),
    "another shape": (lambda layer, x: Signal((8, 5), 0.0, x.K), "(8, 5), expected (8, 16)"),
    "another rank": (lambda layer, x: Signal((8,), 0.0, np.ones(2)), "expected (8, 16)"),
    "K of the wrong size": (lambda layer, x: Signal(x.shape, 0.0, np.ones(3)), "ValueError"),
    "a text as mean": (lambda layer, x: Signal(x.shape, "one", x.K), "ValueError"),
    "an error": (raises(KeyError("missing")), "KeyError: 'missing'"),
    "an error without text": (raises(ZeroDivisionError()), "ZeroDivisionError"),
    "an assertion": (raises(AssertionError("never")), "never"),
    "a wrong name": (lambda layer, x: layer.step, "AttributeError"),
    "too few arguments": (lambda layer: layer, "TypeError"),
    "too many arguments": (lambda layer, x, y: x, "TypeError"),
    "a change in place": (in_place, "x.K.copy()"),
    "an assignment": (assigned, "signal.shape assigned"),
    "moments replaced": (moments_replaced, "signal._K assigned"),
    "a mean assigned": (mean_assigned, "AttributeError"),
}


@pytest.mark.parametrize("name", WRONG)
def test_row_rules_that_are_wrong(name: str) -> None:
    rule, text = WRONG[name]
    model = net()
    before = {k: v.clone() for k, v in model.state_dict().items()}
    for function in (autoinit.plan, autoinit.initialize, autoinit.check):
        with pytest.raises(RuleError) as caught:
            function(model, X, rules={Own: rule})
        error = caught.value
        assert text in str(error) and error.where == "layer '1.1: Own'" and "rule for Own" in str(error) and error.fix
    assert all(torch.equal(v, before[k]) for k, v in model.state_dict().items())


@pytest.mark.parametrize("error", [KeyError("a"), ValueError("b"), RuntimeError("c"), RecursionError("d")])
def test_the_users_error_is_the_cause(error: Exception) -> None:
    with pytest.raises(RuleError) as caught:
        autoinit.plan(net(), X, rules={Own: raises(error)})
    assert caught.value.__cause__ is error


def test_an_interrupt_goes_through() -> None:
    with pytest.raises(KeyboardInterrupt):
        autoinit.plan(net(), X, rules={Own: raises(KeyboardInterrupt())})


def test_a_signal_is_as_before_after_a_rule_that_wrote_to_it() -> None:
    seen: list[Signal] = []

    def keeps(layer: Any, x: Signal) -> Signal:
        seen.append(x)
        x.shape = (1,)
        return x

    with pytest.raises(RuleError):
        autoinit.plan(net(), X, rules={Own: keeps})
    assert seen[0].shape == X and seen[0].K.flags.writeable


def test_two_outputs_need_two_signals() -> None:
    with pytest.raises(RuleError, match="a tuple of 2 Signals") as caught:
        autoinit.plan(Joined(), X, rules={Split: lambda layer, x: x})
    assert caught.value.where == "layer 'split: Split'"
    half = Signal((8, 8), 0.0, np.array([[1.0, 0.0], [0.0, 0.0]]))
    assert autoinit.plan(Joined(), X, rules={Split: lambda layer, x: (half, half)}).weight_layers


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (lambda node, ctx, x: None, "is there a return?"),
        (lambda node, ctx, x: Signal(x.shape, math.nan, x.K), "finite"),
        (lambda node, ctx, x: (x, x), "a tuple of 2"),
        (lambda node, ctx: None, "TypeError"),
        (lambda node, ctx, *x: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_rules_for_ops(rule: Any, text: str) -> None:
    model = nn.Sequential(nn.Linear(16, 16), nn.Softmax(-1), nn.Linear(16, 4))
    with pytest.raises(RuleError) as caught:
        autoinit.plan(model, X, rules={"softmax": rule})
    assert caught.value.where.startswith("layer '1: ")
    assert text in str(caught.value) and "rule for 'softmax'" in str(caught.value)


def test_rules_that_are_right_still_work() -> None:
    def doubled(layer: Any, x: Signal) -> Signal:
        return Signal(x.shape, 2 * x.mean, 4 * x.K)

    plan = autoinit.plan(net(), X, rules={Own: doubled})
    assert plan["2.weight"].std == pytest.approx(autoinit.plan(net(), X)["2.weight"].std, rel=1e-6)
    assert autoinit.plan(net(), X, rules={Own: lambda layer, x: x.scaled(2.0)}).weight_layers[1].second > 0


@pytest.mark.parametrize("target", [None, 3, "linear", [Own]])
def test_targets_of_the_decorator(target: Any) -> None:
    with pytest.raises(OptionError, match="layer class or a function"):
        autoinit.rule(target)


@pytest.mark.parametrize("function", [None, 3, "x", Signal(X, 0.0, np.zeros((2, 2)))])
def test_what_the_decorator_decorates(function: Any) -> None:
    with pytest.raises(OptionError, match="a rule is a function"):
        autoinit.rule(Own)(function)
    autoinit.forget_rule(Own)


def test_a_rule_made_with_the_decorator_is_looked_at_too() -> None:
    autoinit.rule(Own)(lambda layer, x: None)
    try:
        with pytest.raises(RuleError, match="rule for Own"):
            autoinit.plan(net(), X)
    finally:
        autoinit.forget_rule(Own)
