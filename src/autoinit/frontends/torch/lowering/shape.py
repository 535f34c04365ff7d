"""Structure: views, slices, concatenation, padding, indexing, resampling, writes."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

from ....core.graph.graph import Constant, ParameterView
from ...axes import axes_of, axis_of
from ..known import constant_of, sample_of
from .chance import equal_chance
from .table import aten

if TYPE_CHECKING:
    from ..call import Call


@aten("view", "reshape", "_unsafe_view", "flatten", "unflatten", "squeeze", "unsqueeze", "ravel", "view_as",
      "reshape_as", "_reshape_alias", "atleast_1d", "atleast_2d", "atleast_3d")  # fmt: skip
def reshape(call: Call) -> None:
    x, out = call.args[0], call.outputs[0]
    if x.numel() != out.numel():  # a view as another dtype
        call.unknown()
    elif _shape(call, x) == tuple(out.shape):  # x itself may have been reshaped in place
        call.emit("identity", [x])
    else:
        call.emit("reshape", [x])


@aten(
    "permute", "transpose", "t", "numpy_T", "mT", "matrix_H", "adjoint", "movedim", "moveaxis", "swapaxes", "swapdims"
)
def permute(call: Call) -> None:
    x = call.args[0]
    name = call.name.split(".")[1].rstrip("_")
    order = list(range(x.dim()))
    if name == "permute":
        order = list(axes_of(call["dims"], x.dim()))
    elif name in ("transpose", "swapaxes", "swapdims"):
        a, b = (axis_of(d, x.dim()) for d in call.args[1:3])
        order[a], order[b] = order[b], order[a]
    elif name in ("movedim", "moveaxis"):
        source, target = axes_of(call.args[1], x.dim()), axes_of(call.args[2], x.dim())
        rest = [a for a in order if a not in source]
        for to, a in sorted(zip(target, source, strict=True)):
            rest.insert(to, a)
        order = rest
    elif name in ("t", "numpy_T"):
        order.reverse()
    else:
        order[-2:] = [order[-1], order[-2]]
    call.emit("permute", [x], perm=tuple(order))


def _shape(call: Call, x: torch.Tensor) -> tuple[int, ...] | None:
    reference = call.tracer.reference(x)
    return None if reference is None else tuple(reference.shape)


@aten("expand", "expand_as", "broadcast_to", "broadcast_tensors")
def expand(call: Call) -> None:
    items = call.args[0] if isinstance(call.args[0], (list, tuple)) else [call.args[0]]
    for x, out in zip(items, call.outputs, strict=True):
        table = sample_of(call.tracer, x)
        if table is None or not isinstance(out, FakeTensor):
            call.emit("expand", [x], [out])
        else:  # a known table that takes only its shape from data
            call.tracer.origins.given(out, partial(table.expand, out.shape), known=True)
            constant_of(call.tracer, out)


@aten("repeat", "tile")
def repeat(call: Call) -> None:
    call.emit("repeat", [call.args[0]], repeats=tuple(call.args[1]))


@aten("repeat_interleave")
def repeat_interleave(call: Call) -> None:
    x, axis = call.args[0], call.get("dim")
    if axis is None or not isinstance(call.args[1], int):
        call.unknown()
        return
    call.emit("repeat", [x], repeats=tuple(b // a for a, b in zip(x.shape, call.outputs[0].shape, strict=True)))


@aten("slice", "narrow")
def slice_(call: Call) -> None:
    x = call.args[0]
    axis = axis_of(call.get("dim", 0), x.dim())
    n, out = x.shape[axis], call.outputs[0].shape[axis]
    step = int(call.get("step", 1))
    start = int(call.get("start", 0))
    start = max(start + n, 0) if start < 0 else min(start, n)
    call.emit("slice", [x], axis=axis, start=start, stop=start + (out - 1) * step + 1 if out else start, step=step)


@aten("select")
def select(call: Call) -> None:
    x = call.args[0]
    axis = axis_of(call["dim"], x.dim())
    call.emit("select", [x], axis=axis, index=int(call["index"]) % x.shape[axis])


@aten("split", "split_with_sizes", "chunk", "tensor_split", "unsafe_split", "unsafe_chunk", "hsplit", "vsplit",
      "unsafe_split_with_sizes")  # fmt: skip
def split(call: Call) -> None:
    x = call.args[0]
    name = call.name.split(".")[1]
    axis = {"hsplit": 1, "vsplit": 0}.get(name, axis_of(call.get("dim", 0), x.dim()))
    call.emit("split", [x], axis=axis, sizes=tuple(t.shape[axis] for t in call.outputs))


@aten("unbind")
def unbind(call: Call) -> None:
    x = call.args[0]
    call.emit("unbind", [x], axis=axis_of(call.get("dim", 0), x.dim()))


@aten("cat", "concat", "concatenate")
def cat(call: Call) -> None:
    parts = [t for t in call.args[0] if not (t.dim() == 1 and t.numel() == 0)]
    axis = axis_of(call.get("dim", 0), call.outputs[0].dim())
    call.emit("concat", parts, axis=axis)


@aten("stack")
def stack(call: Call) -> None:
    call.emit("stack", list(call.args[0]), axis=axis_of(call.get("dim", 0), call.outputs[0].dim()))


def _pads(flat: Any, ndim: int) -> tuple[tuple[int, int], ...]:
    """torch's flat list (last axis first) as pairs per axis."""
    pairs = [(int(flat[2 * k]), int(flat[2 * k + 1])) for k in range(len(flat) // 2)]
    return tuple([(0, 0)] * (ndim - len(pairs)) + pairs[::-1])


@aten("pad", "constant_pad_nd")
def pad(call: Call) -> None:
    x = call.args[0]
    mode = call.get("mode", "constant")
    call.emit("pad", [x], pads=_pads(call["pad"], x.dim()), mode=mode, value=float(call.get("value", 0.0)))


@aten("reflection_pad1d", "reflection_pad2d", "reflection_pad3d", "replication_pad1d", "replication_pad2d",
      "replication_pad3d")  # fmt: skip
def pad_by_copy(call: Call) -> None:
    x = call.args[0]
    call.emit("pad", [x], pads=_pads(call["padding"], x.dim()),
              mode="reflect" if "reflection" in call.name else "replicate", value=0.0)  # fmt: skip


@aten("flip", "fliplr", "flipud")
def flip(call: Call) -> None:
    x = call.args[0]
    axes = {"fliplr": (1,), "flipud": (0,)}.get(call.name) or call["dims"]
    call.emit("shuffle", [x], moves=tuple(("flip", axis_of(a, x.dim()), 0) for a in axes))


@aten("roll")
def roll(call: Call) -> None:
    x, shifts, axes = call.args[0], call["shifts"], call.get("dims") or ()
    if not axes:  # all entries in a row
        (flat,) = call.emit("reshape", [x], [(x.numel(),)])
        (moved,) = call.emit("shuffle", [flat], [(x.numel(),)], moves=(("roll", 0, int(shifts[0])),))
        call.emit("reshape", [moved])
        return
    moves = tuple(("roll", axis_of(a, x.dim()), int(s)) for a, s in zip(axes, shifts, strict=True))
    call.emit("shuffle", [x], moves=moves)


@aten("sort", "msort")
def sort(call: Call) -> None:
    call.emit("shuffle", [call.args[0]], [call.outputs[0]])
    call.companions()


@aten("clone", "contiguous", "to", "_to_copy", "detach", "alias", "lift", "lift_fresh", "lift_fresh_copy", "type_as",
      "copy", "conj", "_conj", "conj_physical", "_conj_physical", "resolve_conj", "resolve_neg", "view_copy",
      "requires_grad", "dequantize", "real",
      )  # fmt: skip
def identity(call: Call) -> None:
    x = call.args[0]
    if call.name in ("aten.copy_", "aten.copy"):
        source, out = call.args[1], call.outputs[0]
        call.emit("identity" if tuple(source.shape) == tuple(out.shape) else "expand", [source])
        return
    reference = call.tracer.reference(x)
    if isinstance(reference, ParameterView) and len(call.outputs) == 1:  # in another dtype, or a copy: still that one
        call.alias(reference)
        return
    call.emit("identity", [x])


@aten("fill", "zero", "zeros_like", "ones_like", "full_like", "new_zeros", "new_ones", "new_full", "empty_like",
      "new_empty", "new_empty_strided", "empty_strided")  # fmt: skip
def filled(call: Call) -> None:
    name = call.name.split(".")[1].rstrip("_")
    value: Any = 1.0 if "ones" in name else 0.0
    if "full" in name:
        value = call.get("fill_value", 0.0)
    if name == "fill":
        value = call.args[1]
    out = call.outputs[0]
    if isinstance(value, torch.Tensor):
        call.emit("expand", [value])
        return
    shape = tuple(out.shape)
    tensor = torch.full((1,) * len(shape), float(value), dtype=torch.float64)
    call.tracer.set(out, Constant(shape, tensor.numpy))


@aten("index_select")
def index_select(call: Call) -> None:
    x, index = call.args[0], call["index"]
    call.emit(
        "gather", [x, index], axis=axis_of(call["dim"], x.dim()), chance=equal_chance(sample_of(call.tracer, index))
    )


@aten("index")
def index(call: Call) -> None:
    x, indices = call.args[0], list(call["indices"])
    used = [k for k, i in enumerate(indices) if i is not None]
    out = call.outputs[0]
    if len(used) == 1 and indices[used[0]].dtype is not torch.bool:
        i = indices[used[0]]
        call.emit("gather", [x, i], axis=used[0], chance=equal_chance(sample_of(call.tracer, i)))
        return
    if used == list(range(used[0], used[0] + len(used))) and all(indices[k].dtype is not torch.bool for k in used):
        merged = prod(x.shape[k] for k in used)
        shape = (*x.shape[: used[0]], merged, *x.shape[used[0] + len(used) :])
        (flat,) = call.emit("reshape", [x], [shape])
        call.emit("gather", [flat, None], axis=used[0], chance=_joint_chance(call, x, indices, used))
        return
    if len(used) == 1:  # a boolean mask
        mask = indices[used[0]]
        shape = (*x.shape[: used[0]], mask.numel(), *x.shape[used[0] + mask.dim() :])
        (flat,) = call.emit("reshape", [x], [shape])
        call.emit("slice", [flat], axis=used[0], start=0, stop=out.shape[used[0]], step=1)
        return
    call.unknown()


@aten("masked_select")
def masked_select(call: Call) -> None:
    """The entries where a mask is true, in a row: so many of the law of all."""
    x, mask, out = call.args[0], call.args[1], call.outputs[0]
    shape = torch.broadcast_shapes(x.shape, mask.shape)
    (whole,) = call.emit("expand", [x], [tuple(shape)])
    (flat,) = call.emit("reshape", [whole], [(prod(shape),)])
    call.emit("slice", [flat], axis=0, start=0, stop=out.shape[0], step=1)


def _joint_chance(call: Call, x: torch.Tensor, indices: list[Any], used: list[int]) -> Any:
    parts = [sample_of(call.tracer, indices[k]) for k in used]
    if any(p is None for p in parts):
        return None
    total = torch.zeros((), dtype=torch.int64)
    for k, p in zip(used, parts, strict=True):
        total = total * x.shape[k] + p.to(torch.int64)
    return equal_chance(total)


@aten("gather", "take_along_dim")
def gather(call: Call) -> None:
    """Entries picked along one axis by an index tensor of the same rank: the law of an entry does not change."""
    x, out = call.args[0], call.outputs[0]
    same_rank = x.dim() == out.dim()
    differing = [a for a in range(x.dim()) if same_rank and x.shape[a] != out.shape[a]]
    if not same_rank:
        call.unknown()
        return
    current: Any = x
    shape = list(x.shape)
    for a in differing:
        shape[a] = out.shape[a]
        (current,) = call.emit("gather", [current, None], [tuple(shape)], axis=a)
    call.emit("identity", [current])


@aten("index_copy", "index_fill", "masked_scatter", "slice_scatter", "select_scatter")
def write(call: Call) -> None:
    base = call.args[0]
    if _by_mask(call):
        return
    update: Any = next((call.values[k] for k in ("src", "values", "source", "value") if k in call.values), None)
    if not isinstance(update, torch.Tensor):
        update = torch.full((), float(update or 0.0))
    share = min(update.numel() / max(base.numel(), 1), 1.0)
    if update.dim() != base.dim() and update.numel() == 1:
        share = min(_index_share(call, base), 1.0)
    call.emit("write", [base, update], [call.outputs[0]], fraction=share)


def _by_mask(call: Call) -> bool:
    """x[mask] = number, with a mask of the shape of x: a choice entry by entry."""
    indices, values = call.values.get("indices"), call.values.get("values")
    if not isinstance(indices, (list, tuple)) or len(indices) != 1 or not isinstance(values, torch.Tensor):
        return False
    mask, base = indices[0], call.args[0]
    if mask is None or mask.dtype is not torch.bool or mask.shape != base.shape or values.numel() != 1:
        return False
    call.emit("elementwise", [mask, values, base], fn="where", params=())
    return True


def _index_share(call: Call, base: torch.Tensor) -> float:
    index = call.values.get("index", call.values.get("indices"))
    parts = [i for i in (index if isinstance(index, (list, tuple)) else [index]) if isinstance(i, torch.Tensor)]
    return max((i.numel() for i in parts), default=0) / max(base.numel(), 1)


@aten("diagonal", "linalg_diagonal")
def diagonal(call: Call) -> None:
    x = call.args[0]
    a, b = axis_of(call.get("dim1", 0), x.dim()), axis_of(call.get("dim2", 1), x.dim())
    call.emit("diagonal", [x], axis1=a, axis2=b)


@aten("tril", "triu")
def triangle(call: Call) -> None:
    call.emit("triangle", [call.args[0]], lower="tril" in call.name, diagonal=int(call.get("diagonal", 0)))


@aten("unfold")
def unfold(call: Call) -> None:
    x = call.args[0]
    call.emit("unfold", [x], axis=axis_of(call["dimension"], x.dim()), size=call["size"], step=call["step"])


@aten("pixel_shuffle")
def pixel_shuffle(call: Call) -> None:
    x, r = call.args[0], int(call["upscale_factor"])
    *lead, c, h, w = x.shape
    k = len(lead)
    (a,) = call.emit("reshape", [x], [(*lead, c // (r * r), r, r, h, w)])
    perm = (*range(k), k, k + 3, k + 1, k + 4, k + 2)
    (b,) = call.emit("permute", [a], [(*lead, c // (r * r), h, r, w, r)], perm=perm)
    call.emit("reshape", [b])


@aten("pixel_unshuffle")
def pixel_unshuffle(call: Call) -> None:
    x, r = call.args[0], int(call["downscale_factor"])
    *lead, c, h, w = x.shape
    k = len(lead)
    (a,) = call.emit("reshape", [x], [(*lead, c, h // r, r, w // r, r)])
    perm = (*range(k), k, k + 2, k + 4, k + 1, k + 3)
    (b,) = call.emit("permute", [a], [(*lead, c, r, r, h // r, w // r)], perm=perm)
    call.emit("reshape", [b])


@aten("channel_shuffle", "native_channel_shuffle")
def channel_shuffle(call: Call) -> None:
    x, groups = call.args[0], int(call["groups"])
    n, c, *places = x.shape
    (apart,) = call.emit("reshape", [x], [(n, groups, c // groups, *places)])
    perm = (0, 2, 1, *range(3, x.dim() + 1))
    (turned,) = call.emit("permute", [apart], [(n, c // groups, groups, *places)], perm=perm)
    call.emit("reshape", [turned])


_KINDS = {"nearest": "nearest", "linear": "linear", "bilinear": "linear", "trilinear": "linear", "bicubic": "cubic"}


@aten("upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "_upsample_nearest_exact1d",
      "_upsample_nearest_exact2d", "_upsample_nearest_exact3d", "upsample_linear1d", "upsample_bilinear2d",
      "upsample_trilinear3d", "upsample_bicubic2d", "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa")  # fmt: skip
def interpolate(call: Call) -> None:
    x = call.args[0]
    word = call.name.split("upsample_")[1]
    mode = next(kind for name, kind in sorted(_KINDS.items(), key=lambda i: -len(i[0])) if name in word)
    call.emit("interpolate", [x], axes=tuple(range(2, x.dim())), mode=mode,
              align_corners=bool(call.get("align_corners", False)), antialias=word.endswith("_aa"))  # fmt: skip


@aten("im2col")
def im2col(call: Call) -> None:
    call.emit("im2col", [call.args[0]], window=tuple(call["kernel_size"]), stride=tuple(call["stride"]),
              padding=tuple(call["padding"]), dilation=tuple(call["dilation"]))  # fmt: skip


@aten("col2im")
def col2im(call: Call) -> None:
    call.emit("col2im", [call.args[0]], window=tuple(call["kernel_size"]), stride=tuple(call["stride"]),
              padding=tuple(call["padding"]), dilation=tuple(call["dilation"]))  # fmt: skip
