"""AutoInit against LSUV, which scales weights by S training images, at three depths and ten repeats.

LSUV starts from orthogonal weights and sees images that the repeat's seed chooses; AutoInit sees the shape of a batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, median
from typing import Any

from autoinit.labs.evolution import Job
from autoinit.labs.training import Recipe
from autoinit.labs.training.recipes import SUPERCONVERGENCE, SUPERCONVERGENCE_RESNET

from . import drawing
from .claim import NO, PARTLY, YES, Claim, Finding, share
from .pictures import Pictures
from .recipe import MARGIN, TRAINED, compared
from .tables import percent, table
from .training_job import WORK, Training
from .trials import Trial, median_of, mostly_learned, spread, where

__all__ = ["CLAIMS", "PRESETS", "TITLE", "WORK", "figures", "jobs", "losses", "summary", "tables"]

TITLE = "AutoInit against data-dependent initialization (LSUV)"
NAMES = {"all_cnn_c": "All-CNN-C", "preactivation_resnet": "ResNet-{depth}, no norm"}
PEAK = 0.1
"""The paper's largest learning rate; a network that is trained with another one has it in its name."""
OTHERS: Mapping[int | str, str] = {0: "autoinit", TRAINED: TRAINED}
"""What stands in the place of S where no images are seen -> the initialization."""
FEW = 0
"""The place of the smallest S among the numbers of samples."""
FAILING = 0.2
"""LSUV struggles if at least this share of its runs learned with the largest S and does not with the smallest."""


@dataclass(frozen=True)
class Network:
    model: str
    options: Mapping[str, Any]
    recipe: Recipe

    @property
    def name(self) -> str:
        peak = self.recipe.learning_rate
        return NAMES[self.model].format(**self.options) + ("" if peak == PEAK else f", rate {peak:g}")


@dataclass(frozen=True)
class Preset:
    pictures: Pictures
    networks: tuple[Network, ...]
    samples: tuple[int, ...] = (1, 4, 16, 64, 256)
    repeats: int = 10


def _resnet(depth: int, width: int, recipe: Recipe) -> Network:
    return Network("preactivation_resnet", {"depth": depth, "norm": False, "width": width}, recipe)


def _short(recipe: Recipe, steps: int, **changes: Any) -> Recipe:
    return replace(recipe, batch_size=32, epochs=None, steps=steps, pad=0, **changes)


NARROW = {"width": 12, "dropout": 0.25, "input_dropout": 0.0}
PRESETS = {
    "paper": Preset(Pictures("cifar10"), (
        Network("all_cnn_c", {}, SUPERCONVERGENCE),
        _resnet(56, 16, SUPERCONVERGENCE_RESNET),
        _resnet(164, 16, SUPERCONVERGENCE_RESNET),
    )),
    "cpu": Preset(Pictures("cifar10", side=16, tested=2000), (
        Network("all_cnn_c", NARROW, _short(SUPERCONVERGENCE, 450)),
        Network("all_cnn_c", NARROW, _short(SUPERCONVERGENCE, 450, learning_rate=0.02)),
        _resnet(56, 8, _short(SUPERCONVERGENCE_RESNET, 300)),
        _resnet(164, 8, _short(SUPERCONVERGENCE_RESNET, 150)),
    )),
    "smoke": Preset(Pictures("digits"), (
        Network("all_cnn_c", {"width": 4}, _short(SUPERCONVERGENCE, 3, image_size=16)),
        _resnet(11, 2, _short(SUPERCONVERGENCE_RESNET, 3, image_size=16)),
    ), samples=(1, 4), repeats=2),
}  # fmt: skip
"""paper: 25 epochs up to a rate of 0.1 and down again, 210 runs.

cpu: the same schedules over 450, 300 and 150 steps of 32 images of 16 × 16 pixels, networks of an eighth and half the
width, 2,000 test images; 280 runs of about 10, 10, 30 and 40 core-seconds (20, 85 and 260 ms per step): 53 minutes on
two cores. With the paper's rate of 0.1 the narrow All-CNN-C hardly learns, whoever initialized it; so it is trained
with 0.02 too, the rate of the other experiments with it.
"""


def jobs(preset: Preset) -> list[Job]:
    """The slowest network first; S = 0 stands for AutoInit, and the name of the recipe for itself."""
    return [
        Training(
            at={"network": network.name, "samples": samples, "seed": seed},
            pictures=preset.pictures,
            model=network.model,
            model_options=network.options,
            scheme=OTHERS.get(samples, "lsuv"),
            scheme_options={} if samples in OTHERS else {"samples": samples},
            recipe=network.recipe,
            seed=seed,
        ).job
        for network in reversed(preset.networks)
        for seed in range(preset.repeats)
        for samples in (0, *preset.samples, TRAINED)
    ]


