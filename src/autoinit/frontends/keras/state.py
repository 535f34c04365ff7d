"""Looking at a model changes nothing: neither the model, nor Keras' global state, nor anybody's random numbers."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
from keras.src.backend.common import global_state

from ..carried_out import carried_out
from .randomness import Randomness
from .snapshot import Snapshot
from .variables import layers_of, values_of

WAITING, SEEDS = "uninitialized_variables", "global_seed_generator"


class untouched:
    """Afterwards everything that can be reached from the model's layers is as it was; see `snapshot`."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._before: Snapshot | None = None

    def __enter__(self) -> None:
        if self._before is None:
            self._before = snapshot_of(self._model)

    def __exit__(self, *_: Any) -> None:
        if self._before is not None:
            self._before.restore()


def snapshot_of(model: Any) -> Snapshot:
    """The layers as they are. Values of variables are left alone, but for those that a torch module holds as well."""
    layers = layers_of(model)
    wrappers = getattr(keras.layers, "TorchModuleWrapper", ())
    values = [
        value
        for layer in layers
        if not isinstance(layer, wrappers)
        for variable in [*layer._trainable_variables, *layer._non_trainable_variables]
        if (value := vars(variable).get("_value")) is not None
    ]
    return Snapshot([*layers, model], values)


class Settings:
    """Context after which Keras' global state is as before: names, scopes, policies, variables that wait, floatx.

    The state belongs to the thread, but for floatx. Inside, no variable of the user's waits to be initialized:
    leaving a `StatelessScope` would do it.
    """

    def __enter__(self) -> None:
        self._state, self._floatx = vars(global_state.GLOBAL_STATE_TRACKER), keras.config.floatx()
        held = dict(self._state)
        self._before = Snapshot([self._state, *(v for v in held.values() if isinstance(v, (dict, list)))])
        seeds = held.get(SEEDS)
        self._seeds = None if seeds is None else (seeds.state, values_of(seeds.state))
        if held.get(WAITING):
            self._state[WAITING] = []

    def __exit__(self, *_: Any) -> None:
        carried_out(self._put_back)

    def _put_back(self) -> None:
        self._before.restore()
        if keras.config.floatx() != self._floatx:
            keras.config.set_floatx(self._floatx)
        if self._seeds is not None:
            variable, before = self._seeds
            now = values_of(variable)
            if before is not None and (now is None or not np.array_equal(now, before)):
                variable.assign(before)


class looking:
    """All of it: what happens to `model` inside has not happened afterwards. One thread at a time (`lock.WALKING`)."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._kept = untouched(model)
        self.was_built = all(layer.built for layer in layers_of(model))

    def within(self) -> untouched:
        """For a part of what happens: afterwards the model is as it was, but keeps weights that it got inside."""
        return self._kept if self.was_built else untouched(self._model)

    def __enter__(self) -> looking:
        self._entered: list[Any] = []
        try:
            for part in (self._kept, Settings(), Randomness()):
                part.__enter__()
                self._entered.append(part)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: Any) -> None:
        carried_out(self._leave)

    def _leave(self) -> None:
        while self._entered:
            self._entered[-1].__exit__()
            self._entered.pop()
