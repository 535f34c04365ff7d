"""One page per run, in one file: HTML with its style and drawings inside, no scripts, nothing from a network."""

from .write import page, write

__all__ = ["page", "write"]
