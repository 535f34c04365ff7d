"""Transfer learning: 102 kinds of flowers from the embeddings of a pretrained network."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ....core.lazy import lazy
from ....errors import OptionError
from ...data import Examples, load
from ...data.choosing import balanced
from ..presets import Preset, Training
from ..ranges import Real
from ..settings import Evolution
from ..space import LayerKind, Space, weighted, whole_network
from ..supervised import Array, Labelled, Parts, Supervised
from .sizes import by_name, for_smoke

if TYPE_CHECKING:
    from ...embeddings import Embeddings, Pretrained

PAPER = Evolution(
    generations=30, blueprints=20, modules=20, evaluations=1, preserved=1, blueprint_species=1, module_species=2,
    blueprint_elitism=0.1, module_elitism=0.4, change=0.5, blueprint_connection=0.12, module_connection=0.08,
    module_layer=0.08, blueprint_node=0.16,
)  # fmt: skip
UNITS = [64, 192]
DEFAULT = {"network": "efficientnet_lite0", "weights": None}
PRESETS = by_name(
    Preset(
        "paper", PAPER, Training(batch_size=8, epochs=30, optimizer="sgd", scaled_penalty=True),
        data={**DEFAULT, "size": 224, "views": 30, "tested": None, "units": UNITS},
    ),
    Preset(
        "cpu", PAPER.changed(generations=10, blueprints=16, preserved=6),
        Training(batch_size=8, epochs=10, optimizer="sgd", scaled_penalty=True), seconds=300, megabytes=4000,
        data={**DEFAULT, "size": 128, "views": 4, "tested": None, "units": UNITS},
    ),
    Preset(
        "smoke", for_smoke(PAPER), Training(batch_size=8, epochs=3, optimizer="sgd", scaled_penalty=True),
        seconds=120, megabytes=4000, data={**DEFAULT, "size": 64, "views": 1, "tested": 1020, "units": UNITS},
    ),
)  # fmt: skip
WEIGHTS = "AUTOINIT_DENSENET121"
"""The environment variable that names a file of DenseNet-121's weights, the paper's network."""


class Flowers(Supervised):
    """Every epoch has each training image once, as one of its augmented views.

    The preset's `tested`: how many of the 6,149 test images, as many of each kind, None for all.
    """

    title = "102 kinds of flowers from embeddings of a pretrained network"
    needs = ("flowers102", "efficientnet_lite0")
    standardized = False  # by what is trained on, the views

    @classmethod
    def presets(cls) -> Mapping[str, Preset]:
        return PRESETS

    @classmethod
    def settled(cls, preset: Preset, seed: int) -> Preset:
        """With DenseNet-121, if the user names a file of its weights; the search is then recorded as one on these."""
        if os.environ.get(WEIGHTS) is None:
            return preset
        return preset.with_data(network="densenet121", weights=_densenet121().digest)

    @lazy
    def embedded(self) -> Embeddings:
        """Every feature with mean 0 and variance 1 over what is trained on."""
        from ...embeddings import embeddings

        images = load("flowers102", size=self.preset["size"])
        if self.preset["tested"] is not None:
            chosen = balanced(images.test.labels, self.preset["tested"], seed=0, where="tested")
            images = replace(images, test=images.test.take(chosen))
        found = embeddings(images, self._network(), views=self.preset["views"])
        trained = found.views if len(found.views) else found.train.inputs[None]
        mean, std = trained.mean(axis=(0, 1), dtype=np.float64), trained.std(axis=(0, 1), dtype=np.float64)
        scale = np.where(std > 0, std, 1.0)

        def scaled(part: Examples) -> Examples:
            return Examples(((part.inputs - mean) / scale).astype(np.float32), part.labels)

        train, validation, test = map(scaled, (found.train, found.validation, found.test))
        views = ((found.views - mean) / scale).astype(np.float32)
        return replace(found, train=train, validation=validation, test=test, views=views)

    def data(self) -> Parts:
        found = self.embedded
        train, validation, test = (Labelled(p.inputs, p.labels) for p in (found.train, found.validation, found.test))
        return Parts(train, validation, test, found.classes)

    def batch(self, name: str, places: Array, rng: np.random.Generator) -> Array:
        views = self.embedded.views
        if not len(views):
            return super().batch(name, places, rng)
        chosen: Array = views[rng.integers(len(views), size=len(places)), places]
        return chosen

    def space(self) -> Space:
        low, high = self.preset["units"]
        layers = (
            LayerKind("dense", weighted((low, high), regularizers=("l1", "l2"), strength=(1e-7, 1e-3))),
            LayerKind("dropout", {"rate": Real(0.0, 0.9)}),
        )
        return Space(layers, merges=(), settings=whole_network((1e-4, 1e-1)))

    def _network(self) -> Pretrained:
        from ...embeddings import pretrained

        if self.preset["network"] != "densenet121":
            return pretrained(self.preset["network"])
        network = _densenet121()
        if network.digest != self.preset["weights"]:
            raise OptionError("these are not the weights that the search began with", where=WEIGHTS,
                              received=f"{os.environ.get(WEIGHTS)} (SHA-256 {network.digest})",
                              fix=f"name the file with SHA-256 {self.preset['weights']}")  # fmt: skip
        return network


def _densenet121() -> Pretrained:
    from ...embeddings import pretrained

    return pretrained("densenet121", os.environ.get(WEIGHTS))
