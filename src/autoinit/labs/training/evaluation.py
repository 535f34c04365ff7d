"""Accuracy and loss of a model on images that it was not trained on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from . import geometry
from .batches import Normalization, labels_of, take
from .recipe import Recipe

BATCH = 256


class Scores(NamedTuple):
    """Shares of images whose class is the first, or among the first five, of the model's guesses; cross entropy."""

    accuracy: float
    top5: float
    loss: float


def evaluate(model: nn.Module, data: Any, recipe: Recipe, part: str = "validation", *, device: Any = None) -> Scores:
    """Run the model in evaluation mode over `data.train`, `data.validation` or `data.test`; its mode is restored.

    A model whose outputs are not numbers any more is scored like any other: torch ranks NaN first, so that it
    names the same class for all images.
    """
    split, normalize = getattr(data, part), Normalization(data, recipe)
    labels = torch.from_numpy(labels_of(data, part))
    first = five = loss = 0.0
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            for start in range(0, len(labels), BATCH):
                wanted = labels[start : start + BATCH].to(device)
                images = take(split.images, np.arange(start, start + len(wanted)))
                images = geometry.centre_crop(images, recipe.centre_crop)
                if recipe.image_size is not None:
                    images = geometry.resize(images, recipe.image_size)
                outputs = model(normalize(images).to(device)).float()
                loss += float(functional.cross_entropy(outputs, wanted, reduction="sum"))
                best = outputs.topk(min(5, outputs.shape[1]), dim=1).indices == wanted[:, None]
                first += int(best[:, 0].sum())
                five += int(best.sum())
    finally:
        model.train(was_training)
    return Scores(first / len(labels), five / len(labels), loss / len(labels))
