"""One evaluation: a function in All-CNN-C, under one initialization, trained and judged on the validation images."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ...core.options import Centre
from ...errors import OptionError
from .function import Function
from .presets import Setting
from .trials import INITIALIZATIONS


def evaluate(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Train and judge what `payload` describes: {function, initialization, setting, seed}. Plain data in and out."""
    from ..training import Recipe, train

    setting = Setting.from_dict(payload["setting"])
    function = Function.from_dict(payload["function"])
    data = images(setting)
    model = network(function, setting, data)
    recipe = Recipe.from_dict(dict(setting.recipe))
    told = prepare(model, payload["initialization"], _shape(data, recipe), seed=payload["seed"])
    record = train(model, data, recipe, seed=payload["seed"], device=setting.device)
    return {
        "formula": function.formula,
        "function": function.to_dict(),
        "initialization": payload["initialization"],
        "seed": payload["seed"],
        "accuracy": record.accuracy,
        "loss": record.loss,
        "diverged": record.diverged,
        "steps": record.steps,
        "seconds": record.seconds,
        **told,
    }


def images(setting: Setting) -> Any:
    """The images, loaded once per process and shrunk to the size of the setting."""
    return _images(setting.data, setting.directory, setting.validation, setting.image_size)


@lru_cache(maxsize=1)
def _images(data: str, directory: str | None, validation: int, size: int) -> Any:
    from ..data import load
    from ..data.smaller import shrunk

    return shrunk(load(data, directory=directory, validation=validation, seed=0), size)


def network(function: Function, setting: Setting, data: Any) -> Any:
    """All-CNN-C with the function after every convolution."""
    from ..models import all_cnn_c

    return all_cnn_c(
        function.torch, width=setting.width, classes=data.classes, channels=data.train.images.shape[-1],
        dropout=setting.dropout, input_dropout=setting.input_dropout,
    )  # fmt: skip


def _shape(data: Any, recipe: Any) -> tuple[int, int, int, int]:
    """The shape of a batch as it enters the network."""
    height, width, channels = data.train.images.shape[1:]
    return (recipe.batch_size, channels, recipe.image_size or height, recipe.image_size or width)


def prepare(model: Any, initialization: str, shape: tuple[int, ...], *, seed: int) -> dict[str, Any]:
    """Initialize in place, and tell how long it took and what the analysis warned of.

    "default": Glorot uniform. "autoinit": from the shape of the images alone, which come in with mean 0 and variance 1.
    "autoinit++": the same with centred activations.
    """
    import autoinit

    if initialization not in INITIALIZATIONS:
        raise OptionError(f"unknown initialization '{initialization}'", where="initialization",
                          received=repr(initialization), fix=f"one of {', '.join(INITIALIZATIONS)}")  # fmt: skip
    started = time.perf_counter()
    warnings: list[str] = []
    if initialization == "default":
        autoinit.baselines.classical(model, "glorot_uniform", seed=seed)
    else:
        center: Centre | None = "activation" if initialization == "autoinit++" else None
        plan = autoinit.initialize(model, shape, center=center, seed=seed, warn=False)
        warnings = sorted({note.message for note in plan.notes if note.kind == "warning"})
    return {"initialization_seconds": time.perf_counter() - started, "warnings": warnings[:5]}
