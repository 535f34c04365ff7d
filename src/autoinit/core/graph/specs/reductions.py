"""Pooling, reductions, and rows that are added up at places."""

from __future__ import annotations

from .attributes import AXES, AXIS, PATCHES, UPDATE, WINDOW, X
from .spec import ANYTHING, FLAG, INTEGERS, NUMBER, TABLE, Attribute, OpSpec

KINDS = ("mean", "sum", "max", "min", "prod", "var", "std", "norm", "logsumexp", "any", "all")

REDUCTIONS = (
    OpSpec("max_pool", "the largest entry of every window", (X,), (
        *WINDOW, Attribute("dilation", INTEGERS, "per axis (None: 1)", None),
    ), degree=1, resamples=True, repeatable=True),
    OpSpec("average_pool", "the mean of every window", (X,), (
        *WINDOW, Attribute("include_pad", FLAG, "zeros of the border count", True),
    ), linear=True, degree=1, resamples=True, repeatable=True),
    OpSpec("lp_pool", "the p-norm of every window", (X,), (*WINDOW, Attribute("power", NUMBER, "p", 2.0)), degree=1,
           resamples=True),
    OpSpec("interpolate", "x in other sizes along some axes", (X,), (
        AXES,
        Attribute("mode", ("nearest", "linear", "cubic", "area"), "of interpolation"),
        Attribute("align_corners", FLAG, "first and last places stay"),
        Attribute("antialias", FLAG, "kernels as wide as the steps", False),
        Attribute("matrices", TABLE, "{axis: (new, old) weights} where the framework's own are known", {}),
    ), linear=True, degree=1, resamples=True, arithmetic=True),
    OpSpec("reduce", "one entry of all along some axes", (X,), (
        Attribute("kind", KINDS, "how"),
        Attribute("axes", INTEGERS, "which (none: all)"),
        Attribute("keepdim", FLAG, "they stay, with size 1", False),
        Attribute("power", NUMBER, "of a norm (None: 2)", None),
        Attribute("correction", NUMBER, "of var and std: divided by n minus this", 1.0),
    ), reduces=True, repeatable=True, arithmetic=True),
    OpSpec("cumulative", "every entry with all before it", (X,), (
        Attribute("kind", ("sum", "prod", "max", "min"), "how"), AXIS,
        Attribute("remaining", FLAG, "all behind it instead, without itself (sum)", False),
    ), runs=True, repeatable=True, arithmetic=True),
    OpSpec("im2col", "windows of an image as columns", (X,), PATCHES, linear=True, degree=1),
    OpSpec("col2im", "columns added up to an image", (X,), PATCHES, linear=True, degree=1),
    OpSpec("write", "entries of the base overwritten", UPDATE, (Attribute("fraction", NUMBER, "of them"),),
           arithmetic=True),
    OpSpec("scatter", "what is made of the rows that go to a place; the base where none does", UPDATE, (
        AXIS, Attribute("kind", ("sum", "mean", "max", "min", "prod"), "how"),
        Attribute("counts", ANYTHING, "rows per place (None: at random)", None),
        Attribute("places", ANYTHING, "to which each row goes (None: nobody knows)", None),
        Attribute("include_self", FLAG, "the base counts too (sum, mean)", False),
    )),
)  # fmt: skip
