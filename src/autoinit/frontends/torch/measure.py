"""Run the real model and record the statistics of every tensor, keyed like the rows of the plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

from ...core.plan.measured import Key
from ...errors import TraceError
from .autograd import below_autograd, below_if_possible
from .inputs import real_tensor
from .lowering import has_lowering
from .own_memory import OwnMemory
from .private_random import PrivateRandom
from .schema import op_name
from .shadow import Shadow
from .state import announce_modules, set_mode, undisturbed
from .structures import mapped
from .tracer import SILENT, _decomposes
from .ways_out import described, way_out


@dataclass
class Recording:
    """Mean and mean square of every float tensor that an op made: key (module, op, call, output)."""

    moments: dict[Key, Any] = field(default_factory=dict)


class Recorder(TorchDispatchMode):
    """Counts ops exactly like the tracer does, so that predicted and measured rows meet.

    `observe(key, op arguments, output)` may look at (and scale) an output before its statistics are taken, which
    `take(output)` does.
    """

    supports_higher_order_operators = True

    def __init__(
        self, wanted: set[Key] | None, observe: Callable[..., Any] | None = None,
        take: Callable[[torch.Tensor], Any] | None = None, random: PrivateRandom | None = None,
    ) -> None:  # fmt: skip
        super().__init__()  # type: ignore[no-untyped-call]
        self.random = random or PrivateRandom(None)
        self.memory = OwnMemory()
        self.counts: Counter[tuple[str, str]] = Counter()
        self.module = ""
        self.suppressed = 0
        self.wanted = wanted
        self.observe = observe
        self.take = take or moments
        self.recording = Recording()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = op_name(func)
        if name in SILENT:
            return func(*args, **kwargs)
        self.counts[self.module, name] += 1
        call = self.counts[self.module, name]
        module = self.module
        if not has_lowering(name) and _decomposes(func):
            with self:
                return func.decompose(*args, **kwargs)
        out = self.memory.run(self.random, func, args, kwargs)
        tensors = [t for t in tree_flatten(out)[0] if isinstance(t, torch.Tensor)]
        for k, t in enumerate(tensors):
            key = (module, name, call, k)
            if not _has_moments(t) or (self.wanted is not None and key not in self.wanted):
                continue
            if self.observe is not None:
                self.observe(key, func, args, kwargs, t)
            self.recording.moments[key] = self.take(t)
        return out


def _has_moments(t: torch.Tensor) -> bool:
    return (t.is_floating_point() or t.is_complex()) and t.numel() > 0 and t.layout is torch.strided


def moments(t: torch.Tensor) -> tuple[float, float]:
    """(mean, variance over the whole tensor); of complex numbers the real part of the mean, and E|z - E z|²."""
    x = t.detach()
    if x.is_complex():
        centre = x.mean()
        return float(centre.real), float((x - centre).abs().square().mean())
    if x.dtype in (torch.float16, torch.bfloat16):
        x = x.float()
    mean = float(x.mean())
    variance = float(((x - mean) ** 2).mean()) if np.isfinite(mean) else float("nan")
    return mean, variance


def record(
    model: nn.Module, args: list[Any], kwargs: dict[str, Any], *, training: bool, seed: int,
    wanted: set[Key] | None = None, observe: Callable[..., Any] | None = None,
) -> Recording:  # fmt: skip
    """One forward of the real model on noise (or the user's batch); the model's state is as before afterwards."""

    def recorded(below: bool) -> Recording:
        rng = np.random.default_rng(seed)
        real_args, real_kwargs = mapped(lambda a: real_tensor(a, model, rng), (args, kwargs))
        recorder = Recorder(wanted, observe, random=PrivateRandom(seed))
        run(model, real_args, real_kwargs, recorder, below, training)
        return recorder.recording

    return below_if_possible(recorded)


def run(
    model: nn.Module, args: Any, kwargs: Any, recorder: Recorder, below: bool = True, training: bool | None = None,
    after: Callable[[nn.Module, Any], None] | None = None,
) -> None:  # fmt: skip
    """One forward of the model's shadow under `recorder`, which hears what module is running.

    `after(shadow, output)` may go on from there: backwards, say.
    """
    stack: list[str] = []

    def enter(name: str, *_: Any) -> None:
        stack.append(recorder.module)
        recorder.module = name

    def leave(*_: Any) -> None:
        recorder.module = stack.pop() if stack else ""

    shadow = Shadow(model)
    given, named = mapped(_stand_in, (args, kwargs))
    recorder.memory.owns(shadow.copies())
    announce_modules(shadow, enter, leave)
    if training is not None:
        set_mode(shadow.model, training)
    try:
        with (
            undisturbed(model, recorder.random),
            torch.enable_grad(),
            below_autograd() if below else nullcontext(),
            recorder,
        ):
            output = shadow.model(*given, **named)
            if after is not None:
                after(shadow.model, output)
    except Exception as error:
        raise TraceError(
            f"the model's forward failed: {type(error).__name__}: {error}", where=f"layer '{recorder.module}'",
            received=described(args, kwargs), fix=way_out(error, model, args, kwargs),
        ) from error  # fmt: skip


def _stand_in(item: Any) -> Any:
    """A tensor of the user's in the same memory: what is done to it counts no version of theirs."""
    if not isinstance(item, torch.Tensor) or item.layout is not torch.strided:
        return item
    return item.data.requires_grad_(item.requires_grad)
