"""Memory of `plan.apply` on a shard: several processes, a model that none of them holds whole."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard

import autoinit
from autoinit.core.files import replace_text

from .planning import seconds

WORLD, WIDTH, LAYERS = 2, 4096, 16


def net() -> nn.Module:
    return nn.Sequential(*(m for _ in range(LAYERS) for m in (nn.Linear(WIDTH, WIDTH), nn.GELU())))


def measured() -> dict[str, float]:
    """Of the first of the processes: GiB of its shard, what `apply` needed beyond it, and CPU seconds."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.scaling.sharding"]
        started = [subprocess.Popen([*command, str(rank), folder], env={**os.environ, "OMP_NUM_THREADS": "1"})
                   for rank in range(WORLD)]  # fmt: skip
        codes = [process.wait() for process in started]
        if any(codes):
            raise RuntimeError(f"a process of the sharded run ended with {codes}")
        found: dict[str, float] = json.loads((Path(folder) / "found.json").read_text("utf-8"))
        return found


def main(rank: int, folder: Path) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", store=dist.FileStore(str(folder / "store"), WORLD), rank=rank, world_size=WORLD)
    with autoinit.meta():
        model = net()
    plan = autoinit.plan(model, (1, WIDTH), warn=False)
    for module in model:
        if isinstance(module, nn.Linear):
            fully_shard(module)
    fully_shard(model)
    model.to_empty(device="cpu")
    shard = 0
    with torch.no_grad():
        for parameter in model.parameters():
            local = parameter.to_local()  # type: ignore[attr-defined]
            local.zero_()  # so that its memory is there
            shard += local.numel() * local.element_size()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    took = seconds(lambda: plan.apply(model, warn=False))
    extra = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    if rank == 0:
        found = {"shard": shard / 2**30, "extra": extra / 2**20, "seconds": took}
        replace_text(folder / "found.json", json.dumps(found))
    dist.barrier()
    dist.destroy_process_group()
    sys.stdout.flush()
    os._exit(0)  # PyTorch's own threads sometimes end a process that exits as usual by std::terminate


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
