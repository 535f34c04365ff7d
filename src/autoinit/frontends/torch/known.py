"""Integers, and what is computed from them: constants with sampled values; and choices that data makes among itself.

Indices, counts and offsets carry no signal. They become constants whose values, if a rule asks for them, are those of
a sample (`origins.py`): a constant has the right number of ones, of repeats, of rows per expert.

A router's weights are what top-k picks of its own logits: neither independent of the choice nor of each other. They
are small, so the whole way from the logits on is run on samples of these (the op "chosen").
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

from ...core.graph.graph import Constant, Node, Value
from .origins import FILLED, Origin, Origins, evaluated
from .programs import program_of
from .running import as_array
from .shapes import VIEWS

if TYPE_CHECKING:
    from .call import Call
    from .tracer import Tracer

PICKS = {"aten.topk", "aten.kthvalue"}
BY_INDEX = {"aten.gather", "aten.index", "aten.index_select", "aten.take_along_dim", "aten.scatter", "aten.scatter_"}
MOVES = VIEWS | {f"aten.{name}" for name in ("to", "_to_copy", "clone", "contiguous", "detach", "alias", "type_as")}
LARGEST_CHOICE = 2**18


def sampled(call: Call) -> bool:
    """Set the outputs to constants if nothing but integers and constants went in, or comes out of an unknown op."""
    tracer = call.tracer
    fakes = [t for t in call.tensors if isinstance(t, FakeTensor)]
    if not call.outputs or not fakes or call.name in FILLED:
        return False
    from_known = all(isinstance(t, FakeTensor) and tracer.origins.of(t).known for t in call.outputs)
    unknown = not tracer.has_lowering(call.name) and not any(carries_signal(t) for t in call.outputs)
    if not from_known and not unknown:
        return False
    for out in call.outputs:
        constant_of(tracer, out)
    return True


def constant_of(tracer: Tracer, tensor: torch.Tensor) -> None:
    """From here on the tensor is a constant that holds its sample."""
    tracer.origins.of(tensor).known = True
    tracer.set(tensor, held_by(tracer, tensor))


def held_by(tracer: Tracer, tensor: torch.Tensor) -> Constant | None:
    """The sample of a known tensor, as a constant; None if the tensor is not known."""
    origins = tracer.origins
    origin = origins.of(tensor)
    return Constant(tuple(tensor.shape), lambda: as_array(origins.sample(origin))) if origin.known else None


def sample_of(tracer: Tracer, tensor: Any) -> Any:
    """A tensor with values: itself if it is real, a sample if it holds known integers, else None."""
    if not isinstance(tensor, FakeTensor):
        return tensor
    origin = tracer.origins.of(tensor)
    return tracer.origins.sample(origin) if origin.known else None


def carries_signal(t: torch.Tensor) -> bool:
    return t.dtype.is_floating_point or t.dtype.is_complex


def simulated_choice(call: Call) -> bool:
    """Emit "chosen" for a float output that comes of a choice among the entries of its own sources."""
    tracer = call.tracer
    out = call.outputs[0] if call.outputs else None
    if not isinstance(out, FakeTensor) or not carries_signal(out) or out.numel() > LARGEST_CHOICE:
        return False
    origin = tracer.origins.of(out)
    if not origin.leaves or not (call.name in PICKS or _follows_choice(call, origin)):
        return False
    if call.name in MOVES:  # the law does not change: the ordinary rule will do
        origin.choice = True
        return False
    sources = _sources(tracer, origin)
    if sources is None:
        return False
    leaves, values = zip(*sources, strict=True)
    made = tracer.value(out.shape)
    program = {"program": program_of(origin, leaves)}
    node = Node("chosen", tuple(values), (made,), program, tracer.module, call.name, tracer.occurrence)
    node.run = _runner(tracer.origins, origin, leaves)
    tracer.add(node)
    tracer.set(out, made)
    origin.choice = True
    call.companions()
    return True


def _follows_choice(call: Call, origin: Origin) -> bool:
    """Whether an operand is a choice already, or an index that the same sources decided."""
    if origin.call is None:
        return False
    parts = [part for part in origin.call[1] if isinstance(part, Origin)]  # as they were before an in-place op
    choices = [p.leaves for p in parts if p.choice and p.leaves]
    if choices:  # as long as nothing else comes in
        return not any(p.weight for p in parts) and origin.leaves == frozenset().union(*choices)
    deciding = frozenset().union(*(p.leaves for p in parts if p.known and p.leaves))
    return call.name in BY_INDEX and any(p.leaves and not p.known and p.leaves <= deciding for p in parts)


def _sources(tracer: Tracer, origin: Origin) -> list[tuple[Origin, Value]] | None:
    """The leaves with their values in the graph, if all of them are there and small."""
    found = []
    for leaf in sorted(origin.leaves or (), key=lambda o: (o.shape, id(o))):
        tensor = tracer.origins.tensor_of(leaf)
        reference = None if tensor is None else tracer.reference(tensor)
        if not isinstance(reference, Value) or prod(reference.shape) > LARGEST_CHOICE or reference.shape != leaf.shape:
            return None
        found.append((leaf, reference))
    return found or None


def _runner(origins: Origins, origin: Origin, leaves: tuple[Origin, ...]) -> Callable[[list[Any]], list[Any] | None]:
    def run(arrays: list[Any]) -> list[Any] | None:
        values = {leaf: torch.as_tensor(a).to(leaf.dtype) for leaf, a in zip(leaves, arrays, strict=True)}
        try:
            made = evaluated(origin, values)
        except Exception:  # sizes that another choice does not fit: the one sample that they were taken from
            made = origins.sample(origin)
        return [as_array(made)] if made.dim() == len(origin.shape) else None

    return run
