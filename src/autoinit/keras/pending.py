"""Variables whose initialization Keras has put off.

Leaving a `StatelessScope` initializes every variable that waits, whoever made it. So variables of ours that are never
to exist are taken off that list, and a user's variables that wait are hidden while models of our own are made.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from keras.src.backend.common import global_state

_LIST = "uninitialized_variables"


@contextmanager
def others_waiting() -> Iterator[None]:
    """Inside, no variable waits; afterwards those that waited before do so again, and no others."""
    before = global_state.get_global_attribute(_LIST)
    global_state.set_global_attribute(_LIST, [])
    try:
        yield
    finally:
        global_state.set_global_attribute(_LIST, before if before is not None else [])
