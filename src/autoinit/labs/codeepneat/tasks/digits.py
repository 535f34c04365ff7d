"""The example: scikit-learn's 1,797 handwritten digits of 8 × 8 pixels, for small convolutional networks."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...data import load
from ...data.images import Split
from ..presets import Preset, Training
from ..settings import Evolution
from ..space import Space
from ..supervised import Labelled, Parts, Supervised
from .convolutions import convolutions

SMALL = Evolution(
    generations=10, blueprints=8, modules=16, evaluations=2, preserved=6, module_species=3, module_layer=0.2,
    blueprint_node=0.25,
)  # fmt: skip
PRESETS = (
    Preset("paper", Evolution(), Training(batch_size=128, epochs=20), seconds=600, data={"units": [16, 96]}),
    Preset("cpu", SMALL, Training(batch_size=32, epochs=5), seconds=120, data={"units": [8, 32]}),
    Preset(
        "smoke",
        SMALL.changed(generations=3, blueprints=3, modules=6, module_species=2, evaluations=2, preserved=3),
        Training(batch_size=32, epochs=1),
        seconds=60,
        data={"units": [4, 16]},
    ),
)


class Digits(Supervised):
    title = "handwritten digits of scikit-learn, 8 × 8 pixels"
    needs = ("digits",)

    @classmethod
    def presets(cls) -> Mapping[str, Preset]:
        return {preset.name: preset for preset in PRESETS}

    def data(self) -> Parts:
        images = load("digits")
        train, validation, test = map(_labelled, (images.train, images.validation, images.test))
        return Parts(train, validation, test, images.classes)

    def space(self) -> Space:
        low, high = self.preset["units"]
        return convolutions((low, high))


def _labelled(split: Split) -> Labelled:
    return Labelled(np.asarray(split.images) / np.float32(255), split.labels)
