"""Running a model's shadow: what is global stays as it is, and everyone hears which module is running."""

from __future__ import annotations

import sys
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from ..class_state import classes_kept
from ..private_random import original_of, private_random
from ..shared_setting import Shared
from .private_random import PrivateRandom
from .shadow import Shadow

OURS = "autoinit"


def _eager() -> Callable[[], None]:
    stance = torch.compiler.set_stance("force_eager")
    stance.__enter__()
    return lambda: stance.__exit__(None, None, None)


uncompiled = Shared(_eager)
"""Compiled functions run as they were written."""


@contextmanager
def undisturbed(model: nn.Module, source: PrivateRandom) -> Iterator[None]:
    """Random numbers, whoever draws them, come from `source` and its like; compiled code is not used."""
    homes = {type(m).__module__ for m in model.modules()}
    spaces = [vars(sys.modules[h]) for h in homes if h in sys.modules and not h.startswith("torch.")]
    names = [vars(torch), vars(torch.random), *spaces]
    with uncompiled(), classes_kept(model.modules(), ("torch",)), private_random(0, names, _seeding(source)):
        yield


def _seeding(source: PrivateRandom) -> dict[Callable[..., Any], Callable[..., Any]]:
    """What takes the place of functions that set or read the state of the global generator."""
    cpu = torch.device("cpu")

    def manual_seed(seed: Any) -> torch.Generator:
        source.seed(int(seed))
        return source.on(cpu)

    own: dict[str, Callable[..., Any]] = {
        "manual_seed": manual_seed,
        "seed": lambda: source.on(cpu).seed(),
        "initial_seed": lambda: source.on(cpu).initial_seed(),
        "get_rng_state": lambda: source.on(cpu).get_state(),
        "set_rng_state": lambda state: source.on(cpu).set_state(state),
    }
    homes = (torch, torch.random)  # the compiler wraps those of the first
    return {original_of(getattr(home, name)): function for name, function in own.items() for home in homes}


def set_mode(model: nn.Module, training: bool) -> None:
    """Training or evaluation mode; what has only one (an exported program) stays in it."""
    try:
        model.train(training)
    except NotImplementedError:
        return


Enter = Callable[[str, nn.Module, nn.Module, Any], None]
Leave = Callable[[str, nn.Module, nn.Module, Any, Any], Any]


def announce_modules(shadow: Shadow, enter: Enter, leave: Leave) -> None:
    """Call ``enter(name, module, original, args)`` and ``leave(name, module, original, args, output)`` around every
    submodule's forward, before and after the hooks that it has."""
    for name, original, module in shadow.named_modules():

        def before(made: nn.Module, args: Any, name: str = name, original: nn.Module = original) -> None:
            enter(name, made, original, args)

        def after(made: nn.Module, args: Any, output: Any, name: str = name, original: nn.Module = original) -> Any:
            return leave(name, made, original, args, output)

        names = vars(module)
        ours = {
            "_forward_pre_hooks": before,
            "_forward_hooks": after,
            "_forward_hooks_always_called": True,
        }
        for kind, hook in ours.items():
            names[kind] = OrderedDict([(OURS, hook), *names[kind].items()])


def convert_in_place(shadow: Shadow) -> None:
    """``module.to(...)`` and its like inside of forward: parameters get new data and stay the same objects."""
    for _, _, module in shadow.named_modules():
        vars(module)["_apply"] = _conversion(weakref.ref(module))


def _conversion(module: Callable[[], Any]) -> Callable[..., nn.Module]:
    """As a method of the module, which does not hold it."""
    return lambda function, recurse=True: _converted(module(), function, recurse)


def _converted(module: nn.Module, function: Callable[[torch.Tensor], torch.Tensor], recurse: bool = True) -> nn.Module:
    for child in module.children() if recurse else ():
        child._apply(function)
    for parameter in module._parameters.values():
        if parameter is not None:
            parameter.data = function(parameter)
    for name, buffer in module._buffers.items():
        if buffer is not None:
            module._buffers[name] = function(buffer)
    return module
