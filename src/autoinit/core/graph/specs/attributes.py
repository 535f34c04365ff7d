"""Operands and attributes that several ops have."""

from __future__ import annotations

from .spec import INTEGER, INTEGERS, PAIRS, Attribute, Operand

X = Operand("x")
OPERANDS = Operand("operands", repeated=True)
UPDATE = (Operand("base"), Operand("update"))
AXIS, AXES = Attribute("axis", INTEGER, "which"), Attribute("axes", INTEGERS, "which")
WINDOW = (
    AXES,
    Attribute("window", INTEGERS, "size per axis"),
    Attribute("stride", INTEGERS, "per axis (None: the window)", None),
    Attribute("padding", PAIRS, "(low, high) per axis (None: no padding)", None),
)
PATCHES = tuple(Attribute(name, INTEGERS, "per axis of images") for name in ("window", "stride", "padding", "dilation"))
