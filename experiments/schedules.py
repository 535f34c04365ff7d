"""ResNet-164 under many learning rate schedules, with and without batch normalization.

A schedule is a linear warm-up to a peak, then a cosine to zero. The default is He normal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autoinit.labs.evolution import Job
from autoinit.labs.training import Recipe
from autoinit.labs.training.recipes import RESNET

from . import drawing
from .claim import NO, PARTLY, YES, Claim, Finding, share
from .pictures import Pictures
from .sensitivity import compared
from .tables import accuracy, number, percent, table
from .training_job import WORK, Training
from .trials import Trial, mostly_learned, spread, where

__all__ = ["CLAIMS", "PRESETS", "TITLE", "WORK", "figures", "jobs", "losses", "summary", "tables"]

TITLE = "ResNet-164 with different learning rate schedules"
SCHEMES = {"default": "he_normal", "autoinit": "autoinit"}
COMPARABLE = 0.02
"""Accuracies of the best schedules that are no further apart count as comparable."""


@dataclass(frozen=True)
class Preset:
    """`warmups`: fractions of the run."""

    pictures: Pictures
    recipe: Recipe
    width: int = 16
    depth: int = 164
    peaks: tuple[float, ...] = (0.01, 0.1, 1.0)
    warmups: tuple[float, ...] = (0.0, 0.2)
    seeds: int = 1


PRESETS = {
    "paper": Preset(Pictures("cifar10"), RESNET, peaks=(0.001, 0.01, 0.05, 0.1, 0.5, 1.0), warmups=(0.0, 0.025, 0.1)),
    "cpu": Preset(Pictures("cifar10", side=16, tested=2000),
                  replace(RESNET, batch_size=32, epochs=None, steps=200, pad=0), width=8,
                  peaks=(0.02, 0.1, 0.5)),
    "smoke": Preset(Pictures("digits"), replace(RESNET, batch_size=16, epochs=None, steps=3, image_size=16),
                    width=2, depth=11, peaks=(0.1,)),
}  # fmt: skip
"""paper: 200 epochs for each schedule; the paper does not say which schedules it tried.

