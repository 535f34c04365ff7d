"""Hyperparameter variation in All-CNN-C: activation, dropout, weight decay and learning rate, one at a time.

The default is Glorot uniform. AutoInit is tried twice: with the paper's own formulas, and with those of this library.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autoinit.labs.evolution import Job
from autoinit.labs.training import Recipe
from autoinit.labs.training.recipes import ALL_CNN_C

from . import drawing
from .claim import Claim, Finding, share
from .pictures import Pictures
from .sensitivity import compared
from .tables import accuracy, number, table
from .training_job import WORK, Training
from .trials import Trial, mostly_learned, spread, where

__all__ = ["CLAIMS", "PRESETS", "TITLE", "WORK", "figures", "jobs", "losses", "summary", "tables"]

TITLE = "Hyperparameter variation in All-CNN-C"
SCHEMES = {"default": "glorot_uniform", "autoinit-paper": "autoinit-paper", "autoinit": "autoinit"}
PANELS = {
    "activation": "activation function",
    "dropout": "dropout rate",
    "weight_decay": "weight decay",
    "multiplier": "learning rate multiplier",
}
COMPARABLE = 0.01
"""Medians that are no further apart count as comparable."""


@dataclass(frozen=True)
class Preset:
    """`usual`: what the others are fixed to while one is varied over its values."""

    pictures: Pictures
    recipe: Recipe
    width: int = 96
    input_dropout: float = 0.2
    activation: tuple[str, ...] = ("relu", "elu", "selu", "gelu", "swish", "tanh")
    dropout: tuple[float, ...] = (0.0, 0.25, 0.5, 0.7)
    weight_decay: tuple[float, ...] = (0.0, 1e-4, 1e-3, 1e-2)
    multiplier: tuple[float, ...] = (0.1, 0.3, 1.0, 3.0, 10.0)
    usual: tuple[str, float, float, float] = ("relu", 0.5, 1e-3, 1.0)
    seeds: int = 3

    @property
    def settings(self) -> list[dict[str, Any]]:
        """All points of the four panels; the usual one, which they share, once."""
        usual = dict(zip(PANELS, self.usual, strict=True))
        found = [{**usual, panel: value} for panel in PANELS for value in getattr(self, panel)]
        return [one for k, one in enumerate(found) if one not in found[:k]]


CPU_RECIPE = Recipe(batch_size=32, steps=480, learning_rate=0.02, weight_decay=1e-3, schedule="triangle", warmup=0.25,
                    flip=True)  # fmt: skip
PRESETS = {
    "paper": Preset(Pictures("cifar10"), ALL_CNN_C),
    "cpu": Preset(Pictures("cifar10", side=16), CPU_RECIPE, width=12, input_dropout=0.0,
                  usual=("relu", 0.25, 1e-3, 1.0)),
    "smoke": Preset(Pictures("digits"), replace(CPU_RECIPE, steps=4, image_size=16), width=4,
                    activation=("relu", "tanh"), dropout=(0.5,), weight_decay=(1e-3,), multiplier=(1.0, 3.0), seeds=1),
}  # fmt: skip
"""paper: as in the appendix; 350 epochs for each of 144 runs.

