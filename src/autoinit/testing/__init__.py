"""Conformance suites for people who extend the library: a new front end runs `FrontEndSuite`."""

from . import specs
from .specs import MODELS, Model
from .suite import FrontEndSuite

__all__ = ["MODELS", "FrontEndSuite", "Model", "specs"]
