"""The training of one network in PyTorch. Every random number comes from the seed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from .networks.torch import Network
    from .presets import Training
    from .supervised import Array, Supervised

ORDER, BATCH, TURN = 1, 2, 3
"""Streams of random numbers: the order of an epoch, a batch's augmentation, and whose turn it is."""
MOMENTUM = 0.9
LEARNING_RATE = 1e-3
"""For a space that does not evolve it."""
CHUNK = 512
FUSED = ("cpu", "cuda")
"""Where an optimizer's step is one kernel: of small networks it saves a third of the time."""


@dataclass(frozen=True)
class Trained:
    """diverged: a loss was not finite, and the training ended there."""

    diverged: bool
    steps: int
    seconds: float


@contextmanager
def own_random_numbers(seed: int, device: str) -> Iterator[None]:
    """Within it PyTorch's random numbers come from the seed; afterwards they go on as if nothing had been."""
    devices = list(range(torch.cuda.device_count())) if device.startswith("cuda") else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        yield


def train(model: Network, task: Supervised, settings: Mapping[str, Any], *, seed: int, device: str = "cpu") -> Trained:
    """Train in place, as the task's preset says. With several outputs, each step trains one of them, in random turns.

    Dropout draws from PyTorch's generator: call it within `own_random_numbers`.
    """
    begin, training = time.perf_counter(), task.preset.training
    first = float(settings.get("learning_rate", LEARNING_RATE))
    optimizer = _optimizer(model, training, first)
    loss_of = nn.CrossEntropyLoss()
    steps, diverged = 0, False
    model.train()
    torch.manual_seed(seed)
    for epoch, name, inputs, labels in _batches(task, training, seed):
        rate = first * training.decay**epoch
        for group in optimizer.param_groups:
            group["lr"] = rate
        logits = model(tensor(inputs, device), [name])
        penalty = model.penalty() * (rate if training.scaled_penalty else 1.0)
        loss = loss_of(logits, torch.from_numpy(labels).to(device)) + penalty
        if not torch.isfinite(loss):
            diverged = True
            break
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        steps += 1
    diverged = diverged or not all(bool(torch.isfinite(p).all()) for p in model.parameters())
    return Trained(diverged, steps, time.perf_counter() - begin)


def _optimizer(model: nn.Module, training: Training, rate: float) -> torch.optim.Optimizer:
    parameters = [p for p in model.parameters() if p.requires_grad]
    fused = all(p.device.type in FUSED for p in parameters)
    if training.optimizer == "sgd":
        return torch.optim.SGD(parameters, lr=rate, momentum=MOMENTUM, nesterov=True, fused=fused)
    return torch.optim.Adam(parameters, lr=rate, fused=fused)


def _batches(task: Supervised, training: Training, seed: int) -> Iterator[tuple[int, str, Array, Array]]:
    """Epoch, output, inputs and labels of every step."""
    names = list(task.parts)
    supplies = {
        name: _supply(task.parts[name].train.labels, training.batch_size, (seed, ORDER, k))
        for k, name in enumerate(names)
    }
    step = 0
    for epoch in range(training.epochs):
        turns = _turns(task, training, np.random.default_rng((seed, TURN, epoch)))
        for turn in turns:
            name = names[turn]
            train = task.parts[name].train
            places = next(supplies[name])
            inputs = task.batch(name, places, np.random.default_rng((seed, BATCH, step)))
            step += 1
            yield epoch, name, inputs, train.labels[places].astype(np.int64)


def _turns(task: Supervised, training: Training, rng: np.random.Generator) -> Array:
    """Whose batch each step of an epoch is: as often as the data or `iterations` say, in random order."""
    if training.iterations is not None:
        return rng.permutation(np.resize(np.arange(len(task.parts)), training.iterations))
    counts = [-(-len(part.train.labels) // training.batch_size) for part in task.parts.values()]
    return rng.permutation(np.repeat(np.arange(len(counts)), counts))


def _supply(labels: Array, size: int, seed: tuple[int, ...]) -> Iterator[Array]:
    """Places of batches for ever, all of the data before any of it again; the last of a round may be smaller."""
    rounds = 0
    while True:
        order = np.random.default_rng((*seed, rounds)).permutation(len(labels))
        yield from (order[k : k + size] for k in range(0, len(order), size))
        rounds += 1


def tensor(inputs: Array, device: str) -> Tensor:
    """Numbers with channels first, as networks in PyTorch read them; integers as they are."""
    if np.issubdtype(inputs.dtype, np.integer):
        return torch.from_numpy(inputs.astype(np.int64)).to(device)
    first = np.moveaxis(inputs, -1, 1) if inputs.ndim > 2 else inputs
    return torch.from_numpy(np.ascontiguousarray(first, dtype=np.float32)).to(device)


def answers(model: Network, inputs: Array, output: str, device: str) -> Array:
    """The logits of one output, in evaluation mode."""
    model.eval()
    with torch.no_grad():
        parts = [
            model(tensor(inputs[k : k + CHUNK], device), [output]).float().cpu().numpy()
            for k in range(0, len(inputs), CHUNK)
        ]
    return np.concatenate(parts)
