"""Tests that start from the same random numbers, in whatever order and process they run."""

from __future__ import annotations

import random
import sys

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def same_random_numbers() -> None:
    """For every test of a folder whose conftest.py imports it."""
    random.seed(0)
    np.random.seed(0)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)
