"""Contractions with weights, or of signals with each other."""

from __future__ import annotations

from functools import partial

from .attributes import X
from .spec import ANYTHING, FLAG, INTEGER, INTEGERS, NUMBER, NUMBERS, PAIRS, TEXT, Attribute, Operand, OpSpec, Role

W = Operand("w", Role.WEIGHT)
BIAS = Operand("bias", Role.BIAS, optional=True)
EQUATION = Attribute("equation", TEXT, "labels of all axes, as for einsum, the output's included")
CHANCE = Attribute("chance", ANYTHING, "that two places get the same row, per pattern of axes (None: at random)", None)

contraction = partial(OpSpec, linear=True, degree=1)

CONTRACTIONS = (
    contraction("linear", "x w^T + bias along the last axis; w is (out, in)", (X, W, BIAS)),
    contraction("bilinear", "x1 w x2 + bias; w is (out, in1, in2)", (Operand("x1"), Operand("x2"), W, BIAS)),
    contraction("conv", "a convolution, or a transposed one", (X, W, BIAS), (
        Attribute("stride", INTEGERS, "per spatial axis"),
        Attribute("dilation", INTEGERS, "per spatial axis"),
        Attribute("padding", PAIRS, "(low, high) per spatial axis"),
        Attribute("groups", INTEGER, "of channels", 1),
        Attribute("transposed", FLAG, "w then has its own out and in per group", False),
        Attribute("x_axes", INTEGERS, "(batch or None, channel, *spatial) of x and of the output"),
        Attribute("w_axes", INTEGERS, "(out, in, *spatial) of w"),
    )),
    contraction("grouped_linear", "every row of x (rows, in) meets one expert of w (experts, in, out)", (X, W), (
        Attribute("chance", NUMBER, "that two rows have the same expert (None: at random)", None),
    )),
    contraction("embedding", "rows of w (vocabulary, features), or of bags of them",
                (W, Operand("indices", Role.INDEX, optional=True)), (
        Attribute("vocabulary", INTEGER, "how many rows there are"),
        CHANCE,
        Attribute("bag", ("sum", "mean"), "what is made of the rows of a bag (None: no bags)", None),
        Attribute("bag_size", INTEGER, "rows in a bag", None),
    ), source=True),
    contraction("einsum", "a sum of products; any operand may be the weight", (Operand("operands", repeated=True),),
                (EQUATION,), labelled=True, pairs=True),
    contraction("matmul", "a b, with vectors, batches and broadcasting", (Operand("a"), Operand("b")), labelled=True,
                pairs=True),
    contraction("weighted_sum", "(x * w) summed or averaged over axes; the core makes it of a product and a sum",
                (X, W), (EQUATION, Attribute("factor", NUMBER, "1, or 1/n of a mean")), labelled=True),
    OpSpec("attention", "softmax(q k^T) v of (..., tokens, features)",
           (Operand("q"), Operand("k"), Operand("v"), Operand("mask", Role.MASK, optional=True)), (
        Attribute("causal", FLAG, "later tokens are not seen", False),
        Attribute("scale", NUMBER, "of the logits (None: 1/sqrt(features))", None),
        Attribute("dropout", NUMBER, "rate, of the shares", 0.0),
        Attribute("grouped", FLAG, "fewer heads of keys and values", False),
    ), pairs=True),
    OpSpec("recurrent", "recurrent layers: per layer and direction w_ih, w_hh, [b_ih], [b_hh], [w_hr]",
           (X, Operand("states", Role.STATES, optional=True, repeated=True),
            Operand("weights", Role.WEIGHT, repeated=True)), (
        Attribute("kind", ("lstm", "gru", "tanh", "relu"), "of cell"),
        Attribute("layers", INTEGER, "how many"),
        Attribute("bidirectional", FLAG, "both directions"),
        Attribute("batch_first", FLAG, "x is (batch, steps, features)", False),
        Attribute("has_bias", FLAG, "there are b_ih and b_hh"),
        Attribute("projected", FLAG, "there is w_hr", False),
        Attribute("dropout", NUMBER, "between layers", 0.0),
        Attribute("states", INTEGER, "how many"),
        Attribute("activation", TEXT, "name of a function", "tanh"),
        Attribute("gate", TEXT, "name of a function", "sigmoid"),
        Attribute("gate_order", INTEGERS, "where each gate is in the weights (None: as in torch)", None),
        Attribute("reset_after", FLAG, "of a gru: the reset gate acts on what w_hh made", True),
        Attribute("recurrent_dropout", NUMBER, "of the states", 0.0),
        Attribute("forget_bias", NUMBER, "of an lstm", 1.0),
        Attribute("per_gate", FLAG, "every gate has its own w_ih, w_hh, b_ih and b_hh (biases may be None)", False),
        Attribute("z_writes", FLAG, "of a gru: z is the share of what is new, not of what is kept", False),
        Attribute("shared_gate", FLAG, "of a gru: the reset gate is the update gate", False),
        Attribute("added", NUMBERS, "what each gate gets beside its biases (None: nothing)", None),
    ), source=True),
)  # fmt: skip
