"""Classification from arrays, in PyTorch: a task that is given data, a space and presets only."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any, ClassVar

import numpy as np

from ...core.lazy import lazy
from .network import Input, NetworkGenome, Output
from .problems import TaskError
from .task import Task

Array = np.ndarray[Any, Any]
MEASURED = 256
"""How many inputs a scheme that wants real ones (LSUV) is shown."""


@dataclass(frozen=True)
class Labelled:
    """inputs: (count, ...) with channels last, numbers or integers of a vocabulary; labels: (count,) class numbers."""

    inputs: Array
    labels: Array

    def __post_init__(self) -> None:
        if len(self.inputs) != len(self.labels) or not len(self.labels):
            raise TaskError("there is one label for each input, and at least one", where="Labelled",
                            received=f"{len(self.inputs)} inputs, {len(self.labels)} labels",
                            fix="Labelled(inputs, labels)")  # fmt: skip


@dataclass(frozen=True)
class Parts:
    """The data of one output. vocabulary: for inputs of integers, how many different ones there are."""

    train: Labelled
    validation: Labelled
    test: Labelled
    classes: int
    vocabulary: int | None = None


class Supervised(Task):
    """Fitness is the accuracy on the validation part, averaged over the outputs.

    standardized: inputs get mean 0 and variance 1 for each feature (channel), measured on the training part.
    """

    standardized: ClassVar[bool] = True
    judged_by: ClassVar[str] = "accuracy"
    """Which of the scores is the fitness."""

    @abstractmethod
    def data(self) -> Parts | Mapping[str, Parts]:
        """The data, or for several outputs that of each; read once per process."""

    def augmented(self, inputs: Array, rng: np.random.Generator) -> Array:
        """A batch of training inputs as it is trained on; random changes go here."""
        return inputs

    def batch(self, name: str, places: Array, rng: np.random.Generator) -> Array:
        """The inputs of one step: the training examples of an output at these places, augmented."""
        return self.augmented(self.parts[name].train.inputs[places], rng)

    def scores(self, logits: Array, labels: Array) -> dict[str, float]:
        """How good the answers (count, classes) are: accuracy, and cross entropy in nats."""
        shifted = logits.astype(np.float64) - logits.max(axis=1, keepdims=True)
        loss = np.log(np.exp(shifted).sum(axis=1)) - shifted[np.arange(len(labels)), labels]
        return {"accuracy": float((logits.argmax(axis=1) == labels).mean()), "loss": float(loss.mean())}

    @lazy
    def parts(self) -> dict[str, Parts]:
        """The data of every output, standardized."""
        found = self.data()
        parts = {"output": found} if isinstance(found, Parts) else dict(found)
        shapes = {part.train.inputs.shape[1:] for part in parts.values()}
        if len(shapes) != 1 or len({part.vocabulary for part in parts.values()}) != 1:
            raise TaskError("the inputs of all outputs are alike", where=type(self).__name__, received=str(shapes),
                            fix="give them one shape and one vocabulary")  # fmt: skip
        if not self.standardized or next(iter(parts.values())).vocabulary is not None:
            return parts
        mean, std = _moments([part.train.inputs for part in parts.values()])
        return {name: _standardized(part, mean, std) for name, part in parts.items()}

    @property
    def input(self) -> Input:
        part = next(iter(self.parts.values()))
        return Input(tuple(part.train.inputs.shape[1:]), part.vocabulary)

    @property
    def outputs(self) -> tuple[Output, ...]:
        return tuple(Output(name, part.classes) for name, part in self.parts.items())

    def train(
        self, genome: NetworkGenome, initialization: str, *, seed: int, test: bool = False, device: str = "cpu"
    ) -> Mapping[str, Any]:
        from . import training
        from .initialization import initialize
        from .networks.torch import build

        with training.own_random_numbers(seed, device):
            model = build(genome).to(device)
            some = training.tensor(next(iter(self.parts.values())).train.inputs[:MEASURED], device)
            seconds = initialize(model, genome, initialization, seed=seed, batch=some)
            told = training.train(model, self, dict(genome.settings), seed=seed, device=device)
        value: dict[str, Any] = {
            "diverged": told.diverged, "steps": told.steps, "parameters": genome.parameters,
            "initialization_seconds": seconds, "training_seconds": told.seconds, "fitness": self.worst,
        }  # fmt: skip
        if told.diverged:
            return value
        for part in ("validation", "test") if test else ("validation",):
            scores = self._judged(model, part, device)
            if scores is None:
                return {**value, "diverged": True, "fitness": self.worst}
            value[part] = scores
        value["fitness"] = value["validation"][self.judged_by]
        return value

    def _judged(self, model: Any, part: str, device: str) -> dict[str, float] | None:
        """The mean of each score over the outputs; None if an answer is not finite."""
        from .training import answers

        found = []
        for name, parts in self.parts.items():
            labelled: Labelled = getattr(parts, part)
            logits = answers(model, labelled.inputs, name, device)
            if not np.isfinite(logits).all():
                return None
            found.append(self.scores(logits, labelled.labels))
        return {score: fmean(one[score] for one in found) for score in found[0]}


def _moments(inputs: list[Array]) -> tuple[Array, Array]:
    flat = np.concatenate([x.reshape(-1, x.shape[-1]) for x in inputs]).astype(np.float64)
    std = flat.std(axis=0)
    return flat.mean(axis=0), np.where(std > 0, std, 1.0)


def _standardized(part: Parts, mean: Array, std: Array) -> Parts:
    def one(labelled: Labelled) -> Labelled:
        return Labelled(((labelled.inputs - mean) / std).astype(np.float32), labelled.labels)

    return Parts(one(part.train), one(part.validation), one(part.test), part.classes, part.vocabulary)
