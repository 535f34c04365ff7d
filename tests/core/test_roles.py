"""Which operand of a product is a gain."""

from __future__ import annotations

from autoinit.core.graph.graph import Node, ParameterView, Value
from autoinit.core.graph.roles import gain_slots


def product(*inputs, **attrs) -> Node:
    return Node("elementwise", inputs, (Value(9, (8, 32, 24)),), {"fn": "mul", **attrs})


def view(*shape: int) -> ParameterView:
    return ParameterView("w", shape, tuple(range(len(shape))), 0, True)


def test_gains() -> None:
    data = Value(1, (8, 32, 24))
    assert gain_slots(product(data, view(24))) == (0, 1)  # layer scale
    assert 0 not in gain_slots(product(view(32, 24), None, scalars={1: 2.0}))  # an equalised weight
    assert 0 in gain_slots(product(view(32, 1), None, scalars={1: 2.0}))  # a gain with a constant of its own
    assert gain_slots(product(view(32, 24), view(32, 1))) == (1,)  # a weight with a scale per output
    assert gain_slots(product(view(1), view(32, 24))) == (0,)
