"""Looking at a model while it is trained: a second forward of the batch just before the real one.

The second forward sees the same weights, the same data and the same random numbers, so its statistics are those of the
training step, and its ops arrive as they did when the model was planned. Autograd, compiled code, gradient scaling and
whatever else belongs to the step are left alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

from ...core.plan.measured import Key
from ..base import Statistics
from .autograd import below_if_possible
from .inputs import call_arguments
from .measure import Recorder, run
from .names import unwrapped
from .tracer import Tracer


class Probe:
    """Takes statistics of a model, and calls back before its training forwards."""

    calls_back = True

    def __init__(self, model: nn.Module, training: bool) -> None:
        self.entry = model
        self.model = unwrapped(model)

    def arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call's arguments in the form in which inputs are given."""
        return (*args, kwargs) if args else kwargs

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Where the model can be analysed in the middle of a training step: outside of autocast."""
        with ExitStack() as stack:
            for device in {"cpu", *(p.device.type for p in self.model.parameters())} - {"meta"}:
                stack.enter_context(torch.autocast(device, enabled=False))
            yield

    def look(self, inputs: Any, wanted: set[Key], seed: int) -> dict[Key, Statistics]:
        """The statistics of the wanted tensors in a forward with `inputs`; nothing about the model changes."""
        args, kwargs = call_arguments(inputs, self.model)
        taken = below_if_possible(partial(self._look, args, kwargs, wanted))
        found: dict[Key, Statistics] = {}
        for device in {t.device for t in taken.values()}:  # to wait once for each device, not for each layer
            keys = [key for key, t in taken.items() if t.device == device]
            rows = torch.stack([taken[key] for key in keys]).tolist()
            found.update(
                {key: (mean, variance, int(bad)) for key, (mean, variance, bad) in zip(keys, rows, strict=True)}
            )
        return found

    def _look(self, args: Any, kwargs: Any, wanted: set[Key], below: bool) -> dict[Key, torch.Tensor]:
        recorder = Recorder(wanted, take=statistics)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the real forward will warn
            run(self.model, args, kwargs, recorder, below)
        return recorder.recording.moments

    def attach(self, seen: Callable[[Any], None]) -> Callable[[], None]:
        """Call `seen(inputs)` before every training forward; returns what takes the hook away again.

        A module that was compiled in place runs its hooks inside of the compiled code, where nothing can be recorded:
        there the compiled call is wrapped instead.
        """

        def before(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            if self.model.training and torch.is_grad_enabled() and not of_ours():
                seen(self.arguments(args, kwargs))

        compiled = getattr(self.entry, "_compiled_call_impl", None)
        if compiled is None:
            return self.entry.register_forward_pre_hook(Hook(before), with_kwargs=True).remove
        self.entry._compiled_call_impl = wrapped = _after(before, compiled)

        def restore() -> None:
            if self.entry._compiled_call_impl is wrapped:
                self.entry._compiled_call_impl = compiled

        return restore


class Hook:
    """A forward pre-hook that never alters the arguments. Copies of the model and saved models get an idle one."""

    def __init__(self, before: Callable[..., None]) -> None:
        self.before = torch.compiler.disable(before)

    def __call__(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if not torch.compiler.is_compiling():
            self.before(args, kwargs)

    def __reduce__(self) -> Any:
        return Hook, (idle,)


def idle(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """The hook of a copy."""


def _after(before: Callable[..., None], call: Callable[..., Any]) -> Callable[..., Any]:
    def both(*args: Any, **kwargs: Any) -> Any:
        before(args, kwargs)
        return call(*args, **kwargs)

    return both


def of_ours() -> bool:
    """Whether the forward that is running is no training step but one that analyses or measures the model."""
    return any(isinstance(mode, (Tracer, Recorder)) for mode in _get_current_dispatch_mode_stack())


def statistics(t: torch.Tensor) -> torch.Tensor:
    """(mean, variance over the whole tensor, entries that are not finite), on the tensor's device."""
    x = t.detach()
    if x.dtype not in (torch.float32, torch.float64):
        x = x.float()
    mean = x.mean()
    variance = (x - mean).square_().mean()  # in two passes: torch.var_mean is many times slower on processors
    known = x.device.type == "cpu" and bool(torch.isfinite(variance))  # elsewhere, to ask would be to wait
    bad = torch.zeros(()) if known else (~torch.isfinite(x)).sum()
    return torch.stack([mean, variance, bad]).to(torch.float32)
