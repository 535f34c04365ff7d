"""Data sets in the formats in which they are distributed: images, texts, tables; NumPy arrays, no framework.

>>> from autoinit.labs.data import load
>>> sets = load("cifar10")              # from $AUTOINIT_DATA, or installed into a cache
>>> sets.train.images.shape             # (45000, 32, 32, 3), uint8
>>> sets.mean, sets.std                 # of the training part, per channel

What is not a set of images has a loader of its own: `load_toxicity`, `load_adult`, `load_omniglot`.
"""

from .adult import load_adult
from .alphabets import Alphabet, Alphabets, batches
from .comments import Comments, Sequences, Texts
from .examples import Examples, Parts
from .images import Images, Split
from .loading import load, names
from .omniglot import load_omniglot
from .problems import DataError
from .scores import accuracy, area_under_curve
from .table import Table
from .toxicity import load_toxicity
from .vocabulary import Vocabulary, vocabulary

__all__ = [
    "Alphabet",
    "Alphabets",
    "Comments",
    "DataError",
    "Examples",
    "Images",
    "Parts",
    "Sequences",
    "Split",
    "Table",
    "Texts",
    "Vocabulary",
    "accuracy",
    "area_under_curve",
    "batches",
    "load",
    "load_adult",
    "load_omniglot",
    "load_toxicity",
    "names",
    "vocabulary",
]