def summary(trials: Sequence[Trial], preset: Preset) -> dict[str, Any]:
    """For each network AutoInit's spread and initialization time, LSUV's for each S, and the recipe's."""

    def one(network: str, samples: int | str) -> dict[str, Any] | None:
        found = where(trials, network=network, samples=samples)
        accuracies = spread(found)
        return accuracies and {**accuracies, "seconds": median_of(found, "initialization_seconds")}

    return {
        "samples": list(preset.samples),
        "networks": {
            n.name: {"autoinit": one(n.name, 0), "lsuv": [one(n.name, s) for s in preset.samples],
                     TRAINED: one(n.name, TRAINED)}
            for n in preset.networks
        },
    }  # fmt: skip


def tables(summary: Mapping[str, Any]) -> str:
    rows = [
        [name, label, *_cells(found)]
        for name, both in summary["networks"].items()
        for label, found in [*((drawing.NAMES[scheme], both.get(scheme)) for scheme in OTHERS.values()),
                             *((f"LSUV, S = {s}", f) for s, f in zip(summary["samples"], both["lsuv"], strict=True))]
        if found
    ]  # fmt: skip
    head = ["network", "initialization", "mean", "lowest", "highest", "learned", "diverged", "seconds to initialize"]
    note = (
        "Test accuracy in percent over the repeats; what diverged counts as chance, what failed is left out. Seconds "
        "are with tracing the model, for both, beside other work; the experiment `overhead` measures them apart."
    )
    return f"{note}\n\n" + table(head, rows)


def _cells(found: Mapping[str, Any]) -> list[str]:
    times = f"{found['seconds']:.3f}" if found["seconds"] is not None else ""
    counts = (f"{found[name]} of {found['runs']}" for name in ("learned", "diverged"))
    return [*(percent(found[name]) for name in ("mean", "low", "high")), *counts, times]


def figures(trials: Sequence[Trial], preset: Preset, folder: Path) -> list[str]:
    """Above accuracies against S, a line at the mean and a band from the lowest to the highest; below times."""
    found = summary(trials, preset)
    drawn = drawing.figure(0.8 + 3.4 * len(preset.networks), 5.0)
    axes = drawn.subplots(2, len(preset.networks), sharex=True, sharey="row", squeeze=False, height_ratios=[2, 1])
    for column, (name, both) in enumerate(found["networks"].items()):
        accuracies, times = axes[:, column]
        known = [(s, one) for s, one in zip(found["samples"], both["lsuv"], strict=True) if one]
        curves = {"lsuv": known}
        for scheme in OTHERS.values():
            curves[scheme] = [(s, both[scheme]) for s in found["samples"] if both[scheme]]
        for scheme, points in curves.items():
            if points:
                _draw(accuracies, times, scheme, points)
        drawing.chance_line(accuracies, 0.1)
        accuracies.set_title(name, fontsize=9)
        accuracies.set_xscale("log", base=2)
        times.set_xticks(found["samples"], [str(s) for s in found["samples"]])
        times.set_xlabel("S, images that LSUV sees", fontsize=9)
    axes[1, 0].set_yscale("log")
    axes[0, 0].set_ylabel("test accuracy (%)", fontsize=9)
    axes[1, 0].set_ylabel("seconds to initialize", fontsize=9)
    drawing.legend_below(drawn, axes.ravel())
    return [drawing.finish(drawn, axes.ravel(), folder / "data_dependent.png")]


def _draw(accuracies: Any, times: Any, scheme: str, points: Sequence[tuple[int, Mapping[str, Any]]]) -> None:
    x, look = [s for s, _ in points], drawing.style(scheme)
    low, mean, high = ([100 * one[name] for _, one in points] for name in ("low", "mean", "high"))
    accuracies.fill_between(x, low, high, color=look["color"], alpha=0.2, linewidth=0)
    accuracies.plot(x, mean, **look)
    times.plot(x, [one["seconds"] if one["seconds"] is not None else float("nan") for _, one in points], **look)


def losses(summary: Mapping[str, Any]) -> list[str]:
    return [
        f"{name}, S = {s}: AutoInit {percent(both['autoinit']['mean'])} in the mean, LSUV {percent(one['mean'])}"
        for name, both in summary["networks"].items()
        for s, one in zip(summary["samples"], both["lsuv"], strict=True)
        if one and both["autoinit"] and one["mean"] > both["autoinit"]["mean"]
    ]


