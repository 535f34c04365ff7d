"""Models, ways to cut them, and options: what every number of processes is asked to initialize."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

import autoinit


class Mlp(nn.Module):
    """Sizes that no number of processes divides."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.act, self.down = nn.Linear(13, 35), nn.GELU(), nn.Linear(35, 11)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.down(self.act(self.up(x)))
        return out


class Cells(nn.Module):
    """Fused parts, and recurrent kernels that are orthogonal whatever is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTM(7, 9, num_layers=2, batch_first=True)
        self.head = nn.Linear(9, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.head(self.cell(x)[0])
        return out


class Images(nn.Module):
    """Grouped, transposed and depthwise convolutions, norms."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(3, 12, 3, padding=1), nn.BatchNorm2d(12), nn.ReLU(), nn.Conv2d(12, 18, 3, groups=3), nn.ReLU(),
            nn.Conv2d(18, 18, 3, groups=18), nn.ConvTranspose2d(18, 10, 2, groups=2), nn.Flatten(), nn.Linear(90, 7),
        )  # fmt: skip

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.net(x)
        return out


class Tokens(nn.Module):
    """A table that is tied to its projection, attention with one packed weight, a layer scale."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(29, 12)
        self.attention = nn.MultiheadAttention(12, 3, batch_first=True)
        self.scale = nn.Parameter(torch.full((12,), 0.1))
        self.norm, self.head = nn.LayerNorm(12), nn.Linear(12, 29, bias=False)
        self.head.weight = self.table.weight

    def forward(self, i: torch.Tensor) -> torch.Tensor:
        x = self.table(i)
        out: torch.Tensor = self.head(self.norm(x + self.scale * self.attention(x, x, x)[0]))
        return out


class Waves(nn.Module):
    """A complex parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.kernel = nn.Parameter(torch.randn(9, 6, dtype=torch.complex64))
        self.out = nn.Linear(6, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.out((x.to(torch.complex64) @ self.kernel).real)
        return out


# --- ways to cut a model ----------------------------------------------------------------------------------------------

Cut = Callable[[nn.Module, int], nn.Module | None]
"""Cuts a model for so many processes; None where that is not possible."""


def alone(model: nn.Module, world: int) -> nn.Module:
    return model


def fsdp(model: nn.Module, world: int) -> nn.Module:
    mesh = init_device_mesh("cpu", (world,))
    for child in model.children():
        if not isinstance(child, (nn.LSTM, nn.Embedding)) and any(True for _ in child.parameters()):
            fully_shard(child, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def hsdp(model: nn.Module, world: int) -> nn.Module | None:
    if world % 2:
        return None
    mesh = init_device_mesh("cpu", (2, world // 2), mesh_dim_names=("copies", "shards"))
    return fully_shard(model, mesh=mesh)


def _tensor_parallel(model: nn.Module, mesh: DeviceMesh) -> nn.Module:
    return parallelize_module(model, mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})


def tensor_parallel(model: nn.Module, world: int) -> nn.Module:
    return _tensor_parallel(model, init_device_mesh("cpu", (world,)))


def both(model: nn.Module, world: int) -> nn.Module | None:
    """FSDP of what tensor parallelism has cut: rows are cut twice."""
    if world % 2:
        return None
    mesh = init_device_mesh("cpu", (world // 2, 2), mesh_dim_names=("data", "model"))
    return fully_shard(_tensor_parallel(model, mesh["model"]), mesh=mesh["data"])


CUTS: dict[str, Cut] = {"fsdp": fsdp, "hsdp": hsdp, "tp": tensor_parallel, "fsdp+tp": both}


@dataclass(frozen=True)
class Case:
    build: Callable[[], nn.Module]
    inputs: Any
    cut: str
    dtype: torch.dtype = torch.float32
    options: dict[str, Any] = field(default_factory=dict)


X = autoinit.Input((4, 13), mean=0.5)
IMAGES = autoinit.Input((2, 3, 6, 6), mean=0.3)
DISTRIBUTIONS = ("truncated_normal", "normal", "uniform", "orthogonal")

CASES: dict[str, Case] = {
    **{f"mlp {cut} {kind}": Case(Mlp, X, cut, options={"distribution": kind})
       for cut in CUTS for kind in DISTRIBUTIONS},
    **{f"mlp {cut} exact": Case(Mlp, X, cut, options={"exact": True}) for cut in CUTS},
    **{f"mlp {cut} centred": Case(Mlp, X, cut, options={"center": "bias"}) for cut in CUTS},
    **{f"mlp {cut} exact centred bf16": Case(Mlp, X, cut, torch.bfloat16, {"exact": True, "center": "bias"})
       for cut in CUTS},
    **{f"mlp {cut} {dtype}": Case(Mlp, X, cut, dtype) for cut in CUTS for dtype in (torch.bfloat16, torch.float64)},
    **{f"mlp {cut} centred activations": Case(Mlp, X, cut, options={"center": "activation"}) for cut in ("fsdp", "tp")},
    **{f"lstm fsdp {kind}": Case(Cells, (4, 6, 7), "fsdp", options={"distribution": kind}) for kind in DISTRIBUTIONS},
    **{f"images {cut} {kind}": Case(Images, IMAGES, cut, options={"distribution": kind})
       for cut in ("fsdp", "hsdp") for kind in ("truncated_normal", "orthogonal")},
    "images fsdp exact centred": Case(Images, IMAGES, "fsdp", options={"exact": True, "center": "bias"}),
    "tokens fsdp": Case(Tokens, autoinit.Input((2, 5), vocabulary=29), "fsdp"),
    "tokens hsdp": Case(Tokens, autoinit.Input((2, 5), vocabulary=29), "hsdp"),
    "waves fsdp": Case(Waves, (4, 9), "fsdp"),
    "waves fsdp exact": Case(Waves, (4, 9), "fsdp", options={"exact": True}),
}  # fmt: skip
