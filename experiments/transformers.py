"""CoAtNet with four activation functions and without normalization, under eight initializations.

AutoInit is run with ν = 0.01, which the paper found best with normalization, and ν = 1, which it used without; and with
the recipe for training, a row of ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autoinit.labs.evolution import Job
from autoinit.labs.training import Recipe
from autoinit.labs.training.recipes import COATNET

from . import drawing
from .claim import NO, PARTLY, YES, Claim, Finding, share
from .networks import COATNET_DEFAULT
from .pictures import Pictures
from .recipe import TRAINED, compared
from .tables import percent, table
from .training_job import WORK, Training
from .trials import Trial, mostly_diverged, mostly_learned, spread, where

__all__ = ["CLAIMS", "PRESETS", "TITLE", "WORK", "figures", "jobs", "losses", "summary", "tables"]

TITLE = "CoAtNet with different activation functions and without normalization"
RECIPE = drawing.NAMES[TRAINED]
SETTINGS: dict[str, dict[str, Any]] = {
    "GELU": {"activation": "gelu"},
    "ReLU": {"activation": "relu"},
    "SELU": {"activation": "selu"},
    "Swish": {"activation": "swish"},
    "w/o norm": {"activation": "gelu", "norm": False},
}
ROWS: dict[str, tuple[str, dict[str, Any]]] = {
    "Default": (COATNET_DEFAULT, {}),
    "Glorot normal": ("glorot_normal", {}),
    "Glorot uniform": ("glorot_uniform", {}),
    "He normal": ("he_normal", {}),
    "He uniform": ("he_uniform", {}),
    "LeCun normal": ("lecun_normal", {}),
    "LeCun uniform": ("lecun_uniform", {}),
    "AutoInit, ν = 0.01": ("autoinit", {"variance": 0.01}),
    "AutoInit, ν = 1": ("autoinit", {"variance": 1.0}),
    RECIPE: (TRAINED, {}),
}
SMALL, UNIT = "AutoInit, ν = 0.01", "AutoInit, ν = 1"
OURS = {setting: UNIT if setting == "w/o norm" else SMALL for setting in SETTINGS}
"""Which of the two is the paper's row "AutoInit"."""
DIVERGING = ("Default", "He normal", "He uniform", "LeCun normal", "LeCun uniform")
"""What fails without normalization in the paper."""
PAPER = {
    "Default": (89.38, 89.22, 86.09, 88.69, None),
    "Glorot normal": (91.44, 91.54, 87.59, 90.42, 85.89),
    "Glorot uniform": (91.16, 91.18, 88.25, 90.06, 85.73),
    "He normal": (88.48, 88.05, 86.11, 88.36, None),
    "He uniform": (88.66, 87.87, 86.37, 88.41, None),
    "LeCun normal": (91.11, 90.57, 87.80, 90.83, None),
    "LeCun uniform": (90.55, 90.65, 87.67, 90.57, None),
    "AutoInit": (92.48, 92.15, 86.80, 92.28, 85.73),
}
"""The paper's table, in percent; None where training diverged."""


@dataclass(frozen=True)
class Preset:
    pictures: Pictures
    recipe: Recipe
    width: float = 1.0
    depth: float = 1.0
    rows: tuple[str, ...] = tuple(ROWS)
    settings: tuple[str, ...] = tuple(SETTINGS)
    seeds: int = 3


CPU_RECIPE = Recipe(batch_size=16, steps=350, optimizer="adamw", learning_rate=1e-3, weight_decay=0.02,
                    schedule="cosine", warmup=6 / 105, warmup_from=2.5e-4, flip=True, image_size=64)  # fmt: skip
PRESETS = {
    "paper": Preset(Pictures("imagenette", side=160), COATNET),
    "cpu": Preset(Pictures("cifar10", tested=2000), CPU_RECIPE, width=0.25, depth=0.34),
    "smoke": Preset(Pictures("digits"), replace(CPU_RECIPE, steps=2, batch_size=8), width=0.125, depth=0.1,
                    rows=("Default", "He normal", SMALL, UNIT, RECIPE), settings=("GELU", "w/o norm"), seeds=1),
}  # fmt: skip
"""paper: Imagenette from the user's folder, 105 epochs as in the appendix, 150 runs.

cpu: CIFAR-10 enlarged to 64 × 64 pixels (the attention blocks see 16 and 4 tokens), a quarter of the width and a third
of the depth, 350 steps of 16 images without RandAugment, Mixup and CutMix, the largest learning rate 1e-3 for the
shorter run, 2,000 test images; 150 runs of about 26 core-seconds (65 ms per step): 33 minutes on two cores.
"""


