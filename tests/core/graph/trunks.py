"""Small residual networks, their additions, and the targets of their weights."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

import autoinit
from autoinit.core.graph.rewrite import rewritten
from autoinit.core.graph.trunk import Addition, residual_additions
from autoinit.core.options import Options
from autoinit.frontends.custom import CustomRules
from autoinit.frontends.torch.inputs import call_arguments
from autoinit.frontends.torch.walk import walk

WIDTH, SHAPE = 8, (4, 5, 8)


class Net(nn.Module):
    """A function of a tensor that may ask for layers by name."""

    def __init__(self, forward: Callable[..., Tensor], **layers: nn.Module | nn.Parameter) -> None:
        super().__init__()
        for name, layer in layers.items():
            setattr(self, name, layer)
        self._function = forward

    def forward(self, x: Tensor) -> Tensor:
        return self._function(self, x)


def linear() -> nn.Linear:
    return nn.Linear(WIDTH, WIDTH)


def norm() -> nn.LayerNorm:
    return nn.LayerNorm(WIDTH)


def additions(model: nn.Module, shape: tuple[int, ...] = SHAPE) -> list[Addition]:
    args, kwargs = call_arguments(shape, model)
    graph, _ = walk(model, args, kwargs, Options(), CustomRules({}), centring=False)
    feeding, _ = rewritten(graph)
    return residual_additions(graph, feeding)


def prenorm(depth: int) -> Net:
    def forward(net: Net, x: Tensor) -> Tensor:
        for block in net.blocks:  # type: ignore[union-attr]
            x = x + block(x)
        return x

    blocks = [nn.Sequential(norm(), linear(), nn.GELU(), linear()) for _ in range(depth)]
    return Net(forward, blocks=nn.ModuleList(blocks))


def targets(model: nn.Module, **options: object) -> dict[str, float | None]:
    plan = autoinit.plan(model, SHAPE, warn=False, **options)  # type: ignore[arg-type]
    return {row.weight: row.target for row in plan.tensors if row.weight}
