"""What AutoInit adds to Keras: importing it registers the initializer "autoinit", the layer
WeightedSum and centred activations.

import autoinit.keras

layer = keras.layers.Dense(64, kernel_initializer="autoinit")
"""

from ..frontends.keras_missing import keras_missing

try:
    import keras  # noqa: F401  # here, so that what is missing is said in one line
except ModuleNotFoundError as error:
    raise keras_missing("autoinit.keras", error) from None

from ..frontends.keras.centred import Centered, CenteredLayer
from .initializer import Initializer
from .loading import load
from .weighted_sum import WeightedSum

__all__ = ["Centered", "CenteredLayer", "Initializer", "WeightedSum", "load"]
