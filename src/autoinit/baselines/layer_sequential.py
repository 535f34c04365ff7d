"""Layer-sequential unit variance (Mishkin and Matas, 2016) for any model: scale weights by a batch.

The weights are pre-initialized, S samples go through the model, and every op that contracts with a weight rescales it
until its own output has the target variance; the rescaled output then flows on.
"""

from __future__ import annotations

import warnings
from typing import Any, TypedDict

from ..errors import OptionError
from ..frontends.choice import front_end_of
from ..plans import Plan
from .schemes import SCHEMES, known_scheme


class LsuvOptions(TypedDict, total=False):
    """What users may give by `autoinit.baselines.initialize`, beside inputs, seed and training."""

    samples: int | None
    pre: str | None
    tolerance: float
    iterations: int
    target: float
    plan: Plan | None


def lsuv(
    model: Any,
    inputs: Any = None,
    *,
    samples: int | None = None,
    pre: str | None = "orthogonal",
    tolerance: float = 0.1,
    iterations: int = 10,
    seed: int = 0,
    target: float = 1.0,
    training: bool = True,
    plan: Plan | None = None,
) -> dict[str, float]:
    """Initialize `model` in place; return the variance that every rescaled weight's output ended with.

    model: a PyTorch module or a Keras model.
    inputs: as for `autoinit.plan`; a real batch, or a description of noise.
    samples: how many entries of the batch (the first axis of every input) are used; default all.
    pre: the classical scheme that is rescaled; None keeps the present weights.
    tolerance: the relative deviation from `target` that is accepted.
    iterations: how often one weight is rescaled at most.
    plan: of this model, from `autoinit.plan`; says which weights there are and who uses them. One that is at hand,
        as for many seeds or batches, saves tracing the model again.

    Frozen parameters are left alone. A parameter that several layers share is scaled for the first of them.
    """
    if pre is not None:
        known_scheme(pre, "pre", SCHEMES)
    for name, value, least in (("samples", samples, 1), ("iterations", iterations, 1)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
            raise OptionError(f"'{name}' takes a positive integer", where=f"option '{name}'", received=repr(value),
                              fix=f"{name}=64")  # fmt: skip
    if samples is not None and inputs is None:
        raise OptionError("'samples' are taken from inputs, and there are none", where="option 'samples'",
                          received=repr(samples), fix="give a batch, or leave samples out")  # fmt: skip
    if not 0 < target < float("inf") or not tolerance > 0:
        raise OptionError("'target' and 'tolerance' take positive numbers", where="lsuv",
                          received=f"{target}, {tolerance}", fix="target=1.0, tolerance=0.1")  # fmt: skip
    if plan is not None and not isinstance(plan, Plan):
        raise OptionError("'plan' takes a plan", where="option 'plan'", received=type(plan).__name__,
                          fix="plan=autoinit.plan(model, inputs)")  # fmt: skip
    if front_end_of(model).NAME == "torch":
        from .layer_sequential_torch import scaled
    else:
        from .layer_sequential_keras import scaled
    variances, failed = scaled(
        model, inputs, samples=samples, pre=pre, tolerance=tolerance, iterations=iterations, seed=seed, target=target,
        training=training, plan=plan,
    )  # fmt: skip
    if failed:
        what = f"{len(failed)} layers, the first {failed[0]}: output constant or not finite"
        warnings.warn(f"LSUV could not scale {what}", stacklevel=2)
    return variances
