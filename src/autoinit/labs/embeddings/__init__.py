"""Embeddings of images by a pretrained network, of augmented views too, computed once and kept in the cache.

>>> from autoinit.labs.data import load
>>> from autoinit.labs.embeddings import embeddings, pretrained
>>> flowers = embeddings(load("flowers102"), pretrained("efficientnet_lite0"), views=8)
>>> flowers.train.inputs.shape          # (1020, 1280); flowers.views has the shape (8, 1020, 1280)
"""

from .augmentation import Augmentation
from .computing import Embeddings, embeddings
from .networks import Pretrained, pretrained

__all__ = ["Augmentation", "Embeddings", "Pretrained", "embeddings", "pretrained"]
