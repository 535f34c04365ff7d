"""Walk a model once and return its graph."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import partial
from math import ceil
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils._pytree import tree_flatten

from ...core.graph.graph import Graph, Parameter, ParameterView, Value
from ...core.inputs import Input
from ...core.options import Options
from ...core.signal.signal import Signal
from ...errors import GraphError, TraceError
from ..budget import Budget
from ..custom import CustomRules, patched_functions
from ..shared_setting import Shared
from .autograd import below_autograd, below_if_possible
from .centring import Marking
from .inputs import device_of, dtype_of, real_tensor, signal_of
from .lowering import has_lowering, lower
from .names import Names, parameters_of, tensors_of
from .normalised import SCALE_FREE, ScaleFree, hide_hooks
from .python_calls import PythonCalls
from .remembering.built import stories_of
from .remembering.story import Story
from .shadow import Shadow
from .state import announce_modules, convert_in_place, set_mode, undisturbed
from .structures import mapped
from .tracer import Tracer
from .ways_out import described, way_out

LARGEST_READ = 2**24
"""Parameters beyond this many entries are measured on an evenly spaced part of their rows."""


def _quiet() -> Callable[[], None]:
    """A shape error is raised, with the layer's name; torch need not log it as well."""
    logger = logging.getLogger("torch._subclasses.fake_tensor")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    return lambda: logger.setLevel(level)


quiet_fake_tensors = Shared(_quiet)


def walk(
    model: nn.Module, args: list[Any], kwargs: dict[str, Any], options: Options, custom: CustomRules,
    centring: bool = False,
) -> tuple[Graph, dict[int, Signal]]:  # fmt: skip
    """Run forward on fake tensors; return the graph and the signals of its inputs."""
    budget = Budget.start(options)
    return below_if_possible(partial(_walk, model, args, kwargs, options.training, custom, centring, budget))


def _walk(
    model: nn.Module, args: list[Any], kwargs: dict[str, Any], training: bool, custom: CustomRules, centring: bool,
    budget: Budget, below: bool,
) -> tuple[Graph, dict[int, Signal]]:  # fmt: skip
    custom = CustomRules(SCALE_FREE, custom.classes, custom.functions)
    parameters: dict[str, torch.Tensor] = dict(parameters_of(model))
    tensors = tensors_of(model)
    bare = [name for name, tensor in tensors.items() if tensor.device.type == "meta"]
    stories = stories_of(model) if bare else {}
    shadow = Shadow(model, {id(s): stories[n] for n, s in tensors.items() if n in stories})
    stand_ins = {id(shadow.of(p)): name for name, p in parameters.items()}
    tracer = Tracer(parameters, stand_ins, lower, has_lowering, budget, shadow.copies())
    signals: dict[int, Signal] = {}
    rng = np.random.default_rng(0)

    def prepared(item: Any) -> Any:
        if not isinstance(item, (torch.Tensor, Input)):
            return item
        if isinstance(item, Input) and item.integers is not None:
            return torch.as_tensor(item.sample(rng)).to(dtype_of(item, model))
        signal = signal_of(item)
        if signal is None:
            return item.data if isinstance(item, torch.Tensor) and item.layout is torch.strided else item
        dtype = dtype_of(item, model) if isinstance(item, Input) else item.dtype
        device = device_of(model) if isinstance(item, Input) else item.device
        fake = tracer.fake(signal.shape, dtype, device)
        value = tracer.value(signal.shape)
        tracer.origins.given(fake, lambda: real_tensor(item, model, np.random.default_rng(0)))
        tracer.set(fake, value)
        tracer.graph.inputs.append((value, item))
        signals[value.id] = signal
        if below is False and dtype.is_floating_point:
            fake.requires_grad_(True)
        return fake

    fake_args, fake_kwargs = mapped(prepared, (args, kwargs))
    stack: list[tuple[str, BaseException | None]] = []
    failed: list[str] = []
    marking = Marking(tracer) if centring else None

    def enter(name: str, module: nn.Module, original: nn.Module, given: Any) -> None:
        stack.append((tracer.module, sys.exc_info()[1]))
        tracer.module = name
        if custom.for_module(module) is not None:
            tracer.suppressed += 1
        if marking is not None:
            marking.enter(module, given)

    def leave(name: str, module: nn.Module, original: nn.Module, inputs: Any, output: Any) -> Any:
        rule = custom.for_module(module)
        outer, pending = stack.pop() if stack else ("", None)
        raised = sys.exc_info()[1] is not pending  # not one that was being handled when the module was entered
        if raised:
            failed.append(name)
        if rule is not None:
            tracer.suppressed -= 1
            if isinstance(rule, ScaleFree):
                rule = rule.of(inputs[0])
            if not tracer.suppressed and not raised:
                _own_node(tracer, rule, original, inputs, output, type(module).__name__)
        made = None if marking is None else marking.leave(name, module, output, raised)
        tracer.module = outer
        return made

    announce_modules(shadow, enter, leave)
    convert_in_place(shadow)
    hide_hooks(shadow, tracer, _own_node)
    set_mode(shadow.model, training)
    try:
        with (
            undisturbed(model, tracer.random), patched_functions(custom, tracer, _own_node), quiet_fake_tensors(),
            torch.enable_grad(), below_autograd() if below else nullcontext(), PythonCalls(tracer), tracer,
        ):  # fmt: skip
            out = shadow.model(*fake_args, **fake_kwargs)
    except (TraceError, GraphError):  # the budget; a lowering that is wrong
        raise
    except Exception as error:
        name = tracer.failed_at or next(iter(failed), "")
        where = f"layer '{name}'" if name else f"forward of {type(model).__name__}"
        raise TraceError(
            f"the model's forward failed: {type(error).__name__}: {error}", where=where,
            received=described(args, kwargs), fix=way_out(error, model, args, kwargs),
        ) from error  # fmt: skip
    for t in tree_flatten(out)[0]:
        if isinstance(t, torch.Tensor):
            reference = tracer.reference(tracer.incoming(t))
            if isinstance(reference, Value):
                tracer.graph.outputs.append(reference)
    tracer.graph.parameters = describe_parameters(model, parameters, stories)
    tracer.graph.other_names = bare
    tracer.close()
    return tracer.graph, signals


