"""Tabular: who earns over $50,000 a year, by 14 features of the Adult data as PMLB codes them."""

from __future__ import annotations

from collections.abc import Mapping

from ...data import Examples, load_adult
from ..presets import Preset, Training
from ..ranges import Real
from ..settings import Evolution
from ..space import LayerKind, Space, weighted, whole_network
from ..supervised import Labelled, Parts, Supervised
from .sizes import by_name, for_cpu, for_smoke

PAPER = Evolution(
    generations=30, blueprints=22, modules=56, evaluations=4, preserved=12, blueprint_species=1, module_species=4,
    blueprint_elitism=0.4, module_elitism=0.4, change=0.25, blueprint_connection=0.12, module_connection=0.08,
    module_layer=0.08, blueprint_node=0.16,
)  # fmt: skip
UNITS = [64, 192]
PRESETS = by_name(
    Preset("paper", PAPER, Training(batch_size=32, epochs=25), data={"split": 0, "rows": None, "units": UNITS}),
    Preset(
        "cpu", for_cpu(PAPER), Training(batch_size=32, epochs=5), seconds=300, megabytes=4000,
        data={"split": 0, "rows": 8000, "units": UNITS},
    ),
    Preset(
        "smoke", for_smoke(PAPER), Training(batch_size=32, epochs=1), seconds=120, megabytes=4000,
        data={"split": 0, "rows": 4000, "units": [8, 32]},
    ),
)  # fmt: skip


class Adult(Supervised):
    """A search with another seed has another split; the preset's `rows` says how many are trained on, None all."""

    title = "income over $50,000 a year from 14 features"
    needs = ("adult",)

    @classmethod
    def presets(cls) -> Mapping[str, Preset]:
        return PRESETS

    @classmethod
    def settled(cls, preset: Preset, seed: int) -> Preset:
        return preset.with_data(split=seed)

    def data(self) -> Parts:
        table = load_adult(seed=self.preset["split"])
        train = _labelled(table.train, self.preset["rows"])
        return Parts(train, _labelled(table.validation), _labelled(table.test), table.classes)

    def space(self) -> Space:
        low, high = self.preset["units"]
        layers = (
            LayerKind("dense", weighted((low, high), regularizers=("l1", "l2"))),
            LayerKind("dropout", {"rate": Real(0.0, 0.9)}),
        )
        return Space(layers, merges=("add", "concatenate"), settings=whole_network((1e-4, 1e-2)))


def _labelled(part: Examples, rows: int | None = None) -> Labelled:
    return Labelled(part.inputs[:rows], part.labels[:rows])
