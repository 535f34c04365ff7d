"""A model that was planned without memory: what its constructors would have written is written as well.

Weights are drawn as planned. Everything else (norms, layer scales, running statistics, buffers, tables that are kept)
gets what the log of its construction says, or its module's own ``reset_parameters``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from torch import nn

from ...core.drawing import Draw
from ...core.drawing.words import key_of
from ...core.options import Options
from ...core.plan.plan import PlanData
from ...errors import PlanError
from .memory import distinct
from .names import tensors_of
from .remembering.built import stories_of
from .remembering.story import Story
from .shards import Local, local_of

NAMED = 5


def without_memory(plan: PlanData, model: nn.Module, options: Options) -> list[str]:
    """Names of tensors that have no memory now, and that the plan does not draw in full."""
    drawn = {
        name
        for entry in plan.changed()
        if Draw(entry, plan.distribution, 0).covers
        for name in (entry.name, *entry.aliases)
    }
    return [
        name
        for name, tensor in tensors_of(model).items()
        if tensor.device.type == "meta" and name not in drawn and options.covers(name)
    ]


def fillings(plan: PlanData, model: nn.Module, seed: int) -> list[tuple[str, Local, Callable[[], None]]]:
    """(name, what is written to, what writes): after everything that can go wrong was looked at."""
    if not plan.fills:
        return []
    tensors, stories = tensors_of(model), stories_of(model)
    missing = [name for name in plan.fills if name not in tensors]
    if missing:
        raise PlanError("the model has no tensor of that name", where="Plan.apply", received=missing[0],
                        fix="apply a plan to the model it was made for")  # fmt: skip
    bare = [name for name in plan.fills if tensors[name].device.type == "meta"]
    if bare:
        raise PlanError("a tensor on the meta device has no memory to write to", where=bare[0], received="device meta",
                        fix="model.to_empty(device='cpu') first, then apply the plan")  # fmt: skip
    unknown = [name for name in plan.fills if name not in stories or not _can(stories[name])]
    if unknown:
        more = "" if len(unknown) <= NAMED else f" and {len(unknown) - NAMED} more"
        raise PlanError("nobody knows what these tensors should hold: they had no memory when the model was planned",
                        where="Plan.apply", received=", ".join(unknown[:NAMED]) + more,
                        fix="build the model under `with autoinit.meta():`, which remembers what constructors write; "
                        "or write them yourself, and leave them out of the plan: skip=[...]")  # fmt: skip
    made: list[tuple[str, Local, Callable[[], None]]] = []
    seen = set()
    for name in plan.fills:
        if id(tensors[name]) not in seen:
            seen.add(id(tensors[name]))
            local = local_of(name, tensors[name])
            made.append((name, local, partial(_write, local, stories[name], key_of(seed, name) >> 65)))
    return made


def _can(story: Story) -> bool:
    return story.can_be_worked_out or (story.fill is not None and story.fill.kind == "constant")


def _write(local: Local, story: Story, seed: int) -> None:
    target = distinct(local.tensor.detach())
    fill = story.fill
    if fill is not None and fill.kind == "constant":
        target.fill_(fill.mean)
        return
    values = story.values(seed)
    target.copy_(values[tuple(slice(a, a + n) for a, n in zip(local.low, target.shape, strict=True))])
