"""What AutoInit adds to Keras: importing it registers the initializer "autoinit" and the layer WeightedSum.

import autoinit.keras

layer = keras.layers.Dense(64, kernel_initializer="autoinit")
"""

from .initializer import Initializer
from .loading import load
from .weighted_sum import WeightedSum

__all__ = ["Initializer", "WeightedSum", "load"]