def jobs(preset: Preset) -> list[Job]:
    size = preset.recipe.image_size or 160
    return [
        Training(
            at={"setting": setting, "row": row, "seed": seed},
            pictures=preset.pictures,
            model="coatnet",
            model_options={**SETTINGS[setting], "image_size": size, "width": preset.width, "depth": preset.depth},
            scheme=ROWS[row][0],
            scheme_options=ROWS[row][1],
            recipe=preset.recipe,
            seed=seed,
        ).job
        for seed in range(preset.seeds)
        for setting in preset.settings
        for row in preset.rows
    ]


def summary(trials: Sequence[Trial], preset: Preset) -> dict[str, Any]:
    """For each setting and initialization the spread of its runs."""
    return {
        "settings": {
            setting: {row: spread(where(trials, setting=setting, row=row)) for row in preset.rows}
            for setting in preset.settings
        }
    }


def tables(summary: Mapping[str, Any]) -> str:
    """As the paper's table: medians, bold where best, "-" where most runs diverged."""
    settings = summary["settings"]
    best = {name: max((_value(found) for found in rows.values()), default=0.0) for name, rows in settings.items()}
    names = list(dict.fromkeys(row for rows in settings.values() for row in rows))
    rows = [[row, *(_cell(settings[name].get(row), best[name]) for name in settings), _paper(row)] for row in names]
    head = ["", *(f"w/ {name}" if "w/o" not in name else name for name in settings), "paper"]
    note = (
        "Top-1 test accuracy in percent, median of the runs; bold: best of the column, -: most runs diverged. "
        "The last column is the paper's (GELU, ReLU, SELU, Swish, without norm; Imagenette at 160 pixels)."
    )
    return f"{note}\n\n" + table(head, rows)


def _value(spread: Mapping[str, Any] | None) -> float:
    """The median, if most runs came to their end."""
    return 0.0 if spread is None or mostly_diverged(spread) else float(spread["median"])


def _cell(found: Mapping[str, Any] | None, best: float) -> str:
    if found is None:
        return ""
    value = _value(found)
    shown = percent(value) if value else "-"
    return f"**{shown}**" if value and value == best else shown


def _paper(row: str) -> str:
    values = PAPER.get(row)
    if row in (SMALL, UNIT):
        values = tuple(v if OURS[s] == row else "" for v, s in zip(PAPER["AutoInit"], SETTINGS, strict=True))
    return " / ".join("-" if v is None else str(v) for v in values if v != "") if values else ""


def figures(trials: Sequence[Trial], preset: Preset, folder: Path) -> list[str]:
    """A column for each setting; medians and ranges of the initializations, what diverged at chance."""
    settings = summary(trials, preset)["settings"]
    drawn = drawing.figure(1.4 + 2.2 * len(settings), 3.4)
    axes = drawn.subplots(1, len(settings), sharey=True, sharex=True, squeeze=False)[0]
    for axis, (setting, rows) in zip(axes, settings.items(), strict=True):
        drawing.ranges(axis, rows)
        axis.set_title(f"CoAtNet, {setting}", fontsize=9)
    return [drawing.finish(drawn, axes, folder / "transformers.png")]


def losses(summary: Mapping[str, Any]) -> list[str]:
    """AutoInit has the paper's choice of ν; the other one and the recipe are among those that may be ahead."""
    found = []
    for setting, rows in summary["settings"].items():
        if not rows.get(OURS[setting]):
            continue
        ours = _value(rows[OURS[setting]])
        ahead = [f"{row} {percent(_value(one))}" for row, one in rows.items() if _value(one) > ours]
        if ahead:
            found.append(f"{setting}: {OURS[setting]} {percent(ours) if ours else '-'}; {', '.join(ahead)}")
    return found


