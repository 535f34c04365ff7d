"""Keras operations to the neutral vocabulary, one small function per operation."""

from .table import has_lowering, layer_lowering, lower

__all__ = ["has_lowering", "layer_lowering", "lower"]
