"""Ops that move entries, put tensors together, or keep some of the entries."""

from __future__ import annotations

from functools import partial

from .attributes import AXIS, OPERANDS, X
from .spec import ANYTHING, FLAG, INTEGER, INTEGERS, NUMBER, PAIRS, Attribute, Operand, OpSpec, Role

move = partial(OpSpec, linear=True, degree=1, moves=True, arithmetic=True)
join = partial(OpSpec, linear=True, joins=True, arithmetic=True)
mask = partial(OpSpec, masks=True, arithmetic=True)
INDICES = Operand("indices", Role.INDEX, optional=True)
STEP = Attribute("step", INTEGER, "from one to the next")

STRUCTURE = (
    move("identity", "the same", pointwise=True, lazy=True),
    move("reshape", "the same entries in the output's shape", lazy=True),
    move("permute", "axes in another order", (X,), (Attribute("perm", INTEGERS, "axes of x"),), lazy=True),
    move("expand", "axes of size 1 stretched to the output's shape, leading axes added"),
    move("repeat", "tiled; leading axes added", (X,), (
        Attribute("repeats", INTEGERS, "per axis of the output (None: by shapes)", None),
    )),
    move("slice", "start:stop:step along an axis", (X,), (
        AXIS, Attribute("start", INTEGER, "first place"), Attribute("stop", INTEGER, "behind the last place"), STEP,
    )),
    move("select", "one place of an axis, which goes", (X,), (AXIS, Attribute("index", INTEGER, "the place"))),
    move("split", "pieces along an axis", (X,), (AXIS, Attribute("sizes", INTEGERS, "of the pieces"))),
    move("unbind", "all places of an axis, which goes", (X,), (AXIS,)),
    move("gather", "rows picked along an axis", (X, INDICES), (
        AXIS, Attribute("chance", ANYTHING, "that two places get the same row, per pattern (None: at random)", None),
    )),
    OpSpec("shuffle", "entries in another order", (X,), (
        Attribute("moves", PAIRS, "((flip or roll, axis, shift), ...); None: nobody knows where they go (sort)", None),
    ), degree=1, moves=True, arithmetic=True),
    move("diagonal", "entries with equal indices on two axes, along a last axis", (X,), (
        Attribute("axis1", INTEGER, "one"), Attribute("axis2", INTEGER, "the other"),
    )),
    move("unfold", "sliding windows along an axis, each along a last axis", (X,), (
        AXIS, Attribute("size", INTEGER, "of a window"), STEP,
    )),
    join("concat", "operands one after the other along an axis", (OPERANDS,), (AXIS,)),
    join("stack", "operands along a new axis", (OPERANDS,), (AXIS,)),
    mask("pad", "borders around x", (X,), (
        Attribute("pads", PAIRS, "(low, high) per axis"),
        Attribute("mode", ("constant", "reflect", "replicate", "circular"), "what the borders hold", "constant"),
        Attribute("value", NUMBER, "of constant borders", 0.0),
    ), linear=True, resamples=True),
    mask("triangle", "the lower or upper triangle of the last two axes", (X,), (
        Attribute("lower", FLAG, "or upper"), Attribute("diagonal", INTEGER, "up to which", 0),
    ), linear=True, degree=1),
    mask("masked_fill", "a number where the mask is true", (X, Operand("mask", Role.MASK)), (
        Attribute("value", NUMBER, "the number"),
    ), linear=True),
    mask("where", "a where the condition is true, else b",
         (Operand("condition", Role.MASK), Operand("a"), Operand("b")), pointwise=True),
)  # fmt: skip
