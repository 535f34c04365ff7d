"""The classical schemes: a scale from the weight's shape alone, whatever comes before or after the layer.

Fans are counted in the usual way, from the shape (out, in, *kernel): for a transposed convolution that is the
nominal count, which is part of what these schemes are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn
from torch.nn import init
from torch.nn.modules.conv import _ConvNd

from ..errors import ModelError, OptionError

Fill = Callable[[Tensor, torch.Generator], object]


def _scaled(gain: float, fan: str, normal: bool) -> Fill:
    """Variance gain / fan, drawn from a normal or a uniform distribution."""

    def fill(weight: Tensor, generator: torch.Generator) -> None:
        fan_in, fan_out = init._calculate_fan_in_and_fan_out(weight)
        std = (gain / max({"in": fan_in, "average": (fan_in + fan_out) / 2}[fan], 1)) ** 0.5
        if normal:
            init.normal_(weight, 0.0, std, generator=generator)
        else:
            init.uniform_(weight, -(3**0.5) * std, 3**0.5 * std, generator=generator)

    return fill


_FILLS: dict[str, Fill] = {
    "glorot_normal": _scaled(1.0, "average", True),
    "glorot_uniform": _scaled(1.0, "average", False),
    "he_normal": _scaled(2.0, "in", True),
    "he_uniform": _scaled(2.0, "in", False),
    "lecun_normal": _scaled(1.0, "in", True),
    "lecun_uniform": _scaled(1.0, "in", False),
    "orthogonal": lambda weight, generator: init.orthogonal_(weight, generator=generator),
}

SCHEMES = ("default", *_FILLS)
LAYERS = (nn.Linear, nn.Bilinear, _ConvNd, nn.MultiheadAttention, nn.RNNBase, nn.RNNCellBase)


def classical(model: nn.Module, scheme: str = "default", seed: int = 0) -> nn.Module:
    """Initialize `model` in place with a classical scheme and return it.

    scheme: "default" (every layer's own ``reset_parameters``), "glorot_", "he_" or "lecun_" followed by
        "normal" or "uniform", or "orthogonal". All but the default set the weights of dense, convolutional,
        bilinear, attention and recurrent layers, and put their biases to zero; the rest stays.

    Frozen parameters are left alone, and the global random state stays as it was.
    """
    if not isinstance(model, nn.Module):
        raise ModelError("classical schemes are for PyTorch models", received=type(model).__name__,
                         fix="give a torch.nn.Module")  # fmt: skip
    if scheme not in SCHEMES:
        raise OptionError("unknown scheme", where="classical", received=repr(scheme),
                          fix=f"one of {', '.join(SCHEMES)}")  # fmt: skip
    if scheme == "default":
        _reset(model, seed)
        return model
    with torch.no_grad():
        for name, parameter, is_weight in settable(model):
            if is_weight:
                fill(parameter, scheme, seed, name)
            else:
                parameter.zero_()
    return model


def fill(parameter: Tensor, scheme: str, seed: int, name: str) -> None:
    """Draw one weight; its seed depends on its name, so the order of the layers does not matter."""
    from ..core.sampling import name_seed

    generator = torch.Generator(device=parameter.device).manual_seed(name_seed(seed, name, 0))
    wide = parameter.dtype not in (torch.float16, torch.bfloat16)
    target = parameter.detach() if wide else torch.empty_like(parameter, dtype=torch.float32)
    _FILLS[scheme](target, generator)
    if not wide:
        parameter.detach().copy_(target)


def settable(model: nn.Module) -> Iterator[tuple[str, nn.Parameter, bool]]:
    """(name, parameter, is it a weight) of the layers that the schemes speak about, frozen ones left out."""
    seen: set[int] = set()
    for prefix, module in model.named_modules():
        if not isinstance(module, LAYERS):
            continue
        for name, parameter in module.named_parameters(recurse=False):
            if id(parameter) in seen or not parameter.requires_grad:
                continue
            seen.add(id(parameter))
            is_weight = "weight" in name and parameter.dim() >= 2
            if is_weight or "bias" in name:
                yield f"{prefix}.{name}" if prefix else name, parameter, is_weight


def _reset(model: nn.Module, seed: int) -> None:
    """Every module's own reset, inner modules first, as construction does it."""
    frozen = [(p, p.detach().clone()) for p in model.parameters() if not p.requires_grad]
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_available() else []
    with torch.random.fork_rng(devices=devices), torch.no_grad():
        torch.manual_seed(seed)
        for module in reversed(list(model.modules())):
            reset = getattr(module, "reset_parameters", None) or getattr(module, "_reset_parameters", None)
            if callable(reset):
                reset()
        for parameter, values in frozen:
            parameter.copy_(values)