def _own_node(tracer: Tracer, rule: Any, owner: Any, inputs: Any, output: Any, label: str) -> None:
    """One node for a module or function that has a rule of the user's own."""
    tensors = [t for t in tree_flatten(inputs)[0] if isinstance(t, torch.Tensor)]
    outputs = [t for t in tree_flatten(output)[0] if isinstance(t, torch.Tensor)]
    references = tuple(tracer.reference(tracer.incoming(t)) for t in tensors)
    call, users_own = tracer.counted(label), not isinstance(rule, ScaleFree)
    tracer.custom_node(references, outputs, label, call, rule=rule, owner=owner, users_own=users_own)


def describe_parameters(
    model: nn.Module, parameters: dict[str, torch.Tensor], stories: Mapping[str, Story]
) -> dict[str, Parameter]:
    names: dict[int, list[str]] = {}
    for name, p in Names(model).all_parameters():
        names.setdefault(id(p), []).append(name)
    return {
        name: Parameter(
            name, tuple(p.shape), str(p.dtype).removeprefix("torch."), bool(p.requires_grad),
            _reader(p, stories.get(name)),
            tuple(n for n in names.get(id(p), ()) if n != name), _zero_test(p, stories.get(name)),
        )
        for name, p in parameters.items()
    }  # fmt: skip


def _reader(p: torch.Tensor, story: Story | None) -> Any:
    def read(view: ParameterView | None) -> Any:
        if p.device.type == "meta" and story is not None and p.numel():
            return story.read(view)
        if p.device.type == "meta" or p.numel() == 0:
            return None
        t = p.detach()
        if view is not None and not (view.whole and tuple(view.shape) == tuple(p.shape)):
            t = t.contiguous()  # views count the entries in C order
            t = torch.as_strided(t, view.shape, view.stride, view.offset + t.storage_offset())
        if t.numel() > LARGEST_READ and t.dim():
            t = t[:: ceil(t.numel() / LARGEST_READ)]
        if t.is_complex():
            return t.resolve_conj().cpu().numpy()
        return t.to(torch.float32 if t.numel() > 2**20 else torch.float64).cpu().numpy()

    return read


def _zero_test(p: torch.Tensor, story: Story | None) -> Any:
    def is_zero() -> bool:
        if p.device.type == "meta" and story is not None and p.numel():
            return story.is_zero()
        if p.device.type == "meta" or p.numel() == 0:
            return False
        t = p.detach()
        plain = type(t) is torch.Tensor and t.layout is torch.strided
        if plain and t.as_strided((), (), t.storage_offset()).item() != 0:  # faster than indexing
            return False
        return not bool(t.any())

    return is_zero
