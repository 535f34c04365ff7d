"""The registry of rules: one function per neutral op, filled by a decorator.

A rule maps the signals that go into an op to the signals that come out::

    @rule("relu6_gate")
    def relu6_gate(node, ctx, x): ...

It gets the node (attributes, shapes, place), the context (solving for weights, notes, the options) and one signal
per input (None where the op has no such operand), and returns one signal or a tuple of them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Protocol, TypeVar

from numpy.typing import NDArray

from ..core.dependence.relations import Relations
from ..core.graph.graph import Node
from ..core.signal.signal import Signal
from ..core.solve.trusting import called
from ..errors import DuplicateRule

Rule = Callable[..., Signal | tuple[Signal, ...]]
R = TypeVar("R", bound=Rule)

RULES: dict[str, Rule] = {}


class Context(Protocol):
    """What a rule may ask of the interpreter."""

    training: bool

    def weight(self, node: Node, slot: int, second_moment: Callable[[Signal], float]) -> Signal:
        """The weight in input `slot`, scaled so that ``second_moment(weight)`` equals the target variance."""

    def centred(self, node: Node, x: Signal) -> Signal:
        """The signal that the layer really contracts: without its mean if the layer's bias cancels it."""

    def array(self, node: Node, slot: int) -> NDArray[Any] | None:
        """The values of a constant input, or of a parameter that is kept; None if they are not known."""

    def kept(self, node: Node, slot: int) -> bool:
        """Whether the parameter in `slot` keeps its present values (frozen, skipped, or only being checked)."""

    def varies(self, node: Node, slot: int) -> bool:
        """Whether an operand depends on the data or on chance, and not on constants and parameters alone."""

    def relations(self, node: Node) -> Relations:
        """How the operands vary together."""

    def related(self, node: Node, slot: int, other: int) -> bool:
        """Whether two operands are made of the same weight layer's output (or the same input)."""

    def of_rows(self, node: Node, slot: int, axis: int, rows: tuple[int, ...]) -> Signal | None:
        """These places of an operand along an axis, if they were picked by known indices and are unlike the average."""

    def doubt(self, why: str) -> None:
        """Moments do not tell what comes out of this call: if the real ops can be run on samples, let them."""

    def once(self, key: Hashable, make: Callable[[], Signal]) -> Signal:
        """Mean and moments that `make` gave when it was first asked for by this key, during this plan."""

    def note(self, node: Node, kind: str, message: str) -> None:
        """Tell the plan something about this place (kind: 'simulated', 'passed', 'warning', 'info')."""


def rule(*ops: str) -> Callable[[R], R]:
    """Register a rule for one or several ops. A second rule for the same op is refused."""

    def register(function: R) -> R:
        for op in ops:
            if op in RULES:
                raise DuplicateRule(op)
            RULES[op] = function
        return function

    return register


@rule("custom")
def custom(node: Node, ctx: Context, *signals: Signal) -> Any:
    """A module or function with a rule of the user's own: ``rule(layer, *signals)`` or ``rule(*signals)``."""
    function, owner = node.attrs["rule"], node.attrs["owner"]
    if not node.attrs.get("users_own"):
        return function(owner, *signals)
    return called(node, function, (owner, *signals), f"rule for {getattr(owner, '__name__', type(owner).__name__)}")
