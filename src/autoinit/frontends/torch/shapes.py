"""Shapes without asking: the outputs of common ops, known from their arguments.

The general way to get them, `FakeTensorMode.dispatch`, costs a tenth of a millisecond or more per op. These short cuts
cover most of what real models do. Anything unusual (another dtype, a shape that does not fit, extra arguments) gives
None, and the general way answers, or raises the model's own error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode, in_kernel_invocation_manager

from .schema import arguments

VIEWS = {
    f"aten.{name}"
    for name in (
        "view", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze", "permute", "transpose", "t", "expand",
        "slice", "select",
        "split", "split_with_sizes", "chunk", "unbind", "narrow", "expand_as", "mT", "movedim", "swapaxes",
    )
}  # fmt: skip
SAME_SHAPE = {
    f"aten.{name}"
    for name in (
        "relu", "gelu", "silu", "sigmoid", "tanh", "elu", "leaky_relu", "hardtanh", "hardswish", "hardsigmoid", "mish",
        "selu", "celu", "softplus", "relu6", "dropout", "feature_dropout", "layer_norm", "batch_norm", "group_norm",
        "rms_norm", "instance_norm", "exp", "sqrt", "rsqrt", "neg", "square", "abs",
    )
}  # fmt: skip
NORMS = ("layer_norm", "batch_norm", "group_norm", "rms_norm", "instance_norm")
IN_PLACE = {
    f"aten.{name}_"
    for name in ("relu", "gelu", "silu", "sigmoid", "tanh", "elu", "hardtanh", "hardswish", "mish")
}  # fmt: skip
BINARY_IN_PLACE = {f"aten.{name}_" for name in ("add", "sub", "mul", "div")}
BINARY = {f"aten.{name}" for name in ("add", "sub", "mul", "div")}


def wrapped(mode: FakeTensorMode, meta: torch.Tensor, device: torch.device) -> torch.Tensor:
    return FakeTensor(mode, meta, device)


def like(mode: FakeTensorMode, x: torch.Tensor, shape: Any = None) -> torch.Tensor:
    """A fresh fake tensor with the dtype and device of x; its layout too if the shape is the same."""
    if shape is None:
        if x.is_contiguous():
            meta = torch.empty(x.shape, dtype=x.dtype, device="meta")
        else:
            with in_kernel_invocation_manager(mode):
                meta = torch.empty_like(x)
    else:
        meta = torch.empty(shape, dtype=x.dtype, device="meta")
    return wrapped(mode, meta, x.device)


def shortcut(mode: FakeTensorMode, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The outputs of a call as fake tensors, or None."""
    found = _TABLE.get(name)
    if found is None or not args or not any(isinstance(a, FakeTensor) for a in args[: 2 if name in BINARY else 1]):
        return None
    return found(mode, func, args, kwargs)


