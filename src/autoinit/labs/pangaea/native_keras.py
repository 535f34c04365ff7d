"""What keras.ops lacks, or does differently on one backend: taken from the backend itself."""

from __future__ import annotations

from typing import Any

import keras
from keras import ops

maximum, minimum = ops.maximum, ops.minimum

if keras.backend.backend() == "tensorflow":
    import tensorflow as tf

    erfc, i0e, i1e = tf.math.erfc, tf.math.bessel_i0e, tf.math.bessel_i1e

    def maximum(a: Any, b: Any) -> Any:
        """TensorFlow gives the whole derivative of equal operands to the first; here each gets half."""
        return tf.where(a > b, a, tf.where(b > a, b, 0.5 * (a + b)))

    def minimum(a: Any, b: Any) -> Any:
        return tf.where(a < b, a, tf.where(b < a, b, 0.5 * (a + b)))

elif keras.backend.backend() == "jax":
    from jax.scipy import special

    erfc, i0e, i1e = special.erfc, special.i0e, special.i1e
else:
    import torch

    erfc, i0e, i1e = torch.special.erfc, torch.special.i0e, torch.special.i1e
