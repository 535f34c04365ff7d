"""Pooling, reductions and cumulative ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...axes import axes_of, per_axis
from .table import aten

if TYPE_CHECKING:
    from ..call import Call


def _spatial(call: Call) -> int:
    return int(next(c for c in call.name if c.isdigit()))


@aten("max_pool1d", "max_pool2d", "max_pool3d", "max_pool1d_with_indices", "max_pool2d_with_indices",
      "max_pool3d_with_indices")  # fmt: skip
def max_pool(call: Call) -> None:
    x, n = call.args[0], _spatial(call)
    window = per_axis(call["kernel_size"], n)
    stride = per_axis(call["stride"] or window, n)
    call.emit("max_pool", [x], [call.outputs[0]], axes=tuple(range(x.dim() - n, x.dim())), window=window, stride=stride,
              padding=tuple((p, p) for p in per_axis(call["padding"], n)),
              dilation=per_axis(call["dilation"], n))  # fmt: skip
    call.companions()


@aten("avg_pool1d", "avg_pool2d", "avg_pool3d")
def avg_pool(call: Call) -> None:
    x, n = call.args[0], _spatial(call)
    window = per_axis(call["kernel_size"], n)
    stride = per_axis(call["stride"] or window, n)
    call.emit("average_pool", [x], axes=tuple(range(x.dim() - n, x.dim())), window=window, stride=stride,
              padding=tuple((p, p) for p in per_axis(call["padding"], n)),
              include_pad=bool(call["count_include_pad"]))  # fmt: skip
    if call.get("divisor_override"):
        # the window's sum over another divisor
        size = 1
        for w in window:
            size *= w
        call.emit("elementwise", [call.outputs[0], size / call["divisor_override"]], fn="mul", params=())


@aten("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "_adaptive_avg_pool2d",
      "_adaptive_avg_pool3d")  # fmt: skip
def adaptive_avg_pool(call: Call) -> None:
    x, n = call.args[0], _spatial(call)
    _adaptive(call, x, n, "average_pool", include_pad=True)


@aten("adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d")
def adaptive_max_pool(call: Call) -> None:
    x, n = call.args[0], _spatial(call)
    _adaptive(call, x, n, "max_pool", dilation=(1,) * n)
    call.companions()


def _adaptive(call: Call, x: Any, n: int, op: str, **attrs: Any) -> None:
    axes = tuple(range(x.dim() - n, x.dim()))
    sizes = tuple(x.shape[a] for a in axes)
    wanted = tuple(call.outputs[0].shape[a] for a in axes)
    if wanted == (1,) * n:
        kind = "mean" if op == "average_pool" else "max"
        call.emit("reduce", [x], [call.outputs[0]], kind=kind, axes=axes, keepdim=True)
        return
    if any(w > s for s, w in zip(sizes, wanted, strict=True)):  # upsampling: entries are repeated
        call.emit("interpolate", [x], [call.outputs[0]], axes=axes, mode="nearest", align_corners=False)
        return
    window = tuple(max(-(-s // w), 1) for s, w in zip(sizes, wanted, strict=True))
    stride = tuple(max(s // w, 1) for s, w in zip(sizes, wanted, strict=True))
    call.emit(op, [x], [call.outputs[0]], axes=axes, window=window, stride=stride, padding=((0, 0),) * n, **attrs)


def _reduce(call: Call, kind: str, dims: Any, **attrs: Any) -> None:
    x = call.args[0]
    axes = axes_of(dims, x.dim())
    call.emit("reduce", [x], [call.outputs[0]], kind=kind, axes=axes, keepdim=bool(call.get("keepdim", False)), **attrs)
    call.companions()


@aten("mean", "sum", "nansum", "nanmean", "logsumexp", "special_logsumexp", "amax", "amin", "prod", "any", "all")
def reduce(call: Call) -> None:
    short = call.name.split(".")[1].removeprefix("special_").removeprefix("nan")
    _reduce(call, {"amax": "max", "amin": "min"}.get(short, short), call.get("dim"))


@aten("max", "min")
def extreme(call: Call) -> None:
    kind = call.name.split(".")[1]
    if "other" in call.values and call.values["other"] is not None:
        call.emit("elementwise", [call.args[0], call["other"]], fn=f"{kind}imum", params=())
        return
    _reduce(call, kind, call.get("dim"))


@aten("var", "std")
def spread(call: Call) -> None:
    correction = call.get("correction", 1)
    if call.values.get("unbiased") is not None:
        correction = 1 if call["unbiased"] else 0
    _reduce(call, call.name.split(".")[1], call.get("dim"), correction=float(correction))


@aten("var_mean", "std_mean")
def spread_mean(call: Call) -> None:
    x = call.args[0]
    correction = call.get("correction", 1)
    if call.values.get("unbiased") is not None:
        correction = 1 if call["unbiased"] else 0
    attrs = {"axes": axes_of(call.get("dim"), x.dim()), "keepdim": bool(call.get("keepdim", False))}
    kind = "var" if "var" in call.name else "std"
    call.emit("reduce", [x], [call.outputs[0]], kind=kind, correction=float(correction), **attrs)
    call.emit("reduce", [x], [call.outputs[1]], kind="mean", **attrs)


@aten("linalg_vector_norm", "norm", "frobenius_norm")
def norm(call: Call) -> None:
    order = call.get("ord", call.get("p", 2))
    order = 2.0 if order in (None, "fro") else float(order)
    if order == float("inf"):
        x = call.args[0]
        (size,) = call.emit("elementwise", [x], [x.shape], fn="abs", params=())
        call.emit("reduce", [size], kind="max", axes=axes_of(call.get("dim"), x.dim()),
                  keepdim=bool(call.get("keepdim", False)))  # fmt: skip
        return
    _reduce(call, "norm", call.get("dim"), power=order)


@aten("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp")
def cumulative(call: Call) -> None:
    x = call.args[0]
    kind = call.name.split(".")[1].removeprefix("cum")
    if kind not in ("sum", "prod", "max", "min"):
        call.unknown()
        return
    call.emit("cumulative", [x], [call.outputs[0]], kind=kind, axis=axes_of(call["dim"], x.dim())[0])
    call.companions()
