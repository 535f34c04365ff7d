"""Signal propagation, without training: how the variance goes from layer to layer (the paper's Figures 2 and 3).

Gaussian noise of variance 1 goes through All-CNN-C with several activations and dropout rates, and through residual
networks with and without batch normalization, under the default initialization and under AutoInit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite, log, log10
from pathlib import Path
from typing import Any

from autoinit.labs.evolution import Job

from . import signal_figures
from .claim import NO, PARTLY, YES, Claim, Finding
from .signal_job import WORK
from .tables import number, table
from .trials import Trial

__all__ = ["CLAIMS", "PRESETS", "TITLE", "WORK", "figures", "jobs", "losses", "summary", "tables"]

TITLE = "Signal propagation in All-CNN-C and residual networks"
DEFAULTS = {"all_cnn_c": "glorot_uniform", "preactivation_resnet": "he_normal"}
"""What the paper calls the default initialization of each network."""
NEAR = 2.0
"""A weight layer whose variance is within this factor of 1 counts as approximately 1."""
USUAL = {"activation": "relu", "dropout": 0.5}
"""What All-CNN-C has where the other is varied: this network is in both panels."""
STABLE = 100.0
"""A network all of whose variances are within this factor of 1 counts as stable."""
VANISHED = 0.1
"""A variance below this, where 1 went in, has vanished."""
LINEAR, EXPONENTIAL = 1.5, 2.0
"""Growth like depth^k from the shallowest to the deepest network: k below the first, k above the second.

