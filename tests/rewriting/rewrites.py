"""Ways to write x that compute x."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Rewrite = Callable[[Tensor], Tensor]


def _permuted(x: Tensor) -> Tensor:
    order = [*range(1, x.dim()), 0]
    return x.permute(order).permute([order.index(k) for k in range(x.dim())])


def _transposed_copy(x: Tensor) -> Tensor:
    return x.transpose(0, -1).contiguous().transpose(0, -1)


def _flattened(x: Tensor) -> Tensor:
    return x.reshape(-1).reshape(x.shape)


def _split_axis(x: Tensor) -> Tensor:
    n = x.shape[-1]
    return x.reshape(*x.shape[:-1], 2, n // 2).reshape(x.shape) if n % 2 == 0 else x.view(x.shape)


def _transposed_and_flattened(x: Tensor) -> Tensor:
    turned = x.transpose(0, -1)
    return turned.flatten().reshape(turned.shape).transpose(0, -1)


def _glued(x: Tensor) -> Tensor:
    axis = x.dim() - 1
    n = x.shape[axis]
    return x.clone() if n < 2 else torch.cat([x.narrow(axis, 0, n // 2), x.narrow(axis, n // 2, n - n // 2)], axis)


def _glued_first(x: Tensor) -> Tensor:
    n = x.shape[0]
    return x.clone() if n < 2 else torch.cat([x[:1], x[1:]])


def _chunked(x: Tensor) -> Tensor:
    return torch.cat(x.chunk(2, dim=-1), dim=-1)


def _unbound(x: Tensor) -> Tensor:
    return torch.stack(x.unbind(0))


def _written(x: Tensor) -> Tensor:
    out = torch.empty_like(x)
    for k in range(x.shape[0]):
        out[k] = x[k]
    return out


def _written_into_zeros(x: Tensor) -> Tensor:
    out = torch.zeros(2, *x.shape)
    out[0], out[1] = x, 2.0 * x
    return out[0]


REWRITES: dict[str, Rewrite] = {
    "unsqueeze first": lambda x: x.unsqueeze(0).squeeze(0),
    "unsqueeze last": lambda x: x.unsqueeze(-1).squeeze(-1),
    "unsqueeze second": lambda x: x.unsqueeze(1)[:, 0],
    "permute": _permuted,
    "transposed copy": _transposed_copy,
    "flatten": _flattened,
    "split an axis": _split_axis,
    "transpose and flatten": _transposed_and_flattened,
    "contiguous": lambda x: x.contiguous(),
    "plus zero": lambda x: x + 0,
    "minus zero": lambda x: x - 0.0,
    "times one": lambda x: x * 1,
    "divided by one": lambda x: x / 1.0,
    "glued": _glued,
    "glued first": _glued_first,
    "chunked": _chunked,
    "unbound": _unbound,
    "stack": lambda x: torch.stack([x])[0],
    "stack of two": lambda x: torch.stack([x, x * 2])[0],
    "concat and slice": lambda x: torch.cat([x, x + 1], 0)[: x.shape[0]],
    "clone": lambda x: x.clone(),
    "expand and mean": lambda x: x.unsqueeze(1).expand(x.shape[0], 3, *x.shape[1:]).mean(1),
    "whole slice": lambda x: x[:, :] if x.dim() > 1 else x[:],
    "flip twice": lambda x: x.flip(0).flip(0),
    "write": _written,
    "write into zeros": _written_into_zeros,
    "negative twice": lambda x: x.neg().neg(),
}
