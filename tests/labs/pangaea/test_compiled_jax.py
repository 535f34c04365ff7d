"""Functions in JAX: the values of the reference, the gradients of PyTorch."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autoinit.errors import OptionError
from autoinit.labs.pangaea import Function
from autoinit.labs.pangaea.compiled_jax import OPERATORS
from autoinit.labs.pangaea.operators import NAMES

from .points import (
    assert_same,
    moderate,
    parameters,
    points,
    random_functions,
    single_operators,
    torch_results,
)


def test_the_tables_have_the_same_names():
    assert tuple(OPERATORS) == NAMES


def ties():
    return [Function.parse(text) for text in ("max(alpha * x, x)", "min(x, relu(beta * x))", "max(alpha, beta)")]


@pytest.mark.parametrize("functions", [single_operators, ties, random_functions])
def test_values_and_gradients(functions):
    for function in functions():
        values, *gradients = jax_results(function)
        assert_same(values, function(points(), **parameters(function)), function.formula)
        expected, where = torch_results(function)[1:], moderate(function)
        for name, one, other in zip(("x", *function.parameters), gradients, expected, strict=True):
            assert_same(one[where], other[where], f"{function.formula}: d/d{name}")


def jax_results(function):
    with jax.enable_x64(True):
        start, fn = function.jax(points().size)
        assert {name: value.shape for name, value in start.items()} == dict.fromkeys(start, (points().size,))
        assert tuple(start) == function.parameters and all(np.all(np.asarray(v) == 1) for v in start.values())
        given = {name: jnp.asarray(value) for name, value in parameters(function).items()}
        y, pullback = jax.vjp(fn, given, jnp.asarray(points())[None])
        of_parameters, of_x = pullback(jnp.ones_like(y))
        found = [y, of_x, *(of_parameters[name] for name in function.parameters)]
        return [np.asarray(array).reshape(-1) for array in found]


def test_jit_grad_and_channels_last():
    function = Function.parse("alpha * tanh(x)")
    given, fn = function.jax(3)
    given = {"alpha": jnp.array([1.0, 2.0, 3.0])}
    x = jnp.linspace(-1, 1, 24).reshape(2, 4, 3)
    np.testing.assert_allclose(jax.jit(fn)(given, x), given["alpha"] * jnp.tanh(x), rtol=1e-6)
    gradient = jax.jit(jax.grad(lambda p: fn(p, x).sum()))(given)
    np.testing.assert_allclose(gradient["alpha"], jnp.tanh(x).sum((0, 1)), rtol=1e-5, atol=1e-6)
    assert Function.parse("tanh(x)").jax(3)[0] == {}


def test_bad_channels():
    with pytest.raises(OptionError, match="'channels' takes a positive integer"):
        Function.parse("x").jax(0)
