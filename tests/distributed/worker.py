"""One process of several: initializes every case, sharded, and compares each shard with the unsharded model.

What they import is most of their work: a first process does it for all of them.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.tensor import DTensor
from torch.distributed.tensor.debug import CommDebugMode

import autoinit
from tests.distributed.cases import CASES, CUTS, Case, alone, fsdp

SEED = 11


def fresh(case: Case) -> nn.Module:
    torch.manual_seed(0)
    return case.build().to(case.dtype) if case.dtype is not torch.float32 else case.build()


def states() -> list[bytes]:
    return [
        torch.get_rng_state().numpy().tobytes(),
        repr(np.random.get_state()).encode(),
        repr(random.getstate()).encode(),
    ]


def whole(p: torch.Tensor) -> torch.Tensor:
    return p.full_tensor().detach() if isinstance(p, DTensor) else p.detach()


def differences(case: Case, world: int) -> list[str]:
    expected, model = fresh(case), CUTS[case.cut](fresh(case), world)
    if model is None:
        return []
    plan = autoinit.plan(fresh(case), case.inputs, warn=False, seed=SEED, **case.options)
    plan.apply(expected, warn=False)
    before, counted = states(), CommDebugMode()
    with counted:
        plan.apply(model, warn=False)
    found = [] if states() == before else ["the global random state changed"]
    if counted.get_total_counts():
        found.append(f"collectives: {dict(counted.get_comm_counts())}")
    sharded = 0
    given, made = (dict(m.named_parameters(remove_duplicate=False)) for m in (expected, model))
    if set(given) != set(made):
        found.append(f"names: {sorted(set(given) ^ set(made))}")
    for name, p in made.items():
        sharded += isinstance(p, DTensor)
        want, have = given[name].detach(), whole(p)
        near = case.options.get("distribution") == "orthogonal" or "weight_hh" in name
        same = torch.allclose(have, want, rtol=1e-5, atol=1e-6) if near else torch.equal(have, want)
        if not same:
            found.append(f"{name}: {(have - want).abs().max():.3g} apart")
    if not sharded:
        found.append("nothing was sharded")
    for (name, b), (_, a) in zip(model.named_buffers(), expected.named_buffers(), strict=True):
        if not torch.equal(whole(b), a):
            found.append(f"buffer {name}")
    return found


def without_memory(world: int) -> list[str]:
    """Built without memory, planned, sharded, given memory, filled: also norms, statistics, buffers, tied names."""
    found = []
    for name in ("images fsdp truncated_normal", "tokens fsdp", "mlp fsdp+tp exact", "waves fsdp"):
        case = CASES[name]
        made = []
        for cut in (CUTS[case.cut], alone):
            with autoinit.meta():
                model = case.build()
            plan = autoinit.plan(model, case.inputs, warn=False, seed=SEED, **case.options)
            sharded = cut(model, world)
            if sharded is None:
                break
            sharded.to_empty(device="cpu")
            for t in (*sharded.parameters(), *sharded.buffers()):
                local = t.to_local() if isinstance(t, DTensor) else t
                local.detach().fill_(float("nan") if t.is_floating_point() or t.is_complex() else 77)
            plan.apply(sharded, warn=False)
            named = (*sharded.named_parameters(remove_duplicate=False), *sharded.named_buffers())
            made.append({key: whole(t) for key, t in named})
        if len(made) == 2:
            found += [f"{name}: {key}" for key, t in made[1].items() if not torch.equal(t, made[0][key])]
    return found


def preflight(world: int) -> list[str]:
    """Equal seeds on all ranks make equal shards, unequal ones copies that differ: both are seen, on every rank."""
    case, found = CASES["mlp fsdp normal"], []
    model = fsdp(fresh(case), world)
    autoinit.plan(fresh(case), case.inputs, warn=False).apply(model, warn=False)
    if not autoinit.check(model).ok:
        found.append(f"a good model: {autoinit.check(model)}")
    generator = torch.Generator().manual_seed(0)
    model.up.weight.to_local().detach().normal_(generator=generator)
    said = {(p.name, p.kind) for p in autoinit.check(model).problems}
    if said != ({("up.weight", "same on devices")} if world > 1 else set()):
        found.append(f"equal shards: {said}")
    copies = CUTS["hsdp"](fresh(case), world)
    if copies is not None:
        copies.down.weight.to_local().detach().add_(dist.get_rank())
        said = {(p.name, p.kind) for p in autoinit.check(copies).problems}
        if said != {("down.weight", "differs")}:
            found.append(f"copies: {said}")
    return found


def twice_the_same(world: int) -> list[str]:
    case = CASES["mlp fsdp normal"]
    plan = autoinit.plan(fresh(case), case.inputs, warn=False)
    model = fsdp(fresh(case), world)
    held = [[whole(p).clone() for p in plan.apply(model, seed=s, warn=False).parameters()] for s in (3, 3, 4)]
    same = all(torch.equal(a, b) for a, b in zip(held[0], held[1], strict=True))
    other = any(not torch.equal(a, b) for a, b in zip(held[0], held[2], strict=True))
    return [] if same and other else ["seeds"]


def says_what_to_do(world: int) -> list[str]:
    case, found = CASES["mlp fsdp normal"], []
    model = fsdp(fresh(case), world)
    for call in (autoinit.plan, autoinit.check, autoinit.measure, autoinit.initialize):
        try:
            call(model, case.inputs)
            found.append(f"{call.__name__} said nothing")
        except autoinit.AutoInitError as error:
            if "before sharding" not in str(error):
                found.append(f"{call.__name__}: {error}")
    return found


def all_or_nothing(world: int) -> list[str]:
    """An error in the middle of writing brings the shards back."""
    case = CASES["mlp fsdp normal"]
    model, plan = fsdp(fresh(case), world), autoinit.plan(fresh(case), case.inputs, warn=False)
    before = [p.to_local().clone() for p in model.parameters()]
    plan["down.weight"].parts[0].kind = "nonsense"
    try:
        plan.apply(model)
        return ["no error"]
    except autoinit.AutoInitError:
        now = [p.to_local() for p in model.parameters()]
    return [] if all(torch.equal(a, b) for a, b in zip(before, now, strict=True)) else ["written"]


def checkpoint(world: int, folder: Path) -> list[str]:
    """Four save; any other number loads, and has what it would have drawn itself."""
    case = CASES["mlp fsdp truncated_normal"]
    model, other = fsdp(fresh(case), world), fsdp(fresh(case), world)
    autoinit.plan(fresh(case), case.inputs, warn=False, seed=SEED).apply(model, warn=False)
    path = folder / "checkpoint"
    if world == 4:
        dcp.save({"model": model.state_dict()}, checkpoint_id=path)
        return []
    if not path.exists():
        return ["no checkpoint"]
    state = {"model": other.state_dict()}
    dcp.load(state, checkpoint_id=path)
    pairs = zip(model.parameters(), other.parameters(), strict=True)
    return [] if all(torch.equal(whole(a), whole(b)) for a, b in pairs) else ["other weights than the checkpoint's"]


def work(rank: int, world: int, folder: Path) -> None:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    store = dist.FileStore(str(folder / f"store{world}"), world)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=world)
    todo: dict[str, Any] = {name: lambda case=case: differences(case, world) for name, case in CASES.items()}
    todo |= {
        "without memory": lambda: without_memory(world), "twice the same": lambda: twice_the_same(world),
        "preflight": lambda: preflight(world),
        "says what to do": lambda: says_what_to_do(world),
        "all or nothing": lambda: all_or_nothing(world), "checkpoint": lambda: checkpoint(world, folder),
    }  # fmt: skip
    found: dict[str, list[str]] = {}
    for name, case in todo.items():
        try:
            mine = case()
        except Exception:
            mine = [traceback.format_exc(limit=-8)]
        everyone: list[Any] = [None] * world
        dist.all_gather_object(everyone, mine)
        found[name] = [f"rank {k}: {text}" for k, said in enumerate(everyone) for text in said]
    if rank == 0:
        (folder / f"found{world}.json").write_text(json.dumps(found), "utf-8")
    dist.barrier()
    dist.destroy_process_group()
    sys.stdout.flush()
    os._exit(0)  # PyTorch's own threads sometimes end a process that exits as usual by std::terminate


def main(folder: Path, worlds: list[int]) -> int:
    """One number of processes after the other; how many of them failed."""
    fork, failed = multiprocessing.get_context("fork"), 0
    for world in worlds:
        ranks = [fork.Process(target=work, args=(rank, world, folder), daemon=True) for rank in range(world)]
        for process in ranks:
            process.start()
        for process in ranks:
            process.join()
            failed += process.exitcode != 0
    return failed


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]), [int(world) for world in sys.argv[2:]]))
