"""How well are gradients predicted? The backward analysis against automatic differentiation.

python -m benchmarks.gradients                              all models, 40 draws
python -m benchmarks.gradients --models mlp_selu unet       some of them
python -m benchmarks.gradients --draws 60 --markdown benchmarks/results/gradients.md

Every draw has weights and noise of its own, and N(0, 1) gradients at the outputs. What was found of a model is kept in
a journal (one JSON line each), so that a run that was interrupted goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

import autoinit
from autoinit.core.files import replace_text
from autoinit.frontends.torch.gradients import gradients
from autoinit.frontends.torch.inputs import call_arguments

from .intervals import inside_lognormal, inside_t, within
from .models import MODELS
from .tables import Table, number, percent
from .trials import built, inputs_of

DRAWS = 40
NEGLIGIBLE = 1e-9
"""Weights whose gradients are smaller than this share of the model's median are rounding errors of zero."""
CAPTION = """\
Parameters with at least two axes. A weight counts if the mean over draws of the mean square of its gradient is within
the factor of the prediction, or if the prediction lies inside the 95 % confidence interval of that mean (t or
log-normal, as in fidelity). 'plain': without intervals. 'without': ops that have no adjoint, through which gradients
are passed on as they are."""


def study(name: str, draws: int) -> dict[str, Any]:
    """One model: measured over predicted for every weight."""
    begin = time.perf_counter()
    spec = MODELS[name]
    model, inputs = built(spec, 0), inputs_of(spec)
    plan = autoinit.plan(model, inputs, gradients=True, warn=False)
    runs = []
    for seed in range(draws):
        plan.apply(model, seed=seed, warn=False)
        args, kwargs = call_arguments(inputs)
        runs.append(gradients(model, args, kwargs, training=True, seed=1000 + seed))
    rows = [r for r in plan.gradients.weights if all(r.parameter in run for run in runs)]
    samples = np.array([[run[r.parameter] for r in rows] for run in runs])
    live = samples.mean(axis=0) > NEGLIGIBLE * float(np.median(samples.mean(axis=0)))
    samples, predicted = samples[:, live], np.maximum(np.array([r.second for r in rows])[live], 1e-300)
    ratio = samples.mean(axis=0) / predicted
    inside = inside_t(samples, predicted) | inside_lognormal(samples, predicted)
    return {
        "model": name, "draws": draws, "weights": int(live.sum()), "ratios": [float(f"{r:.4g}") for r in ratio],
        "names": [r.parameter for r, kept in zip(rows, live, strict=True) if kept],
        "inside": [bool(one) for one in inside],
        "without": sorted({n.message for n in plan.notes if n.kind == "gradient"}),
        "seconds": time.perf_counter() - begin,
    }  # fmt: skip


def shares(results: list[dict[str, Any]]) -> list[str]:
    """Within 1.25x and 2x, with the intervals and without."""
    ratio = np.array([r for one in results for r in one["ratios"]])
    inside = np.array([r for one in results for r in one["inside"]], bool)
    near = [(within(ratio, 1.25), within(ratio, 2.0))]
    near += [(a | inside, b | inside) for a, b in near]
    return [percent(float(hits.mean())) for pair in reversed(near) for hits in pair]


def table_of(results: list[dict[str, Any]]) -> Table:
    heads = ["model", "weights", "≤1.25×", "≤2×", "plain ≤1.25×", "plain ≤2×", "lowest", "median", "highest", "without"]
    table = Table(f"Weights' gradients: measured over predicted, mean over {results[0]['draws']} draws", heads,
                  caption=CAPTION)  # fmt: skip
    for one in results:
        r = np.array(one["ratios"])
        table.add(one["model"], one["weights"], *shares([one]), number(float(r.min())), number(float(np.median(r))),
                  number(float(r.max())), "; ".join(one["without"]))  # fmt: skip
    every = np.array([r for one in results for r in one["ratios"]])
    table.add("all", every.size, *shares(results), number(float(every.min())), number(float(np.median(every))),
              number(float(every.max())), "")  # fmt: skip
    return table


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--models", nargs="*", choices=list(MODELS), metavar="NAME", help=", ".join(MODELS))
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--journal", type=Path, default=Path("build/gradients.jsonl"))
    parser.add_argument("--again", action="store_true", help="forget what the journal has")
    parser.add_argument("--markdown", type=Path, metavar="FILE")
    options = parser.parse_args()
    torch.set_num_threads(1)
    names = options.models or [n for n in MODELS if not MODELS[n].heavy]
    known: dict[str, dict[str, Any]] = {}
    if options.journal.exists() and not options.again:
        lines = [json.loads(line) for line in options.journal.read_text(encoding="utf-8").splitlines()]
        known = {one["model"]: one for one in lines if one["draws"] == options.draws}
    options.journal.parent.mkdir(parents=True, exist_ok=True)
    for name in names:
        if name not in known:
            known[name] = study(name, options.draws)
            with options.journal.open("a", encoding="utf-8") as file:
                file.write(json.dumps(known[name]) + "\n")
        print(f"{name}: {known[name]['weights']} weights, {known[name]['seconds']:.0f} s", file=sys.stderr, flush=True)
    table = table_of([known[n] for n in names])
    table.show()
    if options.markdown:
        replace_text(options.markdown, f"# Gradients\n\n{table.markdown()}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
