"""What is known of an op: its operands, its attributes, and facts that hold whatever these are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

REQUIRED: Any = ...
"""The default of an attribute that has none."""


class Role(Enum):
    """The part that an operand plays."""

    DATA = "data"
    WEIGHT = "weight"
    BIAS = "bias"
    GAIN = "gain"
    """Scales the data, and is left as it is."""
    SHIFT = "shift"
    """Is added to the data, and left as it is."""
    STATES = "states"
    INDEX = "index"
    MASK = "mask"
    """Decides which entries count."""
    STATISTICS = "statistics"
    """Means and variances that were measured before."""


@dataclass(frozen=True, slots=True)
class Operand:
    """One input of an op."""

    name: str
    role: Role = Role.DATA
    optional: bool = False
    """May be None."""
    repeated: bool = False
    """Any number of them; nothing is known of which is which."""
    left: str = ""
    """Why a parameter in this place is left as it is, where its role does not say."""
    unknown: float = 0.0
    """What an array without values (meta device) counts as."""


class Kind(NamedTuple):
    """What an attribute may hold."""

    name: str
    types: tuple[type, ...] = (object,)


INTEGER, INTEGERS = Kind("integer", (int, np.integer)), Kind("integers", (tuple, list))
NUMBER, NUMBERS = Kind("number", (int, float, np.number)), Kind("numbers", (tuple, list))
FLAG, TEXT, PAIRS = Kind("true or false", (bool, np.bool_)), Kind("text", (str,)), Kind("pairs", (tuple, list))
TABLE, ANYTHING = Kind("table", (dict,)), Kind("anything")


@dataclass(frozen=True, slots=True)
class Attribute:
    """One setting of an op; `kind` may be the words that are allowed."""

    name: str
    kind: Kind | tuple[str, ...]
    meaning: str
    default: Any = REQUIRED

    def fits(self, value: Any) -> bool:
        if value is None and self.default is None:
            return True
        return isinstance(value, self.kind.types) if isinstance(self.kind, Kind) else value in self.kind

    @property
    def expected(self) -> str:
        return self.kind.name if isinstance(self.kind, Kind) else ", ".join(self.kind)


@dataclass(frozen=True, slots=True, eq=False)
class OpSpec:
    """One op of the neutral vocabulary."""

    name: str
    meaning: str
    operands: tuple[Operand, ...] = (Operand("x"),)
    attributes: tuple[Attribute, ...] = ()

    linear: bool = False
    """The first operand goes through a linear map, up to a shift."""
    degree: int | None = None
    """What comes of c times the first operand: 1: c times the output, 0: the same output, None: something else."""
    moves: bool = False
    """Entries of the first operand are passed on as they are: moved, copied, left out (dropout: on average)."""
    pointwise: bool = False
    """Entry by entry, operands being broadcast."""
    joins: bool = False
    """Puts operands together along an axis."""
    masks: bool = False
    """Some entries stay what they are, others become something else."""
    resamples: bool = False
    """Places along some axes are made of places nearby."""
    reduces: bool = False
    """Makes one entry of all along some axes."""
    runs: bool = False
    """Makes every entry of those before it along an axis."""
    shares: bool = False
    """Entries lie between 0 and 1 and add up to 1."""
    labelled: bool = False
    """A product that labels of axes describe, as for einsum."""
    pairs: bool = False
    """Contracts operands with each other, without a weight of its own."""
    source: bool = False
    """What comes out is a source of its own: nobody asks how it varies with what went in."""
    random: bool = False
    """Draws by chance."""
    repeatable: bool = False
    """Gives the same when it is done again, and has no weights."""
    lazy: bool = False
    """Its rule needs no moments: a chain of functions stays whole."""
    arithmetic: bool = False
    """Makes weights of weights."""
    parameters_only: bool = False
    """Does so only where no data is involved: a normalised signal is a signal."""
    opaque: bool = False
    """Nothing is known of it."""

    weights: tuple[int, ...] = field(init=False)
    """Slots of weights; and so on for the other roles."""
    bias: int | None = field(init=False)
    gains: tuple[int, ...] = field(init=False)
    mask: tuple[int, ...] = field(init=False)
    indexed: bool = field(init=False)
    """Indices choose what comes out."""
    carries: bool = field(init=False)
    """Hands states on, from one place of an axis to the next."""
    needed: frozenset[int] = field(init=False)
    """Slots that must hold something."""
    most: float = field(init=False)
    """How many operands there may be."""
    required: frozenset[str] = field(init=False)
    known: Mapping[str, Attribute] = field(init=False)
    """Attributes by name."""

    def __post_init__(self) -> None:
        single = [(k, operand) for k, operand in enumerate(self.operands) if not operand.repeated]
        slots = {role: tuple(k for k, operand in single if operand.role is role) for role in Role}
        facts = {
            "weights": slots[Role.WEIGHT], "gains": slots[Role.GAIN], "mask": slots[Role.MASK],
            "bias": next(iter(slots[Role.BIAS]), None), "indexed": bool(slots[Role.INDEX]),
            "carries": any(operand.role is Role.STATES for operand in self.operands),
            "needed": frozenset(k for k, operand in single if not operand.optional),
            "most": len(single) if len(single) == len(self.operands) else float("inf"),
            "required": frozenset(a.name for a in self.attributes if a.default is REQUIRED),
            "known": {a.name: a for a in self.attributes},
        }  # fmt: skip
        for name, value in facts.items():
            object.__setattr__(self, name, value)

    def operand(self, slot: int) -> Operand:
        return self.operands[min(slot, len(self.operands) - 1)]

    @property
    def signature(self) -> str:
        """The op with its operands; in brackets what may be None."""
        names = [f"*{o.name}" if o.repeated else f"[{o.name}]" if o.optional else o.name for o in self.operands]
        return f"{self.name}({', '.join(names)})"

    @property
    def picks(self) -> bool:
        """Takes rows of data."""
        return self.indexed and self.moves

    @property
    def layer(self) -> bool:
        """Contracts data with a weight of its own."""
        return bool(self.weights) and not self.indexed and not self.labelled

    @property
    def looks_up(self) -> bool:
        """Takes rows of a weight."""
        return self.indexed and bool(self.weights)

    @property
    def factors(self) -> bool:
        """A product of which any operand may be the weight."""
        return self.labelled and self.pairs
