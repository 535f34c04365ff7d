"""Language: toxic or healthy comments of Wikipedia's talk pages."""

from __future__ import annotations

from collections.abc import Mapping

from ...data import area_under_curve, load_toxicity
from ..presets import Preset, Training
from ..ranges import Real
from ..settings import Evolution
from ..space import LayerKind, Space, weighted, whole_network
from ..supervised import Array, Labelled, Parts, Supervised
from .sizes import by_name, for_cpu, for_smoke

PAPER = Evolution(
    generations=30, blueprints=22, modules=56, evaluations=4, preserved=12, blueprint_species=1, module_species=4,
    blueprint_elitism=0.2, module_elitism=0.2, change=0.5, blueprint_connection=0.2, module_connection=0.2,
    module_layer=0.2, blueprint_node=0.2,
)  # fmt: skip
PRESETS = by_name(
    Preset(
        "paper", PAPER, Training(batch_size=128, epochs=3),
        data={"parts": None, "words": 20000, "length": 200, "embedding": 128, "units": [64, 192]},
    ),
    Preset(
        "cpu", for_cpu(PAPER), Training(batch_size=32, epochs=3), seconds=300, megabytes=4000,
        data={"parts": [4000, 2000, 4000], "words": 5000, "length": 40, "embedding": 24, "units": [8, 32]},
    ),
    Preset(
        "smoke", for_smoke(PAPER), Training(batch_size=32, epochs=1), seconds=120, megabytes=4000,
        data={"parts": [1000, 500, 1000], "words": 2000, "length": 20, "embedding": 12, "units": [4, 16]},
    ),
)  # fmt: skip
REGULARIZERS = ("l1", "l2")


class Toxicity(Supervised):
    """The preset's `parts`: how many comments to train, validate and test with, half of them toxic; None for all."""

    title = "toxic or healthy comments of Wikipedia"
    needs = ("toxicity",)

    @classmethod
    def presets(cls) -> Mapping[str, Preset]:
        return PRESETS

    def data(self) -> Parts:
        comments = load_toxicity()
        if self.preset["parts"] is not None:
            comments = comments.balanced(*self.preset["parts"])
        words = comments.encoded(self.preset["words"], self.preset["length"])
        train, validation, test = (Labelled(p.inputs, p.labels) for p in (words.train, words.validation, words.test))
        return Parts(train, validation, test, words.classes, words.vocabulary.size)

    def scores(self, logits: Array, labels: Array) -> dict[str, float]:
        """The area under the ROC curve as well; "toxic" is class 1."""
        return {**super().scores(logits, labels), "auc": area_under_curve(labels, logits[:, 1] - logits[:, 0])}

    def space(self) -> Space:
        low, high = self.preset["units"]
        recurrent = weighted((low, high), activation=False, regularizers=REGULARIZERS)
        layers = (
            LayerKind("conv1d", weighted((low, high), kernels=(1, 3, 5, 7), regularizers=REGULARIZERS)),
            LayerKind("gru", recurrent),
            LayerKind("lstm", recurrent),
            LayerKind("max_pooling1d"),
            LayerKind("spatial_dropout1d", {"rate": Real(0.0, 0.5)}),
        )
        return Space(
            layers, merges=("add", "concatenate"), settings=whole_network((1e-4, 1e-2)), head="maximum",
            embedding=self.preset["embedding"],
        )  # fmt: skip
