"""Cells of recurrent layers, by what they make of their states: LSTM, GRU and plain ones, of any library or hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

from ..tape import Atom
from .matching import MOVES, is_part
from .polynomials import Function, Monomial, Polynomial, Product, Source, State, Vector, Weight
from .steps import Reader, Unknown

Terms = Mapping[Monomial, float]


@dataclass(frozen=True)
class Gate:
    """What one function of the cell is given: W x + U h + b + a number."""

    input: Weight
    recurrent: Weight
    biases: tuple[Vector | None, Vector | None]
    """Added to the product with the input, and with the state."""
    added: float


@dataclass(frozen=True)
class Cell:
    """A cell, in the words of the op `recurrent`."""

    kind: str
    states: tuple[int, ...]
    """Which of the carried arrays are its own: the state, then the memory."""
    source: Source
    gates: tuple[Gate, ...]
    """In torch's order."""
    attrs: Mapping[str, Any] = field(default_factory=dict)


def cells_of(
    carried: Sequence[Atom], made: Sequence[Atom], scanned: Mapping[int, Atom],
    depends: Callable[[Atom], frozenset[int]], states: Sequence[int],
) -> list[Cell] | None:  # fmt: skip
    """The cells that make up a step of a loop: every one of `states` belongs to one. None if that is not so."""
    left, found = list(states), []
    while left:
        cell = next((c for own in _candidates(left) if (c := _cell(own, carried, made, scanned, depends))), None)
        if cell is None:
            return None
        found.append(cell)
        left = [k for k in left if k not in cell.states]
    return found


def _candidates(left: Sequence[int]) -> Iterator[tuple[int, ...]]:
    yield from ((left[0],), *(pair for k in left[1:] for pair in permutations((left[0], k))))


def _cell(
    own: tuple[int, ...], carried: Sequence[Atom], made: Sequence[Atom], scanned: Mapping[int, Atom],
    depends: Callable[[Atom], frozenset[int]],
) -> Cell | None:  # fmt: skip
    reader = Reader(carried, scanned, depends, frozenset(own))
    try:
        parts = [reader.whole(made[k]) for k in own]
    except Unknown:
        return None
    for kind in (_lstm,) if len(own) == 2 else (_plain, _gru):
        try:
            return kind(own, *parts)
        except Unknown:
            continue
    return None


# --- kinds -----------------------------------------------------------------------------------------------------------


def _plain(own: tuple[int, ...], new: Polynomial) -> Cell:
    """h' = f(W x + U h + b)."""
    outer = _function(new.factor)
    gate, source = _gate(outer.of, own[0])
    kind = "relu" if outer.name == "relu" else "tanh"
    attrs = {} if kind == "relu" else {"activation": outer.name}
    return _made(kind, own, [source], [gate], attrs)


def _lstm(own: tuple[int, ...], new: Polynomial, memory: Polynomial) -> Cell:
    """c' = s(f) c + s(i) t(g), h' = s(o) t(c')."""
    terms = dict(memory.terms)
    old = next((m for m in terms if State(own[1]) in m), None)
    if len(terms) != 2 or old is None or set(terms.values()) != {1.0} or len(old) != 2 or new.product is None:
        raise Unknown
    forget = _function(next(factor for factor in old if factor != State(own[1])))
    written = next(m for m in terms if m is not old)
    shown = [_function(factor) for factor in new.product]
    kept = next((factor for factor in shown if factor.of == memory), None)
    if len(written) != 2 or len(shown) != 2 or kept is None:
        raise Unknown
    out = next(factor for factor in shown if factor is not kept)
    one, two = (_function(factor) for factor in written)
    if (one.name, two.name) != (forget.name, kept.name) or (one.name == two.name and two.of == forget.of):
        one, two = two, one
    if (one.name, two.name, out.name) != (forget.name, kept.name, forget.name):
        raise Unknown
    read = [_gate(factor.of, own[0]) for factor in (one, forget, two, out)]
    attrs = {"activation": kept.name, "gate": forget.name}
    return _made("lstm", own, [source for _, source in read], [gate for gate, _ in read], attrs)


def _gru(own: tuple[int, ...], new: Polynomial) -> Cell:
    """h' = (1 - z) n + z h, or the other way round; n = t(W x + b + r (U h + c)), or t(W x + U (r h) + b)."""
    h, terms = State(own[0]), dict(new.terms)
    alone = {m[0]: c for m, c in terms.items() if len(m) == 1}
    pairs = {m: c for m, c in terms.items() if len(m) == 2}
    if len(terms) != 3 or len(alone) != 1 or len(pairs) != 2 or set(alone.values()) != {1.0}:
        raise Unknown
    (base,) = alone
    less = next((m for m, c in pairs.items() if c == -1.0), ())
    more = next((m for m, c in pairs.items() if c == 1.0), ())
    share = next((factor for factor in less if factor in more and factor != base), None)
    if share is None or base not in less:
        raise Unknown
    update = _function(share)
    rest = _other(more, share)
    fresh = _function(rest if base == h else base)
    if (h not in more) if base != h else (h not in less):
        raise Unknown
    new_gate, reset, after, source = _candidate(fresh.of, h)
    if reset.name != update.name:
        raise Unknown
    shared = reset.of == update.of
    if shared and base == h:  # r is the share of what is new, z that of what is kept
        raise Unknown
    read = [_gate(factor.of, own[0]) for factor in (reset, update)]
    attrs = {"activation": fresh.name, "gate": update.name, "reset_after": after, "z_writes": base == h,
             "shared_gate": shared}
    gates = [*(gate for gate, _ in read), new_gate]
    return _made("gru", own, [*(source for _, source in read), source], gates, attrs)


