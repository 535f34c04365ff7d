"""Do large models stay cheap? Planning without memory, drawing, shards: ratios of times taken in one run.

python -m benchmarks.scale            prints the tables and writes benchmarks/results/scale.md
python -m benchmarks.scale --check    and exits with 1 if a bound is broken
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import torch

from autoinit.core.files import replace_text
from autoinit.labs.models import VisionTransformer

from .models import Spec
from .scaling import sharding
from .scaling.drawing import drawing
from .speed import PLANNED, initialize_ratio, plan_ratio
from .tables import Table
from .timing import Result, table_of

CASES = (
    ("Llama 70B", 128, 3.0), ("Llama 405B", 128, 3.0), ("Llama 70B", 4096, 5.0), ("Llama 405B", 4096, 5.0),
    ("Mixtral 8x7B", 128, 5.0), ("DeepSeek-V3", 128, 5.0),
)  # fmt: skip
"""Model, tokens, and the most that planning may cost, in bare forwards on fake tensors."""
VIT_B = Spec(
    "vit_b", partial(VisionTransformer, size=224, patch=16, width=768, heads=12, classes=1000), ((1, 3, 224, 224),),
    "86 M weights", 86_567_656,
)  # fmt: skip
RESULTS = Path(__file__).parent / "results" / "scale.md"


def planned(name: str, tokens: int, repeats: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.scaling.planning", name, str(tokens), str(repeats)]
    done = subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{name}: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def planning_table(found: list[dict[str, Any]]) -> Table:
    columns = ["model", "tokens", "weights", "drawn tensors", "bare", "plan", "first plan", "ratio", "limit", "memory"]
    caption = (
        "CPU seconds on one thread. bare: a forward on fake tensors that records nothing; plan: the best of the "
        "repeats; ratio: the first plan of the process over bare; memory: what planning added to the process."
    )
    table = Table("Planning models without memory", [*columns, ""], caption=caption)
    for case, (_, _, limit) in zip(found, CASES, strict=True):
        ratio = case["first"] / case["bare"]
        verdict = "PASS" if ratio <= limit else "FAIL"
        table.add(case["name"], case["tokens"], f"{case['weights'] / 1e9:.1f} B", case["drawn"],
                  f"{case['bare']:.2f} s", f"{case['plan']:.2f} s", f"{case['first']:.2f} s",
                  f"{ratio:.2f}", f"{limit:g}", f"{case['memory']:.2f} GiB", verdict)  # fmt: skip
    return table


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="exit with 1 if a bound is broken")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    n = options.repeats
    large = planning_table([planned(name, tokens, n) for name, tokens, _ in CASES])
    results: list[Result] = [plan_ratio(name, 2 * n) for name in PLANNED]
    results += [*drawing(2 * n), initialize_ratio("resnet50", n), initialize_ratio(VIT_B, n)]
    shard = sharding.measured()
    caption = (
        f"Best of {2 * n} or {n}, {torch.get_num_threads()} threads. `apply` on one of {sharding.WORLD} shards of "
        f"{shard['shard']:.2f} GiB needed {shard['extra'] * 1024:.0f} MiB beyond it, {shard['seconds']:.1f} s of CPU."
    )
    small = table_of("Small models, drawing, initialize", results, caption)
    for table in (large, small):
        table.show()
    replace_text(RESULTS, f"{large.markdown()}\n{small.markdown()}")
    passed = all(row[-1] == "PASS" for row in large.rows) and all(r.passed for r in results)
    return int(options.check and not passed)


if __name__ == "__main__":
    raise SystemExit(main())
