"""Image data sets in the formats in which they are distributed; NumPy arrays, no framework.

>>> from autoinit.labs.data import load
>>> sets = load("cifar10")              # from $AUTOINIT_DATA, or installed into a cache
>>> sets.train.images.shape             # (45000, 32, 32, 3), uint8
>>> sets.mean, sets.std                 # of the training part, per channel
"""

from .images import Images, Split
from .loading import load, names
from .problems import DataError

__all__ = ["DataError", "Images", "Split", "load", "names"]
