"""What a worker process does with random genomes: assemble and plan a number of them, or train one."""

from __future__ import annotations

import hashlib
import json
import time
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

import autoinit
from autoinit.labs.codeepneat import Input, NetworkGenome, Output, Space
from autoinit.labs.codeepneat.finding import loaded, task_class
from autoinit.labs.codeepneat.initialization import described
from autoinit.labs.codeepneat.networks.torch import build
from autoinit.labs.codeepneat.sampling import random_network

CHUNK = 50
"""Genomes of one record."""
DIGITS = 8
Report = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Setting:
    """A task in one size: all that networks are assembled from."""

    task: str
    preset: str
    space: Space
    input: Input
    outputs: tuple[Output, ...]

    @property
    def key(self) -> str:
        """The same while a number stands for the same network."""
        parts = [self.space.to_dict(), asdict(self.input), [asdict(output) for output in self.outputs]]
        digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:DIGITS]
        return f"{self.task}:{self.preset}:{digest}"

    def genome(self, number: int, seed: int) -> NetworkGenome:
        return random_network(self.space, self.input, self.outputs, np.random.default_rng((seed, number)))


def setting_of(task: str, preset: str) -> Setting:
    """Reads the task's data, for the shape of the inputs and the number of classes."""
    kind = task_class(task)
    made = loaded(task, kind.settled(kind.preset_of(preset), 0))
    return Setting(task, preset, made.space(), made.input, tuple(made.outputs))


def names_of(setting: Setting, count: int, trained: int, seed: int) -> list[str]:
    """The records of a task: some genomes each to plan, then one each to train."""
    chunks = [(first, min(first + CHUNK, count)) for first in range(0, count, CHUNK)]
    head = f"{setting.key}:{seed}"
    return [*(f"{head}:plan:{a}:{b}" for a, b in chunks), *(f"{head}:train:{k}:{k + 1}" for k in range(trained))]


def prepare(settings: Sequence[Setting]) -> None:
    """What only the first network of a process costs, before any clock runs."""
    torch.set_num_threads(1)
    if settings:
        plan_one(settings[0].genome(0, 0))


def work(name: str, report: Report, settings: Mapping[str, Setting]) -> dict[str, Any]:
    """The record of a name: what was planned or trained, and every genome with which something is wrong."""
    task, preset, digest, seed, what, first, last = name.split(":")
    setting = settings[f"{task}:{preset}:{digest}"]
    begin = time.perf_counter()
    rows: list[dict[str, Any]] = []
    failed: list[dict[str, Any]] = []
    for number in range(int(first), int(last)):
        report({"at": number})
        try:
            genome = setting.genome(number, int(seed))
            row = plan_one(genome)
            if what == "train":
                row |= train_one(setting, genome, number)
            rows.append({"number": number, **row})
        except Exception as error:
            told = f"{type(error).__name__}: {error}"[:600]
            failed.append({"number": number, "error": told, "traceback": traceback.format_exc(limit=-6)[-1500:]})
    seconds = round(time.perf_counter() - begin, 2)
    return {"outcome": "failed" if failed else "done", "rows": rows, "failed": failed, "seconds": seconds}


def plan_one(genome: NetworkGenome) -> dict[str, Any]:
    """Build the network without memory, and plan it; processor time."""
    begin = time.process_time()
    with autoinit.meta():
        model = build(genome)
    built = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plan = autoinit.plan(model, described(genome.input, channels_last=False), warn=False)
    planned = time.process_time()
    return {
        "layers": len(genome.layers), "parameters": genome.parameters, "tensors": len(plan.tensors),
        "build": round(built - begin, 5), "plan": round(planned - built, 5), "unreached": plan.unreached(),
    }  # fmt: skip


def train_one(setting: Setting, genome: NetworkGenome, number: int) -> dict[str, Any]:
    """Train the network as a search of this size does. Its times by the share of a processor that it had."""
    kind = task_class(setting.task)
    task = loaded(setting.task, kind.settled(kind.preset_of(setting.preset), 0))
    begin = time.process_time(), time.perf_counter()
    value = task.train(genome, "autoinit", seed=number)
    share = min(1.0, (time.process_time() - begin[0]) / (time.perf_counter() - begin[1]))
    times = {name: round(share * value[f"{name}_seconds"], 5) for name in ("initialization", "training")}
    return {**times, "fitness": value["fitness"], "diverged": value["diverged"]}
