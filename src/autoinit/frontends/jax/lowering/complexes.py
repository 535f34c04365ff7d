"""Complex arrays: what the ordinary lowerings mean for them, and the primitives that only they have.

A complex array is a signal with E|z|². Linear primitives, contractions and moves lower as for real ones. Functions of
complex numbers have no rule: the real primitive is run on samples.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from ..structure.matching import CUTS, MOVES
from ..tape import Atom, Of, array_of, number_of
from .table import lax

if TYPE_CHECKING:
    from ..call import Call

PLAIN = MOVES | CUTS | {
    "dot_general", "conv_general_dilated", "add", "add_any", "sub", "neg", "reduce_sum", "cumsum", "gather",
    "scatter-add", "concatenate", "rev", "pad", "copy", "select_n", "complex", "real", "imag", "conj", "fft",
}  # fmt: skip
"""Primitives whose lowerings hold for complex arrays as they are."""
INVERSE = ("IFFT", "IRFFT")


def lower_complex(call: Call) -> bool:
    """Lower a call that has to do with complex numbers; False where the ordinary lowering is right."""
    name = call.step.name
    if not any(is_complex(x) for x in (*call.args, *call.outputs)):
        return False
    if name == "abs":
        call.emit("complex_part", [call.args[0]], kind="modulus")
    elif name == "convert_element_type" and not is_complex(call.out):
        call.emit("complex_part", [call.args[0]], kind="real")
    elif name in ("mul", "div"):
        return _product(call)
    elif name in PLAIN:
        return False
    else:
        call.unknown()
    return True


def is_complex(atom: Atom) -> bool:
    return getattr(atom.dtype, "kind", "") == "c"


def _product(call: Call) -> bool:
    """E|z w|² = E|z|² E|w|² of what is unrelated; a divisor must be a number."""
    one, other = call.args
    for x, factor in ((one, other), (other, one)):
        number = _number(factor)
        if number is not None and not (call.step.name == "div" and factor is one):
            number = 1.0 / number if call.step.name == "div" and number else number
            call.emit("complex", [x], kind="turn", factor=(number.real, number.imag))
            return True
    unrelated = not (one.of & Of.SIGNAL and other.of & Of.SIGNAL)
    if unrelated and (call.step.name == "mul" or number_of(other) is not None):
        return False
    call.unknown()
    return True


def _number(atom: Atom) -> complex | None:
    """The number, with an imaginary part, that a constant is everywhere."""
    array = array_of(atom) if atom.of is Of.CONSTANTS and is_complex(atom) else None
    if array is None or not array.size or not bool((array == array.flat[0]).all()):
        return None
    number = complex(array.flat[0])
    return number if number.imag else None


@lax("complex")
def joined(call: Call) -> None:
    call.emit("complex", list(call.args), kind="join")


@lax("real", "imag")
def part(call: Call) -> None:
    call.emit("complex_part", [call.args[0]], kind="real" if call.step.name == "real" else "imaginary")


@lax("conj")
def conjugate(call: Call) -> None:
    """E[z conj(z')] is as it was; what becomes of z + conj(z) is not to be seen from there, as of a number times z."""
    call.emit("complex", [call.args[0]], kind="turn", factor=(1.0, 0.0))


@lax("fft")
def fourier(call: Call) -> None:
    (x,), out, kind = call.args, call.out, str(call["fft_type"]).rpartition(".")[2]
    axes = tuple(range(len(x.shape) - len(call["fft_lengths"]), len(x.shape)))
    sizes = tuple((out if kind == "IRFFT" else x).shape[a] for a in axes)
    scale = 1.0 / prod(sizes) if kind in INVERSE else 1.0
    call.emit("fourier", [x], axes=axes, sizes=sizes, made=tuple(out.shape[a] for a in axes), scale=scale)
