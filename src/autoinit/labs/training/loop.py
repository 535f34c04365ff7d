"""The training loop."""

from __future__ import annotations

import time
from math import isfinite
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from ...errors import OptionError
from . import streams
from .batches import Batches
from .evaluation import Scores, evaluate
from .optimization import optimizer as make_optimizer
from .progress import Listener, Moment
from .recipe import Recipe
from .record import Record, curve
from .schedule import rate_at_step


def train(
    model: nn.Module,
    data: Any,
    recipe: Recipe,
    *,
    seed: int,
    evaluate_on: str | None = "validation",
    progress: Listener | None = None,
    stop_on_nan: bool = True,
    device: str | torch.device = "cpu",
    channels_last: bool = False,
) -> Record:
    """Train `model` in place, from the weights that it has, and say how it went.

    data: has `train`, `validation`, `test`, each with `images` (bytes, (count, height, width, channels), an array or
        something that is indexed like one) and `labels`, and `mean` and `std` per channel of images scaled to 0..1.
    seed: decides on the order of images, augmentation and dropout; the global random state is left alone.
    evaluate_on: "validation", "test", "train", or None for no evaluation (accuracies are NaN then).
    progress: is called with a `Moment` after each step.
    stop_on_nan: end the run at the first loss that is not finite; the weights stay as they were before that step.
    """
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise OptionError("'seed' takes a whole number of at least 0", where="train", received=repr(seed), fix="seed=0")
    if evaluate_on not in (None, "train", "validation", "test"):
        raise OptionError("unknown part of the data", where="evaluate_on", received=repr(evaluate_on),
                          fix="'validation', 'test', 'train' or None")  # fmt: skip
    batches = Batches(data, recipe, seed)
    layout = torch.channels_last if channels_last else torch.contiguous_format
    model.to(device=device, memory_format=layout)
    optimizer = make_optimizer(model, recipe)
    losses: list[float] = []
    begun = time.monotonic()
    diverged = False
    model.train()
    with _own_randomness(device):
        for step in range(len(losses), batches.total):
            torch.manual_seed(streams.number(seed, streams.STEP, step))
            images, targets = batches[step]
            images = images.to(device=device, memory_format=layout)
            loss = functional.cross_entropy(
                model(images).float(), targets.to(device), label_smoothing=recipe.label_smoothing
            )
            losses.append(float(loss.detach()))
            if not isfinite(losses[-1]):
                diverged = True
                if stop_on_nan:
                    break
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            rate = rate_at_step(recipe, step, batches.total, batches.per_epoch)
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.step()
            if progress is not None:
                progress(Moment(step + 1, batches.total, losses[-1], rate, time.monotonic() - begun))
    nothing = Scores(float("nan"), float("nan"), float("nan"))
    scores = nothing if evaluate_on is None else evaluate(model, data, recipe, evaluate_on, device=device)
    return Record(
        accuracy=scores.accuracy,
        top5=scores.top5,
        loss=scores.loss,
        losses=curve(losses, batches.total),
        diverged=diverged or (evaluate_on is not None and not isfinite(scores.loss)),
        steps=len(losses),
        epochs=len(losses) / batches.per_epoch,
        seconds=time.monotonic() - begun,
        seed=seed,
        evaluated_on=evaluate_on,
    )


def _own_randomness(device: str | torch.device) -> Any:
    """Seeds that are set inside do not reach the caller's random state."""
    place = torch.device(device)
    return torch.random.fork_rng([place] if place.type == "cuda" else [])
