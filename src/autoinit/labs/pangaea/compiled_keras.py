"""A function of the search space as a Keras layer, on every backend; channels come last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from ...core.gaussian.functions import SELU_ALPHA, SELU_SCALE
from .function import Function
from .graph import evaluate
from .native_keras import absolute, arcsinh, arctan, cosh, erfc, i0e, i1e, maximum, minimum, sinh, tanh
from .operators import EPSILON


def divide(a: Any, b: Any) -> Any:
    nothing = ops.equal(b, 0)
    one = ops.ones_like(b)
    return ops.where(nothing, ops.zeros_like(b), ops.divide(a, ops.where(nothing, one, b)))


def safe_log(x: Any) -> Any:
    return ops.log(absolute(x) + EPSILON)


OPERATORS: dict[str, Callable[..., Any]] = {
    "zero": ops.zeros_like,
    "one": ops.ones_like,
    "identity": lambda x: x,
    "negative": ops.negative,
    "abs": absolute,
    "reciprocal": lambda x: divide(ops.ones_like(x), x),
    "square": ops.square,
    "exp": ops.exp,
    "expm1": ops.expm1,
    "log": safe_log,
    "erf": ops.erf,
    "erfc": erfc,
    "sinh": sinh,
    "cosh": cosh,
    "tanh": tanh,
    "arcsinh": arcsinh,
    "arctan": arctan,
    "sigmoid": ops.sigmoid,
    "log_sigmoid": ops.log_sigmoid,
    "hard_sigmoid": lambda x: ops.relu6(x + 3) / 6,
    "softplus": ops.softplus,
    "softsign": ops.softsign,
    "relu": ops.relu,
    "elu": ops.elu,
    "selu": lambda x: SELU_SCALE * ops.elu(x, SELU_ALPHA),  # one derivative at 0 on all backends
    "swish": ops.silu,
    "i0e": i0e,
    "i1e": i1e,
    "add": ops.add,
    "subtract": ops.subtract,
    "multiply": ops.multiply,
    "divide": divide,
    "power": lambda a, b: ops.exp(b * safe_log(a)),
    "max": maximum,
    "min": minimum,
}


@keras.saving.register_keras_serializable(package="autoinit")
class PangaeaActivation(keras.layers.Layer):
    """f(x), with one value of every learnable parameter per channel, all ones at first."""

    def __init__(self, formula: str, **options: Any) -> None:
        super().__init__(**options)
        self.function = Function.parse(formula)
        self.scales: dict[str, Any] = {}

    def build(self, input_shape: Any) -> None:
        for name in self.function.parameters:
            self.scales[name] = self.add_weight(shape=(input_shape[-1],), initializer="ones", name=name)
        self.built = True

    def call(self, x: Any) -> Any:
        scales = {name: ops.convert_to_tensor(scale) for name, scale in self.scales.items()}
        return evaluate(self.function.graph, x, OPERATORS, scales)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "formula": self.function.formula}
