"""Which learning rates let unnormalised residual networks begin to learn: five epochs for each of many rates.

The default is He normal. A network has begun to learn when it is significantly better than chance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from autoinit.labs.evolution import Job
from autoinit.labs.training import Recipe
from autoinit.labs.training.recipes import RESNET_STABILITY

from . import drawing
from .claim import NO, PARTLY, YES, Claim, Finding, share
from .pictures import Pictures
from .recipe import TRAINED
from .tables import number, percent, table
from .training_job import WORK, Training
from .trials import Trial, mostly_diverged, mostly_learned, spread, where

__all__ = ["CLAIMS", "PRESETS", "TITLE", "WORK", "figures", "jobs", "losses", "summary", "tables"]

TITLE = "Learning rates at which residual networks without norm begin to learn"
SCHEMES = {"default": "he_normal", "autoinit": "autoinit", TRAINED: TRAINED}
RATES = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 5e-4, 1e-3, 5e-3, 0.01, 0.05, 0.1, 0.5)


@dataclass(frozen=True)
class Preset:
    pictures: Pictures
    recipe: Recipe
    width: int = 16
    depths: tuple[int, ...] = (56, 164, 812)
    rates: tuple[float, ...] = RATES
    steps: tuple[int | None, ...] = (None, None, None)
    """For each depth, instead of the recipe's length."""
    seeds: int = 1

    def recipe_of(self, depth: int, rate: float) -> Recipe:
        steps = self.steps[self.depths.index(depth)]
        shorter = self.recipe if steps is None else replace(self.recipe, epochs=None, steps=steps)
        return replace(shorter, learning_rate=rate)


PRESETS = {
    "paper": Preset(Pictures("cifar10"), RESNET_STABILITY),
    "cpu": Preset(Pictures("cifar10", side=16, tested=2000),
                  replace(RESNET_STABILITY, batch_size=32, pad=0), width=8, steps=(500, 250, 160),
                  rates=(1e-8, 1e-6, 1e-4, 5e-4, 1e-3, 5e-3, 0.01, 0.05, 0.1, 0.5)),
    "smoke": Preset(Pictures("digits"), replace(RESNET_STABILITY, batch_size=16, epochs=None, steps=3, image_size=16),
                    width=2, depths=(11, 20), rates=(1e-3, 0.1), steps=(3, 3)),
}  # fmt: skip
"""paper: five epochs of CIFAR-10 for each rate; the schedule is open in the paper, here constant.

cpu: images of 16 × 16 pixels, half the width, 500, 250 and 160 steps of 32 images, 2,000 test images; runs of about 45,
70 and 210 core-seconds (85, 260 and 1200 ms per step), those that diverge at once nothing: 45 minutes on two cores. So
few steps cannot show learning at very small rates: at 0.01 ResNet-56 needs more than a hundred.
"""


def jobs(preset: Preset) -> list[Job]:
    """The deepest, which take longest, first."""
    return [
        Training(
            at={"depth": depth, "rate": rate, "scheme": scheme, "seed": seed},
            pictures=preset.pictures,
            model="preactivation_resnet",
            model_options={"depth": depth, "norm": False, "width": preset.width},
            scheme=SCHEMES[scheme],
            recipe=preset.recipe_of(depth, rate),
            seed=seed,
        ).job
        for depth in sorted(preset.depths, reverse=True)
        for seed in range(preset.seeds)
        for rate in preset.rates
        for scheme in SCHEMES
    ]


def summary(trials: Sequence[Trial], preset: Preset) -> dict[str, Any]:
    curves = [
        {
            "depth": depth,
            "scheme": scheme,
            "points": [
                {"rate": rate, **found}
                for rate in preset.rates
                if (found := spread(where(trials, depth=depth, scheme=scheme, rate=rate)))
            ],
        }
        for depth in preset.depths
        for scheme in SCHEMES
    ]
    return {"rates": list(preset.rates), "curves": curves}


def tables(summary: Mapping[str, Any]) -> str:
    rows = []
    for curve in summary["curves"]:
        known = {point["rate"]: point for point in curve["points"]}
        cells = [_cell(known.get(rate)) for rate in summary["rates"]]
        rows.append([f"ResNet-{curve['depth']}", drawing.NAMES[curve["scheme"]], *cells])
    head = ["network", "initialization", *(number(rate) for rate in summary["rates"])]
    note = (
        "Test accuracy in percent after a short training at each learning rate; bold: better than chance, -: diverged."
    )
    return f"{note}\n\n" + table(head, rows)


def _cell(point: Mapping[str, Any] | None) -> str:
    if point is None:
        return ""
    shown = "-" if mostly_diverged(point) else percent(point["median"])
    return f"**{shown}**" if mostly_learned(point) else shown


def figures(trials: Sequence[Trial], preset: Preset, folder: Path) -> list[str]:
    """One panel for each depth; open markers are no better than chance."""
    curves = summary(trials, preset)["curves"]
    drawn = drawing.figure(0.8 + 3.6 * len(preset.depths), 3.3)
    axes = drawn.subplots(1, len(preset.depths), sharey=True, squeeze=False)[0]
    for axis, depth in zip(axes, preset.depths, strict=True):
        drawing.chance_line(axis, 0.1)
        for curve in curves:
            if curve["depth"] == depth and curve["points"]:
                _draw(axis, curve)
        axis.set_xscale("log")
        axis.set_title(f"ResNet-{depth}, no norm", fontsize=9)
        axis.set_xlabel("learning rate", fontsize=9)
    axes[0].set_ylabel("test accuracy (%)\nopen: no better than chance", fontsize=9)
    drawing.legend_below(drawn, axes)
    return [drawing.finish(drawn, axes, folder / "learning_rates.png")]


