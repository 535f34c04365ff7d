"""Products: dense layers, and contractions of signals with each other."""

from __future__ import annotations

from math import prod
from string import ascii_letters
from typing import TYPE_CHECKING, Any

from ....core.graph.graph import Value
from ..structure.biases import weight_slot
from .table import lax

if TYPE_CHECKING:
    from ..call import Call


@lax("dot_general")
def dot_general(call: Call) -> None:
    slot = weight_slot(call.step)
    if slot is None:
        _einsum(call)
    else:
        _dense(call, slot)


def _dense(call: Call, slot: int) -> None:
    """x w^T: what is contracted is one last axis of both; outputs in front if the weight was the first operand."""
    weight, x = call.args[slot], call.args[1 - slot]
    contracted = call["dimension_numbers"][0]
    inner_w, inner_x = tuple(contracted[slot]), tuple(contracted[1 - slot])
    outer_w = tuple(a for a in range(len(weight.shape)) if a not in inner_w)
    outer_x = tuple(a for a in range(len(x.shape)) if a not in inner_x)
    fan, outputs = prod(weight.shape[a] for a in inner_w), prod(weight.shape[a] for a in outer_w)
    order = sorted(range(len(inner_x)), key=lambda k: inner_x[k])  # as x has them, so that x stays as it is
    inner_w, inner_x = tuple(inner_w[k] for k in order), tuple(inner_x[k] for k in order)
    lead = tuple(x.shape[a] for a in outer_x)
    w = call.reshaped(call.permuted(weight, (*outer_w, *inner_w)), (outputs, fan))
    moved = call.reshaped(call.permuted(x, (*outer_x, *inner_x)), (*lead, fan))
    whole: Any = call.layer("linear", [moved, w, None], (*lead, outputs))
    sizes = tuple(weight.shape[a] for a in outer_w)
    if len(sizes) != 1:
        whole = call.reshaped(whole, (*lead, *sizes))
    n = len(lead)
    if slot == 0 and n and sizes:
        whole = call.permuted(whole, (*range(n, n + len(sizes)), *range(n)))
    assert isinstance(whole, Value)
    call.tracer.set(call.out, whole)


def _einsum(call: Call) -> None:
    """Labels for all axes: batch, then what is left of each operand."""
    one, two = call.args
    (inner_one, inner_two), (batch_one, batch_two) = call["dimension_numbers"]
    letters = iter(ascii_letters)
    first = [next(letters) for _ in one.shape]
    second = [next(letters) for _ in two.shape]
    for a, b in zip((*batch_one, *inner_one), (*batch_two, *inner_two), strict=True):
        second[b] = first[a]
    made = [first[a] for a in batch_one]
    made += [label for a, label in enumerate(first) if a not in batch_one and a not in inner_one]
    made += [label for b, label in enumerate(second) if b not in batch_two and b not in inner_two]
    equation = f"{''.join(first)},{''.join(second)}->{''.join(made)}"
    call.emit("einsum", [one, two], equation=equation)
