"""``kernel_initializer="autoinit"``: a layer draws its weights for what feeds it, at the moment it is built."""

from __future__ import annotations

import random
import sys
import threading
import warnings
from types import FrameType
from typing import Any

import keras
import numpy as np
from keras import KerasTensor
from keras.src.backend.common.stateless_scope import in_stateless_scope
from keras.src.initializers.random_initializers import compute_fans
from numpy.typing import NDArray

from ..core.drawing import Draw
from ..core.options import DEFAULTS, VARIANCE, Distribution, Options, read_options
from ..core.plan.plan import ParameterPlan, PartPlan
from ..core.plan.weights import c_strides
from ..frontends.keras.apply import apply
from ..frontends.keras.variables import values_of
from .growing import growing_of
from .pending import others_waiting

MARK = 100.0
"""The k-th weight of a copied layer is filled with MARK + k, by which it is found again."""


@keras.saving.register_keras_serializable(package="autoinit")
class Initializer(keras.initializers.Initializer):
    """Weights that give a layer's output the variance `variance`, given the signal that feeds the layer.

    On layers of a functional or Sequential model the signal is followed from the model's inputs (mean 0, variance 1)
    through everything before the layer. A layer that is called on data uses the statistics of the data. Where neither
    is known (``layer.build(shape)``), entries of variance one are assumed.
    """

    def __init__(
        self,
        variance: float = VARIANCE,
        distribution: Distribution = DEFAULTS.distribution,
        seed: int | None = None,
    ) -> None:
        self.variance, self.distribution = variance, distribution
        read_options({"variance": variance, "distribution": distribution})
        self.seed = seed
        self._seed = random.randrange(2**31) if seed is None else seed

    def __call__(self, shape: Any, dtype: Any = None) -> Any:
        array = _values(self, tuple(int(n) for n in shape))
        return keras.ops.convert_to_tensor(array, dtype=dtype or keras.backend.floatx())

    def get_config(self) -> dict[str, Any]:
        return {"variance": self.variance, "distribution": self.distribution, "seed": self.seed}

    def options(self) -> Options:
        return Options(variance=self.variance, distribution=self.distribution, seed=self._seed)


keras.saving.get_custom_objects()["autoinit"] = Initializer


class _State(threading.local):
    copying: list[tuple[int, ...]] | None = None
    """Shapes that were asked for while a copy of a layer is built."""
    layer: Any = None
    drawn: list[NDArray[Any]] = []  # noqa: RUF012
    """Weights of the layer that is being built, in the order in which it asks for them."""


_STATE = _State()


def _values(initializer: Initializer, shape: tuple[int, ...]) -> NDArray[Any]:
    if in_stateless_scope():  # Keras finds out shapes: the variable will ask again when it is made
        return np.zeros(shape)
    if _STATE.copying is not None:
        _STATE.copying.append(shape)
        return np.full(shape, MARK + len(_STATE.copying) - 1)
    reasons = []
    for layer, args, kwargs in _calls_in_progress():
        if layer is not _STATE.layer or not _STATE.drawn:
            try:
                _STATE.layer, _STATE.drawn = layer, _drawn(initializer, layer, args, kwargs)
            except Exception as error:  # a layer that cannot be copied, or fed: try one further inside
                reasons.append(f"{layer.name}: {type(error).__name__}: {error}")
                continue
        if _STATE.drawn and _STATE.drawn[0].shape == shape:
            return _STATE.drawn.pop(0)
        _STATE.layer = None
    return _by_fan(initializer, shape, reasons)


def _calls_in_progress() -> list[tuple[Any, Any, Any]]:
    """Layers that are being called on tensors whose signal can be known, the outermost first.

    An initializer is told the shape of a weight and nothing else; what the layer was called on is on the stack.
    """
    found: list[tuple[Any, Any, Any]] = []
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "__call__" and "args" in frame.f_locals:
            layer, args, kwargs = (frame.f_locals.get(name) for name in ("self", "args", "kwargs"))
            if isinstance(layer, keras.layers.Layer) and not layer.built and _are_known((args, kwargs)):
                found.append((layer, args, kwargs))
        frame = frame.f_back
    return found[::-1]


def _are_known(structure: Any) -> bool:
    tensors = [t for t in keras.tree.flatten(structure) if isinstance(t, KerasTensor) or keras.ops.is_tensor(t)]
    return bool(tensors) and all(isinstance(t, KerasTensor) or _has_values(t) for t in tensors)


def _has_values(tensor: Any) -> bool:
    try:
        return bool(keras.ops.convert_to_numpy(tensor).size > 0)
    except Exception:  # inside a compiled function or an abstract call
        return False


def _drawn(initializer: Initializer, layer: Any, args: Any, kwargs: Any) -> list[NDArray[Any]]:
    """Plan a copy of the layer on what the layer is called on, and draw its weights."""
    with others_waiting():
        return _drawn_for_copy(initializer, layer, args, kwargs)


def _drawn_for_copy(initializer: Initializer, layer: Any, args: Any, kwargs: Any) -> list[NDArray[Any]]:
    growing = growing_of((args, kwargs))
    kwargs = {k: v for k, v in kwargs.items() if k != "training"}
    _STATE.copying = []
    try:
        copy = type(layer).from_config(layer.get_config())
        copy.trainable = True
        copy(*keras.tree.map_structure(_blank, args), **keras.tree.map_structure(_blank, kwargs))
        count = len(_STATE.copying)
    finally:
        _STATE.copying = None
    marked = _marked(copy, count)
    apply(growing.plan(copy, args, kwargs, initializer.options()), copy, initializer._seed)
    return [np.asarray(values_of(v)) for v in marked]


def _blank(item: Any) -> Any:
    """A tensor of the same shape without a past."""
    if isinstance(item, KerasTensor) or keras.ops.is_tensor(item):
        return KerasTensor(tuple(item.shape), dtype=keras.backend.standardize_dtype(item.dtype))
    return item


def _marked(copy: Any, count: int) -> list[Any]:
    found: dict[int, Any] = {}
    for variable in copy.variables:
        values = values_of(variable)
        if values is not None and values.size and float(values.flat[0]) >= MARK:
            found.setdefault(int(float(values.flat[0]) - MARK), variable)
    return [found[k] for k in range(count)]


def _by_fan(initializer: Initializer, shape: tuple[int, ...], reasons: list[str]) -> NDArray[Any]:
    """Nothing is known of what feeds the layer: variance one is assumed."""
    if reasons:
        warnings.warn(
            f"autoinit: what feeds this layer cannot be followed ({'; '.join(reasons)}); variance 1 is assumed",
            stacklevel=2,
        )
    fan, _ = compute_fans(shape)
    out = np.empty(shape, dtype=np.float32)
    strides = list(c_strides(shape))
    part = PartPlan(list(shape), strides, 0, "random", (initializer.variance / max(fan, 1)) ** 0.5, [len(shape) - 1], 1)
    entry = ParameterPlan(f"a weight of shape {shape}", list(shape), "set", "", [part])
    Draw(entry, initializer.distribution, initializer._seed).into(out)
    return out
