"""In the training loop: real statistics of the first steps, beside the prediction.

    with autoinit.watch(model, plan) as watch:
        ...  # your loop, as it is
    watch.plot("training.png")

Callbacks are in `autoinit.watching.lightning`, `.keras` and `.transformers`; each needs the library of its name.
"""

from .observation import Observation
from .schedule import Schedule
from .watcher import Watch, watch

__all__ = ["Observation", "Schedule", "Watch", "watch"]
