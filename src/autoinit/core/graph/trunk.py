"""Residual trunks: where a tensor and what a branch made of it are added.

An addition of two tensors of data is *residual* if one of them, the trunk, is what the other one was made of:

* an identity skip: the trunk's operand is an ancestor of the branch, which ends in a weight or a norm on the way (what
  merely has a say in where a branch looks, queries or steps of a scan, is no trunk);
* a projection skip: both come from one tensor, the trunk through one or two weights (and norms, functions, pooling on
  its way), the branch through more, and nothing on the way leaves the block.

What merely moves entries, pools them, drops some or multiplies all by a number is looked through. Additions follow
each other along the trunk; a branch that is a sum of k terms counts k times, so that ``x + (f(x) + g(x))`` is
``(x + f(x)) + g(x)``, as is ``x + stack([f(x), g(x)]).sum()``; of parts side by side each ends in a weight of its own,
and they count once. n, the number of terms along the longest way through an addition, is what its branches share.

The *end* of a branch is the last weight that it is proportional to: back through moves, biases, gains, gates,
functions, attention's values. A branch may end in a norm; then its scale is the norm's gain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from heapq import heappop, heappush

from ..gaussian.ranges import bounded
from .by_entries import Functions
from .feeding import Feeding, Made
from .graph import Graph, Node, ParameterView, Reference, Value
from .specs import spec_of
from .walk import Walk, multiplier

FARTHEST = 4096
"""So many calls are looked back through, to find where two tensors come from."""
ADDS = ("add", "sub")


class Skip(StrEnum):
    """How the trunk gets past the branch."""

    IDENTITY = "identity"
    PROJECTION = "projection"


class Norm(StrEnum):
    """Where the scale of what a branch makes of the trunk is lost."""

    NONE = "none"
    INSIDE = "inside"
    """Before the last weight of the branch."""
    END = "end"
    """Behind it: the branch has the size that the norm's gain gives it."""
    AFTER = "after"
    """Behind the addition: a post-norm block."""


@dataclass(frozen=True, slots=True)
class End:
    """The last weight of a term, and what it is multiplied with on the way to the addition."""

    node: int
    number: float = 1.0
    gains: tuple[ParameterView, ...] = ()
    gained: int = -1
    """The call that multiplies by the last of the gains."""
    norm: int = -1
    """A norm that is written out, if it is on this way."""
    beside: bool = False
    """Of other entries than the first part, and so no term of its own."""


NOTHING_YET = End(-1)


@dataclass(frozen=True, slots=True)
class Addition:
    """One residual addition; numbers of calls are indices of the graph's nodes."""

    node: int
    trunk: int
    """Which operand is the trunk."""
    skip: Skip
    norm: Norm
    terms: int
    """How many terms the branch is a sum of."""
    ends: tuple[End, ...]
    """The weights that the terms end in; fewer than `terms` where one ends otherwise."""
    norms: tuple[int, ...]
    """The norms that others end in."""
    fork: Value
    """What the branch is made of."""
    weights: tuple[tuple[int, int], ...]
    """(call, how many weights from the trunk to its output along the longest way) of all weights in the branch."""
    group: int = 0
    """Additions of one trunk have the same number."""
    n: int = 0
    """Terms along the trunk."""


def residual_additions(graph: Graph, feeding: Feeding) -> list[Addition]:
    """All residual additions of a graph, in the order of execution."""
    return _Trunks(graph, feeding).found


