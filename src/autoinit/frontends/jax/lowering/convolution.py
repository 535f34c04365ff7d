"""Convolutions: plain, strided, dilated, grouped, transposed (a dilated input), of any layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .table import lax

if TYPE_CHECKING:
    from ..call import Call


@lax("conv_general_dilated")
def conv(call: Call) -> None:
    """A transposed convolution of stride s is one of an input with s - 1 zeros between its places.

    Kernels are turned into (out, in, *spatial) views, so that rules see one layout. In the neutral vocabulary the
    padding of a transposed one is what is cut off the full output: d (k - 1) less what is added here.
    """
    x, w = call.args
    numbers, stride = call["dimension_numbers"], tuple(call["window_strides"])
    between = tuple(call["lhs_dilation"] or (1,) * len(stride))
    transposed = any(n != 1 for n in between)
    moves = numbers.lhs_spec != numbers.out_spec
    if call["batch_group_count"] != 1 or (transposed and any(n != 1 for n in stride)):
        call.unknown()
        return
    dilation = tuple(call["rhs_dilation"] or (1,) * len(stride))
    padding = tuple((int(low), int(high)) for low, high in call["padding"])
    if transposed:
        reach = [d * (w.shape[a] - 1) for d, a in zip(dilation, numbers.rhs_spec[2:], strict=True)]
        padding = tuple((r - low, r - high) for r, (low, high) in zip(reach, padding, strict=True))
    attrs = {
        "stride": between if transposed else stride, "dilation": dilation, "padding": padding,
        "groups": int(call["feature_group_count"]), "transposed": transposed, "w_axes": tuple(range(len(w.shape))),
    }  # fmt: skip
    kernel = call.permuted(w, tuple(numbers.rhs_spec))
    if not moves:
        made = call.layer("conv", [x, kernel, None], call.out.shape, x_axes=tuple(numbers.lhs_spec), **attrs)
        call.tracer.set(call.out, made)
        return
    perm = tuple(numbers.lhs_spec[numbers.out_spec.index(a)] for a in range(len(x.shape)))
    turned = call.permuted(x, perm)
    made = call.layer("conv", [turned, kernel, None], call.out.shape, x_axes=tuple(numbers.out_spec), **attrs)
    call.tracer.set(call.out, made)
