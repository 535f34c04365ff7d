"""Mean and variance of every tensor in a real run, by the keys of the plan's rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from ...core.options import Options
from ...core.plan.measured import Key, Moments
from ...errors import ModelError, TraceError
from ..budget import Budget
from .inputs import Given, given_inputs
from .program import Program
from .replay import Observe, given_values, run
from .tape import Step, Tape
from .trace import tape_of


def record(program: Program, inputs: Any, options: Options, seed: int) -> Moments:
    """On noise, or on the user's batch, with the weights that the program has."""
    moments: Moments = {}

    def observe(key: Key, array: Any) -> None:
        moments[key] = mean_and_variance(array)

    observed(program, inputs, options, seed, observe)
    return moments


def observed(
    program: Program, inputs: Any, options: Options, seed: int, observe: Callable[[Key, Any], None]
) -> list[Any]:
    """Run a program, and show every floating tensor of the plan; returns the outputs."""
    given, structure, leaves = given_inputs(inputs)
    tape = tape_of(program, given, structure, leaves, Budget.start(options))
    values = given_leaves(program)

    def look(step: Step, made: Sequence[Any]) -> None:
        if not step.call:
            return
        for k, (out, array) in enumerate(zip(step.outputs, made, strict=True)):
            if out.is_float and 0 not in out.shape:
                observe((step.module, step.label, step.call, k), array)

    rng = np.random.default_rng(seed)
    samples = [item.sample(rng) for item in given]
    return replayed(program, tape, given_values(tape, values, samples, jax.random.key(seed)), given, look)


def replayed(program: Program, tape: Tape, values: Mapping[int, Any], given: Sequence[Given], observe: Observe
             ) -> list[Any]:  # fmt: skip
    """The outputs of a tape that begins with these values; `given`: what its inputs are, for an error."""
    try:
        return run(tape.steps, values, tape.outputs, observe)
    except Exception as error:
        raise TraceError(
            f"the model's call failed: {type(error).__name__}: {error}", where=program.name,
            received=f"inputs {', '.join(f'{item.shape} {item.dtype}' for item in given)}",
            fix="check the shape (batch included) and dtype of inputs; does the model work on real arrays?",
        ) from error  # fmt: skip


def given_leaves(program: Program) -> list[Any]:
    """The values of all leaves."""
    values = [leaf.values() for leaf in program.leaves]
    missing = next((leaf for leaf, v in zip(program.leaves, values, strict=True) if v is None), None)
    if missing is not None:
        raise ModelError("the model has no values, so nothing can be measured", where=missing.name,
                         received="an abstract array", fix="initialize the model first")  # fmt: skip
    return values


def mean_and_variance(array: Any) -> tuple[float, float]:
    """Over the whole tensor."""
    x = np.asarray(array)
    if np.iscomplexobj(x):
        mean = complex(x.mean())
        return mean.real, float(np.square(np.abs(x - mean)).mean(dtype=np.float64))
    x = x.astype(np.float32 if x.dtype.itemsize < 4 else x.dtype)
    mean_of = float(x.mean(dtype=np.float64))
    return mean_of, float(np.square(x - x.dtype.type(mean_of)).mean(dtype=np.float64)) if np.isfinite(mean_of) else (
        float("nan")
    )
