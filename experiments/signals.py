"""Signal propagation, without training: how the variance goes from layer to layer (the paper's Figures 2 and 4).

Gaussian noise of variance 1 goes through All-CNN-C with several activations and dropout rates, and through residual
networks with and without batch normalization, under the default initialization and under AutoInit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, log10
from pathlib import Path
from typing import Any

from autoinit.labs.evolution import Job

from . import signal_figures
from .claim import NO, PARTLY, YES, Claim, Finding, share
from .signal_job import WORK
from .tables import number, table
from .trials import Trial

__all__ = ["CLAIMS", "PRESETS", "TITLE", "WORK", "figures", "jobs", "losses", "summary", "tables"]

TITLE = "Signal propagation in All-CNN-C and residual networks"
DEFAULTS = {"all_cnn_c": "glorot_uniform", "preactivation_resnet": "he_normal"}
"""What the paper calls the default initialization of each network."""
NEAR = 2.0
"""A weight layer whose variance is within this factor of 1 counts as approximately 1."""


@dataclass(frozen=True)
class Preset:
    activations: tuple[str, ...] = ("relu", "elu", "selu", "gelu", "swish", "tanh")
    dropouts: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75)
    cnn_width: int = 96
    depths: tuple[int, ...] = (56, 164, 812)
    resnet_width: int = 16
    side: int = 32
    batch: int = 128
    seed: int = 0


PRESETS = {
    "paper": Preset(),
    "cpu": Preset(batch=8),
    "smoke": Preset(activations=("relu", "tanh"), dropouts=(0.0, 0.5), cnn_width=8, depths=(11, 20), resnet_width=4,
                    side=16, batch=4),
}  # fmt: skip
"""paper: full size. cpu: the same networks, eight images of noise; about 3 minutes on two cores. smoke: seconds."""


def jobs(preset: Preset) -> list[Job]:
    """Each network under both initializations; the panel says which figure it belongs to."""
    cnn = {"width": preset.cnn_width}
    networks = [
        *(("activation", a, "all_cnn_c", {**cnn, "activation": a}) for a in preset.activations),
        *(("dropout", p, "all_cnn_c", {**cnn, "dropout": p}) for p in preset.dropouts),
        *(
            ("norm" if norm else "no norm", d, "preactivation_resnet",
             {"depth": d, "norm": norm, "width": preset.resnet_width})
            for norm in (True, False)
            for d in preset.depths
        ),
    ]  # fmt: skip
    return [
        Job(f"{panel}/{value}/{scheme}", {
            "at": {"panel": panel, "value": value, "scheme": scheme},
            "model": model, "model_options": options,
            "scheme": DEFAULTS[model] if scheme == "default" else scheme,
            "shape": [preset.batch, 3, preset.side, preset.side], "seed": preset.seed,
        })
        for panel, value, model, options in networks
        for scheme in ("default", "autoinit")
    ]  # fmt: skip


def summary(trials: Sequence[Trial], preset: Preset) -> dict[str, Any]:
    """Per network: the last weight layer but one, the range, and how well prediction and measurement agree."""
    return {"networks": [{**trial.at, **_digest(trial)} for trial in trials if trial.status == "done"]}


def _digest(trial: Trial) -> dict[str, Any]:
    weight, predicted, measured = (trial.value[name] for name in ("weight", "predicted", "measured"))
    seen = [measured[k] for k in weight]
    whole = [v for v in measured if isfinite(v) and v > 0]
    pairs = [(p, m) for p, m in zip(predicted, measured, strict=True) if isfinite(m) and m > 0 and 0 < p < 1e30]
    off = sorted(abs(log10(p / m)) for p, m in pairs)
    return {
        "tensors": len(measured),
        "weight_layers": len(weight),
        "output": seen[-1],
        "lowest": min(whole, default=None),
        "highest": max(whole, default=None),
        "overflow": not all(isfinite(v) for v in seen),
        "near_one": sum(isfinite(v) and 1 / NEAR <= v <= NEAR for v in seen),
        "typical_factor": 10 ** off[len(off) // 2] if off else None,
    }


def tables(summary: Mapping[str, Any]) -> str:
    rows = [
        [one["panel"], number(one["value"]), one["scheme"], str(one["weight_layers"]), _short(one["lowest"]),
         "overflow" if one["overflow"] else _short(one["highest"]),
         "overflow" if one["overflow"] else _short(one["output"]),
         f"{one['near_one']} of {one['weight_layers']}", _short(one["typical_factor"])]
        for one in summary["networks"]
    ]  # fmt: skip
    head = ["panel", "", "initialization", "weight layers", "lowest variance", "highest", "output", "within 2× of 1",
            "predicted / measured, typical factor"]  # fmt: skip
    return table(head, rows)


def _short(value: float | None) -> str:
    return "" if value is None or not isfinite(value) else f"{value:.3g}"


FIGURES = {
    "activation": "all_cnn_c_activations.png",
    "dropout": "all_cnn_c_dropout.png",
    "norm": "resnets_with_norm.png",
    "no norm": "resnets_without_norm.png",
}


def figures(trials: Sequence[Trial], preset: Preset, folder: Path) -> list[str]:
    drawn = []
    for panel, name in FIGURES.items():
        found = [trial for trial in trials if trial.status == "done" and trial.at["panel"] == panel]
        if found:
            drawn.append(signal_figures.draw(found, panel, folder / name))
    return drawn


def losses(summary: Mapping[str, Any]) -> list[str]:
    """Nothing is trained here."""
    return []


def _networks(summary: Mapping[str, Any], panels: Sequence[str], scheme: str) -> list[Mapping[str, Any]]:
    return [one for one in summary["networks"] if one["panel"] in panels and one["scheme"] == scheme]


def _default_vanishes(summary: Mapping[str, Any]) -> Finding | None:
    found = _networks(summary, ("activation", "dropout"), "default")
    if not found:
        return None
    outputs = [one["output"] for one in found]
    low = sum(v < 0.1 for v in outputs)
    ours = f"output variance {min(outputs):.2g} to {max(outputs):.2g}; below 0.1 in {low} of {len(found)} networks"
    return Finding(ours, YES if 2 * low >= len(found) else PARTLY if low else NO)


def _autoinit_returns_to_one(summary: Mapping[str, Any]) -> Finding | None:
    found = _networks(summary, ("activation", "dropout"), "autoinit")
    if not found:
        return None
    near, layers = (sum(one[name] for one in found) for name in ("near_one", "weight_layers"))
    ours = f"{near} of {layers} weight layers measured between 0.5 and 2"
    return Finding(ours, YES if near >= 0.95 * layers else PARTLY if near >= 0.75 * layers else NO)


def _growth_with_norm(summary: Mapping[str, Any]) -> Finding | None:
    """Between norms the sum of n blocks of equal variance grows like n: it cannot be exponential."""
    ours, by_scheme = [], {}
    for scheme in ("default", "autoinit"):
        found = _networks(summary, ("norm",), scheme)
        if not found:
            return None
        by_scheme[scheme] = [one["highest"] for one in found]
        ours.append(f"{scheme} " + ", ".join(f"{one['highest']:.3g}" for one in found))
    depths = [one["value"] for one in _networks(summary, ("norm",), "default")]
    exponential = by_scheme["default"][-1] > by_scheme["default"][0] * (depths[-1] / depths[0]) ** 2
    text = "highest variance at depths " + ", ".join(map(str, depths)) + ": " + "; ".join(ours)
    return Finding(text + ("" if exponential else " (linear in depth with both)"), YES if exponential else PARTLY)


def _stable_without_norm(summary: Mapping[str, Any]) -> Finding | None:
    default, ours = (_networks(summary, ("no norm",), scheme) for scheme in ("default", "autoinit"))
    if not default or not ours:
        return None
    shown = [
        f"ResNet-{one['value']} {'overflow' if one['overflow'] else format(one['highest'], '.2g')} / "
        f"{other['highest']:.2g}"
        for one, other in zip(default, ours, strict=True)
    ]
    stable = sum(one["highest"] < 100 and not one["overflow"] for one in ours)
    exploding = sum(one["overflow"] or one["highest"] > 1e3 for one in default)
    return Finding(
        "highest variance, default / AutoInit: " + ", ".join(shown), share(stable + exploding, 2 * len(ours))
    )


def _deepest_overflows(summary: Mapping[str, Any]) -> Finding | None:
    default, ours = (_networks(summary, ("no norm",), scheme) for scheme in ("default", "autoinit"))
    if not default or not ours:
        return None
    deep, other = max(default, key=lambda one: one["value"]), max(ours, key=lambda one: one["value"])
    text = (
        f"ResNet-{deep['value']}: default {'overflows single precision' if deep['overflow'] else deep['highest']}, "
        f"AutoInit {'overflows' if other['overflow'] else 'at most ' + format(other['highest'], '.3g')}"
    )
    return Finding(text, YES if deep["overflow"] and not other["overflow"] else NO)


CLAIMS = [
    Claim("All-CNN-C, default: signals often vanish with depth, differently for each activation and dropout rate",
          "figure", _default_vanishes),
    Claim("All-CNN-C, AutoInit: layers with weights return the variance to approximately 1.0", "figure",
          _autoinit_returns_to_one),
    Claim("ResNets with batch norm: variance grows exponentially with the default, linearly with AutoInit",
          "figure", _growth_with_norm),
    Claim("ResNets without batch norm: never stable with the default, stable with depth with AutoInit", "figure",
          _stable_without_norm),
    Claim("ResNet-812 without batch norm: default exceeds machine precision, AutoInit avoids this", "figure",
          _deepest_overflows),
]  # fmt: skip
