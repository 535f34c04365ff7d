"""The networks of the paper's experiments, in PyTorch."""

from __future__ import annotations

from .activations import ACTIVATIONS, activation_maker
from .all_cnn_c import all_cnn_c

__all__ = ["ACTIVATIONS", "activation_maker", "all_cnn_c"]
