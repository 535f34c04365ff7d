"""A plan as one interactive page without network: data as JSON, drawn by the scripts beside this file."""

from .write import page

__all__ = ["page"]