def _draw(axis: Any, curve: Mapping[str, Any]) -> None:
    look = drawing.style(curve["scheme"])
    rates = [point["rate"] for point in curve["points"]]
    axis.plot(rates, [100 * point["median"] for point in curve["points"]], markerfacecolor="white", **look)
    learned = [point for point in curve["points"] if mostly_learned(point)]
    look = {**look, "linestyle": "none", "label": None}
    axis.plot([p["rate"] for p in learned], [100 * p["median"] for p in learned], **look)


def losses(summary: Mapping[str, Any]) -> list[str]:
    known = {(c["depth"], c["scheme"], p["rate"]): p for c in summary["curves"] for p in c["points"]}
    return [
        f"ResNet-{depth}, rate {number(rate)}: AutoInit {percent(ours['median'])}, default {percent(point['median'])}"
        for (depth, scheme, rate), point in known.items()
        if scheme == "default" and point["learned"] and (ours := known.get((depth, "autoinit", rate)))
        if point["median"] > ours["median"]
    ]


def _learned(summary: Mapping[str, Any], scheme: str) -> dict[int, list[float]] | None:
    """For each depth, the shallowest first, the rates that worked; None while a run is missing."""
    curves = sorted((c for c in summary["curves"] if c["scheme"] == scheme), key=lambda c: c["depth"])
    if any(len(curve["points"]) < len(summary["rates"]) for curve in curves):
        return None
    return {c["depth"]: [p["rate"] for p in c["points"] if mostly_learned(p)] for c in curves}


def _shown(found: Mapping[int, Sequence[float]]) -> str:
    return "; ".join(f"ResNet-{depth}: {_span(rates)}" for depth, rates in found.items())


def _span(rates: Sequence[float]) -> str:
    """The smallest and the largest, and how many there are."""
    if len(rates) > 1:
        return f"{number(min(rates))} to {number(max(rates))} ({len(rates)} rates)"
    return f"{number(rates[0])} alone" if rates else "none"


def _default_shallow(summary: Mapping[str, Any]) -> Finding | None:
    found = _learned(summary, "default")
    if found is None:
        return None
    shallow = min(found)
    rates = found[shallow]
    agrees = PARTLY if not rates else YES if max(rates) <= 5e-4 * 1.01 else NO
    return Finding(_shown({shallow: rates}), agrees)


def _default_deep(summary: Mapping[str, Any]) -> Finding | None:
    found = _learned(summary, "default")
    if found is None:
        return None
    deep = {depth: rates for depth, rates in found.items() if depth != min(found)}
    return Finding(_shown(deep), share(sum(not rates for rates in deep.values()), len(deep)))


def _autoinit_everywhere(summary: Mapping[str, Any]) -> Finding | None:
    found = _learned(summary, "autoinit")
    if found is None:
        return None
    return Finding(_shown(found), share(sum(bool(rates) for rates in found.values()), len(found)))


def _undiminished(summary: Mapping[str, Any]) -> Finding | None:
    """From each depth to the next neither the number of rates that work nor the largest of them shrinks.

    Partly: one of the two does. No: both do, or some depth works with no rate at all.
    """
    found = _learned(summary, "autoinit")
    if found is None:
        return None
    counts, largest = [len(r) for r in found.values()], [max(r, default=0.0) for r in found.values()]
    text = f"rates that work: {', '.join(map(str, counts))}; the largest: {', '.join(map(_largest, found.values()))}"
    depths = ", ".join(f"ResNet-{depth}" for depth in found)
    shrinking = sum(any(b < a for a, b in pairwise(values)) for values in (counts, largest))
    return Finding(f"{text} ({depths})", NO if 0 in counts else (YES, PARTLY, NO)[shrinking])


def _largest(rates: Sequence[float]) -> str:
    return number(max(rates)) if rates else "none"


def _larger_rates(summary: Mapping[str, Any]) -> Finding | None:
    default, ours = _learned(summary, "default"), _learned(summary, "autoinit")
    if default is None or ours is None:
        return None
    larger = sum(max(ours[depth], default=0) > max(default[depth], default=0) for depth in ours)
    text = ", ".join(f"ResNet-{d} {_largest(default[d])} / {_largest(ours[d])}" for d in ours)
    return Finding(f"largest rate that worked, default / AutoInit: {text}", share(larger, len(ours)))


def _recipe(summary: Mapping[str, Any]) -> Finding | None:
    """At each depth no fewer rates work, and the largest of them is no smaller. Partly: so it is at half of them."""
    paper, trained = _learned(summary, "autoinit"), _learned(summary, TRAINED)
    if paper is None or not trained:
        return None
    good = sum(
        len(trained[d]) >= len(paper[d]) and max(trained[d], default=0.0) >= max(paper[d], default=0.0) for d in paper
    )
    text = "; ".join(f"ResNet-{d}: {_span(paper[d])} / {_span(trained[d])}" for d in paper)
    return Finding(f"{text} (without / with the recipe)", share(good, len(paper)))


CLAIMS = [
    Claim("ResNet-56 without norm, default: needs a learning rate between 1e-8 and 0.5e-3", "1e-8 to 0.5e-3",
          _default_shallow),
    Claim("ResNet-164 and ResNet-812 without norm, default: no learning rate works", "none", _default_deep),
    Claim("AutoInit trains all three depths", "1e-4 to 0.05 at all depths", _autoinit_everywhere),
    Claim("The effect of AutoInit does not diminish with depth", "1e-4 to 0.05 at all depths", _undiminished),
    Claim("AutoInit allows higher learning rates than the default", "0.05 against 0.5e-3", _larger_rates),
    Claim("ResNets without norm: with the recipe for training AutoInit works with as many learning rates, and as large "
          "ones, as without it", None, _recipe),
]  # fmt: skip
