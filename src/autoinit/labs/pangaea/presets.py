"""Settings of a discovery run: how many functions, in which network, trained how. Plain data, saved with results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from difflib import get_close_matches
from typing import Any

from ...errors import OptionError


@dataclass(frozen=True)
class Setting:
    """What one evaluation needs to know besides the function and the initialization."""

    data: str = "cifar10"
    directory: str | None = None
    validation: int = 5000
    image_size: int = 32
    width: int = 96
    dropout: float = 0.5
    input_dropout: float = 0.2
    recipe: Mapping[str, Any] = field(default_factory=dict)
    """Fields of `autoinit.labs.training.Recipe`."""
    device: str = "cpu"

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "recipe": dict(self.recipe)}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Setting:
        _known((cls,), given)
        return cls(**given)


@dataclass(frozen=True)
class Preset:
    """A run: `functions` random functions (with `mutations` and up to `parameters` parameters each) in one setting."""

    name: str
    setting: Setting
    functions: int = 200
    mutations: int = 3
    parameters: int = 3
    baselines: int = 5
    """Seeds with which ReLU is trained, for the line that a discovered function has to beat."""
    seconds: float | None = None
    megabytes: int | None = None
    """Limits of one evaluation."""
    seed: int = 0

    def changed(self, **values: Any) -> Preset:
        """The same preset with some fields replaced; fields of the setting are named alike."""
        _known((Preset, Setting), values)
        inner = {f.name for f in fields(Setting)}
        setting = replace(self.setting, **{k: v for k, v in values.items() if k in inner})
        return replace(self, setting=setting, **{k: v for k, v in values.items() if k not in inner})


def _known(classes: tuple[type, ...], given: Mapping[str, Any]) -> None:
    names = [f.name for cls in classes for f in fields(cls)]
    for name in given:
        if name not in names:
            close = get_close_matches(name, names, n=1)
            fix = f"did you mean '{close[0]}'?" if close else f"known fields: {', '.join(names)}"
            raise OptionError(f"unknown field '{name}'", where=classes[0].__name__, received=f"{name}={given[name]!r}",
                              fix=fix)  # fmt: skip


PAPER = Preset(
    "paper",
    Setting(recipe={
        "batch_size": 128, "epochs": 350, "optimizer": "sgd", "learning_rate": 0.01, "momentum": 0.9,
        "weight_decay": 1e-3, "schedule": "steps", "milestones": [200 / 350, 250 / 350, 300 / 350], "factor": 0.1,
        "flip": True, "pad": 5,
    }),
)  # fmt: skip
"""The paper's run: All-CNN-C on CIFAR-10, 350 epochs for each function. For machines with accelerators."""

CPU = Preset(
    "cpu",
    Setting(
        image_size=16, width=12, dropout=0.0, input_dropout=0.0,
        recipe={
            "batch_size": 32, "steps": 800, "optimizer": "sgd", "learning_rate": 0.02, "momentum": 0.9,
            "weight_decay": 1e-4, "schedule": "triangle", "warmup": 0.25, "flip": True,
        },
    ),
    seconds=300, megabytes=4000,
)  # fmt: skip
"""Two cores, under two hours: an All-CNN-C of an eighth of the width, images of half the size, 25,600 images seen."""

SMOKE = Preset(
    "smoke",
    Setting(
        data="digits", validation=300, image_size=8, width=8, dropout=0.0, input_dropout=0.0,
        recipe={
            "batch_size": 32, "steps": 60, "image_size": 16, "optimizer": "sgd", "learning_rate": 0.05,
            "momentum": 0.9, "schedule": "triangle", "warmup": 0.25,
        },
    ),
    functions=4, baselines=1, seconds=60, megabytes=4000,
)  # fmt: skip
"""Seconds, on the digits that come with scikit-learn: to see that everything works."""

PRESETS = {preset.name: preset for preset in (PAPER, CPU, SMOKE)}


def preset(name: str) -> Preset:
    if name not in PRESETS:
        raise OptionError(
            f"unknown preset '{name}'", where="preset", received=repr(name), fix=f"one of {', '.join(PRESETS)}"
        )
    return PRESETS[name]
