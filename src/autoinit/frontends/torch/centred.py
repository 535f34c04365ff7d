"""Activation modules that take a number off their output.

A module is centred in place: it gets a class that is made of its own and `Centered`, and a buffer for the number.
So its parameters keep their names, hooks and further references to it stay, and the number is in the state dict.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from copyreg import __newobj__  # type: ignore[attr-defined]
from typing import Any

import torch
from torch import nn

from ...core.gaussian.mean_of_values import gaussian_mean
from ...errors import OptionError
from .memory import put_back

SHIFT = "center_shift"


class Centered(nn.Module):
    """f(x) - shift, where f is the class that this one is mixed into."""

    original: type[nn.Module]
    center_shift: torch.Tensor

    def forward(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        made: torch.Tensor = super().forward(*args, **kwargs)
        return made - self.center_shift

    def extra_repr(self) -> str:
        before = super().extra_repr()
        shift = f"shift={float(self.center_shift):.4g}" if self.center_shift.device.type != "meta" else "shift"
        return f"{before}, {shift}" if before else shift

    def __reduce_ex__(self, protocol: Any) -> Any:
        """The class is made when it is needed, so a copy or a pickle names the original one."""
        made = super().__reduce_ex__(protocol)
        return (_empty, (self.original,), *made[2:]) if made[0] is __newobj__ else made


_CLASSES: dict[type[nn.Module], type[nn.Module]] = {}


def centred_class(original: type[nn.Module]) -> type[nn.Module]:
    """The class of centred modules of a class."""
    if original not in _CLASSES:
        name = f"Centered{original.__name__}"
        _CLASSES[original] = type(
            name, (Centered, original), {"original": original, "__module__": original.__module__}
        )
    return _CLASSES[original]


def _empty(original: type[nn.Module]) -> nn.Module:
    cls = centred_class(original)
    return cls.__new__(cls)


def can_be_centred(module: nn.Module) -> bool:
    """Scripted modules have no class of their own, and one whose forward was replaced would not use ours."""
    return not isinstance(module, torch.jit.ScriptModule) and "forward" not in vars(module) and (
        isinstance(module, Centered) or not hasattr(module, SHIFT)
    )  # fmt: skip


def function_of(module: nn.Module) -> str:
    """The name of the function: that of the class it had before."""
    return (module.original if isinstance(module, Centered) else type(module)).__name__


def centre(module: nn.Module, shift: float, device: torch.device | str = "cpu") -> None:
    """Take `shift` off what the module gives, instead of what was taken off before."""
    if isinstance(module, Centered):
        module.center_shift.fill_(shift)
        return
    module.register_buffer(SHIFT, torch.tensor(float(shift), dtype=torch.float32, device=device))
    module.__class__ = centred_class(type(module))


def as_it_was(module: nn.Module) -> Callable[[], None]:
    """What undoes `centre`: the class and the buffer (or its number) of now."""
    if isinstance(module, Centered):
        shift, number = module.center_shift, module.center_shift.detach().clone()
        return lambda: put_back(shift, number)
    original = type(module)

    def undo() -> None:
        module.__class__ = original
        module._buffers.pop(SHIFT, None)
        module._non_persistent_buffers_set.discard(SHIFT)

    return undo


def centred_activation(activation: Any, mean: float, variance: float) -> nn.Module | None:
    """A centred copy of a module (for `autoinit.centered`); None if this is none."""
    if not isinstance(activation, nn.Module):
        return None
    if not can_be_centred(activation):
        raise OptionError("this module has no class of its own, or a forward that was replaced", where="centered",
                          received=type(activation).__name__, fix="give the module before it was scripted")  # fmt: skip
    probe, made = deepcopy(activation).double().eval(), deepcopy(activation)
    if isinstance(probe, Centered):
        centre(probe, 0.0)
    try:
        shift = gaussian_mean(on_arrays(probe), mean, variance)
    except RuntimeError as error:
        raise OptionError(f"the module cannot be called on a row of numbers: {error}", where="centered",
                          received=type(activation).__name__,
                          fix='plan the whole model with center="activation"') from error  # fmt: skip
    centre(made, shift)
    return made


def on_arrays(function: Callable[..., Any]) -> Callable[[Any], Any]:
    """A function of tensors, as one of arrays."""
    return lambda x: function(torch.as_tensor(x)).detach().cpu().numpy()
