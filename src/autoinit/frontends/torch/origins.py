"""Samples of fake tensors: what a tensor might hold, for questions that need values.

Every fake tensor has an `Origin`: the op that made it, with the origins of its operands. Nothing is computed until a
value is asked for (`.item()`, a boolean selection, the indices of a top-k). Then the op is run, once, on samples of
its operands. A contraction with a weight is not run: AutoInit gives it an output of variance one, so N(0, 1) is drawn.
The model's own tensors are only ever read, as copies.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._pytree import tree_flatten

from ..base_ancestry import LARGEST, union
from .leaves import Form
from .private_random import PrivateRandom, is_random
from .schema import op_name

DEEPEST = 60
"""So many float ops before a question are run; what lies further back is drawn."""
DRAWS = 31
"""A single random number is the median of so many draws."""

WITH_WEIGHTS = {
    f"aten.{name}"
    for name in (
        "linear", "matmul", "mm", "bmm", "mv", "addmm", "addmv", "baddbmm", "addbmm", "einsum", "bilinear", "conv1d",
        "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "convolution", "_convolution",
        "embedding", "_grouped_mm", "lstm", "gru", "rnn_tanh", "rnn_relu",
    )
}  # fmt: skip
NOT_RUN = {"aten.batch_norm", "aten.native_batch_norm", "aten.instance_norm"}
"""Outputs of variance one or less, some of whose kernels write to buffers."""
RUN = {"aten.scaled_dot_product_attention"}
"""Random by its tag, for the sake of its dropout: what it makes of queries and keys is known all the same."""

FILLED = {
    f"aten.{name}"
    for name in (
        "zeros_like", "ones_like", "full_like", "new_zeros", "new_ones", "new_full", "empty_like", "new_empty",
        "new_empty_strided", "empty_strided", "zero_",
    )
}  # fmt: skip
"""What these make depends on the shape of their argument alone."""

Memo = dict["Origin", torch.Tensor]


class Origin:
    """How one tensor came about."""

    __slots__ = (
        "_leaves", "call", "choice", "dtype", "is_leaf", "known", "position", "read", "shape", "sources", "stride",
        "weight",
    )  # fmt: skip

    def __init__(self, like: torch.Tensor, *, known: bool = False, weight: bool = False) -> None:
        self.shape, self.stride, self.dtype = tuple(like.shape), tuple(like.stride()), like.dtype
        self.call: tuple[Any, list[Any], Form] | None = None
        self.position = 0
        self.read: Callable[[Callable[[Origin], torch.Tensor]], Any] | None = None
        """Makes the sample where no op does: a value that is there, or a view of another sample."""
        self.sources: tuple[Origin, ...] = ()
        """What `read` asks for."""
        self.known, self.weight = known, weight
        """Made of known integers and constants alone; made of parameters alone."""
        self.is_leaf = False
        """It is drawn itself."""
        self._leaves: frozenset[Origin] | None = frozenset()
        self.choice = False
        """Entries that were chosen by their own values (see `known.py`)."""

    @property
    def leaves(self) -> frozenset[Origin] | None:
        """The drawn tensors that it is computed from; None if they are many."""
        return frozenset((self,)) if self.is_leaf else self._leaves

    @leaves.setter
    def leaves(self, found: frozenset[Origin] | None) -> None:
        self._leaves = found

    def parts(self) -> list[Origin]:
        """The origins that it is computed from."""
        return [o for o in self.call[1] if isinstance(o, Origin)] if self.call is not None else list(self.sources)


class Origins:
    """The origins of all fake tensors of one walk, and their samples."""

    def __init__(self, parameter_of: Callable[[torch.Tensor], torch.Tensor | None]) -> None:
        self._of: dict[int, tuple[torch.Tensor, Origin, int]] = {}
        self._roots: dict[int, torch.Tensor] = {}
        self._writes: dict[int, int] = {}
        self._memo: Memo = {}
        self._parameter_of = parameter_of
        self._leaf_tensors: dict[Origin, torch.Tensor] = {}

    # --- recording --------------------------------------------------------------------------------------------------

    def of(self, tensor: torch.Tensor) -> Origin:
        """The origin of a fake tensor as it is now."""
        found = self._of.get(id(tensor))
        if found is None:
            return self._first(tensor)
        _, origin, seen = found
        if self._writes and seen != self._written(tensor):
            root = self._root(tensor)
            if root is not tensor:
                origin = _view_of(self.of(root), root, tensor)
            self._put(tensor, origin)
        return origin

    def _root(self, tensor: torch.Tensor) -> torch.Tensor:
        """The first tensor of its storage, which it may be a view of."""
        return self._roots.setdefault(storage_of(tensor), tensor)

    def _written(self, tensor: torch.Tensor) -> int:
        """How often the storage of a tensor was written to."""
        return self._writes.get(id(self._root(tensor)), 0)

    def _first(self, tensor: torch.Tensor) -> Origin:
        real = self._parameter_of(tensor)
        origin = Origin(tensor, weight=real is not None)
        if real is not None:
            origin.read = lambda _: None if real.device.type == "meta" else real.detach().cpu()
        else:
            origin.is_leaf = True
            self._leaf_tensors[origin] = tensor
        self._put(tensor, origin)
        return origin

    def _put(self, tensor: torch.Tensor, origin: Origin) -> None:
        self._of[id(tensor)] = (tensor, origin, self._written(tensor))

    def given(self, tensor: torch.Tensor, value: Callable[[], torch.Tensor | None], known: bool = False) -> None:
        """A tensor whose sample is there already: a model input, a buffer that was written to."""
        origin = Origin(tensor, known=known)
        origin.read = lambda _: value()
        if not known:
            origin.is_leaf = True
            self._leaf_tensors[origin] = tensor
        self._put(tensor, origin)

    def operands(self, flat: list[Any]) -> list[Any]:
        """The arguments of a call with fake tensors replaced by their origins."""
        return [self.of(a) if isinstance(a, FakeTensor) else a for a in flat]

    def made(self, func: Any, operands: list[Any], form: Form, outputs: list[torch.Tensor]) -> None:
        """The outputs of a call (an op may return its operand as it is)."""
        for k, t in enumerate(outputs):
            if isinstance(t, FakeTensor) and id(t) not in self._of:
                self._put(t, self._call(func, operands, form, t, k))

    def _call(self, func: Any, operands: list[Any], form: Form, like: torch.Tensor, position: int) -> Origin:
        parts = [o for o in operands if isinstance(o, Origin)]
        name = op_name(func)
        origin = Origin(like)
        origin.position = position
        drawn = name in NOT_RUN or (name in WITH_WEIGHTS and any(p.weight for p in parts)) or not _is_op(func)
        origin.weight = bool(parts) and all(p.weight for p in parts) and not drawn
        origin.known = name in FILLED or (all(p.known for p in parts) and not is_random(func) and not drawn)
        if "empty" in name:
            origin.read = lambda _: torch.zeros(origin.shape, dtype=origin.dtype)
            return origin
        if not drawn:
            origin.call = (func, operands, form)
        if drawn or (is_random(func) and name not in RUN and like.dtype.is_floating_point):
            origin.is_leaf = True
            self._leaf_tensors[origin] = like
        else:
            origin.leaves = frozenset() if name in FILLED else union(part.leaves for part in parts)
        return origin

    def written(self, func: Any, operands: list[Any], form: Form, at: int, target: torch.Tensor) -> Origin:
        """An in-place op wrote to `target`, argument number `at`: so did it to the tensor that it is a view of."""
        origin = self._call(func, operands, form, target, -1 - at)
        root = self._root(target)
        if root is not target:
            before = self.of(root)
            whole = Origin(root, known=before.known and origin.known, weight=before.weight and origin.weight)
            whole.leaves = union((before.leaves, origin.leaves))
            whole.read, whole.sources = _with_part(before, origin, root, target), (before, origin)
            self._writes[id(root)] = self._writes.get(id(root), 0) + 1
            self._put(root, whole)
        else:
            self._writes[id(root)] = self._writes.get(id(root), 0) + 1
        self._put(target, origin)
        return origin

    def stands_for(self, tensor: torch.Tensor, origin: Origin | None) -> None:
        """Another name of what an origin makes; without one, of something of which nothing is known."""
        self._put(tensor, Origin(tensor) if origin is None else origin)

    def tensor_of(self, leaf: Origin) -> torch.Tensor | None:
        """The tensor that a leaf is, if it still is."""
        tensor = self._leaf_tensors.get(leaf)
        return tensor if tensor is not None and self._of[id(tensor)][1] is leaf else None

    # --- values -----------------------------------------------------------------------------------------------------

    def sample(self, origin: Origin) -> torch.Tensor:
        """What the tensor might hold; the same on every question."""
        return _value(origin, self._memo, 0)


def evaluated(origin: Origin, leaves: dict[Origin, torch.Tensor]) -> torch.Tensor:
    """The tensor for given values of its leaves; its size may be another one, where that depends on values."""
    memo: Memo = dict(leaves)

    def ask(part: Origin) -> torch.Tensor:
        found = memo.get(part)
        if found is None:
            found = part.read(ask) if part.read is not None else run_once(part, ask, len(memo))
            memo[part] = found
        return found

    with torch.no_grad():
        return ask(origin)


def storage_of(tensor: torch.Tensor) -> int:
    try:
        return int(tensor.untyped_storage()._cdata)
    except (NotImplementedError, RuntimeError):
        return id(tensor)


def _is_op(func: Any) -> bool:
    return getattr(func, "_schema", None) is not None


def _view_of(base: Origin, root: torch.Tensor, view: torch.Tensor) -> Origin:
    origin = Origin(view, known=base.known, weight=base.weight)
    origin.leaves, origin.sources = base.leaves, (base,)
    offset = int(view.storage_offset() - root.storage_offset())
    origin.read = lambda ask: torch.as_strided(_strided(ask(base), base), origin.shape, origin.stride, offset).clone()
    return origin


def _with_part(before: Origin, part: Origin, root: torch.Tensor, target: torch.Tensor) -> Any:
    shape, stride = tuple(target.shape), tuple(target.stride())
    offset = int(target.storage_offset() - root.storage_offset())

    def read(ask: Callable[[Origin], torch.Tensor]) -> torch.Tensor:
        whole = _strided(ask(before), before)
        torch.as_strided(whole, shape, stride, offset).copy_(ask(part))
        return whole

    return read


def _strided(value: torch.Tensor, like: Origin) -> torch.Tensor:
    """A copy with the layout of the fake tensor."""
    return torch.empty_strided(like.shape, like.stride, dtype=value.dtype).copy_(value)


def _value(origin: Origin, memo: Memo, depth: int) -> torch.Tensor:
    found = memo.get(origin)
    if found is None:
        found = _computed(origin, memo, depth)
        if found is None or tuple(found.shape) != origin.shape:
            found = _drawn(origin, len(memo))
        memo[origin] = found
    return found


def _computed(origin: Origin, memo: Memo, depth: int) -> torch.Tensor | None:
    floating = origin.dtype.is_floating_point or origin.dtype.is_complex
    if prod(origin.shape) > LARGEST or (depth > DEEPEST and floating and not origin.known):
        return None

    def ask(part: Origin) -> torch.Tensor:
        return _value(part, memo, depth + 1)

    try:
        with torch.no_grad():
            if origin.read is not None:
                read: torch.Tensor | None = origin.read(ask)
                return read
            return None if origin.call is None else run_once(origin, ask, len(memo))
    except Exception:
        return None


def run_once(origin: Origin, ask: Callable[[Origin], torch.Tensor], seed: int) -> torch.Tensor:
    assert origin.call is not None
    func, operands, form = origin.call
    flat: list[Any] = []
    for item in operands:
        if isinstance(item, Origin):
            item = ask(item)
        if isinstance(item, torch.Tensor):
            item = item.detach().cpu()
            if item.numel() <= LARGEST:
                item = item.clone()
        flat.append(torch.device("cpu") if isinstance(item, torch.device) else item)
    args, kwargs = form.holding(flat)
    if is_random(func):
        source = PrivateRandom(seed)
        draws = [source.call(func, args, kwargs) for _ in range(1 if prod(origin.shape) > 1 else DRAWS)]
        out = draws[0] if len(draws) == 1 else _typical(draws)
    else:
        out = func(*args, **kwargs)
    made = flat[-1 - origin.position] if origin.position < 0 else _tensors(out)[origin.position]
    return torch.nan_to_num(made, nan=0.0, posinf=float("inf"), neginf=-float("inf")) if _may_be_nan(made) else made


def _typical(draws: list[Any]) -> Any:
    """The median of a random number: a layer that is dropped now and then is not dropped."""
    first = _tensors(draws)
    return torch.stack(first).flatten().median().reshape(first[0].shape) if len(first) == len(draws) else draws[0]


def _tensors(out: Any) -> list[torch.Tensor]:
    return [t for t in tree_flatten(out)[0] if isinstance(t, torch.Tensor)]


def _may_be_nan(t: torch.Tensor) -> bool:
    return t.dtype.is_floating_point and bool(t.isnan().any())


def _drawn(origin: Origin, seed: int) -> torch.Tensor:
    """Values where none are known: N(0, 1), or zeros for integers."""
    if origin.dtype.is_floating_point or origin.dtype.is_complex:
        generator = torch.Generator().manual_seed(seed)
        wide = torch.complex64 if origin.dtype.is_complex else torch.float32
        return torch.randn(origin.shape, generator=generator, dtype=wide).to(origin.dtype)
    return torch.zeros(origin.shape, dtype=origin.dtype)