cpu: images of 16 × 16 pixels, half the width, 200 steps of 32 images, 2,000 test images; 24 runs of 55 to 70
core-seconds (260 to 320 ms per step) but for those that diverge at once: 10 minutes on two cores.
"""


def jobs(preset: Preset) -> list[Job]:
    return [
        Training(
            at={"norm": norm, "peak": peak, "warmup": warmup, "scheme": scheme, "seed": seed},
            pictures=preset.pictures,
            model="preactivation_resnet",
            model_options={"depth": preset.depth, "norm": norm, "width": preset.width},
            scheme=SCHEMES[scheme],
            recipe=replace(preset.recipe, learning_rate=peak, warmup=warmup),
            seed=seed,
        ).job
        for seed in range(preset.seeds)
        for norm in (True, False)
        for peak in preset.peaks
        for warmup in preset.warmups
        for scheme in SCHEMES
    ]


def summary(trials: Sequence[Trial], preset: Preset) -> dict[str, Any]:
    points = [
        {
            "norm": norm,
            "peak": peak,
            "warmup": warmup,
            **{s: spread(where(trials, norm=norm, peak=peak, warmup=warmup, scheme=s)) for s in SCHEMES},
        }
        for norm in (True, False)
        for peak in preset.peaks
        for warmup in preset.warmups
    ]
    return {"depth": preset.depth, "points": points}


def tables(summary: Mapping[str, Any]) -> str:
    rows = [
        ["yes" if point["norm"] else "no", number(point["peak"]), f"{100 * point['warmup']:g} %",
         *(accuracy(point[scheme]) for scheme in SCHEMES)]
        for point in summary["points"]
    ]  # fmt: skip
    head = ["batch norm", "peak rate", "warm-up", "default (He normal)", "AutoInit"]
    return f"Test accuracy of ResNet-{summary['depth']} in percent; -: diverged.\n\n" + table(head, rows)


def figures(trials: Sequence[Trial], preset: Preset, folder: Path) -> list[str]:
    """Two panels, with and without norm; a group of bars for each schedule."""
    points = summary(trials, preset)["points"]
    drawn = drawing.figure(9.5, 3.5)
    axes = drawn.subplots(1, 2, sharey=True)
    for axis, norm in zip(axes, (True, False), strict=True):
        shown = [point for point in points if point["norm"] == norm]
        drawing.chance_line(axis, 0.1)
        for k, scheme in enumerate(SCHEMES):
            known = [(x, point[scheme]) for x, point in enumerate(shown) if point[scheme]]
            axis.bar([x + 0.38 * (k - 0.5) for x, _ in known], [100 * one["median"] for _, one in known], 0.36,
                     color=drawing.COLOURS[scheme], label=drawing.NAMES[scheme])  # fmt: skip
        names = [f"{number(point['peak'])}\n{100 * point['warmup']:g} %" for point in shown]
        axis.set_xticks(range(len(shown)), names)
        axis.set_title(f"ResNet-{preset.depth}, {'batch norm' if norm else 'no norm'}", fontsize=9)
        axis.set_xlabel("peak learning rate, warm-up", fontsize=9)
    axes[0].set_ylabel("test accuracy (%)", fontsize=9)
    drawing.legend_below(drawn, axes)
    return [drawing.finish(drawn, axes, folder / "schedules.png")]


def losses(summary: Mapping[str, Any]) -> list[str]:
    return [
        f"{'batch norm' if p['norm'] else 'no norm'}, peak {number(p['peak'])}, warm-up {100 * p['warmup']:g} %: "
        f"AutoInit {accuracy(p['autoinit'])}, default {accuracy(p['default'])}"
        for p in summary["points"]
        if p["autoinit"] and p["default"] and p["default"]["median"] > p["autoinit"]["median"]
    ]


def _points(summary: Mapping[str, Any], norm: bool) -> list[Mapping[str, Any]] | None:
    points = [point for point in summary["points"] if point["norm"] == norm]
    return None if any(point[scheme] is None for point in points for scheme in SCHEMES) else points


def _comparable_at_best(summary: Mapping[str, Any]) -> Finding | None:
    points = _points(summary, True)
    if points is None:
        return None
    default, ours = (max((point[scheme] for point in points), key=lambda one: one["median"]) for scheme in SCHEMES)
    difference = ours["median"] - default["median"]
    text = f"best schedule with norm: {percent(default['median'])} (default), {percent(ours['median'])} (AutoInit)"
    if not mostly_learned(ours) or difference < -COMPARABLE:
        return Finding(text, NO)
    return Finding(text, YES if difference <= COMPARABLE else PARTLY)


def _degrades_less(summary: Mapping[str, Any]) -> Finding | None:
    points = _points(summary, True)
    return None if points is None else compared(points, "schedules with norm", COMPARABLE)


def _every_case(summary: Mapping[str, Any]) -> Finding | None:
    """A schedule with which neither learned is no case: in the paper, too, AutoInit fails without norm with some."""
    both = [_points(summary, norm) for norm in (True, False)]
    if None in both:
        return None
    points = [point for found in both for point in found or []]
    counted = [point for point in points if any(mostly_learned(point[scheme]) for scheme in SCHEMES)]
    good = sum(
        mostly_learned(p["autoinit"]) and p["autoinit"]["median"] >= p["default"]["median"] - COMPARABLE
        for p in counted
    )
    text = f"comparable (two points) or better in {good} of the {len(counted)} schedules (of {len(points)}) with which "
    return Finding(text + "either learned", share(good, len(counted)) if counted else NO)


def _without_norm(summary: Mapping[str, Any]) -> Finding | None:
    points = _points(summary, False)
    if points is None:
        return None
    default, ours = (sum(mostly_learned(p[s]) for p in points) for s in SCHEMES)
    best = max(point["autoinit"]["median"] for point in points)
    text = f"schedules that learned: default {default}, AutoInit {ours} of {len(points)}; best {100 * best:.1f}"
    return Finding(text, YES if default == 0 and 2 * ours > len(points) else PARTLY if ours > default else NO)


CLAIMS = [
    Claim("ResNet-164 with norm: comparable with the best schedules", "figure", _comparable_at_best),
    Claim("ResNet-164 with norm: suboptimal schedules cost the default more", "figure", _degrades_less),
    Claim("ResNet-164: AutoInit comparable or better in every case", "figure", _every_case),
    Claim("ResNet-164 without norm: default fails with every schedule, AutoInit works with the majority", "figure",
          _without_norm),
]  # fmt: skip
