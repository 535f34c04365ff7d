"""Classical schemes on the layers of PyTorch, without tracing the model."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn import init
from torch.nn.modules.conv import _ConvNd

from ..core.drawing.words import name_seed
from .schemes import Scheme, fans

LAYERS = (nn.Linear, nn.Bilinear, _ConvNd, nn.MultiheadAttention, nn.RNNBase, nn.RNNCellBase)


def fill_layers(model: nn.Module, scheme: Scheme, seed: int) -> None:
    """Draw the weights of all layers that the schemes speak about; their biases become zero."""
    with torch.no_grad():
        for name, parameter, module in settable(model):
            if parameter.dim() >= 2 and "weight" in name.rpartition(".")[2]:
                fill(parameter, module, scheme, seed, name)
            else:
                parameter.zero_()


def fill(parameter: Tensor, module: nn.Module, scheme: Scheme, seed: int, name: str) -> None:
    """Draw one weight; its seed depends on its name, so the order of the layers does not matter."""
    generator = torch.Generator(device=parameter.device).manual_seed(name_seed(seed, name, 0))
    wide = parameter.dtype not in (torch.float16, torch.bfloat16)
    target = parameter.detach() if wide else torch.empty_like(parameter, dtype=torch.float32)
    std = scheme.std(*_fans(parameter, module))
    if scheme.distribution == "orthogonal":
        init.orthogonal_(target, generator=generator)
    elif scheme.distribution == "normal":
        init.normal_(target, 0.0, std, generator=generator)
    else:
        init.uniform_(target, -(3**0.5) * std, 3**0.5 * std, generator=generator)
    if not wide:
        parameter.detach().copy_(target)


def _fans(parameter: Tensor, module: nn.Module) -> tuple[float, float]:
    if isinstance(module, _ConvNd):
        return fans(list(parameter.shape), [1 if module.transposed else 0], module.groups)
    return fans(list(parameter.shape), [0])


def settable(model: nn.Module) -> Iterator[tuple[str, nn.Parameter, nn.Module]]:
    """(name, parameter, its layer) of the layers that the schemes speak about, frozen ones left out."""
    seen: set[int] = set()
    for prefix, module in model.named_modules():
        if not isinstance(module, LAYERS):
            continue
        for name, parameter in module.named_parameters(recurse=False):
            if id(parameter) in seen or not parameter.requires_grad:
                continue
            seen.add(id(parameter))
            if ("weight" in name and parameter.dim() >= 2) or "bias" in name:
                yield f"{prefix}.{name}" if prefix else name, parameter, module


def reset(model: nn.Module, seed: int) -> None:
    """Every module's own reset, inner modules first, as construction does it."""
    frozen = [(p, p.detach().clone()) for p in model.parameters() if not p.requires_grad]
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_available() else []
    with torch.random.fork_rng(devices=devices), torch.no_grad():
        torch.manual_seed(seed)
        for module in reversed(list(model.modules())):
            reset_own = getattr(module, "reset_parameters", None) or getattr(module, "_reset_parameters", None)
            if callable(reset_own):
                reset_own()
        for parameter, values in frozen:
            parameter.copy_(values)
