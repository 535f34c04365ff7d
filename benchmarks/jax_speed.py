"""Is the analysis of JAX models cheap? Against PyTorch's, of large models, and of weights that are born sharded.

python -m benchmarks.jax_speed             prints the tables and writes benchmarks/results/jax_speed.md
python -m benchmarks.jax_speed --check     and exits with 1 if a bound is broken
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from autoinit.core.files import replace_text

from .tables import Table
from .timing import table_of

CASES = (("Llama 70B", "loop"), ("Llama 70B", "scan"), ("Llama 405B", "loop"), ("Llama 405B", "scan"))
TOKENS, DEVICES = 128, 8
RESULTS = Path(__file__).parent / "results" / "jax_speed.md"


def process(module: str, *arguments: str, seconds: float, **environment: str) -> dict[str, Any]:
    """The JSON that a process of its own prints, or why there is none."""
    command = [sys.executable, "-m", f"benchmarks.jax_scaling.{module}", *arguments]
    try:
        done = subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": "1", **environment}, capture_output=True,
                              text=True, timeout=seconds)  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"error": f"stopped after {seconds:.0f} s"}
    if done.returncode:
        return {"error": done.stderr.strip().splitlines()[-1][:200]}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def planning_table(seconds: float) -> Table:
    caption = f"{TOKENS} tokens, CPU seconds; jaxpr: tracing alone; plan: with it; memory: what planning added."
    table = Table("Planning models without memory", ["model", "form", "weights", "drawn tensors", "tensors", "jaxpr",
                                                     "plan", "memory"], caption=caption)  # fmt: skip
    for name, form in CASES:
        found = process("planning", name, form, str(TOKENS), seconds=seconds)
        if "error" in found:
            table.add(name, form, found["error"], "", "", "", "", "")
            continue
        table.add(name, form, f"{found['weights'] / 1e9:.1f} B", found["drawn"], found["tensors"],
                  f"{found['jaxpr']:.2f} s", f"{found['plan']:.2f} s", f"{found['memory']:.2f} GiB")  # fmt: skip
    return table


def born_table(seconds: float) -> Table:
    """One device against eight."""
    flags = f"--xla_force_host_platform_device_count={DEVICES}"
    found = process("born", seconds=seconds, XLA_FLAGS=flags)
    table = Table("Born sharded", ["init", "devices", "flops per device", "made per device", "memory in between"])
    if "error" in found:
        table.add(found["error"], "", "", "", "")
        return table
    rows = (("AutoInit", 1, found["one"]), ("AutoInit", found["devices"], found["many"]), ("Flax", 1, found["plain"]))
    for name, devices, costs in rows:
        sizes = (f"{costs[kind] / 2**20:.2f} MiB" for kind in ("made", "between"))
        table.add(name, devices, f"{costs['flops']:.3g}", *sizes)
    equal = "the same bits" if found["same"] else "OTHER BITS"
    table.caption = (
        f"`jit(autoinit.linen.init)` of {found['weights'] / 1e6:.1f} M weights, kernels cut along both axes, the rest "
        f"on every device: {equal} as without sharding. The host draws weights, which XLA does not count."
    )
    return table


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="exit with 1 if a bound is broken")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--time", type=float, default=600, metavar="SECONDS", help="limit per large model")
    options = parser.parse_args()
    from .jax_scaling import small

    results = small.results(options.repeats)
    caption = f"CPU time, best of {options.repeats}."
    tables = [table_of("Small models and drawing", results, caption), planning_table(options.time),
              born_table(options.time)]  # fmt: skip
    for table in tables:
        table.show()
    replace_text(RESULTS, "\n".join(["# Speed with JAX", "", *(table.markdown() for table in tables)]))
    fine = all(r.passed for r in results) and "OTHER BITS" not in (tables[-1].caption or "")
    return int(options.check and not fine)


if __name__ == "__main__":
    raise SystemExit(main())