def _complete(summary: Mapping[str, Any]) -> bool:
    return all(both["autoinit"] and all(both["lsuv"]) for both in summary["networks"].values())


def _width(found: Mapping[str, Any]) -> float:
    return float(found["high"] - found["low"])


def _typical_width(lsuv: Sequence[Mapping[str, Any]]) -> float | None:
    """The median over S of LSUV's ranges, where any run learned: one that never leaves chance has no range."""
    widths = [_width(one) for one in lsuv if one["learned"]]
    return median(widths) if widths else None


def _consistent(summary: Mapping[str, Any]) -> Finding | None:
    """All repeats of AutoInit learned, and their range is no wider than the median over S of LSUV's ranges."""
    if not _complete(summary):
        return None
    shown, good = [], 0
    for name, both in summary["networks"].items():
        ours, typical = both["autoinit"], _typical_width(both["lsuv"])
        good += ours["learned"] == ours["runs"] and (typical is None or _width(ours) <= typical)
        lsuv = "never learned" if typical is None else f"{100 * typical:.1f}"
        shown.append(f"{name} {100 * _width(ours):.1f} (LSUV {lsuv}), {ours['learned']} of {ours['runs']} learned")
    text = f"highest minus lowest accuracy in points (LSUV: median over S): {'; '.join(shown)}"
    return Finding(text, share(good, len(shown)))


def _small_samples(summary: Mapping[str, Any]) -> Finding | None:
    """With the smallest S the median is lower by more than a point, or a fifth more of the runs did not learn."""
    if not _complete(summary):
        return None
    pairs = {name: (both["lsuv"][FEW], both["lsuv"][-1]) for name, both in summary["networks"].items()}
    worse = sum(
        many["median"] - few["median"] > MARGIN
        or many["learned"] / many["runs"] - few["learned"] / few["runs"] >= FAILING
        for few, many in pairs.values()
    )
    text = ", ".join(f"{name} {_told(few)} / {_told(many)}" for name, (few, many) in pairs.items())
    head = f"LSUV's median (runs that learned) with S = {summary['samples'][FEW]} / {summary['samples'][-1]}"
    return Finding(f"{head}: {text}", share(worse, len(pairs), 1 / 3))


def _told(found: Mapping[str, Any]) -> str:
    return f"{percent(found['median'])} ({found['learned']} of {found['runs']})"


def _deep(summary: Mapping[str, Any]) -> Finding | None:
    """LSUV loses more against AutoInit in the deepest network than in the shallowest, averaged over S.

    No: AutoInit is at chance there, or not ahead by more than the margin. Partly: the gap does not grow by more.
    """
    if not _complete(summary):
        return None
    gaps = {
        name: both["autoinit"]["mean"] - fmean(one["mean"] for one in both["lsuv"])
        for name, both in summary["networks"].items()
    }
    text = ", ".join(f"{name} {100 * gap:+.1f}" for name, gap in gaps.items())
    first, *_, last = gaps.values()
    *_, deepest = summary["networks"].values()
    ahead = mostly_learned(deepest["autoinit"]) and last > MARGIN
    agrees = NO if not ahead else YES if last > first + MARGIN else PARTLY
    return Finding(f"AutoInit's mean minus LSUV's over all S, in points: {text}", agrees)


def _matches(summary: Mapping[str, Any]) -> Finding | None:
    if not _complete(summary):
        return None
    networks = summary["networks"]
    good = [
        name
        for name, both in networks.items()
        if any(one["learned"] and one["high"] >= both["autoinit"]["mean"] for one in both["lsuv"])
    ]
    text = f"LSUV's best run reaches AutoInit's mean in {len(good)} of {len(networks)} networks"
    return Finding(text, share(len(good), len(networks)))


def _recipe(summary: Mapping[str, Any]) -> Finding | None:
    networks = summary["networks"]
    if not all(both["autoinit"] and both.get(TRAINED) for both in networks.values()):
        return None
    return compared({name: (both["autoinit"]["mean"], both[TRAINED]["mean"]) for name, both in networks.items()})


CLAIMS = [
    Claim("AutoInit is consistent over repeats", "figure", _consistent),
    Claim("LSUV struggles when S is small", "figure", _small_samples),
    Claim("LSUV struggles when the network is deep", "figure", _deep),
    Claim("In some runs LSUV matches AutoInit", "figure", _matches),
    Claim("Beside LSUV: AutoInit with the recipe for training is as accurate in the mean as without it, or more", None,
          _recipe),
]
