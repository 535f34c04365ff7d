"""neuraloperator: Fourier neural operators and their relatives, in one, two and three dimensions."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from ..entry import Entry
from .declare import entry, normal, uniform

BATCH, WIDTH = 4, 24


def fno(n: Any, dimensions: int = 2, name: str = "FNO", **options: Any) -> nn.Module:
    made: nn.Module = getattr(n, name)(
        n_modes=(8,) * dimensions, in_channels=3, out_channels=2, hidden_channels=WIDTH, n_layers=4, **options
    )
    return made


def uno(n: Any, dimensions: int = 2) -> nn.Module:
    scalings = [[1.0] * dimensions, [0.5] * dimensions, [1.0] * dimensions, [2.0] * dimensions, [1.0] * dimensions]
    made: nn.Module = n.UNO(
        3, 2, hidden_channels=WIDTH, lifting_channels=32, projection_channels=32, n_layers=5,
        uno_out_channels=[24, 32, 32, 32, 24], uno_n_modes=[[6] * dimensions] * 5, uno_scalings=scalings,
        horizontal_skips_map={4: 0, 3: 1}, channel_mlp_skip="linear",
    )  # fmt: skip
    return made


def codano(n: Any, **options: Any) -> nn.Module:
    made: nn.Module = n.CODANO(
        n_layers=3, n_modes=[[6, 6]] * 3, per_layer_scaling_factors=[[1, 1]] * 3, n_heads=[2] * 3,
        attention_scaling_factors=[1] * 3, hidden_variable_codimension=8, lifting_channels=16, projection_channels=16,
        **options,
    )  # fmt: skip
    return made


class Mesh(nn.Module):
    """GINO on a fixed cloud of points: what it maps are the features at the points."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        grid = torch.stack(torch.meshgrid(*[torch.linspace(0, 1, 8)] * 3, indexing="ij"), dim=-1)
        self.register_buffer("points", uniform(0, 1, 60, 3))
        self.register_buffer("grid", grid[None])
        self.register_buffer("asked", uniform(1, 1, 40, 3))

    def forward(self, features: Tensor) -> Any:
        return self.model(input_geom=self.points, latent_queries=self.grid, output_queries=self.asked, x=features)


def gino(n: Any) -> nn.Module:
    return Mesh(
        n.GINO(
            in_channels=3, out_channels=2, fno_n_modes=(4, 4, 4), fno_hidden_channels=16, fno_n_layers=2,
            in_gno_radius=0.3, out_gno_radius=0.3, in_gno_transform_type="linear", fno_in_channels=3,
            gno_use_open3d=False, gno_use_torch_scatter=False,
        )
    )  # fmt: skip


class Queried(nn.Module):
    """FNOGNO with fixed places in and out."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        grid = torch.stack(torch.meshgrid(*[torch.linspace(0, 1, 8)] * 3, indexing="ij"), dim=-1)
        self.register_buffer("grid", grid)
        self.register_buffer("asked", uniform(1, 40, 3))

    def forward(self, features: Tensor) -> Any:
        return self.model(in_p=self.grid, out_p=self.asked, f=features)


def fnogno(n: Any) -> nn.Module:
    return Queried(
        n.FNOGNO(
            in_channels=3, out_channels=2, fno_n_modes=(4, 4, 4), fno_hidden_channels=16, fno_n_layers=2,
            gno_radius=0.3, gno_use_open3d=False, gno_use_torch_scatter=False,
        )
    )  # fmt: skip


def local(n: Any, **options: Any) -> nn.Module:
    from neuralop.models.local_no import LocalNO  # not among the models' public names in every version

    made: nn.Module = LocalNO(
        n_modes=(8, 8), in_channels=3, out_channels=2, hidden_channels=WIDTH, default_in_shape=(24, 24), n_layers=3,
        **options,
    )  # fmt: skip
    return made


def plane(size: int = 24, channels: int = 3) -> tuple[int, ...]:
    return (BATCH, channels, size, size)


def complex_plane(model: nn.Module) -> Tensor:
    return torch.complex(normal(0, *plane()), normal(1, *plane()))


def _entry(name: str, make: Any, inputs: Any, family: str = "Fourier") -> Entry:
    return entry("neuraloperator", "neuralop.models", name, family, make, inputs)


ENTRIES = [
    _entry("fno1d", partial(fno, dimensions=1), (BATCH, 3, 64)),
    _entry("fno2d", fno, plane()),
    _entry("fno3d", partial(fno, dimensions=3), (2, 3, 12, 12, 12)),
    _entry("fno2d-instance-norm", partial(fno, norm="instance_norm"), plane()),
    _entry("fno2d-group-norm", partial(fno, norm="group_norm"), plane()),
    _entry("fno2d-preactivation", partial(fno, preactivation=True), plane()),
    _entry("fno2d-no-mlp", partial(fno, use_channel_mlp=False), plane()),
    _entry("fno2d-separable", partial(fno, separable=True), plane()),
    _entry("fno2d-padding", partial(fno, domain_padding=0.1), plane()),
    _entry("fno2d-tanh", partial(fno, stabilizer="tanh"), plane()),
    _entry("fno2d-linear-skips", partial(fno, channel_mlp_skip="linear", fno_skip="soft-gating"), plane()),
    _entry("fno2d-superresolution", partial(fno, resolution_scaling_factor=[1, 2, 1, 1]), plane()),
    _entry("fno2d-complex", partial(fno, complex_data=True), complex_plane),
    _entry("tfno2d-tucker", partial(fno, name="TFNO", factorization="tucker", rank=0.2), plane(), "factorised"),
    _entry("tfno2d-cp", partial(fno, name="TFNO", factorization="cp", rank=0.2), plane(), "factorised"),
    _entry("tfno2d-tt", partial(fno, name="TFNO", factorization="tt", rank=0.2), plane(), "factorised"),
    _entry("tfno2d-reconstructed", partial(fno, name="TFNO", factorization="tucker", rank=0.2,
                                           implementation="reconstructed"), plane(), "factorised"),
    _entry("sfno", partial(fno, name="SFNO"), (BATCH, 3, 32, 64), "spherical"),
    _entry("uno1d", partial(uno, dimensions=1), (BATCH, 3, 64), "U-shaped"),
    _entry("uno2d", uno, plane(), "U-shaped"),
    _entry("codano", codano, plane(), "attention"),
    _entry("localno", local, plane(), "local"),
    _entry("localno-differences", partial(local, disco_layers=False), plane(), "local"),
    _entry("uqno", lambda n: n.UQNO(fno(n)), plane(), "Fourier"),
    _entry("gino", gino, (1, 60, 3), "graph"),
    _entry("fnogno", fnogno, (8, 8, 8, 3), "graph"),
]  # fmt: skip
