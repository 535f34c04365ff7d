"""Formulas: exact round trips, what people type, and errors that point to the place."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autoinit.labs.pangaea import Function, FunctionError
from autoinit.labs.pangaea.graph import PARAMETERS, Node
from autoinit.labs.pangaea.operators import BINARY, NAMES, OPERATORS, UNARY

names = st.sampled_from((None, None, *PARAMETERS))
leaves = st.builds(lambda parameter: Node("x", (), parameter), names)


def _larger(graphs):
    unary = st.builds(lambda name, a, p: Node(name, (a,), p), st.sampled_from(UNARY), graphs, names)
    binary = st.builds(lambda name, a, b, p: Node(name, (a, b), p), st.sampled_from(BINARY), graphs, graphs, names)
    # Constants, signs, powers and arithmetic are where text could be ambiguous.
    short = st.sampled_from(("one", "zero", "negative", "square", "reciprocal"))
    signed = st.builds(lambda name, a, p: Node(name, (a,), p), short, graphs, names)
    arithmetic = st.sampled_from(("add", "subtract", "multiply", "divide", "power"))
    joined = st.builds(lambda name, a, b, p: Node(name, (a, b), p), arithmetic, graphs, graphs, names)
    return st.one_of(unary, binary, signed, joined)


graphs = st.recursive(leaves, _larger, max_leaves=8).filter(lambda graph: graph.size <= 30)


@given(graphs)
@settings(max_examples=300, deadline=None, derandomize=True)
def test_what_is_written_is_read_again_exactly(graph):
    function = Function(graph)
    assert Function.parse(function.formula) == function
    assert Function.from_dict(function.to_dict()) == function


@given(graphs)
@settings(max_examples=100, deadline=None, derandomize=True)
def test_python_gives_the_formula_the_same_value(graph):
    """The text is also valid Python with the meaning that it has here (with parameters and x as numbers)."""
    function = Function(graph)
    x, parameters = np.float64(0.7), {"alpha": 1.25, "beta": -0.5, "gamma": 2.0}
    table = {name: (lambda *a, name=name: _value(name, *a)) for name in NAMES}
    with np.errstate(all="ignore"):
        try:
            value = eval(function.formula, {"__builtins__": {}}, {**table, "x": x, **parameters})
        except (ZeroDivisionError, OverflowError):  # plain numbers are not as safe
            return
    ours = function(x, **{n: parameters[n] for n in function.parameters})
    if np.isfinite(value) and abs(value) < 1e12:
        np.testing.assert_allclose(ours, value, rtol=1e-6, atol=1e-9)


def _value(name, *operands):
    return OPERATORS[name].value(*(np.asarray(operand, np.float64) for operand in operands))[()]


@pytest.mark.parametrize(
    ("typed", "formula"),
    [
        ("max(alpha * x, tanh(x**2)) - beta", "max(alpha * x, tanh(x**2)) - beta"),
        ("alpha*sigmoid(beta*abs(x)-arctan(gamma*x))", "alpha * sigmoid(beta * abs(x) - arctan(gamma * x))"),
        ("x*sigmoid(x*β)", "x * sigmoid(beta * x)"),
        ("  silu( x )\n + 1.0", "swish(x) + 1"),
        ("asinh(x) + atan(x)", "arcsinh(x) + arctan(x)"),
        ("(x ** 2) ** -1", "(x**2)**-1"),
        ("x ** alpha", "power(x, alpha)"),
        ("1 / x", "1 / x"),
        ("-x**2", "-x**2"),
        ("(-x)**2", "(-x)**2"),
        ("+x", "x"),
        ("x - (x - x)", "x - (x - x)"),
        ("(x - x) - x", "x - x - x"),
        ("alpha * beta", "alpha * 1 * (beta * 1)"),
        ("alpha * (beta * x)", "alpha * 1 * (beta * x)"),
        ("alpha * x * x", "alpha * x * x"),
        ("alpha * (x * x)", "alpha * (x * x)"),
        ("(alpha)", "alpha"),
        ("alpha * alpha", "alpha * 1 * (alpha * 1)"),
        ("zero(x) + one(x)", "0 + 1"),
        ("one(tanh(x))", "one(tanh(x))"),
        ("x", "x"),
    ],
)
def test_what_people_type(typed, formula):
    function = Function.parse(typed)
    assert function.formula == str(function) == formula
    assert Function.parse(formula) == function


@pytest.mark.parametrize(
    ("text", "place", "why"),
    [
        ("", 1, "not a formula"),
        ("   ", 1, "not a formula"),
        ("2 * x", 1, "the only numbers are 0 and 1"),
        ("x + 'a'", 5, "the only numbers are 0 and 1"),
        ("x * True", 5, "the only numbers are 0 and 1"),
        ("tanh(x", 5, "not a formula"),
        ("x)+(x", 2, "not a formula"),
        ("x +", 4, "not a formula"),
        ("x ^ 2", 5, "unknown sign"),
        ("x + tanh(x, x)", 5, "tanh takes 1 operand"),
        ("max(x)", 1, "max takes 2 operands"),
        ("max(x, b=x)", 1, "max takes 2 operands"),
        ("max(*x, x)", 1, "max takes 2 operands"),
        ("x + tahn(x)", 5, "unknown operator 'tahn'"),
        ("αβ + x", 1, "unknown name"),
        ("α + δ * x", 5, "unknown name 'δ'"),
        ("x + y", 5, "unknown name 'y'"),
        ("x + tanh", 5, "tanh needs operands"),
        ("x.real", 1, "no meaning"),
        ("x[0]", 1, "no meaning"),
        ("x if x else x", 1, "no meaning"),
        ("lambda: x", 1, "no meaning"),
        ("x < x", 1, "no meaning"),
        ("__import__('os')", 1, "unknown operator"),
        ("().__class__", 1, "no meaning"),
        ("(tanh)(x).real", 1, "no meaning"),
    ],
)
def test_errors_point_to_the_place(text, place, why):
    with pytest.raises(FunctionError) as error:
        Function.parse(text)
    message = str(error.value)
    assert message.startswith(f"formula, character {place}: ") and why in message and "to fix:" in message
    received, mark = message.split("\n")[1:3]
    assert mark.index("^") - len("  received: ") == place - 1
    assert received == f"  received: {text.strip()}"


def test_helpful_suggestions():
    for text, help in (("tahn(x)", "did you mean 'tanh'?"), ("x ^ 2", "a power is written **"),
                       ("max(x, (x)", "2 opening and 1 closing")):  # fmt: skip
        with pytest.raises(FunctionError) as error:
            Function.parse(text)
        assert help in error.value.fix


@pytest.mark.parametrize("text", ["-" * 1900 + "x", "(" * 1000 + "x" + ")" * 1000, "tanh(" * 31 + "x" + ")" * 31,
                                  "x + " * 600 + "x", "x\0", None, 3, b"x"])  # fmt: skip
def test_hostile_text_is_refused(text):
    with pytest.raises(FunctionError):
        Function.parse(text)


def test_a_long_formula_shows_the_part_around_the_place():
    with pytest.raises(FunctionError) as error:
        Function.parse("x + " * 20 + "wrong" + " + x" * 5)
    assert "character 81" in str(error.value)
    assert all(len(line) < 120 for line in str(error.value).split("\n"))