def _candidate(of: Polynomial, h: State) -> tuple[Gate, Function, bool, Source]:
    """(gate, the reset gate's function, whether it acts on the product, source)."""
    inside = {m: c for m, c in of.terms if len(m) == 2}
    outside = Polynomial(frozenset((m, c) for m, c in of.terms if len(m) != 2))
    if not inside:  # U (r h)
        products = [m[0] for m, _ in of.terms if len(m) == 1 and isinstance(m[0], Product)]
        held = [x for x in products if isinstance(x.of, Polynomial)]
        if len(held) != 1 or held[0].of.product is None or h not in held[0].of.product:  # type: ignore[union-attr]
            raise Unknown
        reset = _function(_other(held[0].of.product, h))  # type: ignore[union-attr]
        gate, source = _gate(of, h.carry, held[0])
        return gate, reset, False, source
    shared = set.intersection(*(set(m) for m in inside))
    functions = [factor for factor in shared if isinstance(factor, Function)]
    if len(functions) != 1 or set(inside.values()) != {1.0}:
        raise Unknown
    reset = functions[0]
    acted = [_other(m, reset) for m in inside]
    back = [x for x in acted if isinstance(x, Product) and x.of == h]
    biases = [x for x in acted if isinstance(x, Vector)]
    if len(back) != 1 or len(biases) != len(acted) - 1 or len(biases) > 1:
        raise Unknown
    input, vectors, added = _sum(outside, h.carry, None)
    if len(input) != 1 or len(vectors) > 1:
        raise Unknown
    both = (vectors[0] if vectors else None, biases[0] if biases else None)
    return Gate(input[0].weight, back[0].weight, both, added), reset, True, _source(input[0])


def _other(pair: Monomial, factor: Any) -> Any:
    left = list(pair)
    left.remove(factor)
    if len(left) != 1:
        raise Unknown
    return left[0]


def _function(factor: Any) -> Function:
    if not isinstance(factor, Function):
        raise Unknown
    return factor


def _gate(of: Polynomial, state: int, back: Product | None = None) -> tuple[Gate, Source]:
    products, vectors, added = _sum(of, state, back)
    recurrent = [x for x in products if x is back or x.of == State(state)]
    driven = [x for x in products if isinstance(x.of, Source)]
    if len(recurrent) != 1 or len(driven) != 1 or len(products) != 2 or len(vectors) > 2:
        raise Unknown
    first, second = (*vectors, None, None)[:2]
    return Gate(driven[0].weight, recurrent[0].weight, (first, second), added), _source(driven[0])


def _sum(of: Polynomial, state: int, back: Product | None) -> tuple[list[Product], list[Vector], float]:
    """The products, the vectors and the number that something is the sum of."""
    products: list[Product] = []
    vectors: list[Vector] = []
    added = 0.0
    for monomial, c in of.terms:
        factor = monomial[0] if len(monomial) == 1 else None
        if not monomial:
            added = c
        elif c != 1.0 or not isinstance(factor, (Product, Vector)):
            raise Unknown
        elif isinstance(factor, Product):
            products.append(factor)
        else:
            vectors.append(factor)
    vectors.sort(key=lambda vector: (leaf_of(vector.atom), vector.start))
    return products, vectors, added


def _source(product: Product) -> Source:
    if not isinstance(product.of, Source):
        raise Unknown
    return product.of


def _made(
    kind: str, own: tuple[int, ...], sources: list[Source], gates: list[Gate], attrs: Mapping[str, Any]
) -> Cell:  # fmt: skip
    """All gates see the same input, and their weights are parameters as they stand."""
    if any(source != sources[0] for source in sources):
        raise Unknown
    whole = tuple(Gate(placed(g.input), placed(g.recurrent), g.biases, g.added) for g in gates)
    vectors = [v for gate in gates for v in gate.biases if v is not None]
    if not all(is_part(v.atom) for v in vectors):
        raise Unknown
    return Cell(kind, own, sources[0], whole, attrs)


def placed(weight: Weight) -> Weight:
    """The part of a parameter that a weight is: in one of several that were joined, before its axes were exchanged."""
    atom, inner, outer, rows, columns = weight.atom, weight.inner, weight.outer, weight.rows, weight.columns
    while not atom.is_leaf and atom.step is not None:
        step = atom.step
        if step.name == "concatenate":
            axis = int(step.params["dimension"])
            low, high = columns if axis == outer else rows
            at = 0
            for part in step.inputs:
                if at <= low and high <= at + part.shape[axis]:
                    break
                at += part.shape[axis]
            else:
                raise Unknown
            atom = part
            if axis == outer:
                columns = (low - at, high - at)
            else:
                rows = (low - at, high - at)
        elif step.name == "transpose":
            atom, inner, outer = step.inputs[0], outer, inner
        elif step.name in MOVES and step.inputs[0].shape == atom.shape:
            atom = step.inputs[0]
        else:
            break
    if not is_part(atom):
        raise Unknown
    return Weight(atom, inner, outer, rows, columns)


def leaf_of(atom: Atom) -> int:
    """Which leaf of the model a part of one is of."""
    while not atom.is_leaf and atom.step is not None:
        atom = atom.step.inputs[0]
    return atom.index
