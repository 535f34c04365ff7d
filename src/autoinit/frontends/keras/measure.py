"""Run the model's real operations in order and record the statistics of every tensor, keyed like the plan's rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from keras.src import backend

from ...core.plan.measured import Moments
from ...errors import TraceError
from ..budget import Budget
from ..custom import CustomRules
from ..lock import WALKING
from .replay import untouched_state
from .state import looking
from .tape import Entry
from .variables import as_array, is_float, layers_of
from .walk import Walk, walk


def record(
    model: Any, inputs: Any, *, training: bool, seed: int, budget: Budget | None = None
) -> Moments:
    """Mean and variance of every floating tensor on noise (or the user's batch); the model's state stays as it is."""
    with WALKING, looking(model) as looks:
        made = walk(model, inputs, training, CustomRules(), budget=budget, looks=looks)
        return _moments(made, model, seed, looks)


def moments_of(made: Walk, model: Any, seed: int) -> Moments:
    """The same for a model that was walked already, with its weights as they are now."""
    with WALKING, looking(model) as looks:
        return _moments(made, model, seed, looks)


def _moments(made: Walk, model: Any, seed: int, looks: looking) -> Moments:
    moments: Moments = {}

    def observe(entry: Entry, values: list[Any]) -> None:
        for k, (out, value) in enumerate(zip(entry.outputs, values, strict=True)):
            if is_float(out.dtype) and 0 not in out.shape:
                moments[entry.module, entry.name, entry.occurrence, k] = mean_and_variance(value)

    replayed(made, model, seed, observe, looks)
    return moments


def replayed(
    made: Walk, model: Any, seed: int, observe: Any = None, looks: looking | None = None,
    values: Sequence[tuple[Any, Any]] = (),
) -> list[Any]:  # fmt: skip
    """The model's outputs on sampled inputs, by its tape. `looks`: the context that keeps the model as it is.

    `values`: what variables hold in the run, in place of their own values.
    """
    if looks is None:
        with WALKING, looking(model) as looks:
            return replayed(made, model, seed, observe, looks, values)
    given: dict[int, Any] = {}
    rng = np.random.default_rng(seed)
    for leaf in made.leaves:
        given[leaf.position] = made.sample(leaf.position, rng)
    try:
        with looks.within(), untouched_state([*other_seeds(model, seed), *values]):
            run = made.tracer.replay.run(made.tracer.tape.entries, given.__getitem__, made.outputs, observe)
    except Exception as error:
        raise TraceError(
            f"the model's call failed: {type(error).__name__}: {error}", where=type(model).__name__,
            received=f"inputs {', '.join(str(x.shape) for x in map(np.asarray, given.values()))}",
            fix="check the shape (batch included) and dtype of inputs; does model(inputs) work?",
        ) from error  # fmt: skip
    return [run[id(t)] for t in made.outputs]


def other_seeds(model: Any, seed: int) -> list[tuple[Any, Any]]:
    """Other states for the seed generators of the model's layers."""
    rng = np.random.default_rng(seed)
    states = {id(g.state): g.state for layer in layers_of(model) for g in layer._seed_generators}
    dtype = backend.random_seed_dtype()
    return [(s, backend.convert_to_tensor(rng.integers(0, 2**30, 2), dtype=dtype)) for s in states.values()]


def mean_and_variance(value: Any) -> tuple[float, float]:
    """Over the whole tensor."""
    x = as_array(value)
    if x.dtype == np.float16:
        x = x.astype(np.float32)
    mean = float(x.mean(dtype=np.float64))
    return mean, float(np.square(x - x.dtype.type(mean)).mean(dtype=np.float64)) if np.isfinite(mean) else float("nan")
