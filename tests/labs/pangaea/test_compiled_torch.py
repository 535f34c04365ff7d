"""Functions as PyTorch modules: values, gradients, and how AutoInit sees them."""

import copy
import pickle

import numpy as np
import pytest
import torch
from torch import nn

import autoinit
from autoinit.errors import InputError, OptionError
from autoinit.labs.pangaea import Function
from autoinit.labs.pangaea.compiled_torch import OPERATORS, Activation
from autoinit.labs.pangaea.operators import NAMES

from .points import assert_same, moderate, parameters, points, random_functions, single_operators, torch_results

FUNCTIONS = {"operators": single_operators, "random functions": random_functions}


def test_the_tables_have_the_same_names():
    assert tuple(OPERATORS) == NAMES


@pytest.mark.parametrize("which", FUNCTIONS)
def test_values(which):
    for function in FUNCTIONS[which]():
        assert_same(torch_results(function)[0], function(points(), **parameters(function)), function.formula)


@pytest.mark.parametrize("which", FUNCTIONS)
def test_gradients_against_finite_differences(which):
    """Central differences of the NumPy reference with steps h and 2h: their error is O(h²) where both agree.

    A point counts if they agree to 1e-5 and no kink lies near; all but a few of the ordinary points must count.
    """
    counted = total = 0
    for function in FUNCTIONS[which]():
        ordinary = moderate(function) & (np.abs(points()) < 10) & (np.abs(points()) > 1e-2)
        gradients = torch_results(function)[1:]
        for name, gradient in zip(("x", *function.parameters), gradients, strict=True):
            coarse, fine = (difference(function, name, step) for step in (2e-5, 1e-5))
            sure = ordinary & (np.abs(coarse - fine) <= 1e-5 * np.abs(fine) + 1e-6)
            np.testing.assert_allclose(
                gradient[sure], fine[sure], rtol=1e-4, atol=1e-5, err_msg=f"{function}: d/d{name}"
            )
            counted, total = counted + sure.sum(), total + ordinary.sum()
    assert total > 1000 and counted > 0.93 * total


def difference(function, name, step):
    def at(shift):
        values = dict(parameters(function))
        if name == "x":
            return function(points() + shift, **values)
        values[name] = values[name] + shift
        return function(points(), **values)

    with np.errstate(all="ignore"):
        return (at(step) - at(-step)) / (2 * step)


@pytest.mark.parametrize("formula", ["1 / x", "x**-1", "x / x", "log(x)", "power(x, -1)", "power(x, x)", "abs(x)"])
def test_gradients_at_zero_are_finite(formula):
    x = torch.zeros(2, 3, requires_grad=True)
    Function.parse(formula).torch(3)(x).sum().backward()
    assert torch.isfinite(x.grad).all()


def test_parameters_belong_to_channels():
    module = Function.parse("alpha * tanh(beta * x)").torch(4)
    assert isinstance(module, Activation)
    assert {name: tuple(p.shape) for name, p in module.named_parameters()} == {"alpha": (4,), "beta": (4,)}
    assert all(torch.equal(p, torch.ones(4)) and p.requires_grad for p in module.parameters())
    with torch.no_grad():
        module.alpha.copy_(torch.arange(4.0))
    x = torch.randn(2, 4, 5, 5)
    assert torch.allclose(module(x), torch.arange(4.0).view(1, 4, 1, 1) * torch.tanh(x))
    last = Function.parse("alpha * x").torch(5, axis=-1)
    last.load_state_dict({"alpha": torch.arange(5.0)})
    assert torch.equal(last(x), torch.arange(5.0) * x)


def test_copies_pickles_and_shows_its_formula():
    module = Function.parse("alpha * tanh(x)").torch(3)
    with torch.no_grad():
        module.alpha.fill_(2.0)
    x = torch.randn(2, 3)
    for twin in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert torch.equal(twin(x), module(x)) and twin.alpha is not module.alpha
    assert repr(module) == "Activation(alpha * tanh(x), channels=3, axis=1)"


def test_bad_arguments():
    function = Function.parse("alpha * x")
    for channels in (0, 2.0, True, "4"):
        with pytest.raises(OptionError, match="'channels' takes a positive integer"):
            function.torch(channels)
    with pytest.raises(OptionError, match="'axis' takes an integer"):
        function.torch(3, axis="last")
    with pytest.raises(InputError, match=r"needs 3 channels on axis 1[\s\S]*shape \(2, 4\)"):
        function.torch(3)(torch.zeros(2, 4))
    with pytest.raises(InputError, match="needs 3 channels"):
        function.torch(3)(torch.zeros(3))


PLANNED = [
    "max(alpha * x, tanh(x)) - beta",
    "alpha * sigmoid(beta * abs(x) - arctan(gamma * x))",
    "arcsinh(x) * erfc(beta * x)",
    "swish(x) / cosh(x)",
    "power(x, one(x)) - i0e(x)",
    "min(selu(x), beta * softplus(gamma * x))",
    "log(x) + hard_sigmoid(x)",
    "softsign(x)**2 - i1e(x)",
    "x / (1 + exp(-x))",
    "elu(x) * (1 - erf(x)**2)",
]
BATCH, WIDTH, SIZE = 64, 48, 10


@pytest.mark.parametrize("formula", PLANNED)
def test_autoinit_takes_the_activation_as_one_function(formula):
    """Its last op has the moments of f(z) with z ~ N(0, 1): a dense layer of 5,000 inputs leaves nothing else."""
    function = Function.parse(formula)
    model = nn.Sequential(nn.Linear(5000, 4), function.torch(4), nn.Linear(4, 2))
    plan = autoinit.plan(model, (64, 5000))
    assert all(row.status == "rule" for row in plan.tensors) and not plan.notes
    assert not any(parameter.action == "set" for parameter in plan.parameters if parameter.name.startswith("1."))
    row = [row for row in plan.tensors if row.module == "1"][-1]
    values = function(np.random.default_rng(0).standard_normal(400_000))
    squares = (values - values.mean()) ** 2
    assert abs(row.mean - values.mean()) < 5 * values.std() / np.sqrt(values.size) + 1e-3 * values.std()
    assert abs(row.variance - values.var()) < 5 * squares.std() / np.sqrt(values.size) + 1e-3 * values.var()


@pytest.mark.parametrize("formula", PLANNED)
def test_autoinit_predicts_what_is_measured(formula):
    """The variance behind the next convolution: near one as draws scatter, nearer to the prediction for these weights.

    64 × 48 independent values at least give a variance to √(2/3072) = 2.6 %.
    """
    torch.manual_seed(0)
    activation = Function.parse(formula).torch(WIDTH)
    model = nn.Sequential(nn.Conv2d(3, WIDTH, 3), activation, nn.Conv2d(WIDTH, WIDTH, 3))
    plan = autoinit.initialize(model, (BATCH, 3, SIZE, SIZE), seed=0)
    assert all(torch.equal(parameter, torch.ones(WIDTH)) for parameter in activation.parameters())
    last = autoinit.measure(model, (BATCH, 3, SIZE, SIZE)).weight_layers[-1]
    scatter = [row for row in plan.tensors if row.weight is not None][-1].scatter
    assert 0 < scatter < 0.4
    assert abs(np.log(last.variance)) < 3 * scatter
    assert abs(np.log(last.ratio)) < 3 * np.sqrt(2 / (BATCH * WIDTH))
