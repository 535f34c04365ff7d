"""Draw weights, run noise, and say how far every tensor is from where it should be: one model at a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

import autoinit
from autoinit import Plan
from autoinit.baselines import lsuv
from autoinit.core.options import DISTRIBUTIONS
from autoinit.core.plan.plan import TensorPlan
from autoinit.frontends.torch.inputs import call_arguments
from autoinit.frontends.torch.measure import record
from autoinit.measurement import key_of

from .intervals import inside_lognormal, inside_t, within
from .models import MODELS, Spec, Tokens

Array = NDArray[np.float64]
SCHEMES = ("autoinit", "default", "paper", "lsuv")


def inputs_of(spec: Spec) -> tuple[Any, ...]:
    """The spec's inputs as the library takes them."""
    return tuple(autoinit.Input(i.shape, vocabulary=i.vocabulary) if isinstance(i, Tokens) else i for i in spec.inputs)


def built(spec: Spec, seed: int) -> nn.Module:
    torch.manual_seed(seed)
    return spec.build()


def measured(model: nn.Module, inputs: Any, rows: list[TensorPlan], seed: int) -> Array:
    """(rows, 2): mean and variance of each tensor with noise of this seed; nan where it was not seen."""
    args, kwargs = call_arguments(inputs)
    wanted = {key_of(row) for row in rows}
    found = record(model, args, kwargs, training=True, seed=1000 + seed, wanted=wanted).moments
    return np.array([found.get(key_of(row), (np.nan, np.nan)) for row in rows], float)


def study(name: str, seeds: int, fewer: int) -> dict[str, Any]:
    """Everything the tables need about one model."""
    begin = time.perf_counter()
    spec = MODELS[name]
    inputs = inputs_of(spec)
    model = built(spec, 0)
    plan = autoinit.plan(model, inputs, warn=False)
    planned = time.perf_counter() - begin
    rows = plan.tensors
    runs = np.stack([measured(plan.apply(model, seed=s), inputs, rows, s) for s in range(seeds)])
    seen = ~np.isnan(runs[0, :, 1])
    weight = np.array([r.target is not None for r in rows]) & seen
    target = np.array([r.target or np.nan for r in rows])[weight]
    layers = [rows[k] for k in np.flatnonzero(weight)]
    result: dict[str, Any] = {
        "model": name,
        "note": spec.note,
        "seeds": seeds,
        "fewer": fewer,
        "layers": int(weight.sum()),
        "plan_seconds": planned,
        "notes": [f"{n.kind}: {n.place}: {n.message}" for n in plan.notes],
        "unreached": plan.unreached(),
        "weights": against(runs[:, weight, 1], target, layers),
        "entries": against(runs[:, weight, 1] + runs[:, weight, 0] ** 2, target, layers),
        "others": others(runs, rows, seen & np.array([r.target is None for r in rows])),
        "draw": {d: one_draw(plan, model, inputs, layers, target, d) for d in DISTRIBUTIONS},
    }
    result["compare"] = {"autoinit": {**plain(runs[:, weight, 1], target), "seeds": seeds}}
    for scheme in SCHEMES[1:]:
        make, count = maker(scheme, spec, inputs), seeds if scheme == "paper" else fewer
        draws = np.stack([measured(make(s), inputs, layers, s)[:, 1] for s in range(count)])
        result["compare"][scheme] = {**plain(draws, target), "seeds": count}
    result["seconds"] = time.perf_counter() - begin
    return result


def maker(scheme: str, spec: Spec, inputs: Any) -> Callable[[int], nn.Module]:
    """seed -> a model initialized with the scheme."""
    if scheme == "default":
        return lambda seed: built(spec, seed)
    if scheme == "paper":
        model = built(spec, 0)
        plan = autoinit.plan(model, inputs, rules=autoinit.RuleSet({}, project=autoinit.independent), warn=False)
        return lambda seed: plan.apply(model, seed=seed)

    def scaled(seed: int) -> nn.Module:
        model = built(spec, seed)
        lsuv(model, inputs, seed=seed)
        return model

    return scaled


