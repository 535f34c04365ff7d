"""Functions of entries, shares, statistics, chance; and what only front ends and users know."""

from __future__ import annotations

from functools import partial

from .attributes import AXES, AXIS, OPERANDS, X
from .spec import ANYTHING, FLAG, INTEGER, INTEGERS, NUMBER, NUMBERS, TABLE, TEXT, Attribute, Operand, OpSpec, Role

function = partial(OpSpec, arithmetic=True)
STATISTICS = partial(Operand, role=Role.STATISTICS, optional=True)

FUNCTIONS = (
    function("elementwise", "a function of operands that are broadcast", (OPERANDS,), (
        Attribute("fn", TEXT, "a name in core.gaussian.activations.FUNCTIONS"),
        Attribute("params", NUMBERS, "of the function", ()),
        Attribute("scalars", TABLE, "{slot: number} for operands that are plain numbers", {}),
    ), pointwise=True, repeatable=True, lazy=True),
    function("affine", "scale x + shift, with constants that broadcast to x",
             (X, Operand("scale", Role.GAIN), Operand("shift", Role.SHIFT)), linear=True, pointwise=True),
    OpSpec("complex", "complex numbers of real ones", (X, Operand("y", optional=True)), (
        Attribute("kind", ("join", "pair", "turn"), "x + iy; a last axis of two becomes one number; times a number"),
        Attribute("factor", NUMBERS, "that number: its real and imaginary part", None),
    ), linear=True, degree=1),
    OpSpec("complex_part", "real numbers of complex ones", (Operand("z"),), (
        Attribute("kind", ("real", "imaginary", "both", "modulus", "angle"), "which; both adds a last axis of two"),
    )),
    OpSpec("fourier", "a Fourier transform", (X,), (
        AXES, Attribute("sizes", INTEGERS, "places per axis"), Attribute("made", INTEGERS, "coefficients per axis"),
        Attribute("scale", NUMBER, "of the coefficients"),
    ), linear=True, degree=1),
    function("softmax", "exp(x) divided by its sum along an axis", (X,), (
        AXIS, Attribute("log", FLAG, "the logarithm of it", False),
    ), shares=True, repeatable=True),
    function("normalize", "x with mean 0 and variance 1 over axes, then scaled and shifted", (
        X, Operand("scale", Role.GAIN, optional=True, left="norm scale: left as it is"),
        Operand("shift", Role.SHIFT, optional=True, left="norm shift: left as it is"),
        STATISTICS("running_mean"), STATISTICS("running_var", unknown=1.0),
    ), (
        Attribute("axes", INTEGERS, "averaged over"),
        Attribute("centre", FLAG, "the mean is taken off", True),
        Attribute("channel_axes", INTEGERS, "axes of scale and shift in x", ()),
        Attribute("eps", NUMBER, "added to the variance", 0.0),
        Attribute("use_running", FLAG, "statistics are given", False),
        Attribute("groups", INTEGER, "that the channel axis is split into (None: one); `axes` are the others", None),
        Attribute("l2", FLAG, "divided by the norm, not by the root mean square", False),
    ), degree=0, parameters_only=True),
    function("weight_norm", "g v / |v|", (Operand("v"), Operand("g", Role.GAIN)), (
        Attribute("axis", INTEGER, "that g keeps (None: none)", None),
    ), degree=0),
    function("dropout", "entries are zeroed by chance", (X,), (
        Attribute("rate", NUMBER, "of zeros"),
        Attribute("shared", INTEGERS, "axes along which all have the same fate", ()),
        Attribute("kind", ("inverted", "alpha", "raw"), "what is done to the others", "inverted"),
    ), linear=True, degree=1, moves=True, random=True),
    OpSpec("noise", "fresh independent values", (), (
        Attribute("mean", NUMBER, "of them"), Attribute("variance", NUMBER, "of them"),
    ), source=True, random=True),
    OpSpec("chosen", "what ops that choose (top-k and what follows) made of small sources, run on samples",
           (Operand("sources", repeated=True),), (Attribute("program", ANYTHING, "equal for the same ops", None),),
           source=True),
    function("custom", "a layer or function with a rule of the user's own, or of the front end's", (OPERANDS,), (
        Attribute("rule", ANYTHING, "rule(owner, *signals)"),
        Attribute("owner", ANYTHING, "the layer or function"),
        Attribute("users_own", FLAG, "errors of the rule are the user's"),
        Attribute("scale_free", FLAG, "the scale of its parameters has no effect"),
    ), parameters_only=True),
    function("opaque", "anything else: the real op on samples, or passed through, and reported", (OPERANDS,), (
        Attribute("complex", INTEGERS, "slots of complex operands", ()),
    ), parameters_only=True, opaque=True),
)  # fmt: skip
