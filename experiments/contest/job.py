"""One training of the contest: build, initialize, train, and the losses of the validation and the test part."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import numpy as np

from autoinit.labs.evolution import Job
from autoinit.labs.training import Recipe

from . import models
from .schemes import Shown, initialize
from .tasks import SQUARES, Data, Part, Task

WORK = "experiments.contest.job:evaluate"
ORDER, LAYERS = 1, 2
"""Keep the uses of one seed apart: order of the examples, dropout."""
AT_ONCE = 256


@dataclass(frozen=True, kw_only=True)
class Run:
    """at: the place in the contest's grid, which is also the job's key."""

    at: Mapping[str, Any]
    task: Task
    model: str
    model_options: Mapping[str, Any] = field(default_factory=dict)
    endings: str
    scheme: str
    recipe: Recipe
    seed: int

    @property
    def job(self) -> Job:
        return Job("/".join(str(value) for value in self.at.values()), self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        plain = {"task": self.task.to_dict(), "recipe": self.recipe.to_dict()}
        return {**vars(self), "at": dict(self.at), "model_options": dict(self.model_options), **plain}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Run:
        return cls(**{**given, "task": Task.from_dict(given["task"]), "recipe": Recipe.from_dict(given["recipe"])})


def evaluate(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Carry out one training. A loss that is not finite is None: the training diverged."""
    run = Run.from_dict(payload)
    data = run.task.load()
    begun = time.process_time()
    model = models.build(run.model, data.sizes, run.model_options, run.seed)
    initialize(model, run.scheme, _shown(data, run), run.seed)
    initialized = time.process_time()
    steps = train(model, data, run.recipe, run.seed)
    finished = steps == run.recipe.steps
    losses = {part: loss_of(model, data, getattr(data, part)) if finished else None for part in ("validation", "test")}
    known = {f"{part}_loss": loss if loss is not None and isfinite(loss) else None for part, loss in losses.items()}
    return {
        **known,
        "diverged": None in known.values(),
        "guess": data.guess,
        "steps": steps,
        "initialization_seconds": initialized - begun,
        "seconds": time.process_time() - begun,
    }


def _shown(data: Data, run: Run) -> Shown:
    """AutoInit and the classical schemes see a shape, or how many tokens there are; LSUV the first training batch."""
    import torch

    from autoinit import Input

    first = torch.from_numpy(data.train.inputs[_order(data, run.seed, 0)[: run.recipe.batch_size]])
    return Shown(Input(tuple(first.shape), vocabulary=data.vocabulary), first, run.endings)


def _order(data: Data, seed: int, epoch: int) -> np.ndarray:
    return np.random.default_rng([seed, ORDER, epoch]).permutation(len(data.train))


def train(model: Any, data: Data, recipe: Recipe, seed: int) -> int:
    """Train in place; how many steps there were until the end, or until a loss that is not finite."""
    import torch

    from autoinit.labs.training.optimization import optimizer
    from autoinit.labs.training.schedule import rate_at_step

    assert recipe.steps is not None
    size, chosen = recipe.batch_size, optimizer(model, recipe)
    per_epoch = len(data.train) // size
    inputs, targets = (torch.from_numpy(part) for part in (data.train.inputs, data.train.targets))
    model.train()
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(int(np.random.default_rng([seed, LAYERS]).integers(2**31)))
        for step in range(recipe.steps):
            epoch, place = divmod(step, per_epoch)
            if not place:
                order = torch.from_numpy(_order(data, seed, epoch))
            rows = order[place * size : (place + 1) * size]
            loss = _loss(model(inputs[rows]), targets[rows], data)
            if not isfinite(loss.item()):
                return step
            for group in chosen.param_groups:
                group["lr"] = rate_at_step(recipe, step, recipe.steps, per_epoch)
            chosen.zero_grad(set_to_none=True)
            loss.backward()
            chosen.step()
    return recipe.steps


def loss_of(model: Any, data: Data, part: Part) -> float:
    """The mean loss of a part, in evaluation mode."""
    import torch

    model.eval()
    total = 0.0
    with torch.no_grad():
        for start in range(0, len(part), AT_ONCE):
            inputs, targets = (torch.from_numpy(v[start : start + AT_ONCE]) for v in (part.inputs, part.targets))
            total += float(_loss(model(inputs), targets, data)) * len(inputs)
    return total / len(part)


def _loss(outputs: Any, targets: Any, data: Data) -> Any:
    from torch.nn import functional

    if data.loss == SQUARES:
        return functional.mse_loss(outputs, targets)
    return functional.cross_entropy(outputs.flatten(0, -2), targets.flatten())
