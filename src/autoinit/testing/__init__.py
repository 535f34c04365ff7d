"""Conformance suites for people who extend the library: a new front end runs `FrontEndSuite`.

`violations` says in which way the weights of an initialized model are not random.
"""

from . import specs
from .randomness import Violation, violations
from .specs import MODELS, Model
from .suite import FrontEndSuite

__all__ = ["MODELS", "FrontEndSuite", "Model", "Violation", "specs", "violations"]