def _complete(summary: Mapping[str, Any]) -> bool:
    """The paper's rows are."""
    found = [spread for rows in summary["settings"].values() for row, spread in rows.items() if row != RECIPE]
    return all(found) and all(row in rows for rows in summary["settings"].values() for row in ("Default", SMALL, UNIT))


def _higher(rows: Mapping[str, Any], row: str, others: Sequence[str]) -> bool:
    """This initialization learned, and has a higher median than each of the others."""
    return mostly_learned(rows[row]) and _value(rows[row]) > max(_value(rows[other]) for other in others)


def _best_settings(summary: Mapping[str, Any]) -> Finding | None:
    """Among the paper's eight rows: the other ν is left aside."""
    if not _complete(summary):
        return None
    won = [
        setting
        for setting, rows in summary["settings"].items()
        if _higher(rows, OURS[setting], [row for row in rows if not row.startswith("AutoInit")])
    ]
    total = len(summary["settings"])
    agrees = YES if 5 * len(won) >= 3 * total else PARTLY if won else NO
    return Finding(f"best in {len(won)} of {total}: {', '.join(won) or 'none'}", agrees)


def _beats_default(summary: Mapping[str, Any]) -> Finding | None:
    if not _complete(summary):
        return None
    settings = summary["settings"]
    pairs = [(s, _value(rows["Default"]), _value(rows[OURS[s]])) for s, rows in settings.items()]
    text = ", ".join(f"{s} {percent(d) if d else '-'} / {percent(a) if a else '-'}" for s, d, a in pairs)
    good = sum(_higher(rows, OURS[s], ["Default"]) for s, rows in settings.items())
    return Finding(f"{text} (default / AutoInit)", share(good, len(settings)))


def _stable_without_norm(summary: Mapping[str, Any]) -> Finding | None:
    """Partly: some of those that fail in the paper learn. No: all of them do, or AutoInit does not."""
    rows = summary["settings"].get("w/o norm")
    if not rows or not _complete(summary):
        return None
    rows = {row: found for row, found in rows.items() if row != RECIPE}
    stable = [row for row, found in rows.items() if _value(found) and mostly_learned(found)]
    failed = [row for row in rows if row not in stable]
    text = f"learned: {', '.join(stable) or 'none'}; diverged or at chance: {', '.join(failed) or 'none'}"
    as_told = [row for row in DIVERGING if row in failed]
    if UNIT not in stable or not as_told:
        return Finding(text, NO)
    return Finding(text, YES if len(as_told) == len(DIVERGING) else PARTLY)


def _small_variance(summary: Mapping[str, Any]) -> Finding | None:
    if not _complete(summary):
        return None
    settings = {s: rows for s, rows in summary["settings"].items() if s != "w/o norm"}
    text = ", ".join(f"{s} {percent(_value(r[UNIT]))} / {percent(_value(r[SMALL]))}" for s, r in settings.items())
    good = sum(_higher(rows, SMALL, [UNIT]) for rows in settings.values())
    return Finding(f"{text} (ν = 1 / ν = 0.01)", share(good, len(settings)))


def _recipe(summary: Mapping[str, Any]) -> Finding | None:
    """Against ν = 1: the recipe's variance is stable, which is 1 behind a norm."""
    settings = summary["settings"]
    if not all(rows.get(row) for rows in settings.values() for row in (UNIT, RECIPE)):
        return None
    return compared({s: (_value(rows[UNIT]), _value(rows[RECIPE])) for s, rows in settings.items()})


CLAIMS = [
    Claim("CoAtNet: AutoInit is the best of eight initializations in three of five settings",
          "best with GELU 92.48, ReLU 92.15, Swish 92.28", _best_settings),
    Claim("CoAtNet: AutoInit outperforms the default initialization",
          "89.38 / 92.48, 89.22 / 92.15, 86.09 / 86.80, 88.69 / 92.28, - / 85.73", _beats_default),
    Claim("CoAtNet without norm: AutoInit stays stable; default, He and LeCun diverge",
          "learned: both Glorot (85.89, 85.73), AutoInit (85.73)", _stable_without_norm),
    Claim("CoAtNet with norm: ν = 0.01 is better than ν = 1", "0.01 best of 1, 0.1, 0.01, 0.001", _small_variance),
    Claim("CoAtNet: AutoInit with the recipe for training is as accurate as with ν = 1 alone, or more", None, _recipe),
]  # fmt: skip