A sum of n branches of equal variance has k = 1. With three depths an exponential cannot be told from a high power.
"""


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
    """Per network: what leaves the last weight layer, the range, and how well prediction and measurement agree."""
    done = [trial for trial in trials if not trial.failed]
    known = [trial.at for trial in done]
    missing = [job.payload["at"] for job in jobs(preset) if job.payload["at"] not in known]
    return {"networks": [{**trial.at, **_digest(trial)} for trial in done], "missing": missing}


def _digest(trial: Trial) -> dict[str, Any]:
    weight, predicted, measured = (trial.value[name] for name in ("weight", "predicted", "measured"))
    seen = [measured[k] for k in weight]
    whole = [v for v in measured if isfinite(v)]
    pairs = [(p, m) for p, m in zip(predicted, measured, strict=True) if isfinite(m) and m > 0 and 0 < p < 1e30]
    off = sorted(abs(log10(p / m)) for p, m in pairs)
    return {
        "tensors": len(measured),
        "weight_layers": len(weight),
        "last_weight_layer": seen[-1],
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
         "overflow" if one["overflow"] else _short(one["last_weight_layer"]),
         f"{one['near_one']} of {one['weight_layers']}", _short(one["typical_factor"])]
        for one in summary["networks"]
    ]  # fmt: skip
    head = ["panel", "", "initialization", "weight layers", "lowest variance", "highest",
            "after the last weight layer", "weight layers within 2× of 1",
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
        found = [trial for trial in trials if not trial.failed and trial.at["panel"] == panel]
        if found:
            drawn.append(signal_figures.draw(found, panel, folder / name))
    return drawn


def losses(summary: Mapping[str, Any]) -> list[str]:
    """Nothing is trained here."""
    return []


def _networks(summary: Mapping[str, Any], panels: Sequence[str], scheme: str) -> list[Mapping[str, Any]] | None:
    """The networks of these panels, each once, shallow ones first; None while one of the panels is not complete."""
    if any(one["panel"] in panels for one in summary["missing"]):
        return None
    found: dict[Any, Mapping[str, Any]] = {}
    for one in summary["networks"]:
        if one["panel"] in panels and one["scheme"] == scheme:
            shared = USUAL.get(one["panel"]) == one["value"]
            found.setdefault("usual" if shared else (one["panel"], one["value"]), one)
    return list(found.values()) or None


def _both(summary: Mapping[str, Any], panel: str) -> Any:
    """(default, AutoInit) at each depth of residual networks."""
    default, ours = (_networks(summary, (panel,), scheme) for scheme in ("default", "autoinit"))
    return None if default is None or ours is None else (default, ours)


def _highest(one: Mapping[str, Any]) -> float:
    return inf if one["overflow"] else float(one["highest"])


def _stable(one: Mapping[str, Any]) -> bool:
    return _highest(one) <= STABLE and one["lowest"] >= 1 / STABLE


def _default_vanishes(summary: Mapping[str, Any]) -> Finding | None:
    found = _networks(summary, ("activation", "dropout"), "default")
    if found is None:
        return None
    last = [one["last_weight_layer"] for one in found]
    low = sum(v is not None and v < VANISHED for v in last)
    known = [v for v in last if v is not None and isfinite(v)]
    shown = f"{min(known):.2g} to {max(known):.2g}" if known else "overflow"
    text = f"variance after the last weight layer {shown}; below {VANISHED} in {low} of {len(found)} networks"
    return Finding(text, YES if 2 * low >= len(found) else PARTLY if low else NO)


def _autoinit_returns_to_one(summary: Mapping[str, Any]) -> Finding | None:
    found = _networks(summary, ("activation", "dropout"), "autoinit")
    if found is None:
        return None
    near, layers = (sum(one[name] for one in found) for name in ("near_one", "weight_layers"))
    text = f"{near} of {layers} weight layers (of {len(found)} networks) measured between 0.5 and 2"
    return Finding(text, YES if near >= 0.95 * layers else PARTLY if near >= 0.75 * layers else NO)


def _growth_with_norm(summary: Mapping[str, Any]) -> Finding | None:
    """Growth of the highest variance with depth, as a power of it: that of the default and that of AutoInit.

    Partly: one of the two is as the claim says, and AutoInit's is not exponential. No: it is, or neither is.
    """
    both = _both(summary, "norm")
    if both is None or len(both[0]) < 2:
        return None
    powers = [_power(found) for found in both]
    depths = ", ".join(str(one["value"]) for one in both[0])
    shown = "; ".join(
        f"{name} {', '.join(f'{_highest(one):.3g}' for one in found)} (like depth^{power:.1f})"
        for name, found, power in zip(("default", "AutoInit"), both, powers, strict=True)
    )
    default, ours = powers[0] > EXPONENTIAL, powers[1] < LINEAR
    agrees = YES if default and ours else NO if powers[1] > EXPONENTIAL or not (default or ours) else PARTLY
    return Finding(f"highest variance at depths {depths}: {shown}", agrees)


def _power(found: Sequence[Mapping[str, Any]]) -> float:
    """log(v₂/v₁) / log(d₂/d₁) of the shallowest and the deepest network."""
    first, last = found[0], found[-1]
    if first["overflow"] or last["overflow"]:
        return inf
    return log(last["highest"] / first["highest"]) / log(last["value"] / first["value"])


def _stable_without_norm(summary: Mapping[str, Any]) -> Finding | None:
    """No: AutoInit is not stable in most networks, or the default is in all."""
    both = _both(summary, "no norm")
    if both is None:
        return None
    default, ours = both
    pairs = zip(default, ours, strict=True)
    shown = ", ".join(f"ResNet-{one['value']} {_told(one)} / {_told(other)}" for one, other in pairs)
    near = ", ".join(f"{one['near_one']} of {one['weight_layers']}" for one in ours)
    text = f"lowest and highest variance, default / AutoInit: {shown}; AutoInit's weight layers within 2× of 1: {near}"
    good, bad = sum(map(_stable, ours)), sum(not _stable(one) for one in default)
    if 2 * good <= len(ours) or not bad:
        return Finding(text, NO)
    return Finding(text, YES if good == bad == len(ours) else PARTLY)


def _told(one: Mapping[str, Any]) -> str:
    return f"{_short(one['lowest'])} to {'overflow' if one['overflow'] else _short(one['highest'])}"


def _deepest_overflows(summary: Mapping[str, Any]) -> Finding | None:
    both = _both(summary, "no norm")
    if both is None:
        return None
    deep, other = (max(found, key=lambda one: one["value"]) for found in both)
    text = f"ResNet-{deep['value']}: " + ", ".join(
        f"{name} {'overflows single precision' if one['overflow'] else 'at most ' + format(one['highest'], '.3g')}"
        for name, one in (("default", deep), ("AutoInit", other))
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
