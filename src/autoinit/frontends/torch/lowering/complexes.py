"""Complex tensors: what the ordinary lowerings mean for them, and the ops that only they have.

A complex tensor is a signal with E|z|². Linear ops, contractions and moves lower as for real tensors. Functions of
complex numbers have no rule: the real op is run on samples.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import torch

from .table import TABLE, aten, key_of

if TYPE_CHECKING:
    from ..call import Call

PLAIN = {
    # contractions
    "linear", "matmul", "mm", "bmm", "mv", "dot", "vdot", "inner_product", "addmm", "addmv", "baddbmm", "addbmm",
    "bilinear", "outer", "ger", "einsum", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "convolution", "_convolution", "embedding",
    # sums
    "add", "sub", "rsub", "neg", "negative", "sum", "mean", "cumsum", "lerp", "index_add", "scatter_add",
    # noise and dropout
    "dropout", "native_dropout", "feature_dropout",
}  # fmt: skip
"""Ops whose rules hold for complex tensors as they are; moves (lowering/shape.py) are the others."""
PARTS = {"real": "real", "imag": "imaginary", "abs": "modulus", "absolute": "modulus", "angle": "angle"}
SCALES = (lambda n: 1.0, lambda n: n**-0.5, lambda n: 1.0 / n)
"""By the number that ATen has for a normalisation: none, by the root of the size, by the size."""


def lower_complex(call: Call) -> bool:
    """Lower a call that has to do with complex numbers; False where the ordinary lowering is right."""
    tensors = call.tensors
    if not any(t.is_complex() for t in (*tensors, *call.outputs)):
        return False
    name = key_of(call.name)
    out = call.outputs[0] if call.outputs else None
    if name in PARTS and out is not None and not out.is_complex() and tensors[0].is_complex():
        call.emit("complex_part", [tensors[0]], kind=PARTS[name])
    elif name in ("mul", "multiply", "div", "divide", "true_divide"):
        _product(call, name)
    elif name in ("add", "sub", "rsub") and any(isinstance(a, complex) for a in call.args):
        call.unknown()
    elif out is not None and not out.is_complex() and tensors[0].is_complex() and _moves(name):
        if out.is_floating_point() and name in ("to", "_to_copy", "type_as"):
            call.emit("complex_part", [tensors[0]], kind="real")
        else:
            return False
    elif name in PLAIN or name in OWN or _moves(name):
        return False
    else:
        call.unknown()
    return True


def _moves(name: str) -> bool:
    found = TABLE.get(name)
    return found is not None and found.__module__.endswith((".shape", ".scatter", ".experts"))


def _product(call: Call, name: str) -> None:
    """E|z w|² = E|z|² E|w|² of what is unrelated. A divisor must be a number."""
    a, b = call.args[0], call.args[1]
    dividing = name not in ("mul", "multiply")
    numbers = [x for x in (a, b) if not isinstance(x, torch.Tensor)]
    if call.get("rounding_mode") is not None or (dividing and isinstance(b, torch.Tensor)):
        call.unknown()
    elif numbers:
        tensor, number = (a, b) if isinstance(a, torch.Tensor) else (b, a)
        factor = 1.0 / complex(number) if dividing and number else complex(number)
        if factor.imag:
            call.emit("complex", [tensor], kind="turn", factor=(factor.real, factor.imag))
        else:
            call.emit("elementwise", [tensor, factor.real], fn="mul")
    elif _related(call, a, b):
        call.unknown()
    else:
        call.emit("elementwise", [a, b], fn="mul")


def _related(call: Call, a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether both are made of the same drawn tensors."""
    leaves = [call.tracer.origins.of(t).leaves for t in (a, b)]
    return None in leaves or bool(leaves[0] & leaves[1])  # type: ignore[operator]


@aten("complex")
def joined(call: Call) -> None:
    call.emit("complex", [call["real"], call["imag"]], kind="join")


@aten("view_as_complex")
def paired(call: Call) -> None:
    call.emit("complex", [call.args[0]], kind="pair")


@aten("view_as_real", "_view_as_real")
def taken_apart(call: Call) -> None:
    call.emit("complex_part", [call.args[0]], kind="both")


@aten("imag", "angle", "_neg_view")
def part(call: Call) -> None:
    """`lower_complex` has these; of a real tensor an angle is 0 or pi."""
    if key_of(call.name) == "_neg_view":
        call.emit("elementwise", [call.args[0]], fn="neg")
    else:
        call.unknown()


@aten("_fft_r2c", "_fft_c2c", "_fft_c2r")
def fourier(call: Call) -> None:
    x, out = call.args[0], call.outputs[0]
    axes = [int(a) % x.dim() for a in call["dim"]]
    sizes = [out.shape[a] if call.name.endswith("c2r") else x.shape[a] for a in axes]
    scale = SCALES[int(call["normalization"])](prod(sizes))
    call.emit("fourier", [x], axes=tuple(axes), sizes=tuple(sizes), made=tuple(out.shape[a] for a in axes), scale=scale)


OWN: set[str] = {
    "complex", "view_as_complex", "view_as_real", "_view_as_real", "_neg_view", "_fft_r2c", "_fft_c2c", "_fft_c2r",
}  # fmt: skip
"""Ops of this file that need no look at their operands."""
