"""The networks of the paper's experiments, in PyTorch."""

from __future__ import annotations

from .activations import ACTIVATIONS, activation_maker
from .all_cnn_c import all_cnn_c
from .coatnet import coatnet
from .coatnet_default import coatnet_default
from .densenet121 import densenet121
from .efficientnet_lite0 import efficientnet_lite0
from .preactivation_resnet import preactivation_resnet
from .resnet50 import resnet50

__all__ = [
    "ACTIVATIONS",
    "activation_maker",
    "all_cnn_c",
    "coatnet",
    "coatnet_default",
    "densenet121",
    "efficientnet_lite0",
    "preactivation_resnet",
    "resnet50",
]
