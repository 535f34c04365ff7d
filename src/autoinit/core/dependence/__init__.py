"""Dependence between values: one mechanism that answers how two of them vary together."""

from .joint import Joint

__all__ = ["Joint"]
