"""The job of most experiments: build a network, initialize it, train it, test it. Plain data in and out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autoinit.labs.evolution import Job
from autoinit.labs.training import Recipe

from . import networks
from .pictures import Pictures
from .place import Place

WORK = "experiments.training_job:evaluate"
SAMPLES = 0x5A
"""Keeps the choice of LSUV's images apart from other uses of a seed."""


@dataclass(frozen=True, kw_only=True)
class Training:
    """at: the place in the experiment's grid, which is also the job's key."""

    at: Mapping[str, Any]
    pictures: Pictures
    model: str
    model_options: Mapping[str, Any] = field(default_factory=dict)
    scheme: str
    scheme_options: Mapping[str, Any] = field(default_factory=dict)
    recipe: Recipe
    seed: int
    parallel: bool = False
    """Spread batches over all GPUs of the machine."""

    @property
    def job(self) -> Job:
        return Job("/".join(str(value) for value in self.at.values()), self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        return {
            "at": dict(self.at),
            "pictures": self.pictures.to_dict(),
            "model": self.model,
            "model_options": dict(self.model_options),
            "scheme": self.scheme,
            "scheme_options": dict(self.scheme_options),
            "recipe": self.recipe.to_dict(),
            "seed": self.seed,
            "parallel": self.parallel,
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Training:
        pictures, recipe = Pictures.from_dict(given["pictures"]), Recipe.from_dict(given["recipe"])
        return cls(**{**given, "pictures": pictures, "recipe": recipe})


def evaluate(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Carry out one training. The model has as many input channels and classes as the images ask for."""
    from autoinit.labs.training import train

    training, place = Training.from_dict(payload), Place.from_environment()
    data, seed = training.pictures.load(), training.seed
    sizes = {"channels": data.shape[2], "classes": data.classes}
    model = networks.build(training.model, {**sizes, **training.model_options}, seed)
    options = dict(training.scheme_options)
    samples = options.pop("samples", None)
    inputs = batch_shape(data, training.recipe) if samples is None else drawn(data, training.recipe, samples, seed)
    times = networks.initialize(model, training.scheme, options, inputs, seed)
    if training.parallel:
        model = spread_over_devices(model, place.device)
    checkpoint = place.checkpoint(payload)
    with logged(training, checkpoint) as progress:
        record = train(
            model, data, training.recipe, seed=seed, evaluate_on="test", device=place.device, checkpoint=checkpoint,
            keep_weights=False, workers=place.loaders, progress=progress,
        )  # fmt: skip
    return {
        "accuracy": record.accuracy,
        "top5": record.top5,
        "loss": record.loss,
        "diverged": record.diverged,
        "steps": record.steps,
        "seconds": record.seconds,
        "classes": data.classes,
        "tested": len(data.test),
        **times,
    }


@contextmanager
def logged(training: Training, checkpoint: Path | None) -> Iterator[Any]:
    """A listener that writes how far the training is, and how long it will take, into a file beside its checkpoint."""
    if checkpoint is None:
        yield None
        return
    from autoinit.labs.training.progress import Lines

    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    with open(checkpoint.with_suffix(".log"), "a", buffering=1, encoding="utf-8") as file:
        yield Lines(training.job.key, every=30.0, file=file)


def batch_shape(data: Any, recipe: Recipe) -> tuple[int, int, int, int]:
    """The shape of a training batch as it enters the network: all that AutoInit is told of the data."""
    height, width, channels = data.shape
    return recipe.batch_size, channels, recipe.image_size or height, recipe.image_size or width


def drawn(data: Any, recipe: Recipe, samples: int, seed: int) -> Any:
    """`samples` training images, chosen by the seed, as they enter the network but for augmentation."""
    import numpy as np

    from autoinit.labs.training import geometry
    from autoinit.labs.training.batches import Normalization, take

    chosen = np.random.default_rng([seed, SAMPLES]).choice(len(data.train), samples, replace=False)
    images = take(data.train.images, np.sort(chosen))
    if recipe.image_size is not None:
        images = geometry.resize(images, recipe.image_size)
    return Normalization(data, recipe)(images)


def spread_over_devices(model: Any, device: str) -> Any:
    import torch

    if not device.startswith("cuda") or torch.cuda.device_count() < 2:
        return model
    return torch.nn.DataParallel(model.to(device))
