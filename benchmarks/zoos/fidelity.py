"""Predicted against measured on one model: which tensors are where they should be."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autoinit import Plan
from autoinit.core.plan.plan import TensorPlan
from autoinit.measurement import Moments, key_of

from ..intervals import inside_lognormal, inside_t, within

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
NORMALISING = re.compile(r"(batch|layer|group|instance|rms)_?norm|rsqrt|\.(var|std)|^(var|std|moments)$", re.IGNORECASE)
NOTHING = 1e-10
"""Variances below this are zero but for rounding."""
WORST, LISTED = 10, 30
MORE_SEEDS = 10
"""For models without normalisation, which are judged by intervals."""


def normalises(plan: Plan) -> bool:
    """Does any op of the model normalise a signal? (Standardised weights do not count: same module as their layer.)"""
    layers = {t.module for t in plan.weight_layers}
    return any(NORMALISING.search(t.op) is not None and t.module not in layers for t in plan.tensors)


def in_order(plan: Plan, found: Moments) -> Array:
    """(tensors, 2): mean and variance of each tensor of the plan; nan where it was not seen, inf for no number."""
    seen = {key: np.nan_to_num(np.array(moments, float), nan=np.inf, neginf=np.inf) for key, moments in found.items()}
    return np.array([seen.get(key_of(row), (np.nan, np.nan)) for row in plan.tensors], float)


def judge(plan: Plan, runs: Array, listed: bool = False) -> dict[str, Any]:
    """The record of a model. runs: (seeds, tensors, 2), mean and variance of each tensor; nan where it was not seen.

    The median over seeds is compared with ν at weight layers, with the prediction elsewhere. In a model without
    normalisation draws scatter much, so there a tensor also counts if what it should be lies inside the 95 % interval
    of the mean over seeds.
    """
    rows = plan.tensors
    free = not normalises(plan)
    means, variances = runs[..., 0], runs[..., 1]
    seen = ~np.isnan(runs).all(axis=(0, 2))
    weight = np.array([t.target is not None for t in rows], bool)
    predicted = np.array([_float(t.tensor_variance) for t in rows])
    expected = np.where(weight, [t.target or np.nan for t in rows], predicted)
    with np.errstate(all="ignore"):
        ratio = ratios(_middle(variances), expected)
        excused = np.zeros(len(rows), bool)
        if free:
            usual = np.where(expected > 0, expected, np.nan)
            excused = inside_t(variances, usual) | inside_lognormal(variances, usual)
    near = {factor: within(ratio, float(factor)) | excused for factor in ("1.25", "2", "10")}

    def row(k: int) -> dict[str, Any]:
        return described(rows[k], float(_middle(means)[k]), float(_middle(variances)[k]), float(ratio[k]))

    off = [int(k) for k in np.flatnonzero(seen & ~near["1.25"])]
    by_size = sorted(off, key=lambda k: -abs(np.log(np.clip(np.nan_to_num(ratio[k], nan=np.inf), 1e-300, 1e300))))
    outputs = [k for k in plan.outputs if 0 <= k < len(rows) and seen[k]]
    wrong_layers = [k for k in by_size if weight[k]]
    result = {
        "seeds": len(runs),
        "norm_free": free,
        "layers": {**_counted(near, seen & weight), "median": digits(_median(ratio[seen & weight]))},
        "unseen": int((weight & ~seen).sum()),
        "no_target": sum(t.weight is not None and t.target is None for t in rows),
        "by_interval": int((excused & ~within(ratio, 1.25) & seen & weight).sum()),
        "others": _counted(near, seen & ~weight),
        "outputs": [row(k) for k in outputs[:WORST]],
        "outputs_off": int(sum(not near["10"][k] for k in outputs)),
        "worst_layer": row(wrong_layers[0]) if wrong_layers else None,
        "first_off": row(next((k for k in off if not near["2"][k]), off[0])) if off else None,
        "worst": [row(k) for k in by_size[:WORST]],
    }
    if listed:
        result["listed"] = [row(k) for k in off[:LISTED]]
        result["off"] = len(off)
    return result


def ratios(measured: Array, expected: Array) -> Array:
    """measured / expected; 1 where both are zero but for rounding, or both overflow."""
    with np.errstate(all="ignore"):
        both_zero = (np.abs(measured) < NOTHING) & (np.abs(expected) < NOTHING)
        both_huge = ~np.isfinite(measured) & ~np.isfinite(expected)
        made: Array = np.where(both_zero | both_huge, 1.0, measured / expected)
    return made


def described(row: TensorPlan, mean: float, variance: float, ratio: float) -> dict[str, Any]:
    """One tensor for the record."""
    return {
        "index": row.index,
        "module": row.module or "(model)",
        "op": row.op.removeprefix("aten."),
        "predicted": digits(row.tensor_variance),
        "measured": digits(variance),
        "target": digits(row.target),
        "ratio": digits(ratio),
        "mean": [digits(row.mean), digits(mean)],
    }


def digits(value: float | None) -> float | None:
    """Four digits are enough; None for what JSON has no number for."""
    return None if value is None or not np.isfinite(value) else float(f"{value:.4g}")


def _counted(near: dict[str, Flags], chosen: Flags) -> dict[str, int]:
    return {"n": int(chosen.sum()), **{f: int((near[f] & chosen).sum()) for f in ("1.25", "2")}}


def _middle(samples: Array) -> Array:
    """The median over the seeds that saw the tensor (layerdrop leaves a layer out of some draws); nan if none did."""
    seen = ~np.isnan(samples).all(axis=0)
    made = np.full(samples.shape[1:], np.nan)
    made[seen] = np.nanmedian(samples[:, seen], axis=0)
    return made


def _median(values: Array) -> float:
    return float(np.median(values)) if values.size else float("nan")


def _float(value: float | None) -> float:
    return float("nan") if value is None else float(value)
