"""Every initialization that the library knows by name, on a plain and on a residual network without normalization."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autoinit.baselines import NAMES
from autoinit.labs.evolution import Job

from . import data_dependent, drawing
from .claim import Claim, Finding
from .data_dependent import Network
from .pictures import Pictures
from .recipe import TRAINED, compared
from .tables import accuracy, table
from .training_job import WORK, Training
from .trials import Trial, spread, where

__all__ = ["CLAIMS", "PRESETS", "TITLE", "WORK", "figures", "jobs", "losses", "summary", "tables"]

TITLE = "Every initialization by name"
LABELS = {
    "default": "PyTorch's default",
    "lsuv": "LSUV, S = 64",
    "autoinit": "AutoInit",
    "autoinit++": "AutoInit++",
    **{name: drawing.NAMES[name] for name in ("autoinit-paper", TRAINED)},
}
SAMPLES = 64


@dataclass(frozen=True)
class Preset:
    pictures: Pictures
    networks: tuple[Network, ...]
    schemes: tuple[str, ...] = NAMES
    samples: int = SAMPLES
    seeds: int = 3


def _shallow(name: str) -> tuple[Network, ...]:
    """Two networks of the contest: the last of its All-CNN-Cs, and the shallower of its residual networks."""
    networks = data_dependent.PRESETS[name].networks
    plain, residual = ([n for n in networks if n.model == model] for model in ("all_cnn_c", "preactivation_resnet"))
    return plain[-1], residual[0]


PRESETS = {
    "paper": Preset(Pictures("cifar10"), _shallow("paper")),
    "cpu": Preset(Pictures("cifar10", side=16, tested=2000), _shallow("cpu")),
    "smoke": Preset(Pictures("digits"), _shallow("smoke"), samples=4, seeds=1,
                    schemes=("default", "lsuv", "autoinit", TRAINED, "autoinit++")),
}  # fmt: skip
"""Networks and recipes of the contest with LSUV; All-CNN-C with the smaller rate where there are two.

cpu: 78 runs of about 10 and 30 core-seconds: 13 minutes on two cores.
"""


def jobs(preset: Preset) -> list[Job]:
    return [
        Training(
            at={"network": network.name, "scheme": scheme, "seed": seed},
            pictures=preset.pictures,
            model=network.model,
            model_options=network.options,
            scheme=scheme,
            scheme_options={"samples": preset.samples} if scheme == "lsuv" else {},
            recipe=network.recipe,
            seed=seed,
        ).job
        for network in reversed(preset.networks)
        for seed in range(preset.seeds)
        for scheme in preset.schemes
    ]


def summary(trials: Sequence[Trial], preset: Preset) -> dict[str, Any]:
    return {
        "networks": {
            n.name: {s: spread(where(trials, network=n.name, scheme=s)) for s in preset.schemes}
            for n in preset.networks
        }
    }


def tables(summary: Mapping[str, Any]) -> str:
    networks = summary["networks"]
    schemes = list(next(iter(networks.values())))
    rows = [[label(s), *(accuracy(found[s]) for found in networks.values())] for s in schemes]
    note = "Test accuracy in percent, median and range; -: most runs diverged."
    return f"{note}\n\n" + table(["initialization", *networks], rows)


def label(scheme: str) -> str:
    """glorot_uniform -> Glorot uniform, he_normal -> He normal."""
    shown = scheme.replace("_", " ").replace("lecun", "LeCun")
    return LABELS.get(scheme) or shown[0].upper() + shown[1:]


def figures(trials: Sequence[Trial], preset: Preset, folder: Path) -> list[str]:
    """A row for each initialization; medians and ranges, a cross where most runs diverged."""
    networks = summary(trials, preset)["networks"]
    drawn = drawing.figure(1.6 + 3.2 * len(networks), 1.2 + 0.24 * len(preset.schemes))
    axes = drawn.subplots(1, len(networks), sharey=True, sharex=True, squeeze=False)[0]
    for axis, (name, rows) in zip(axes, networks.items(), strict=True):
        drawing.ranges(axis, {label(scheme): found for scheme, found in rows.items()})
        axis.set_title(name, fontsize=9)
    return [drawing.finish(drawn, axes, folder / "initializations.png")]


def losses(summary: Mapping[str, Any]) -> list[str]:
    return [
        f"{name}: AutoInit {accuracy(rows['autoinit'])}, {label(scheme)} {accuracy(found)}"
        for name, rows in summary["networks"].items()
        for scheme, found in rows.items()
        if found and rows.get("autoinit") and found["median"] > rows["autoinit"]["median"]
    ]


def _recipe(summary: Mapping[str, Any]) -> Finding | None:
    pairs = {name: (rows.get("autoinit"), rows.get(TRAINED)) for name, rows in summary["networks"].items()}
    if not all(all(pair) for pair in pairs.values()):
        return None
    return compared({name: (a["median"], b["median"]) for name, (a, b) in pairs.items()})


CLAIMS = [Claim("Two networks of the contest with LSUV: AutoInit with the recipe for training is as accurate as "
                "without it, or more", None, _recipe)]  # fmt: skip
"""The paper makes none on this table."""
