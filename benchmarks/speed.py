"""Is the analysis cheap? Ratios of times taken in one run, the best of several each.

python -m benchmarks.speed            prints the table
python -m benchmarks.speed --check    and exits with 1 if a bound is broken
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

import autoinit

from .models import MODELS, Spec
from .timing import Result, best, table_of
from .trials import inputs_of

PLAN_LIMIT, INITIALIZE_LIMIT, GROWTH_LIMIT = 3.0, 2.0, 1.2
PLANNED = ("resnet50", "preact_resnet56", "mobilenet", "convnext", "unet", "vit12", "gpt_swiglu", "mlp_mixer")
CHAIN = 10_000


def fake_forward(spec: Spec) -> Callable[[], Any]:
    """A bare forward of the same model on fake tensors: shapes only, nothing recorded."""
    mode = FakeTensorMode()
    with mode:
        model = spec.build().train()
        inputs = spec.example()

    def forward() -> Any:
        with mode:
            return model(*inputs)

    return forward


def plan_ratio(name: str, repeats: int) -> Result:
    spec = MODELS[name]
    model, inputs = spec.build(), inputs_of(spec)
    plan, bare = best(repeats, lambda: autoinit.plan(model, inputs, warn=False), fake_forward(spec),
                      clock=time.process_time)  # fmt: skip
    return Result(f"plan / bare fake forward: {name}", 1e3 * plan, 1e3 * bare, PLAN_LIMIT)


def initialize_ratio(model_or_name: Spec | str, repeats: int) -> Result:
    spec = model_or_name if isinstance(model_or_name, Spec) else MODELS[model_or_name]
    model, inputs = spec.build(), inputs_of(spec)
    whole, construction = best(repeats, lambda: autoinit.initialize(model, inputs, warn=False), spec.build)
    return Result(f"initialize / construction: {spec.name}", 1e3 * whole, 1e3 * construction, INITIALIZE_LIMIT)


def growth(small: str, large: str, repeats: int) -> Result:
    """Time per node of the large model over that of the small one."""
    made = [(MODELS[n].build(), inputs_of(MODELS[n])) for n in (small, large)]
    nodes = [len(autoinit.plan(model, inputs, warn=False).tensors) for model, inputs in made]
    times = best(repeats, *(lambda m=m, i=i: autoinit.plan(m, i, warn=False) for m, i in made))
    per_node = [1e6 * t / n for t, n in zip(times, nodes, strict=True)]
    what = f"time per node: {large} ({nodes[1]}) / {small} ({nodes[0]})"
    return Result(what, per_node[1], per_node[0], GROWTH_LIMIT, "µs")


def chain(layers: int) -> nn.Module:
    return nn.Sequential(*(m for _ in range(layers) for m in (nn.Linear(8, 8), nn.Tanh())))


def long_chain(repeats: int) -> Result:
    """A chain of 10,000 layers: it works at all, and costs no more per layer than a short one."""
    long, short = chain(CHAIN), chain(CHAIN // 100)
    times = best(repeats, *(lambda m=m: autoinit.initialize(m, (4, 8), warn=False) for m in (long, short)))
    per_layer = [1e6 * times[0] / CHAIN, 1e6 * times[1] / (CHAIN // 100)]
    what = f"initialize, time per layer: chain of {CHAIN} / of {CHAIN // 100}"
    return Result(what, *per_layer, GROWTH_LIMIT, "µs")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="exit with 1 if a bound is broken")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    begin = time.perf_counter()
    n = options.repeats
    results = [plan_ratio(name, n) for name in PLANNED]
    results += [initialize_ratio("resnet50", n), growth("preact_resnet56", "preact_resnet812", max(n // 2, 2))]
    results.append(long_chain(max(n // 3, 1)))
    caption = (
        f"Best of {n} (fewer for the largest), {options.threads} threads, {time.perf_counter() - begin:.0f} s in all."
    )
    table_of("Speed", results, caption).show()
    return int(options.check and not all(r.passed for r in results))


if __name__ == "__main__":
    raise SystemExit(main())
