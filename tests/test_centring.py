"""Centring in the core: what an activation is, what reads it, one function, plans with shifts."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

import autoinit
from autoinit import Plan
from autoinit.core.gaussian.activations import FUNCTIONS
from autoinit.core.gaussian.expression import X, apply
from autoinit.core.gaussian.mean_of_values import gaussian_mean, table_mean
from autoinit.core.graph.activation_calls import GATE, OUTPUT, PART, Readers, is_activation
from autoinit.core.graph.graph import Graph, Node, ParameterView, Value
from autoinit.core.plan.plan import CenterPlan
from autoinit.core.signal.signal import Signal, iid
from autoinit.errors import OptionError, PlanError
from autoinit.report.text import table

SHAPE = (4, 8)
SLOPE = ParameterView("slope", (8,), (1,), 0, True)


class Made:
    """A small graph, written down call by call."""

    def __init__(self) -> None:
        self.graph = Graph()
        self.x = Value(0, SHAPE)

    def op(self, op, *inputs, **attrs):
        value = Value(len(self.graph.nodes) + 1, SHAPE)
        self.graph.nodes.append(Node(op, inputs, (value,), attrs))
        return value

    def fn(self, name, *inputs, **attrs):
        return self.op("elementwise", *inputs, fn=name, **attrs)

    def is_activation(self, y) -> bool:
        return is_activation(self.graph.nodes, self.x, y)

    def why_not(self, y, *outputs):
        self.graph.outputs = list(outputs)
        return Readers(self.graph).why_not(y)


def test_functions_of_one_input_are_activations():
    g = Made()
    assert g.is_activation(g.fn("relu", g.x))
    g = Made()
    assert g.is_activation(g.fn("mul", g.x, g.fn("sigmoid", g.fn("mul", g.x, SLOPE))))
    g = Made()
    slope = g.fn("softplus", SLOPE)  # made of parameters alone
    assert g.is_activation(g.fn("mul", g.fn("relu", g.x), slope))
    g = Made()
    assert g.is_activation(g.fn("mul", g.x, g.x))
    g = Made()
    assert g.is_activation(g.op("where", g.fn("gt_scalar", g.x), g.x, None))


def test_lines_and_other_layers_are_no_activations():
    g = Made()
    assert not g.is_activation(g.fn("add", g.fn("mul", g.x, SLOPE), g.x))
    g = Made()
    assert not g.is_activation(g.fn("identity", g.x))
    g = Made()
    assert not g.is_activation(g.fn("relu", g.op("dropout", g.x, rate=0.5)))
    g = Made()
    assert not g.is_activation(g.fn("relu", g.op("normalize", g.x, None, None, None, None)))
    g = Made()
    assert not g.is_activation(g.fn("mul", g.fn("relu", g.x), Value(99, SHAPE)))  # a second input
    g = Made()
    assert not g.is_activation(g.x)


def test_readers():
    g = Made()
    y = g.fn("relu", g.x)
    g.op("linear", y, ParameterView("w", (8, 8), (8, 1), 0, True), None)
    assert g.why_not(y) is None
    assert g.why_not(y, y) == OUTPUT
    moved = g.op("reshape", g.fn("mul", y, None, scalars={1: 2.0}))
    assert g.why_not(y, moved) == OUTPUT
    averaged = g.op("average_pool", y)
    assert g.why_not(y, averaged) is None
    g.fn("mul", moved, g.fn("relu", Value(50, SHAPE)))
    assert g.why_not(y) == GATE


def test_of_two_factors_the_share_is_the_gate():
    g = Made()
    y = g.fn("silu", g.x)
    gate = g.op("expand", g.fn("sigmoid", Value(50, SHAPE)))
    g.fn("mul", y, gate)
    assert g.why_not(y) is None and g.why_not(g.graph.nodes[1].outputs[0]) == GATE


def test_a_part_of_a_function():
    g = Made()
    y = g.fn("softplus", g.x)
    g.fn("tanh", y)
    assert g.why_not(y) == PART


# --- moments ------------------------------------------------------------------------------------------------------


def test_a_shift_moves_the_mean_and_nothing_else():
    """Also where local variances scatter, which moves the mean of f itself."""
    source = iid((16, 32)).but(volatility=np.array([[0.3, 0.2], [0.1, 0.05]]))
    plain = Signal.function(source, apply("relu", X))
    moved = Signal.function(source, apply("sub", apply("relu", X), plain.mean))
    assert moved.mean == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_allclose(moved.covariance, plain.covariance, atol=1e-12)


# --- one function -------------------------------------------------------------------------------------------------

WITHOUT_MEAN = {
    "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "tan", "asin", "acos", "atanh", "acosh", "erfinv",
    "logit", "digamma",
}  # fmt: skip
"""Not defined for all numbers, or not integrable."""


@pytest.mark.parametrize("name", [n for n, f in FUNCTIONS.items() if f.arity == 1 and n not in WITHOUT_MEAN])
def test_every_function_of_the_table_loses_its_mean(name):
    """By a grid of 4e5 trapezes over ten standard deviations, where a jump is off by half a cell at most."""
    function = autoinit.centered(name, mean=0.3, variance=1.5)
    z, step = np.linspace(-10, 10, 400_001, retstep=True)
    values = function(0.3 + np.sqrt(1.5) * z)
    density = np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
    left = float(np.sum(np.where(np.isfinite(values), values, 0.0) * density) * step)
    assert abs(left) < 1e-4 * max(1.0, abs(function.shift))
    assert pickle.loads(pickle.dumps(function))(0.7) == function(0.7)


@pytest.mark.parametrize("name", sorted(WITHOUT_MEAN))
def test_functions_without_a_mean_are_refused(name):
    with pytest.raises(OptionError, match="no mean") as error:
        autoinit.centered(name)
    assert "to fix" in str(error.value)


def test_functions_by_their_values():
    """The quadrature of values alone finds the closed forms."""
    for name in ("relu", "gelu", "softplus", "abs", "sign", "mish"):
        function = FUNCTIONS[name]
        found = gaussian_mean(lambda x, f=function: f.fn(x, *f.defaults), 0.4, 2.5)
        assert found == pytest.approx(table_mean(name, 0.4, 2.5), abs=1e-8)
        single = gaussian_mean(lambda x, f=function: f.fn(x, *f.defaults).astype(np.float32), 0.4, 2.5)
        assert single == pytest.approx(found, abs=1e-3 if name == "sign" else 2e-6)  # a jump inside of a panel
    made = autoinit.centered(np.square, 1.0, 2.0)
    assert made.shift == pytest.approx(3.0) and made(2.0) == pytest.approx(1.0) and "square" in repr(made)


@pytest.mark.parametrize(("bad", "options", "words"), [
    ("reluu", {}, "no such function"),
    ("add", {}, "no such function"),
    (3, {}, "a module, a layer, a function or a name"),
    (lambda x: x.sum(), {}, "one number for each"),
    (lambda x: x - x.mean(), {}, "every entry by itself"),
    (lambda x: x.nothing, {}, "cannot be called"),
    ("relu", {"variance": -1.0}, "'variance'"),
    ("relu", {"mean": float("nan")}, "'mean'"),
    ("relu", {"mean": "0"}, "'mean'"),
])  # fmt: skip
def test_bad_activations_are_refused(bad, options, words):
    with pytest.raises(OptionError, match=words) as error:
        autoinit.centered(bad, **options)
    assert "to fix" in str(error.value) and "received" in str(error.value)


def test_centered_imports_no_framework():
    code = "import sys, autoinit; autoinit.centered('gelu'); print([m for m in ('torch', 'keras') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


# --- plans --------------------------------------------------------------------------------------------------------


def plan_with_shifts(count=6) -> Plan:
    centers = [CenterPlan(f"{k}", "ReLU", 0.4 + k, 0.3, calls=2) for k in range(count)]
    return Plan("Net", "torch", 1.0, "normal", 0, True, [], [], [], centers=centers)


def test_plans_keep_their_shifts(tmp_path):
    plan = plan_with_shifts()
    plan.save(tmp_path / "plan.json")
    assert Plan.load(tmp_path / "plan.json") == plan
    data = json.loads((tmp_path / "plan.json").read_text())
    del data["centers"]  # written before there were any
    assert Plan.from_dict(data).centers == []
    data["centers"] = [{"place": "0"}]
    with pytest.raises(PlanError, match="damaged"):
        Plan.from_dict(data)


def test_plans_show_their_shifts():
    plan = plan_with_shifts()
    assert "6 activations centred" in plan.summary()
    assert "taken off activations: 0 ReLU 0.400" in table(plan) and "and 2 more" in table(plan)
    assert "taken off" not in table(plan_with_shifts(0))


def test_the_option_is_checked():
    from autoinit.core.options import read_options

    assert read_options({"center": "activation"}).center == "activation"
    with pytest.raises(OptionError, match="'bias', 'activation'"):
        read_options({"center": "activations"})