class _Trunks(Walk):
    def __init__(self, graph: Graph, feeding: Feeding) -> None:
        super().__init__(graph, feeding)
        self.functions = Functions(self)
        self.at: dict[int, Addition] = {}
        self.before: dict[int, int | None] = {}
        for index, node in enumerate(self.nodes):
            made = self._residual(index, node) if node.attrs.get("fn") in ADDS else None
            if made is not None:
                self.at[index] = made
                self.before[index] = self._previous(node.inputs[made.trunk])
        self.found = self._counted()

    # --- one addition ---------------------------------------------------------------------------------------------

    def _residual(self, index: int, node: Node) -> Addition | None:
        pair = [ref for ref in node.inputs if isinstance(ref, Value)]
        if len(pair) != 2 or pair[0].shape != pair[1].shape or pair[0].id == pair[1].id or self.to_shares(node):
            return None
        if any(self.feeding.kind(ref) in (Made.PARAMETERS, Made.CONSTANTS) for ref in pair):
            return None
        starts = [self.stripped(ref) for ref in pair]
        if starts[0].id == starts[1].id:  # x with its pooled self
            return None
        first = 0 if self.index(starts[0]) <= self.index(starts[1]) else 1
        skip, found = Skip.IDENTITY, self._identity(pair, starts, first) or self._identity(pair, starts, 1 - first)
        if found is None:
            skip, found = Skip.PROJECTION, self._projection(index, pair)
        if found is None:
            return None
        fork, trunk, between = found
        slot = [k for k, ref in enumerate(node.inputs) if isinstance(ref, Value)][trunk]
        if slot == 1 and node.attrs["fn"] == "sub":  # f(x) - x: how far a branch is from the trunk
            return None
        made = self._described(index, slot, skip, pair[1 - trunk], fork, between)
        ends = {*(end.node for end in made.ends), *made.norms}
        return made if skip is Skip.PROJECTION or ends & between else None

    def _identity(self, pair: list[Value], starts: list[Value], trunk: int) -> tuple[Value, int, set[int]] | None:
        """(what the branch is made of, the trunk's operand, the calls of the branch)."""
        fork, branch = starts[trunk], pair[1 - trunk]
        between = self._between(branch, fork)
        while between is None and self.index(fork) in self.at:  # (x + f(x)) + g(x)
            fork = self.at[self.index(fork)].fork
            between = self._between(branch, fork)
        if between is None or not any(self.is_weight(k) or self.is_norm(k) for k in between):
            return None
        return fork, trunk, between

    def _described(
        self, index: int, slot: int, skip: Skip, branch: Value, fork: Value, between: set[int]
    ) -> Addition:
        terms = list({end and end.node: end for end in self._terms(branch, fork)}.values())
        known = [end for end in terms if end is not None]
        ends = tuple(end for end in known if self.is_weight(end.node))
        last = tuple(end.node for end in known if not self.is_weight(end.node))
        if last or any(end.norm >= 0 for end in known):
            norm = Norm.END
        elif any(map(self.is_norm, between)):
            norm = Norm.INSIDE
        else:
            norm = Norm.AFTER if self.is_normed(index) else Norm.NONE
        weights = tuple(sorted(self._depths(between).items()))
        count = sum(end is None or not end.beside for end in terms)
        return Addition(index, slot, skip, norm, count, ends, last, fork, weights)

    def _projection(self, index: int, pair: list[Value]) -> tuple[Value, int, set[int]] | None:
        """(what both come from, the trunk's operand, the calls of the branch)."""
        for trunk in (0, 1):
            for fork, weights in self._behind_projection(pair[trunk]):
                between = self._between(pair[1 - trunk], fork)
                if between is None or max(self._depths(between).values(), default=0) <= weights:
                    continue
                shortcut = self._between(pair[trunk], fork) or set()
                inside = between | shortcut
                if not any(self._leaves(k, inside, index) for k in inside):
                    return fork, trunk, between
        return None

    def _leaves(self, call: int, inside: set[int], end: int) -> bool:
        """Whether what a call makes is read elsewhere: not its other entries, where the block takes some of them."""
        readers = set(self.readers_of(call)) - {end}
        own, others = readers & inside, readers - inside
        return bool(others) and not (own and all(reader >= 0 and self.is_part(reader) for reader in own | others))

    def _behind_projection(self, ref: Value) -> Iterator[tuple[Value, int]]:
        """What a chain of moves, norms and functions with one or two weights was made of, and how many there are.

        Two: convolutions within features, and across them.
        """
        weights = 0
        for _ in range(64):
            index = self.index(ref)
            inner = self._one_operand(self.nodes[index]) if index >= 0 else None
            if inner is None or (self.is_weight(index) and weights == 2):
                break
            weights += self.is_weight(index)
            ref = inner
            several = [self.is_part(reader) for reader in self.readers[ref.id]]
            if weights and len(several) > 1:
                yield self.stripped(ref), weights
            elif len(several) > 1 and not all(several):  # both operands come from here, this one without a weight
                break

    def _one_operand(self, node: Node) -> Value | None:
        """The operand that a call is made of, if its others are parameters and numbers."""
        data, spec = self.data(node), spec_of(node.op)
        if len(data) != 1 or spec.source or (spec.random and not spec.moves):
            return None
        return data[0]

    def _between(self, branch: Value, fork: Value) -> set[int] | None:
        """The calls on the ways from `fork` to `branch`; None if there are none."""
        end, known = self.index(fork), dict[int, bool]()
        order: list[int] = []
        waiting: list[int] = []
        heappush(waiting, -self.index(branch))
        seen = {self.index(branch)}
        reached = False
        while waiting and len(order) < FARTHEST:
            index = -heappop(waiting)
            if index <= end:
                break
            order.append(index)
            for ref in self.nodes[index].inputs:
                if not isinstance(ref, Value):
                    continue
                if ref.id == fork.id:
                    reached = True
                made = self.index(ref)
                if made > end and made not in seen:
                    seen.add(made)
                    heappush(waiting, -made)
        if not reached:
            return None
        for index in reversed(order):  # of what was met, what comes from the fork
            known[index] = any(
                isinstance(ref, Value) and (ref.id == fork.id or known.get(self.index(ref), False))
                for ref in self.nodes[index].inputs
            )
        return {index for index, on_the_way in known.items() if on_the_way}

    def _depths(self, between: set[int]) -> dict[int, int]:
        """Of the weights on the way: how many there are up to each, itself included."""
        depth: dict[int, int] = {}
        for index in sorted(between):
            made_by = (self.index(ref) for ref in self.nodes[index].inputs if isinstance(ref, Value))
            depth[index] = max((depth.get(k, 0) for k in made_by), default=0) + self.is_weight(index)
        return {index: d for index, d in depth.items() if self.is_weight(index)}

    # --- the end of a branch --------------------------------------------------------------------------------------

    def _terms(self, ref: Reference, fork: Value, end: End = NOTHING_YET) -> Iterator[End | None]:
        """What each term of a branch ends in: the call of a weight or norm, or None."""
        for _ in range(256):
            if not isinstance(ref, Value) or ref.id == fork.id or self.index(ref) < 0:
                break
            index = self.index(ref)
            node = self.nodes[index]
            if self.is_norm(index) and "fn" in node.attrs:
                end = replace(end, norm=index)
                if end.gained >= 0:
                    yield replace(end, node=end.gained)
                    return
            elif self.is_weight(index) or self.is_norm(index):
                yield replace(end, node=index)
                return
            data = self.data(node)
            if node.attrs.get("fn") in ADDS and len(data) == 2:
                for one in data:
                    yield from self._terms(one, fork, end)
                return
            end = _multiplied(end, index, node)
            if summed := self._summed(node, data):
                share = end.number / len(summed) if node.attrs["kind"] == "mean" else end.number
                for one in summed:
                    yield from self._terms(one, fork, replace(end, number=share))
                return
            if spec_of(node.op).joins:
                for k, one in enumerate(data):
                    yield from self._terms(one, fork, replace(end, beside=end.beside or k > 0))
                return
            ref = self._proportional_to(node, data)
        yield None

    def _summed(self, node: Node, data: list[Value]) -> list[Value]:
        """The tensors that a reduction adds up: it goes along the axis on which they were joined."""
        joined = self.node(data[0]) if data and node.attrs.get("kind") in ("sum", "mean") else None
        if joined is None or not spec_of(joined.op).joins or joined.attrs["axis"] not in node.attrs["axes"]:
            return []
        return self.data(joined)

    def _proportional_to(self, node: Node, data: list[Value]) -> Value | None:
        """The operand that makes the size of the output."""
        spec = spec_of(node.op)
        if not data or spec.source:
            return None
        if spec.pairs:
            return data[2] if len(data) > 2 else next((r for r in reversed(data) if not self._is_gate(r)), None)
        if spec.pointwise and len(data) > 1:
            return next((r for r in data if not self._is_gate(r)), None)
        return data[0]

    def _is_gate(self, ref: Value) -> bool:
        """Made by a function that has bounds."""
        ref = self.stripped(ref)
        node = self.node(ref)
        if node is None or spec_of(node.op).shares:
            return node is not None
        return bounded(self.functions.of(ref))

    # --- the trunk ------------------------------------------------------------------------------------------------

    def _previous(self, ref: Reference) -> int | None:
        """The last residual addition on the way back along the trunk."""
        for _ in range(FARTHEST):
            if not isinstance(ref, Value) or self.index(ref) < 0:
                return None
            index = self.index(ref)
            if index in self.at:
                return index
            node = self.nodes[index]
            ref = self._proportional_to(node, self.data(node))
        return None

    def _counted(self) -> list[Addition]:
        """With the numbers of trunks, and of terms along them."""
        group: dict[int, int] = {}
        up: dict[int, int] = {}
        down: dict[int, int] = {}
        for index, one in self.at.items():
            before = self.before[index]
            group[index] = len(set(group.values())) if before is None else group[before]
            up[index] = one.terms + (0 if before is None else up[before])
        for index in reversed(self.at):
            before, own = self.before[index], down.setdefault(index, 0)
            if before is not None:
                down[before] = max(down.get(before, 0), own + self.at[index].terms)
        return [replace(one, group=group[k], n=up[k] + down[k]) for k, one in self.at.items()]


def _multiplied(end: End, index: int, node: Node) -> End:
    """With the number or gain that a call multiplies by."""
    number = multiplier(node)
    if number is not None:
        return replace(end, number=end.number * number)
    gains = tuple(r for r in node.inputs if isinstance(r, ParameterView)) if node.attrs.get("fn") == "mul" else ()
    if gains:
        return replace(end, gains=end.gains + gains, gained=index)
    return end