cpu: images of 16 × 16 pixels, an eighth of the width, 480 steps of 32 images, dropout of 0.25 as the usual rate (a
narrow network learns little in so short a time with more); 144 runs of about 12 core-seconds (22 ms per step): 15
minutes on two cores.
"""


def jobs(preset: Preset) -> list[Job]:
    return [
        Training(
            at={**setting, "scheme": scheme, "seed": seed},
            pictures=preset.pictures,
            model="all_cnn_c",
            model_options={
                "activation": setting["activation"],
                "dropout": setting["dropout"],
                "input_dropout": preset.input_dropout,
                "width": preset.width,
            },
            scheme=SCHEMES[scheme],
            recipe=replace(
                preset.recipe,
                weight_decay=setting["weight_decay"],
                learning_rate=preset.recipe.learning_rate * setting["multiplier"],
            ),
            seed=seed,
        ).job
        for seed in range(preset.seeds)
        for setting in preset.settings
        for scheme in SCHEMES
    ]


def summary(trials: Sequence[Trial], preset: Preset) -> dict[str, Any]:
    """For each panel a list of points: the value, and the spread of accuracies of every initialization."""
    usual = dict(zip(PANELS, preset.usual, strict=True))
    panels = {
        panel: [
            {"value": value, **{s: spread(where(trials, **{**usual, panel: value}, scheme=s)) for s in SCHEMES}}
            for value in getattr(preset, panel)
        ]
        for panel in PANELS
    }
    return {"usual": usual, "panels": panels}


def tables(summary: Mapping[str, Any]) -> str:
    rows = [
        [PANELS[panel], number(point["value"]), *(accuracy(point[scheme]) for scheme in SCHEMES)]
        for panel, points in summary["panels"].items()
        for point in points
    ]
    usual = ", ".join(f"{PANELS[panel]} {number(value)}" for panel, value in summary["usual"].items())
    head = ["varied", "value", "default (Glorot uniform)", "AutoInit, paper's model", "AutoInit"]
    return f"Test accuracy in percent, median and range. Fixed while others vary: {usual}.\n\n" + table(head, rows)


def figures(trials: Sequence[Trial], preset: Preset, folder: Path) -> list[str]:
    """Four panels: a marker at each median, a line or band over the range."""
    panels = summary(trials, preset)["panels"]
    drawn = drawing.figure(12.5, 3.4)
    axes = drawn.subplots(1, len(PANELS), sharey=True)
    for axis, (panel, points) in zip(axes, panels.items(), strict=True):
        axis.set_xlabel(PANELS[panel], fontsize=9)
        axis.set_xticks(range(len(points)), [number(point["value"]) for point in points])
        for k, scheme in enumerate(SCHEMES):
            known = [(x, point[scheme]) for x, point in enumerate(points) if point[scheme]]
            if known:
                _draw(axis, known, scheme, (k - 1) * 0.18, categories=panel == "activation")
    axes[0].set_ylabel("test accuracy (%)", fontsize=9)
    drawing.legend_below(drawn, axes)
    return [drawing.finish(drawn, axes, folder / "hyperparameters.png")]


def _draw(
    axis: Any, known: Sequence[tuple[int, Mapping[str, Any]]], scheme: str, shift: float, categories: bool
) -> None:
    x = [place + (shift if categories else 0.0) for place, _ in known]
    low, mid, high = ([100 * one[name] for _, one in known] for name in ("low", "median", "high"))
    look = drawing.style(scheme)
    if categories:
        axis.vlines(x, low, high, color=look["color"], linewidth=1.2)
        look["linestyle"] = "none"
    else:
        axis.fill_between(x, low, high, color=look["color"], alpha=0.15, linewidth=0)
    axis.plot(x, mid, **look)


def losses(summary: Mapping[str, Any]) -> list[str]:
    return [
        f"{name}: AutoInit {accuracy(p['autoinit'])}; {drawing.NAMES[s]} {accuracy(p[s])}"
        for name, p in _distinct(summary, list(PANELS))
        for s in ("default", "autoinit-paper")
        if p["autoinit"] and p[s] and p[s]["median"] > p["autoinit"]["median"]
    ]


def _distinct(summary: Mapping[str, Any], panels: Sequence[str]) -> list[tuple[str, Mapping[str, Any]]]:
    """(name, point) of these panels. The usual point, which they share, is there once."""
    found: dict[str, Mapping[str, Any]] = {}
    for panel in panels:
        for point in summary["panels"][panel]:
            usual = len(panels) > 1 and point["value"] == summary["usual"][panel]
            found.setdefault("usual setting" if usual else f"{PANELS[panel]} {number(point['value'])}", point)
    return list(found.items())


def _complete(points: Sequence[tuple[str, Mapping[str, Any]]]) -> bool:
    return all(point[scheme] for _, point in points for scheme in SCHEMES)


def _better(panel: str, margin: float) -> Any:
    """AutoInit learned, and its median is above the default's, or below it by no more than a margin that is not 0."""

    def judge(summary: Mapping[str, Any]) -> Finding | None:
        points = _distinct(summary, [panel])
        if not _complete(points):
            return None
        good = sum(_ahead(point, "autoinit", margin) for _, point in points)
        shown = ", ".join(
            f"{number(p['value'])} {100 * p['default']['median']:.1f} / {100 * p['autoinit']['median']:.1f}"
            for _, p in points
        )
        return Finding(f"{shown} (default / AutoInit); {good} of {len(points)}", share(good, len(points)))

    return judge


def _ahead(point: Mapping[str, Any], scheme: str, margin: float = 0.0) -> bool:
    """Where the initialization itself is at chance, it is ahead of nothing."""
    default, ours = point["default"]["median"], point[scheme]["median"]
    return mostly_learned(point[scheme]) and (ours > default or (margin > 0 and ours >= default - margin))


def _less_sensitive(summary: Mapping[str, Any]) -> Finding | None:
    points = _distinct(summary, ["multiplier"])
    return compared([point for _, point in points], "multipliers", COMPARABLE) if _complete(points) else None


def _everywhere(scheme: str) -> Any:
    def judge(summary: Mapping[str, Any]) -> Finding | None:
        points = _distinct(summary, list(PANELS))
        if not _complete(points):
            return None
        good = sum(_ahead(point, scheme) for _, point in points)
        idle = sum(not any(mostly_learned(point[s]) for s in ("default", scheme)) for _, point in points)
        text = f"higher median in {good} of {len(points)} settings" + (f"; in {idle} neither learned" if idle else "")
        return Finding(text, share(good, len(points)))

    return judge


CLAIMS = [
    Claim("All-CNN-C: AutoInit is comparable or better with every activation function (medians within a point count "
          "as comparable)", "figure", _better("activation", COMPARABLE)),
    Claim("All-CNN-C: better across all dropout rates", "figure", _better("dropout", 0.0)),
    Claim("All-CNN-C: better across all weight decay settings", "figure", _better("weight_decay", 0.0)),
    Claim("All-CNN-C: less sensitive to the learning rate", "figure", _less_sensitive),
    Claim("All-CNN-C: AutoInit improved performance in every hyperparameter variation", "figure",
          _everywhere("autoinit")),
    Claim("All-CNN-C: AutoInit with the paper's own formulas (`rules.paper`) improved performance in every "
          "hyperparameter variation", "figure", _everywhere("autoinit-paper")),
]  # fmt: skip
