"""What keras.ops lacks, or does differently on one backend: taken from the backend itself.

While a model is analysed its layers are called on symbolic tensors, which only keras.ops understands: these get the
nearest thing in keras.ops that there is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
from keras import ops

Operation = Callable[..., Any]


def _complement(x: Any) -> Any:
    return 1 - ops.erf(x)


def _own(native: Operation, symbolic: Operation) -> Operation:
    """The backend's function for arrays, another for symbolic tensors."""

    def chosen(x: Any) -> Any:
        return symbolic(x) if isinstance(x, keras.KerasTensor) else native(x)

    return chosen


def _doubled(general: Operation, native: Operation) -> Operation:
    """The one of keras.ops, but the backend's for double precision, which Keras casts to single there."""

    def chosen(*operands: Any) -> Any:
        if any(isinstance(operand, keras.KerasTensor) for operand in operands):
            return general(*operands)
        double = all(keras.backend.standardize_dtype(operand.dtype) == "float64" for operand in operands)
        return native(*operands) if double else general(*operands)

    return chosen


absolute, maximum, minimum = ops.abs, ops.maximum, ops.minimum
sinh, cosh, tanh, arcsinh, arctan = ops.sinh, ops.cosh, ops.tanh, ops.arcsinh, ops.arctan

if keras.backend.backend() == "tensorflow":
    import tensorflow as tf

    erfc, i0e, i1e = _own(tf.math.erfc, _complement), tf.math.bessel_i0e, tf.math.bessel_i1e

    def maximum(a: Any, b: Any) -> Any:
        """TensorFlow gives the whole derivative of equal operands to the first; in both orders each gets half."""
        return 0.5 * ops.maximum(a, b) + 0.5 * ops.maximum(b, a)

    def minimum(a: Any, b: Any) -> Any:
        return 0.5 * ops.minimum(a, b) + 0.5 * ops.minimum(b, a)

elif keras.backend.backend() == "jax":
    import jax.numpy as jnp
    from jax.scipy import special

    from . import compiled_jax

    erfc, i0e, i1e = _own(special.erfc, _complement), special.i0e, special.i1e
    sinh, cosh, tanh = _doubled(ops.sinh, jnp.sinh), _doubled(ops.cosh, jnp.cosh), _doubled(ops.tanh, jnp.tanh)
    arcsinh, arctan = _doubled(ops.arcsinh, jnp.arcsinh), _doubled(ops.arctan, jnp.arctan)
    absolute = _own(compiled_jax.absolute, ops.abs)
else:
    import torch

    erfc, i0e, i1e = _own(torch.special.erfc, _complement), torch.special.i0e, torch.special.i1e
    maximum, minimum = _doubled(ops.maximum, torch.maximum), _doubled(ops.minimum, torch.minimum)
