"""Random ops out of a generator of one's own: the global one neither moves nor is rewound.

Ops that take a generator get it. Dropout, which takes none, is written out as ATen does it. What is left (dropout
inside of recurrent layers and of fused attention) swaps the global generator's state for the time of that one call.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import sqrt
from typing import Any

import torch

from ..lock import WALKING
from .leaves import tensors_in
from .schema import arguments, op_name

ALPHA = 1.7580993408473766
"""The negative saturation value of SELU, of alpha dropout."""
ONLY_WITH_DROPOUT = ("dropout", "dropout_p")
"""Arguments of ops that are random if this is positive."""


class PrivateRandom:
    """Generators of one's own, one for each device."""

    def __init__(self, seed: int | None = 0) -> None:
        """From a seed; without one they go on where the global generators are now."""
        self._seed = seed
        self._generators: dict[torch.device, torch.Generator] = {}

    def seed(self, seed: int) -> None:
        """Begin anew, on all devices."""
        self._seed = seed
        self._generators.clear()

    def on(self, device: torch.device) -> torch.Generator:
        found = self._generators.get(device)
        if found is None:
            found = self._generators[device] = torch.Generator(device)
            if self._seed is not None:
                found.manual_seed(self._seed)
            else:
                found.set_state(_global_generator(device).get_state())
        return found

    def call(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run an op; if it is random, with these generators."""
        if not is_random(func):
            return func(*args, **kwargs)
        values = arguments(func, args, kwargs)
        if values.get("generator") is not None:
            return func(*args, **kwargs)
        device = _device(args, kwargs)
        written_out = DROPOUTS.get(op_name(func))
        if written_out is not None:
            return written_out(self.on(device), values)
        overload = _with_generator(func)
        if overload is not None:
            return overload(*args, **{**kwargs, "generator": self.on(device)})
        rates = [values[name] for name in ONLY_WITH_DROPOUT if name in values]
        if rates and not any(rates):
            return func(*args, **kwargs)
        return self._swapped(device, lambda: func(*args, **kwargs))

    def _swapped(self, device: torch.device, call: Callable[[], Any]) -> Any:
        own = self.on(device)
        with WALKING:
            shared = _global_generator(device)
            state = shared.get_state()
            try:
                shared.set_state(own.get_state())
                made = call()
                own.set_state(shared.get_state())
            finally:
                shared.set_state(state)
        return made


def is_random(func: Any) -> bool:
    return torch.Tag.nondeterministic_seeded in getattr(func, "tags", ())


def _device(args: Any, kwargs: dict[str, Any]) -> torch.device:
    if kwargs.get("device") is not None:
        device = torch.device(kwargs["device"])
    else:
        tensors = tensors_in((args, kwargs))
        device = tensors[0].device if tensors else torch.device("cpu")
    return torch.device("cpu") if device.type == "meta" else device


def _global_generator(device: torch.device) -> torch.Generator:
    if device.type == "cuda":
        return torch.cuda.default_generators[device.index or 0]
    return torch.default_generator


@cache
def _with_generator(func: Any) -> Any:
    """The overload of an op that takes a generator besides the same arguments."""
    names = [a.name for a in func._schema.arguments]
    if "generator" in names:
        return func
    packet = func.overloadpacket
    for name in packet.overloads():
        other = getattr(packet, name)
        if [a.name for a in other._schema.arguments if a.name != "generator"] == names and any(
            a.name == "generator" for a in other._schema.arguments
        ):
            return other
    return None


def _noise(generator: torch.Generator, x: torch.Tensor, rate: float, feature: bool) -> torch.Tensor:
    shape = (*x.shape[:2], *(1 for _ in x.shape[2:])) if feature else x.shape
    made = torch.empty(shape, dtype=x.dtype, device=x.device) if feature else torch.empty_like(x)
    return made.bernoulli_(1.0 - rate, generator=generator)


def _dropout(feature: bool, alpha: bool, in_place: bool) -> Callable[[torch.Generator, dict[str, Any]], Any]:
    """x * noise (+ b): noise is Bernoulli over its mean; with alpha, the mean and variance of a SELU are kept."""

    def run(generator: torch.Generator, values: dict[str, Any]) -> torch.Tensor:
        x: torch.Tensor = values["input" if "input" in values else "self"]
        rate = float(values["p"])
        if rate == 0.0 or not values["train"] or x.numel() == 0:
            return x
        if rate == 1.0:
            return x.mul_(0.0) if in_place else x * torch.zeros((), dtype=x.dtype)
        noise = _noise(generator, x, rate, feature)
        shift: Any = 0.0
        if alpha:
            scale = 1.0 / sqrt((ALPHA * ALPHA * rate + 1.0) * (1.0 - rate))
            shift = (noise - 1.0) * (ALPHA * scale) + ALPHA * scale * rate
            noise.mul_(scale)
        else:
            noise.div_(1.0 - rate)
        if in_place:
            return x.mul_(noise).add_(shift) if alpha else x.mul_(noise)
        return x * noise + shift if alpha else x * noise

    return run


def _native_dropout(generator: torch.Generator, values: dict[str, Any]) -> tuple[torch.Tensor, torch.Tensor]:
    x, rate = values["input"], float(values["p"])
    if values["train"] is False or rate == 0.0:
        return x.clone(), torch.ones_like(x, dtype=torch.bool)
    mask = torch.empty_like(x, dtype=torch.bool).bernoulli_(1.0 - rate, generator=generator)
    return x * mask * (1.0 / (1.0 - rate) if rate < 1.0 else 0.0), mask


DROPOUTS: dict[str, Callable[[torch.Generator, dict[str, Any]], Any]] = {
    f"aten.{'feature_' if feature else ''}{'alpha_' if alpha else ''}dropout{'_' if in_place else ''}": _dropout(
        feature, alpha, in_place
    )
    for feature in (False, True)
    for alpha in (False, True)
    for in_place in (False, True)
} | {"aten.native_dropout": _native_dropout}
