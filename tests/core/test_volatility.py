"""Volatility: the scatter of finite width, predicted and simulated."""

from __future__ import annotations

import numpy as np
import pytest

from autoinit.core.gaussian.expression import X, apply
from autoinit.core.signal.signal import Signal, iid
from autoinit.core.signal.volatility import LARGEST, contracted, moments_shifted, scatter, square_covariance, summed
from autoinit.rules.contract import linear_map

from ..rules.harness import components

DEPTH = 20


def layer(x: Signal, width: int) -> Signal:
    """Fresh weights of unit gain: E[y^2] = 1."""
    w = iid((width, x.shape[-1]), 0.0, 1.0 / (x.shape[-1] * x.second))
    return linear_map(x, w, (*x.shape[:-1], width))


def relu_stack(width: int, samples: int, correlation: float) -> Signal:
    x = components((samples, width), 0.0, {(0, 1): 1 - correlation, (1,): correlation})
    for _ in range(DEPTH):
        x = Signal.function(layer(x, width), apply("relu", X))
    return layer(x, width)


def simulated(width: int, samples: int, correlation: float, repeats: int) -> np.ndarray:
    """Variance of the whole tensor after the same stack, one number per draw of weights and inputs."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(repeats):
        common = rng.standard_normal((1, width))
        x = correlation**0.5 * common + (1 - correlation) ** 0.5 * rng.standard_normal((samples, width))
        for k in range(DEPTH + 1):
            gain = (1.0 if k == 0 else 2.0) / width
            x = np.maximum(x, 0.0) if k else x
            x = x @ rng.standard_normal((width, width)) * gain**0.5
        found.append(float(np.mean(x * x)))
    return np.array(found)


@pytest.mark.parametrize("width", [50, 100, 200])
def test_twenty_fully_correlated_relu_layers(width: int) -> None:
    """The log of the variance scatters by sqrt(5/n per layer).

    The prediction counts 5/n for every ReLU layer and 2/n each for the layer on Gaussian inputs and for measuring on n
    entries: it lies above sqrt(5 * 20 / n) by at most that, and the log of a log-normal's relative variance is
    concave, which takes up to 10 % at n = 50.
    """
    predicted = scatter(relu_stack(width, 1, 1.0))
    assert predicted == pytest.approx(np.sqrt(5 * DEPTH / width), rel=0.1)
    # the standard error of a standard deviation from 150 draws of a nearly normal log is 1/sqrt(300) = 5.8 %
    logs = np.log(simulated(width, 1, 1.0, 150))
    assert float(logs.std(ddof=1)) == pytest.approx(predicted, rel=5 * 0.058)


def test_a_relu_layer_adds_five_over_n() -> None:
    """Q of relu(z): E[r^4]/E[r^2]^2 - 1 = 1.5/0.25 - 1 = 5, of a Gaussian 2."""
    x = iid((1, 64))
    assert square_covariance(x).flat[0] == pytest.approx(2.0)
    assert square_covariance(Signal.function(x, apply("relu", X))).flat[0] == pytest.approx(5.0, rel=1e-6)
    V = contracted(Signal.function(x, apply("relu", X)), 1, 64)
    assert V.flat[0] == pytest.approx(5 / 64, rel=1e-6)


def test_independent_samples_scatter_less() -> None:
    """Measured over 32 samples that start uncorrelated, the scatter is below that of one sample, and is real."""
    one, many = scatter(relu_stack(100, 1, 1.0)), scatter(relu_stack(100, 32, 0.0))
    assert many < one
    logs = np.log(simulated(100, 32, 0.0, 60))
    # 60 draws: the standard deviation is known to 1/sqrt(120) = 9 %; five of these
    assert float(logs.std(ddof=1)) == pytest.approx(many, rel=0.46)


def test_gaussian_square_covariance() -> None:
    """Of N(m, v) with covariance c: cov(x^2, y^2) = 4 m^2 c + 2 c^2, by sampling to five standard errors."""
    m, v, c = 0.8, 1.0, 0.6
    x = Signal((2,), m, np.array([m * m + v, m * m + c]))
    rng = np.random.default_rng(0)
    z = rng.multivariate_normal([m, m], [[v, c], [c, v]], 200_000)
    product = z[:, 0] ** 2 * z[:, 1] ** 2
    mean = (m * m + v) ** 2
    error = float(product.std() / np.sqrt(len(product)) / mean)
    assert square_covariance(x)[1] == pytest.approx(float(product.mean() / mean - 1), abs=5 * error)


def test_function_volatility_is_a_power() -> None:
    """E[f^2] ~ r^a: relu keeps V (a = 1), x^2 makes (1 + V)^4 - 1."""
    x = iid((3, 4)).but(volatility=np.full((2, 2), 0.1))
    np.testing.assert_allclose(Signal.function(x, apply("relu", X)).volatility, 0.1, rtol=1e-6)
    np.testing.assert_allclose(Signal.function(x, apply("square", X)).volatility, 1.1**4 - 1, rtol=1e-3)
    np.testing.assert_allclose(Signal.function(x, apply("mul", X, 3.0)).volatility, 0.1)
    x = x.but(volatility=np.full((2, 2), 20.0))
    assert Signal.function(x, apply("square", X)).volatility.max() == LARGEST


def test_shifted_moments_of_relu() -> None:
    """z sqrt(r) with log-normal r, relu: E = E[sqrt r] m and E[f f'] = E[sqrt(r r')] m^2 for independent z."""
    V = np.array([0.5, 0.3])
    m = 1 / np.sqrt(2 * np.pi)
    mean, K = moments_shifted(m, np.array([0.5, m * m]), V, 0.5)
    s, c = np.log1p(V)
    assert mean == pytest.approx(m * np.exp(-s / 8))
    assert K[1] == pytest.approx(m * m * np.exp(-s / 4 + c / 4))


def test_shifted_moments_against_samples() -> None:
    """The same by sampling: a tensor whose samples have log-normal power, then relu. Five standard errors."""
    scatter = np.array([[0.5, 0.5], [0.0, 0.0]])
    x = Signal((2, 1), 0.0, np.array([[1.0, 1.0], [0.0, 0.0]]), volatility=scatter)
    y = Signal.function(x, apply("relu", X))
    rng = np.random.default_rng(0)
    s = np.log(1.5)
    z = rng.standard_normal(400_000) * np.exp(0.5 * (-s / 2 + np.sqrt(s) * rng.standard_normal(400_000)))
    r = np.maximum(z, 0.0)
    assert y.mean == pytest.approx(float(r.mean()), abs=5 * float(r.std()) / np.sqrt(len(r)))
    assert y.K[1, 0] == pytest.approx(float(r.mean()) ** 2, rel=0.01)


def test_of_a_sum() -> None:
    """Two branches of one network inherit the scatter they share; an unscattered one dilutes it."""
    u, v = iid((3,)).but(volatility=np.array([0.4, 0.2])), iid((3,))
    np.testing.assert_allclose(summed([(0.5, u), (0.5, v)]), 0.25 * u.volatility)  # type: ignore[arg-type]
    v = v.but(volatility=u.volatility)
    np.testing.assert_allclose(summed([(0.5, u), (0.5, v)]), u.volatility)  # type: ignore[arg-type]
    assert summed([(1.0, iid((3,)))]) is None


def test_scatter_of_white_noise() -> None:
    """The variance of n independent entries scatters by sqrt(2/n)."""
    assert scatter(iid((10, 100))) == pytest.approx(np.sqrt(np.log1p(2 / 1000)))
    assert scatter(Signal((2,), 0.0, np.zeros(2))) == 0.0


@pytest.mark.parametrize("name", ["tanh", "sin", "cos", "sigmoid"])
def test_bounded_functions_behind_one_input(name: str) -> None:
    """f(w x) of one input x ~ N(0, 1): r = x^2 has V = 2. E f and E f^2 against 2 10^6 samples (0.1 %).

    A log-normal r is not quite as often small: 19 % of E[f^2]. Without scatter tanh comes out at 1.43 times that.
    """
    y = layer(iid((64, 1)), 16)
    made = Signal.function(y, apply(name, X))
    w, x = np.random.default_rng(0).standard_normal((2, 2_000_000))
    f = {"tanh": np.tanh, "sin": np.sin, "cos": np.cos, "sigmoid": lambda t: 1.0 / (1.0 + np.exp(-t))}[name](w * x)
    assert made.second == pytest.approx(float(np.mean(f * f)), rel=0.19)
    assert made.mean == pytest.approx(float(f.mean()), abs=0.1)


@pytest.mark.parametrize("level", [0.0, 1e-300, 1e-180, 1e-20])
def test_what_rounding_leaves(level: float) -> None:
    """A mean of centred entries has a second moment of nothing, beside which rounding leaves anything."""
    K = np.full((2, 2), 1e-12)
    K[0, 0] = level
    x = Signal((8, 16), 0.0, K, volatility=np.full((2, 2), 0.5))
    for signal in (x, Signal.function(x, apply("relu", X)), x.scaled(2.0)):
        V = contracted(signal, 1, 16)
        assert np.isfinite(V).all() and np.isfinite(scatter(signal))
