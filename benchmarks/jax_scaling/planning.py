"""What planning a large model of JAX costs: one process per model, which prints one line of JSON."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from math import prod
from typing import Any

import jax
import numpy as np

import autoinit

from ..scaling.planning import seconds
from ..zoos import memory
from .llama import SIZES, network, shapes


def main(name: str, form: str, length: int) -> None:
    scanned, size = form == "scan", SIZES[name]
    words = np.random.default_rng(0).integers(0, 30_000, (1, length)).astype(np.int32)
    few = replace(size, layers=2)
    autoinit.plan(
        network(few, scanned), words, params=shapes(few, scanned), warn=False
    )  # what is compiled on first use
    params, function = shapes(size, scanned), network(size, scanned)
    memory.forget_peak()
    before = memory.resident()
    traced = seconds(lambda: jax.make_jaxpr(function)(params, words))
    plans: list[autoinit.Plan] = []
    planned = seconds(lambda: plans.append(autoinit.plan(function, words, params=params, warn=False)))
    grown = max(memory.peak() - before, 0.0) / 1024
    weights: Any = sum(prod(leaf.shape) for leaf in jax.tree_util.tree_leaves(params))
    print(json.dumps({"name": name, "form": form, "tokens": length, "weights": weights, "jaxpr": traced,
                      "plan": planned, "tensors": len(plans[0].tensors), "memory": grown,
                      "drawn": sum(entry.action == "set" for entry in plans[0].parameters)}))  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
