"""The operations that this version of Keras has: a test that uses another one is left out."""

from __future__ import annotations

from typing import Any

import keras
import pytest


class Available:
    """keras.ops, where an operation that is newer than the installed Keras skips the test that calls it."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(keras.ops, name, None)
        return found if found is not None else lambda *_, **__: pytest.skip(f"Keras {keras.__version__} has no {name}")


ops = Available()