def against(samples: Array, target: Array, rows: list[TensorPlan]) -> dict[str, Any]:
    """The criterion of the table: the mean over seeds near the target, or the target in its interval."""
    mean = samples.mean(axis=0)
    ratio = mean / target
    t, either = inside_t(samples, target), inside_t(samples, target) | inside_lognormal(samples, target)
    logs = np.log(np.maximum(samples, 1e-300))
    out: dict[str, Any] = {
        "lowest": low(ratio),
        "median": middle(ratio),
        "highest": high(ratio),
        "scatter": middle(logs.std(axis=0, ddof=1)) if len(samples) > 1 else float("nan"),
    }
    for label, factor in (("1.25", 1.25), ("2", 2.0)):
        near = within(ratio, factor)
        out[label] = {
            "plain": share(near),
            "t": share(near | t),
            "either": share(near | either),
            "needed_t": int((~near & t).sum()),
            "needed": int((~near & either).sum()),
            "outside": int((~near & ~either).sum()),
        }
    bad = np.flatnonzero(~within(ratio, 1.25) & ~either)
    out["outside"] = [f"{rows[k].module} {rows[k].op}: {ratio[k]:.3g}" for k in bad]
    return out


def plain(samples: Array, target: Array) -> dict[str, float]:
    """Shares of means within a factor of the target, without and with the intervals."""
    with np.errstate(all="ignore"):
        ratio = np.nan_to_num(samples.mean(axis=0) / target, nan=np.inf)
        either = inside_t(samples, target) | inside_lognormal(samples, target)
    return {
        "1.25": share(within(ratio, 1.25)),
        "2": share(within(ratio, 2)),
        "1.25 or interval": share(within(ratio, 1.25) | either),
        "2 or interval": share(within(ratio, 2) | either),
        "lowest": low(ratio),
        "highest": high(ratio),
    }


def others(runs: Array, rows: list[TensorPlan], chosen: NDArray[np.bool_]) -> dict[str, Any]:
    """Predicted against measured for the tensors that no weight was solved for."""
    chosen = chosen & np.array([r.tensor_variance > 0 for r in rows])
    picked = [rows[k] for k in np.flatnonzero(chosen)]
    samples = runs[:, chosen, 1]
    predicted = np.array([r.tensor_variance for r in picked])
    ratio = samples.mean(axis=0) / predicted
    inside = inside_t(samples, predicted) | inside_lognormal(samples, predicted)
    worst = int(np.argmax(np.abs(np.log(np.maximum(ratio, 1e-300))) * ~inside)) if picked else -1
    return {
        "tensors": len(picked),
        "1.25": share(within(ratio, 1.25)),
        "2": share(within(ratio, 2)),
        "1.25 or interval": share(within(ratio, 1.25) | inside),
        "2 or interval": share(within(ratio, 2) | inside),
        "lowest": low(ratio),
        "highest": high(ratio),
        "worst": float(ratio[worst]) if picked else float("nan"),
        "worst at": f"{picked[worst].module or 'model'} {picked[worst].op}" if picked else "",
    }


def one_draw(plan: Plan, model: nn.Module, inputs: Any, rows: list[TensorPlan], target: Array, kind: str) -> float:
    """Share within 2x for a single draw of a distribution."""
    replace(plan, distribution=kind).apply(model, seed=0)
    return share(within(measured(model, inputs, rows, 0)[:, 1] / target, 2))


def share(hits: NDArray[np.bool_]) -> float:
    return float(hits.mean()) if hits.size else float("nan")


def low(values: Array) -> float:
    return float(values.min()) if values.size else float("nan")


def high(values: Array) -> float:
    return float(values.max()) if values.size else float("nan")


def middle(values: Array) -> float:
    return float(np.median(values)) if values.size else float("nan")
