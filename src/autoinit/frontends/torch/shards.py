"""What this process has of a parameter: all of it, or the rectangle that its shard of a `DTensor` is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from ...errors import ModelError, PlanError


@dataclass(frozen=True)
class Local:
    """The tensor in this process's memory, and where in the whole parameter it begins."""

    tensor: torch.Tensor
    low: tuple[int, ...]


def is_sharded(tensor: Any) -> bool:
    """Whether a tensor is spread over a mesh of devices (also if every device has all of it)."""
    module = type(tensor).__module__
    return module.startswith("torch.distributed.tensor") and hasattr(tensor, "placements")


def local_of(name: str, parameter: torch.Tensor) -> Local:
    if not is_sharded(parameter):
        return Local(parameter.detach(), (0,) * parameter.dim())
    from torch.distributed.tensor._utils import compute_local_shape_and_global_offset

    dtensor: Any = parameter
    if any(placement.is_partial() for placement in dtensor.placements):
        raise PlanError("a parameter that is a sum over devices has no entries of its own to write", where=name,
                        received=str(dtensor.placements), fix="redistribute it to Shard or Replicate")  # fmt: skip
    shape, low = compute_local_shape_and_global_offset(dtensor.shape, dtensor.device_mesh, dtensor.placements)
    local = dtensor._local_tensor.detach()  # `to_local` gives one that counts its versions by itself
    if tuple(local.shape) != tuple(shape):
        raise PlanError("the shard of this process has another shape than its place in the mesh says", where=name,
                        received=f"{tuple(local.shape)}, expected {tuple(shape)}",
                        fix="apply the plan right after sharding")  # fmt: skip
    return Local(local, tuple(int(n) for n in low))


def refuse_shards(parameters: Mapping[str, torch.Tensor]) -> None:
    """A walk needs whole parameters: say what to do with a model that is spread over devices."""
    sharded = [name for name, p in parameters.items() if is_sharded(p)]
    if sharded:
        raise ModelError(
            "a model whose parameters are spread over devices cannot be walked", where=sharded[0],
            received=f"{len(sharded)} of {len(parameters)} parameters are DTensors",
            fix="plan = autoinit.plan(model, inputs) before sharding it (with autoinit.meta() no memory is needed), "
            "then plan.apply(sharded_model); autoinit.check(sharded_model) without inputs looks at its values",
        )  # fmt: skip
