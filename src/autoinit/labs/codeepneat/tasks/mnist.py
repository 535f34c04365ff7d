"""Vision: the handwritten digits of MNIST, 28 × 28 pixels."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...data import Split, load
from ...data.choosing import balanced
from ..presets import Preset, Training
from ..settings import Evolution
from ..space import Space
from ..supervised import Labelled, Parts, Supervised
from .convolutions import convolutions
from .sizes import by_name, for_cpu, for_smoke

PAPER = Evolution(
    generations=30, blueprints=22, modules=56, evaluations=4, preserved=12, blueprint_species=1, module_species=4,
    blueprint_elitism=0.4, module_elitism=0.4, change=0.25, blueprint_connection=0.12, module_connection=0.08,
    module_layer=0.08, blueprint_node=0.16,
)  # fmt: skip
PRESETS = by_name(
    Preset("paper", PAPER, Training(batch_size=128, epochs=5), data={"parts": None, "units": [16, 96]}),
    Preset(
        "cpu", for_cpu(PAPER), Training(batch_size=32, epochs=3), seconds=300, megabytes=4000,
        data={"parts": [5000, 2000, 10000], "units": [8, 24]},
    ),
    Preset(
        "smoke", for_smoke(PAPER), Training(batch_size=32, epochs=1), seconds=120, megabytes=4000,
        data={"parts": [1000, 500, 1000], "units": [4, 12]},
    ),
)  # fmt: skip


class Mnist(Supervised):
    """The preset's `parts`: how many images to train, validate and test with; None for 55,000, 5,000 and 10,000."""

    title = "handwritten digits, 28 × 28 pixels"
    needs = ("mnist",)

    @classmethod
    def presets(cls) -> Mapping[str, Preset]:
        return PRESETS

    def data(self) -> Parts:
        images = load("mnist")
        splits = (images.train, images.validation, images.test)
        counts = self.preset["parts"] or [len(split) for split in splits]
        train, validation, test = (_some(split, count) for split, count in zip(splits, counts, strict=True))
        return Parts(train, validation, test, images.classes)

    def space(self) -> Space:
        low, high = self.preset["units"]
        return convolutions((low, high))


def _some(split: Split, count: int) -> Labelled:
    """So many images, as many of each digit as of any other; or all of them as they are."""
    chosen = split if count == len(split) else split.take(balanced(split.labels, count, seed=0, where="parts"))
    return Labelled(chosen.images / np.float32(255), chosen.labels)
