"""A canonical form of graphs: rules see one of the many ways to write a program."""

from .form import canonical
from .layout import Layout

__all__ = ["Layout", "canonical"]
