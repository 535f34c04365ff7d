"""Multi-task: the characters of many alphabets, each alphabet a task; the tasks share modules in soft ordering."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...data import Examples, load_omniglot
from ..presets import Preset, Training
from ..ranges import Real
from ..settings import Evolution
from ..space import LayerKind, Space, weighted, whole_network
from ..supervised import Labelled, Parts, Supervised
from .sizes import by_name, for_cpu, for_smoke

PAPER = Evolution(
    generations=40, blueprints=22, modules=56, evaluations=4, preserved=12, blueprint_species=1, module_species=4,
    blueprint_elitism=0.4, module_elitism=0.4, change=0.25, blueprint_connection=0.12, module_connection=0.08,
    module_layer=0.08, blueprint_node=0.16,
)  # fmt: skip
DECAY = 0.1 ** (1 / 10)
"""After each epoch: the learning rate is 0.1^(epoch / 10) of the first."""
BATCH = 20
"""Drawings of one step, all of one alphabet; the table has 1,000 iterations an epoch in the place of a batch size."""
PRESETS = by_name(
    Preset(
        "paper", PAPER, Training(batch_size=BATCH, epochs=3, iterations=1000, decay=DECAY),
        data={"alphabets": 20, "size": 105, "units": [16, 96], "soft": 64, "head": "average"},
    ),
    Preset(
        "cpu", for_cpu(PAPER), Training(batch_size=BATCH, epochs=3, iterations=250, decay=DECAY), seconds=300,
        megabytes=4000, data={"alphabets": 5, "size": 21, "units": [8, 24], "soft": 16, "head": "flatten"},
    ),
    Preset(
        "smoke", for_smoke(PAPER), Training(batch_size=BATCH, epochs=1, iterations=60, decay=DECAY), seconds=120,
        megabytes=4000, data={"alphabets": 3, "size": 21, "units": [4, 12], "soft": 8, "head": "flatten"},
    ),
)  # fmt: skip


class Omniglot(Supervised):
    """Fitness is the accuracy averaged over the alphabets. Alphabets and splits are the same in every search."""

    title = "characters of many alphabets, an output for each"
    needs = ("omniglot",)

    @classmethod
    def presets(cls) -> Mapping[str, Preset]:
        return PRESETS

    def data(self) -> Mapping[str, Parts]:
        found = load_omniglot(alphabets=self.preset["alphabets"], size=self.preset["size"])
        return {
            task.name: Parts(_labelled(task.train), _labelled(task.validation), _labelled(task.test), task.classes)
            for task in found.tasks
        }

    def space(self) -> Space:
        low, high = self.preset["units"]
        layers = (
            LayerKind("conv2d", weighted((low, high), kernels=(1, 3))),
            LayerKind("dropout", {"rate": Real(0.0, 0.7)}),
            LayerKind("max_pooling2d"),
        )
        return Space(
            layers, merges=("weighted_sum",), settings=whole_network((1e-4, 1e-3)), head=self.preset["head"],
            soft=self.preset["soft"],
        )  # fmt: skip


def _labelled(part: Examples) -> Labelled:
    return Labelled(part.inputs / np.float32(255), part.labels)
