"""How far one draw is from its targets in networks without norms: as planned, and calibrated on noise.

python -m benchmarks.calibration                     all of them, 3 draws each
python -m benchmarks.calibration --models cnn40_gelu --draws 1
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

import autoinit
from autoinit.core.files import replace_text
from autoinit.core.plan.calibration import expected_off

from .intervals import within
from .models import MODELS
from .tables import Table, number, percent
from .trials import Array, built, inputs_of, measured

NORMS = (nn.modules.batchnorm._NormBase, nn.LayerNorm, nn.GroupNorm, nn.RMSNorm, nn.LocalResponseNorm)
FRESH = 10_000
"""Calibration draws its noise from the seed of the weights; what is measured, from this seed and further ones."""
PIXELS = 2**15
"""In a batch of noise images. With eight of 16x16 the batch itself scatters: in cnn40_gelu, for weights that stay what
they are, by a factor of two from one batch to the next at the last layers."""
CAPTION = """\
Share of weight layers whose x.var() (whole tensor) is within the factor of their target ν, in single draws, measured
on noise that calibration did not see; no mean over draws, no intervals. 'of x.var()': the same against the x.var()
that the plan expects, which is below ν where a tensor has few entries that are alike (ten outputs for inputs that
are: 0.9 ν). 'off': layers that one draw was expected to miss by more than 1.25×, of all, by the plan. Time of the
calibration on one core, with the plan at hand."""


@dataclass(frozen=True)
class Draws:
    """One network: (draws, layers) ratios of x.var() to the target, and to the expected x.var()."""

    name: str
    analytic: Array
    calibrated: Array
    expected: Array
    off: float
    seconds: float

    @property
    def layers(self) -> int:
        return self.analytic.shape[1]


def without_norms(name: str) -> bool:
    """Whether no module of the network normalises, so that deviations of a draw are carried on."""
    with torch.device("meta"):
        model = MODELS[name].build()
    return not any(isinstance(module, NORMS) for module in model.modules())


def study(name: str, draws: int) -> Draws:
    spec = MODELS[name]
    model, inputs = built(spec, 0), tuple(map(_larger, inputs_of(spec)))
    draws = 1 if spec.heavy else draws
    plan = autoinit.plan(model, inputs, warn=False)
    rows = [row for row in plan.tensors if row.target is not None]
    target = np.array([row.target for row in rows], float)
    expected = target * np.array([row.tensor_variance / row.second for row in rows])
    plain, calibrated, seconds = [], [], 0.0
    for seed in range(draws):
        plan.apply(model, seed=seed)
        plain.append(measured(model, inputs, rows, FRESH + seed)[:, 1])
        begin = time.perf_counter()
        one = plan.calibrate(model, inputs, seed=seed)
        seconds += (time.perf_counter() - begin) / draws
        one.apply(model)
        calibrated.append(measured(model, inputs, rows, FRESH + seed)[:, 1])
    found = np.array(calibrated)
    return Draws(name, np.array(plain) / target, found / target, found / expected, expected_off(plan), seconds)


def _larger(given: Any) -> Any:
    """Images in another size of batch."""
    return (PIXELS // (given[2] * given[3]), *given[1:]) if isinstance(given, tuple) and len(given) == 4 else given


def table(found: list[Draws], draws: int) -> Table:
    made = Table(
        f"Networks without norms, {draws} draws each, one at a time",
        ["model", "layers", "off", "analytic ≤1.25×", "≤2×", "calibrated ≤1.25×", "≤2×", "lowest", "highest",
         "of x.var() ≤1.25×", "seconds"],
        caption=CAPTION,
    )  # fmt: skip
    for one in found:
        made.add(one.name, one.layers, f"{one.off:.0f}", *_shares([one]), f"{one.seconds:.2g}")
    made.add("all", sum(one.layers for one in found), f"{sum(one.off for one in found):.0f}", *_shares(found), "")
    return made


def _shares(found: list[Draws]) -> list[str]:
    """Every layer of every draw counts once."""
    plain, mended, expected = (
        np.concatenate([values(one).ravel() for one in found])
        for values in (lambda one: one.analytic, lambda one: one.calibrated, lambda one: one.expected)
    )
    shares = [float(within(ratio, factor).mean()) for ratio in (plain, mended) for factor in (1.25, 2.0)]
    range_ = [number(float(mended.min())), number(float(mended.max()))]
    return [*map(percent, shares), *range_, percent(float(within(expected, 1.25).mean()))]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--models", nargs="*", choices=list(MODELS), metavar="NAME")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--markdown", type=Path, metavar="FILE")
    options = parser.parse_args()
    torch.set_num_threads(1)
    found = []
    for name in options.models or filter(without_norms, MODELS):
        found.append(study(name, options.draws))
        print(name, *_shares(found[-1:]), flush=True)
    made = table(found, options.draws)
    made.show()
    if options.markdown:
        replace_text(options.markdown, "\n".join(["# Calibration", "", "`python -m benchmarks.calibration`", "",
                                                  made.markdown()]))  # fmt: skip
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