def _kernel(mode: FakeTensorMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The op's own kernel for tensors without memory."""
    try:
        with in_kernel_invocation_manager(mode):
            made = func(*args, **kwargs)
    except Exception:
        return None  # the general way raises the model's own error
    device = next(a for a in args if isinstance(a, FakeTensor)).device
    if isinstance(made, torch.Tensor):
        return made if isinstance(made, FakeTensor) else wrapped(mode, made, device)
    return [m if isinstance(m, FakeTensor) else wrapped(mode, m, device) for m in made]


def _same(mode: FakeTensorMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x = args[0]
    if not x.is_floating_point() or kwargs.get("out") is not None:
        return None
    if func.__name__.startswith(NORMS) and not _affine_fits(func, args, kwargs):
        return None
    return like(mode, x)


def _affine_fits(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    values = arguments(func, args, kwargs)
    x, shape = values["input"], values.get("normalized_shape")
    expected = tuple(shape) if shape is not None else tuple(x.shape[1:2])
    if shape is not None and tuple(x.shape[x.dim() - len(expected) :]) != expected:
        return False
    if shape is None and (
        x.dim() < 2 or (values.get("training", values.get("use_input_stats")) and _single_value(x, func))
    ):
        return False
    if x.shape[1:2] and "num_groups" in values and x.shape[1] % values["num_groups"]:
        return False
    tensors = (values.get(k) for k in ("weight", "bias", "running_mean", "running_var"))
    return all(t is None or tuple(t.shape) == expected for t in tensors)


def _single_value(x: torch.Tensor, func: Any) -> bool:
    """Statistics over a single value are refused by the real op."""
    return x.numel() // max(x.shape[1], 1) <= 1 or func.__name__.startswith("instance_norm")


def _binary(mode: FakeTensorMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    a, b = args[0], args[1]
    if kwargs.keys() - {"alpha"}:
        return None
    if isinstance(b, (int, float)) and not isinstance(b, bool):
        return like(mode, a) if a.is_floating_point() else None
    tensors = all(isinstance(t, torch.Tensor) and t.dim() and t.layout is torch.strided for t in (a, b))
    if not tensors or a.device != b.device:
        return None
    if a.dtype == b.dtype and a.is_floating_point():
        shape = _broadcast(a.shape, b.shape)
        if shape is None:
            return None
        if a.is_contiguous() and (shape == a.shape or b.is_contiguous()):
            return like(mode, a, shape)
        stride = _densely(a) if shape == a.shape else None
        if stride is not None:
            return wrapped(mode, torch.empty_strided(shape, stride, dtype=a.dtype, device="meta"), a.device)
    return _kernel(mode, func, (_shape_of(a), _shape_of(b)), kwargs)


def _broadcast(a: torch.Size, b: torch.Size) -> tuple[int, ...] | None:
    """The shape of what two shapes make together; None if they do not fit."""
    rank = max(len(a), len(b))
    pairs = list(zip((1,) * (rank - len(a)) + tuple(a), (1,) * (rank - len(b)) + tuple(b), strict=True))
    return tuple(n if m == 1 else m for m, n in pairs) if all(m == n or 1 in (m, n) for m, n in pairs) else None


def _densely(a: torch.Tensor) -> list[int] | None:
    """The strides of what is made of it entry by entry: its axes in their order, without gaps; None if it has none."""
    order = sorted((s, d) for d, (n, s) in enumerate(zip(a.shape, a.stride(), strict=True)) if n != 1)
    if len({s for s, _ in order}) < len(order) or 0 in a.shape or (order and not order[0][0]):
        return None
    made, step = [1] * a.dim(), 1
    for _, d in order:
        made[d] = step
        step *= a.shape[d]
    return made


def _written(mode: FakeTensorMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The operand itself."""
    return args[0] if args[0].is_floating_point() else None


def _written_by_both(mode: FakeTensorMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    a, b = args[0], args[1]
    if not a.is_floating_point() or kwargs.keys() - {"alpha"}:
        return None
    alike = isinstance(b, FakeTensor) and (a.shape, a.dtype, a.device) == (b.shape, b.dtype, b.device)
    return a if alike or (isinstance(b, (int, float)) and not isinstance(b, bool)) else None


def _shape_of(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor of the same layout that has no values; a fake one is that already."""
    if isinstance(tensor, FakeTensor):
        return tensor
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")


def _linear(mode: FakeTensorMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x, w = args[0], args[1]
    bias = args[2] if len(args) > 2 else kwargs.get("bias")
    if w.dim() != 2 or x.dim() < 1 or x.shape[-1] != w.shape[1] or x.dtype != w.dtype or x.device != w.device:
        return None
    if bias is not None and (bias.shape != w.shape[:1] or bias.dtype != x.dtype):
        return None
    return like(mode, x, (*x.shape[:-1], w.shape[0]))


def _conv(mode: FakeTensorMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    v = arguments(func, args, kwargs)
    x, w, padding = v["input"], v["weight"], v["padding"]
    spatial = w.dim() - 2
    if isinstance(padding, str) or x.dim() != w.dim() or not x.is_contiguous():
        return None
    if x.dtype != w.dtype or x.device != w.device or x.shape[1] != w.shape[1] * v["groups"] or w.shape[0] % v["groups"]:
        return None
    if v["bias"] is not None and (v["bias"].shape != w.shape[:1] or v["bias"].dtype != x.dtype):
        return None
    stride, pad, dilation = ((list(v[k]) * spatial)[:spatial] if len(v[k]) == 1 else list(v[k])
                             for k in ("stride", "padding", "dilation"))  # fmt: skip
    sizes = [
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, p, d, s in zip(x.shape[2:], w.shape[2:], pad, dilation, stride, strict=True)
    ]
    return like(mode, x, (x.shape[0], w.shape[0], *sizes)) if all(n > 0 for n in sizes) else None


def _recurrent(mode: FakeTensorMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """GRU and RNN: their fake kernels would unroll the whole sequence."""
    v = arguments(func, args, kwargs)
    if "batch_sizes" in v or args[0].dim() != 3:
        return None
    x, hx = v["input"], v["hx"]
    directions = 2 if v["bidirectional"] else 1
    first = v["params"][0]
    gates = 3 if "gru" in func.__name__ else 1
    batch = x.shape[0] if v["batch_first"] else x.shape[1]
    hidden = first.shape[0] // gates
    if first.shape[1] != x.shape[2] or tuple(hx.shape) != (v["num_layers"] * directions, batch, hidden):
        return None
    return like(mode, x, (*x.shape[:2], directions * hidden)), like(mode, x, tuple(hx.shape))


def _observed(mode: FakeTensorMode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A quantised tensor and its mask."""
    x = args[0]
    return like(mode, x), wrapped(mode, torch.empty(x.shape, dtype=torch.bool, device="meta"), x.device)


Shortcut = Callable[[FakeTensorMode, Any, tuple[Any, ...], dict[str, Any]], Any]

_TABLE: dict[str, Shortcut] = {
    **dict.fromkeys(VIEWS, _kernel),
    **dict.fromkeys(SAME_SHAPE, _same),
    **dict.fromkeys(BINARY, _binary),
    **dict.fromkeys(IN_PLACE, _written),
    **dict.fromkeys(BINARY_IN_PLACE, _written_by_both),
    "aten.linear": _linear,
    "aten._fused_moving_avg_obs_fq_helper": _observed,
    **{f"aten.conv{n}d": _conv for n in (1, 2, 3)},
    **{f"aten.{name}": _recurrent for name in ("gru", "rnn_tanh", "rnn_relu")},
}
