"""How long it takes to initialize: AutoInit, LSUV with S images and a classical scheme, on the paper's networks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from autoinit.labs.evolution import Job

from . import drawing
from .claim import Claim, Finding, share
from .overhead_job import WORK
from .tables import table
from .trials import Trial, where

__all__ = ["CLAIMS", "PRESETS", "TITLE", "WORK", "figures", "jobs", "losses", "summary", "tables"]

TITLE = "Time to initialize"
CLASSICAL = "he_normal"


@dataclass(frozen=True)
class Network:
    name: str
    model: str
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Preset:
    networks: tuple[Network, ...]
    samples: tuple[int, ...] = (1, 4, 16, 64, 256)
    side: int = 32
    repeats: int = 5


def _resnet(depth: int, width: int = 16) -> Network:
    return Network(f"ResNet-{depth}", "preactivation_resnet", {"depth": depth, "norm": False, "width": width})


PRESETS = {
    "paper": Preset((Network("All-CNN-C", "all_cnn_c", {}), _resnet(56), _resnet(164)), repeats=10),
    "cpu": Preset((Network("All-CNN-C", "all_cnn_c", {}), _resnet(56), _resnet(164))),
    "smoke": Preset((Network("All-CNN-C", "all_cnn_c", {"width": 4}), _resnet(11, 2)), samples=(1, 4), side=16,
                    repeats=1),
}  # fmt: skip
"""The networks are the paper's in full size, also on a CPU: medians of ten and of five repeats. About 12 minutes on
one core; with `--workers 1`, so that jobs do not disturb each other's clocks."""


def jobs(preset: Preset) -> list[Job]:
    """Scheme "lsuv" once for each S, the others with S = 0."""
    schemes: list[tuple[str, int]] = [(CLASSICAL, 0), ("autoinit", 0), *(("lsuv", s) for s in preset.samples)]
    return [
        Job(f"{network.name}/{scheme}/{samples}", {
            "at": {"network": network.name, "scheme": scheme, "samples": samples},
            "model": network.model, "model_options": dict(network.options), "scheme": scheme, "scheme_options": {},
            "shape": [samples or max(preset.samples), 3, preset.side, preset.side], "seed": 0,
            "repeats": preset.repeats,
        })
        for network in preset.networks
        for scheme, samples in schemes
    ]  # fmt: skip


def summary(trials: Sequence[Trial], preset: Preset) -> dict[str, Any]:
    """For each network the median seconds of AutoInit, of He normal, and of LSUV for each S, also without tracing."""

    def one(name: str, network: str, scheme: str, samples: int = 0) -> float | None:
        found = [t for t in where(trials, network=network, scheme=scheme, samples=samples) if t.status == "done"]
        return median(found[0].value[name]) if found else None

    return {
        "samples": list(preset.samples),
        "networks": {
            n.name: {
                "classical": one("seconds", n.name, CLASSICAL),
                "autoinit": one("seconds", n.name, "autoinit"),
                "lsuv": [one("seconds", n.name, "lsuv", s) for s in preset.samples],
                "scaling": [one("scaling", n.name, "lsuv", s) for s in preset.samples],
            }
            for n in preset.networks
        },
    }


def tables(summary: Mapping[str, Any]) -> str:
    rows = [
        row
        for name, found in summary["networks"].items()
        for row in (
            [name, "He normal", _seconds(found["classical"]), ""],
            [name, "AutoInit", _seconds(found["autoinit"]), ""],
            *(
                [name, f"LSUV, S = {s}", _seconds(whole), _seconds(part)]
                for s, whole, part in zip(summary["samples"], found["lsuv"], found["scaling"], strict=True)
            ),
        )
    ]
    note = (
        "Median seconds on one core. All of them trace the model to find its weights and their layers; scaling alone "
        "is what an LSUV takes that knows them already."
    )
    return f"{note}\n\n" + table(["network", "initialization", "seconds", "scaling alone"], rows)


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def figures(trials: Sequence[Trial], preset: Preset, folder: Path) -> list[str]:
    """Seconds against S, one panel for each network."""
    found = summary(trials, preset)
    drawn = drawing.figure(0.8 + 3.4 * len(preset.networks), 3.2)
    axes = drawn.subplots(1, len(preset.networks), sharey=True, squeeze=False)[0]
    for axis, (name, times) in zip(axes, found["networks"].items(), strict=True):
        x, lsuv = found["samples"], drawing.style("lsuv")
        axis.plot(x, _shown(times["lsuv"]), **{**lsuv, "label": "LSUV with tracing"})
        axis.plot(x, _shown(times["scaling"]), **{**lsuv, "label": "LSUV, scaling alone", "linestyle": ":"})
        for key, label in (("classical", "He normal"), ("autoinit", "AutoInit")):
            look = drawing.style("default" if key == "classical" else key)
            axis.plot(x, _shown([times[key]] * len(x)), **{**look, "marker": None, "label": label})
        axis.set_xscale("log", base=2)
        axis.set_yscale("log")
        axis.set_xticks(x, [str(s) for s in x])
        axis.set_title(name, fontsize=9)
        axis.set_xlabel("S, images that LSUV sees", fontsize=9)
    axes[0].set_ylabel("seconds to initialize", fontsize=9)
    drawing.legend_below(drawn, axes)
    return [drawing.finish(drawn, axes, folder / "overhead.png")]


def _shown(values: Sequence[float | None]) -> list[float]:
    return [float("nan") if value is None else value for value in values]


def losses(summary: Mapping[str, Any]) -> list[str]:
    return [
        f"{name}, S = {s}: AutoInit takes {found['autoinit']:.2f} s, LSUV {part:.2f} s for scaling alone"
        for name, found in summary["networks"].items()
        for s, part in zip(summary["samples"], found["scaling"], strict=True)
        if part is not None and found["autoinit"] is not None and part < found["autoinit"]
    ]


def _overhead(summary: Mapping[str, Any]) -> Finding | None:
    """AutoInit against LSUV with the largest S, scaling alone: what is fair to LSUV."""
    known = {name: (found["autoinit"], found["scaling"][-1]) for name, found in summary["networks"].items()}
    pairs = [(name, ours, lsuv) for name, (ours, lsuv) in known.items() if ours is not None and lsuv is not None]
    if not pairs or len(pairs) < len(known):
        return None
    largest = summary["samples"][-1]
    text = ", ".join(f"{name} {ours:.2f} s / {lsuv:.2f} s" for name, ours, lsuv in pairs)
    return Finding(
        f"{text} (AutoInit / LSUV's scaling alone with S = {largest})",
        share(sum(ours < lsuv for _, ours, lsuv in pairs), len(pairs)),
    )


CLAIMS = [
    Claim("AutoInit has no significant overhead, LSUV with large S has",
          "All-CNN-C 1 s, ResNet-56 33 s, ResNet-164 106 s (AutoInit)", _overhead),
]  # fmt: skip
