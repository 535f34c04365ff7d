"""ResNet-50 on ImageNet, for machines with accelerators: default against AutoInit.

The paper does not say what the default is here; it is taken to be that of its CoAtNet experiments, whose setup it
shares. ν is 1, AutoInit's own default.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autoinit.labs.evolution import Job
from autoinit.labs.training import Recipe
from autoinit.labs.training.recipes import IMAGENET

from . import drawing
from .claim import NO, PARTLY, YES, Claim, Finding
from .networks import COATNET_DEFAULT
from .pictures import Pictures
from .tables import percent, table
from .training_job import WORK, Training
from .trials import Trial, median_of, mostly_learned, spread, where

__all__ = ["CLAIMS", "PRESETS", "TITLE", "WORK", "figures", "jobs", "losses", "summary", "tables"]

TITLE = "ResNet-50 on ImageNet"
SCHEMES = {"default": COATNET_DEFAULT, "autoinit": "autoinit"}
PAPER = {"default": (74.33, 91.60), "autoinit": (75.35, 92.03)}
"""Top-1 and top-5 in percent."""


@dataclass(frozen=True)
class Preset:
    pictures: Pictures
    recipe: Recipe
    seeds: int = 1


PRESETS = {
    "paper": Preset(Pictures("imagenet", side=160), IMAGENET),
    "smoke": Preset(
        Pictures("digits", tested=50), replace(IMAGENET, batch_size=4, epochs=None, steps=2, image_size=32)
    ),
}
"""paper: 105 epochs, batches of 2,048 spread over all GPUs of the machine. There is no size for CPUs.

smoke: two steps on digits, with everything else as it is.
"""


def jobs(preset: Preset) -> list[Job]:
    return [
        Training(
            at={"scheme": scheme, "seed": seed},
            pictures=preset.pictures,
            model="resnet50",
            scheme=SCHEMES[scheme],
            recipe=preset.recipe,
            seed=seed,
            parallel=True,
        ).job
        for seed in range(preset.seeds)
        for scheme in SCHEMES
    ]


def summary(trials: Sequence[Trial], preset: Preset) -> dict[str, Any]:
    """Of each initialization that has a result: the spread of top-1, the median of top-5."""
    known = {scheme: where(trials, scheme=scheme) for scheme in SCHEMES}
    return {
        scheme: {"top1": top1, "top5": median_of([t for t in found if not t.diverged], "top5")}
        for scheme, found in known.items()
        if (top1 := spread(found))
    }


def tables(summary: Mapping[str, Any]) -> str:
    rows = [
        [drawing.NAMES[s], percent(summary[s]["top1"]["median"]), percent(summary[s]["top5"]), *map(str, PAPER[s])]
        for s in SCHEMES
        if s in summary
    ]
    return table(["", "top-1 (%)", "top-5 (%)", "paper, top-1", "paper, top-5"], rows)


def figures(trials: Sequence[Trial], preset: Preset, folder: Path) -> list[str]:
    """Two pairs of bars."""
    found = summary(trials, preset)
    drawn = drawing.figure(4.5, 3.2)
    axis = drawn.subplots()
    for k, scheme in enumerate(s for s in SCHEMES if s in found):
        heights = [100 * found[scheme]["top1"]["median"], 100 * (found[scheme]["top5"] or 0.0)]
        axis.bar([x + 0.38 * (k - 0.5) for x in range(2)], heights, 0.36, color=drawing.COLOURS[scheme],
                 label=drawing.NAMES[scheme])  # fmt: skip
    axis.set_xticks(range(2), ["top-1", "top-5"])
    axis.set_ylabel("accuracy (%)", fontsize=9)
    drawing.legend_below(drawn, [axis])
    return [drawing.finish(drawn, [axis], folder / "imagenet.png")]


def losses(summary: Mapping[str, Any]) -> list[str]:
    if any(scheme not in summary for scheme in SCHEMES):
        return []
    both = zip(("top-1", "top-5"), *(_medians(summary, scheme) for scheme in SCHEMES), strict=True)
    return [f"{name}: AutoInit {percent(ours)}, default {percent(d)}" for name, d, ours in both if d > ours]


def _medians(summary: Mapping[str, Any], scheme: str) -> tuple[float, float]:
    return summary[scheme]["top1"]["median"], summary[scheme]["top5"] or 0.0


def _improves(summary: Mapping[str, Any]) -> Finding | None:
    if any(scheme not in summary for scheme in SCHEMES):
        return None
    default, ours = (_medians(summary, scheme) for scheme in SCHEMES)
    better = mostly_learned(summary["autoinit"]["top1"]) * sum(a > d for d, a in zip(default, ours, strict=True))
    text = " to ".join(f"{percent(one)} / {percent(five)}" for one, five in (default, ours))
    return Finding(f"top-1 / top-5 from {text}", (NO, PARTLY, YES)[better])


CLAIMS = [
    Claim("ResNet-50 on ImageNet: AutoInit improves top-1 and top-5", "74.33 / 91.60 to 75.35 / 92.03", _improves)
]
