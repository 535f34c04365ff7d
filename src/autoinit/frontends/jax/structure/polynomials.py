"""What one step of a loop makes of its states, as polynomials: equal however the program writes them.

``(1 - z) * n + z * h`` and ``n + z * (h - n)`` are the same sum of products. Factors are states, products with weights,
parameters along the features, functions of such polynomials, and whatever else is given from outside of the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from ..tape import Atom

Monomial = tuple["Factor", ...]


@dataclass(frozen=True, slots=True)
class Polynomial:
    """A sum of products of factors, with numbers in front."""

    terms: frozenset[tuple[Monomial, float]]

    def __add__(self, other: Polynomial) -> Polynomial:
        return _collected((*self.terms, *other.terms))

    def __mul__(self, other: Polynomial) -> Polynomial:
        return _collected(
            (_sorted((*a, *b)), c * d) for a, c in self.terms for b, d in other.terms
        )  # fmt: skip

    def times(self, number: float) -> Polynomial:
        return _collected((monomial, number * c) for monomial, c in self.terms)

    @property
    def number(self) -> float | None:
        """The number that this is, if it is one."""
        if not self.terms:
            return 0.0
        ((monomial, c), *more) = self.terms
        return c if not more and not monomial else None

    @property
    def factor(self) -> Factor | None:
        """The single factor that this is."""
        product = self.product
        return product[0] if product is not None and len(product) == 1 else None

    @property
    def product(self) -> Monomial | None:
        """The factors, if this is one product of them with nothing in front."""
        if len(self.terms) != 1:
            return None
        ((monomial, c),) = self.terms
        return monomial if c == 1.0 else None


@dataclass(frozen=True, slots=True)
class State:
    """What the loop carries: by its place among all that it carries."""

    carry: int


@dataclass(frozen=True, slots=True)
class Vector:
    """Entries of a parameter along the features."""

    atom: Atom
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Source:
    """What comes into the loop: `time` is its axis of steps; None: an array within one step."""

    atom: Atom
    axis: int
    time: int | None


@dataclass(frozen=True, slots=True)
class Weight:
    """A part of a matrix: what `inner` runs over is contracted."""

    atom: Atom
    inner: int
    outer: int
    rows: tuple[int, int]
    """Of the inner axis."""
    columns: tuple[int, int]
    """Of the outer axis."""


@dataclass(frozen=True, slots=True)
class Product:
    """A weight by what comes in, a state, or what was made of states."""

    weight: Weight
    of: Source | State | Polynomial


@dataclass(frozen=True, slots=True)
class Function:
    """A function of entries."""

    name: str
    of: Polynomial


@dataclass(frozen=True, slots=True)
class Other:
    """Anything else that no state goes into."""

    source: Source


Factor: TypeAlias = State | Vector | Product | Function | Other


def number(value: float) -> Polynomial:
    return _collected([((), value)])


def single(factor: Factor) -> Polynomial:
    return Polynomial(frozenset([((factor,), 1.0)]))


def function(name: str, of: Polynomial) -> Polynomial:
    """1 / (1 + e^-y) is a sigmoid."""
    if name == "reciprocal":
        if of.number:
            return number(1.0 / of.number)
        rest = of + number(-1.0)
        grown = rest.factor
        if isinstance(grown, Function) and grown.name == "exp":
            return single(Function("sigmoid", grown.of.times(-1.0)))
    return single(Function(name, of))


def _collected(terms: Iterable[tuple[Monomial, float]]) -> Polynomial:
    made: dict[Monomial, float] = {}
    for monomial, c in terms:
        made[monomial] = made.get(monomial, 0.0) + c
    return Polynomial(frozenset((m, round(c, 12)) for m, c in made.items() if abs(c) > 1e-12))


_order: Callable[[Factor], int] = hash


def _sorted(factors: Monomial) -> Monomial:
    """In an order of its own: products have none. Factors of one hash are equal but for an accident."""
    return tuple(sorted(factors, key=_order))
