"""The training loop."""

from __future__ import annotations

import time
from contextlib import closing
from math import isfinite, nan
from pathlib import Path
from typing import Any

import torch
from torch import nn

from ...errors import OptionError
from . import streams
from .ahead import prepared
from .batches import Batches, labels_of
from .checkpoint import Checkpoint
from .evaluation import Scores, evaluate
from .mixing import cross_entropy
from .optimization import optimizer as make_optimizer
from .progress import Listener, Moment
from .recipe import Recipe
from .record import Record, curve
from .schedule import rate_at_step

PARTS = ("train", "validation", "test")


def train(
    model: nn.Module,
    data: Any,
    recipe: Recipe,
    *,
    seed: int,
    evaluate_on: str | None = "validation",
    checkpoint: str | Path | None = None,
    checkpoint_every: float = 60.0,
    keep_weights: bool = True,
    progress: Listener | None = None,
    stop_on_nan: bool = True,
    device: str | torch.device = "cpu",
    channels_last: bool = False,
    workers: int = 0,
) -> Record:
    """Train `model` in place, from the weights that it has, and say how it went.

    data: has `train`, `validation`, `test`, each with `images` (bytes, (count, height, width, channels), an array or
        something that is indexed like one) and `labels`, and `mean` and `std` per channel of images scaled to 0..1.
    seed: decides on the order of images, augmentation and dropout; the global random state is left alone.
    evaluate_on: "validation", "test", "train", or None for no evaluation (accuracies are NaN then).
    checkpoint: a file that the run is saved to every `checkpoint_every` seconds and at its end. If it is there
        already the run goes on from it, to the same weights as without the interruption; a run that had ended
        returns its record at once.
    keep_weights: with False the checkpoint of a run that has ended has the record but not the weights, which may be
        large; resuming it leaves the model as it is.
    progress: is called with a `Moment` after each step; see `progress.bar`.
    stop_on_nan: end the run at the first loss that is not finite; the weights stay as they were before that step.
    device, channels_last: where, and in which layout, the model computes; it is moved there. For several GPUs wrap
        the model in `nn.DataParallel`.
    workers: threads that prepare batches ahead; they change nothing but the speed.
    """
    _check(seed, evaluate_on, workers)
    batches = Batches(data, recipe, seed)
    if evaluate_on is not None:
        labels_of(data, evaluate_on)
    layout = torch.channels_last if channels_last else torch.contiguous_format
    model.to(device=device, memory_format=layout)  # type: ignore[call-overload]  # its stub has no layouts
    optimizer = make_optimizer(model, recipe)
    identity = {**recipe.to_dict(), "seed": seed, "training images": len(batches.labels), "evaluate_on": evaluate_on}
    keeper = Checkpoint(checkpoint, checkpoint_every, model, optimizer, identity, keep_weights)
    state = keeper.resume()
    if state.record is not None:
        return state.record
    start, begun = len(state.losses), time.monotonic() - state.seconds
    earlier = state.seconds
    model.train()
    with _own_randomness(device), closing(prepared(batches, start, workers)) as stream:
        for step, (images, targets) in enumerate(stream, start):
            _seed(streams.number(seed, streams.STEP, step))
            outputs = model(images.to(device=device, memory_format=layout)).float()
            loss = cross_entropy(outputs, targets.to(device), recipe.label_smoothing)
            state.losses.append(float(loss.detach()))
            if stop_on_nan and not isfinite(state.losses[-1]):
                break
            rate = rate_at_step(recipe, step, batches.total, batches.per_epoch)
            for group in optimizer.param_groups:
                group["lr"] = rate
            optimizer.zero_grad(set_to_none=True)
            if loss.requires_grad:  # else no parameter reaches the outputs, e.g. behind a constant activation
                loss.backward()
            optimizer.step()
            state.seconds = time.monotonic() - begun
            if step + 1 < batches.total:
                keeper.save_if_due(state)
            if progress is not None:
                left = (state.seconds - earlier) / (step + 1 - start) * (batches.total - step - 1)
                progress(Moment(step + 1, batches.total, state.losses[-1], rate, state.seconds, left))
    scores = Scores(nan, nan, nan) if evaluate_on is None else evaluate(model, data, recipe, evaluate_on, device=device)
    state.seconds = time.monotonic() - begun
    state.record = Record(
        accuracy=scores.accuracy,
        top5=scores.top5,
        loss=scores.loss,
        losses=curve(state.losses, batches.total),
        diverged=not all(map(isfinite, state.losses)) or (evaluate_on is not None and not isfinite(scores.loss)),
        steps=len(state.losses),
        epochs=len(state.losses) / batches.per_epoch,
        seconds=state.seconds,
        seed=seed,
        evaluated_on=evaluate_on,
    )
    keeper.save(state)
    return state.record


def _check(seed: Any, evaluate_on: Any, workers: Any) -> None:
    for name, value in (("seed", seed), ("workers", workers)):
        if type(value) is not int or value < 0:
            raise OptionError(f"'{name}' takes a whole number of at least 0", where="train", received=repr(value),
                              fix=f"{name}=0")  # fmt: skip
    if evaluate_on is not None and evaluate_on not in PARTS:
        raise OptionError("unknown part of the data", where="evaluate_on", received=repr(evaluate_on),
                          fix=f"None, or one of {', '.join(PARTS)}")  # fmt: skip


def _own_randomness(device: str | torch.device) -> Any:
    """Seeds that are set inside do not reach the caller's random state."""
    cuda = torch.device(device).type == "cuda"
    return torch.random.fork_rng(range(torch.cuda.device_count()) if cuda else [])


def _seed(number: int) -> None:
    """As `torch.manual_seed`, but a hundred times as fast where there is no GPU in use."""
    torch.default_generator.manual_seed(number)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(number)
