"""How well are gradients predicted? The backward analysis against automatic differentiation.

python -m benchmarks.gradients                              all models, 40 draws
python -m benchmarks.gradients --models mlp_selu unet       some of them
python -m benchmarks.gradients --markdown benchmarks/results/gradients.md --json benchmarks/results/gradients.json

Every draw has weights and noise of its own, and N(0, 1) gradients at the outputs. What was measured of a model is kept
in a journal (one JSON line each), so that a run that was interrupted goes on where it was; predictions are made anew,
and what was measured with other standard deviations of the weights is measured again. The files are written anew after
every model.
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
log-normal, as in fidelity). 'plain': without intervals. 'scatter': median over weights of the standard deviation of
the log between draws. 'worst': the largest deviation outside the intervals. 'without': ops that have no adjoint,
through which gradients are passed on as they are."""
FIRST_NOISE = 1000
"""Seed of the noise, and of the gradients at the outputs, of the first draw; its weights have seed 0."""


def study(name: str, draws: int, known: dict[str, dict[str, Any]], journal: Path) -> dict[str, Any]:
    """One model: measured over predicted for every weight."""
    begin = time.perf_counter()
    spec = MODELS[name]
    model, inputs = built(spec, 0), inputs_of(spec)
    plan = autoinit.plan(model, inputs, gradients=True, warn=False)
    drawn_with = {p.name: p.std for p in plan.parameters}
    if known.get(name, {}).get("drawn_with") != drawn_with:
        runs = measured(plan, model, inputs, draws)
        known[name] = {"model": name, "draws": draws, "drawn_with": drawn_with, "runs": runs}
        with journal.open("a", encoding="utf-8") as file:
            file.write(json.dumps(known[name]) + "\n")
    return {**judged(name, plan, known[name]["runs"]), "seconds": time.perf_counter() - begin}


def measured(plan: autoinit.Plan, model: torch.nn.Module, inputs: Any, draws: int) -> list[dict[str, float]]:
    """The mean square of every parameter's gradient, draw by draw."""
    runs = []
    for seed in range(draws):
        plan.apply(model, seed=seed, warn=False)
        args, kwargs = call_arguments(inputs)
        runs.append(gradients(model, args, kwargs, training=True, seed=FIRST_NOISE + seed))
    return runs


def judged(name: str, plan: autoinit.Plan, runs: list[dict[str, float]]) -> dict[str, Any]:
    """The plan's gradients beside the mean squares of every draw."""
    rows = [r for r in plan.gradients.weights if all(r.parameter in run for run in runs)]
    samples = np.array([[run[r.parameter] for r in rows] for run in runs])
    live = samples.mean(axis=0) > NEGLIGIBLE * float(np.median(samples.mean(axis=0)))
    samples, predicted = samples[:, live], np.maximum(np.array([r.second for r in rows])[live], 1e-300)
    ratio = samples.mean(axis=0) / predicted
    inside = inside_t(samples, predicted) | inside_lognormal(samples, predicted)
    logs = np.log(np.maximum(samples, 1e-300))
    return {
        "model": name, "draws": len(runs), "weights": int(live.sum()), "ratios": [float(f"{r:.4g}") for r in ratio],
        "names": [r.parameter for r, kept in zip(rows, live, strict=True) if kept],
        "inside": [bool(one) for one in inside],
        "scatter": [float(f"{one:.4g}") for one in logs.std(axis=0, ddof=1)] if len(runs) > 1 else [],
        "without": sorted({n.message for n in plan.notes if n.kind == "gradient"}),
    }  # fmt: skip


def shares(results: list[dict[str, Any]]) -> list[str]:
    """Within 1.25x and 2x, with the intervals and without."""
    ratio = np.array([r for one in results for r in one["ratios"]])
    inside = np.array([r for one in results for r in one["inside"]], bool)
    near = [(within(ratio, 1.25), within(ratio, 2.0))]
    near += [(a | inside, b | inside) for a, b in near]
    return [percent(float(hits.mean())) for pair in reversed(near) for hits in pair]


def table_of(results: list[dict[str, Any]]) -> Table:
    heads = ["model", "weights", "≤1.25×", "≤2×", "plain ≤1.25×", "plain ≤2×", "lowest", "median", "highest", "scatter",
             "worst", "at", "without"]  # fmt: skip
    table = Table(f"Weights' gradients: measured over predicted, mean over {results[0]['draws']} draws", heads,
                  caption=CAPTION)  # fmt: skip
    for one in results:
        table.add(one["model"], one["weights"], *shares([one]), *span([one]),
                  number(float(np.median(one["scatter"]))) if one["scatter"] else "", *worst(one),
                  "; ".join(one["without"]))  # fmt: skip
    table.add("all", sum(one["weights"] for one in results), *shares(results), *span(results), "", "", "", "")
    return table


def span(results: list[dict[str, Any]]) -> list[str]:
    """Lowest, median and highest ratio."""
    every = np.array([r for one in results for r in one["ratios"]])
    return [number(float(pick(every))) for pick in (np.min, np.median, np.max)]


def worst(one: dict[str, Any]) -> tuple[str, str]:
    """The ratio that is furthest off, of those that no interval excuses, and its weight."""
    off = np.abs(np.log(np.maximum(one["ratios"], 1e-300))) * ~np.array(one["inside"], bool)
    at = int(np.argmax(off))
    return (number(one["ratios"][at]), one["names"][at]) if off[at] > 0.0 else ("", "")


def kept(journal: Path, draws: int) -> dict[str, dict[str, Any]]:
    """What was measured with so many draws, as a journal has it."""
    if not journal.exists():
        return {}
    lines = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    return {one["model"]: one for one in lines if one["draws"] == draws and "runs" in one}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--models", nargs="*", choices=list(MODELS), metavar="NAME", help=", ".join(MODELS))
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--journal", type=Path, default=Path("build/gradients.jsonl"))
    parser.add_argument("--again", action="store_true", help="measure anew what the journal has")
    parser.add_argument("--markdown", type=Path, metavar="FILE")
    parser.add_argument("--json", type=Path, metavar="FILE")
    return parser.parse_args()


def write(results: list[dict[str, Any]], options: argparse.Namespace) -> None:
    """The files that were asked for, with what there is by now."""
    last = options.draws - 1
    seeds = f"seeds 0 to {last} of the weights, {FIRST_NOISE} to {FIRST_NOISE + last} of noise"
    total = f"{len(results)} models, {options.draws} draws ({seeds} and gradients at the outputs)"
    if options.markdown:
        replace_text(options.markdown, "\n".join(["# Gradients", "", total, "", table_of(results).markdown()]))
    if options.json:
        lines = ",\n".join(json.dumps({k: v for k, v in one.items() if k != "seconds"}) for one in results)
        replace_text(options.json, f"[\n{lines}\n]\n")


def main() -> int:
    options = arguments()
    torch.set_num_threads(1)
    names = options.models or [n for n in MODELS if not MODELS[n].heavy]
    known = {} if options.again else kept(options.journal, options.draws)
    options.journal.parent.mkdir(parents=True, exist_ok=True)
    done: dict[str, dict[str, Any]] = {}
    for name in names:
        done[name] = study(name, options.draws, known, options.journal)
        print(f"{name}: {done[name]['weights']} weights, {done[name]['seconds']:.0f} s", file=sys.stderr, flush=True)
        write(list(done.values()), options)
    table_of(list(done.values())).show()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
