"""Plain functions of JAX as programs, their plans, and what really comes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import numpy as np

import autoinit
from autoinit import Input
from autoinit.core.options import read_options
from autoinit.core.plan.measured import key_of
from autoinit.core.plan.plan import PlanData
from autoinit.core.solve.outcome import RuleSet
from autoinit.frontends.base_plan import planned
from autoinit.frontends.jax.measure import record
from autoinit.frontends.jax.program import Leaf, Program
from autoinit.frontends.jax.trace import Trace, trace
from autoinit.rules import RULES

Shapes = dict[str, tuple[int, ...]]
ONES = ("scale", "gain")


def program(function: Callable[..., Any], shapes: Shapes, seed: int = 0) -> Program:
    """function(parameters by name, inputs, key). Scales are 1, shifts 0, all else standard normal."""
    leaves, rng = [], np.random.default_rng(seed)
    for name, shape in shapes.items():
        values = rng.standard_normal(shape).astype(np.float32)
        if name.endswith(ONES):
            values = np.ones(shape, np.float32)
        elif name.endswith("shift"):
            values = np.zeros(shape, np.float32)
        leaves.append(leaf_of(name, values))

    def call(values: Any, inputs: Any, key: Any) -> Any:
        return function(dict(zip(shapes, values, strict=True)), inputs, key)

    return Program("test", tuple(leaves), call)


def leaf_of(name: str, values: Any, trainable: bool = True) -> Leaf:
    return Leaf(name, name.rpartition(".")[0], values.shape, str(values.dtype), trainable, True, lambda: values)


def traced(made: Program, inputs: Any, **options: Any) -> Trace:
    return trace(made, inputs, read_options(options))


def plan_of(made: Program, inputs: Any, check: bool = False, **options: Any) -> autoinit.Plan:
    followed = traced(made, inputs, **options)
    settings = read_options(options)
    made = planned(followed.graph, followed.signals, settings, RuleSet(RULES), model="test", framework="jax",
                   check=check)  # fmt: skip
    return autoinit.Plan.of(made)


def drawn(made: Program, plan: PlanData, seed: int) -> Program:
    """The program with normal weights of the planned standard deviations (one part per parameter, or views of it)."""
    rng = np.random.default_rng((seed, 1))  # no relative of the stream that inputs come from
    leaves = []
    for leaf in made.leaves:
        values = np.array(leaf.values())
        entry = next((p for p in plan.parameters if p.name == leaf.name), None)
        if entry is not None and entry.action == "zero":
            values[...] = 0.0
        elif entry is not None and entry.action == "set":
            for part in entry.parts:
                steps = tuple(s * values.itemsize for s in part.stride)
                target = np.lib.stride_tricks.as_strided(values.reshape(-1)[part.offset :], part.shape, steps)
                target[...] = part.std * (1.0 if part.kind == "constant" else rng.standard_normal(part.shape))
        leaves.append(replace(leaf, array=lambda values=values: values))
    return replace(made, leaves=tuple(leaves))


def assert_as_planned(
    made: Program, inputs: Any, allowed: float = 0.15, repeats: int = 5, **options: Any
) -> autoinit.Plan:
    """Every weight layer, and the output, has the planned variance (median of draws); nothing was simulated."""
    plan = plan_of(made, inputs, **options)
    assert not [n.message for n in plan.notes if n.kind in ("simulated", "passed", "warning")]
    found: dict[int, list[float]] = {}
    for seed in range(repeats):
        now = drawn(made, plan, seed)
        moments = record(now, inputs, read_options(options), seed)
        rows = {key_of(row): row for row in plan.tensors}
        for key, (_, variance) in moments.items():
            row = rows.get(key)
            if row is not None and (row.weight is not None or row.index in plan.outputs):
                found.setdefault(row.index, []).append(variance / row.tensor_variance)
    assert set(plan.outputs) & set(found) or len(found) >= 1
    for index, ratios in found.items():
        row = plan.tensors[index]
        limit = 4 * 1.25 * row.scatter / repeats**0.5 + allowed
        assert abs(np.log(np.median(ratios))) < limit, (row.module, row.op, ratios)
    return plan


def noise(*shape: int) -> Input:
    return Input(shape)


def key() -> Any:
    return jax.random.key(0)
