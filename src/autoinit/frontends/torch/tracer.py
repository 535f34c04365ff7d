"""Walking a model: a dispatch mode below autograd, with fake parameters and real constants.

Requirements this file lives by:

* The model is never modified. Parameters are swapped for fake tensors as they arrive in an op; a buffer that
  forward writes to is shadowed by a copy; nothing real is computed but constants (masks, index arithmetic).
* Composite ops (linear, conv2d, layer_norm, scaled_dot_product_attention, lstm ...) arrive whole, because the
  mode runs below autograd. What has no lowering is decomposed, or else becomes an opaque node.
* In-place ops and views keep their meaning: a tensor's value changes, and so do its base and its other views.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

from ...core.graph.graph import Constant, Reference, Value
from ..base_tracer import BaseTracer
from ..budget import Budget
from .ancestry import OriginAncestry
from .call import Call
from .constants import ConstantTensors
from .fake_parameters import FakeParameters
from .known import sampled, simulated_choice
from .leaves import Form, taken_apart, tensors_in
from .oracle import RANDOM_FACTORIES, answer, guessed_output, refuse
from .origins import Origin, Origins
from .origins import storage_of as _storage
from .private_random import PrivateRandom
from .python_calls import DATA
from .schema import is_mutable, op_name, written_positions
from .shapes import shortcut, wrapped
from .writes import Record, written

UNINITIALISED = {
    f"aten.{name}"
    for name in ("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided")
}
"""What these make holds anything: zeros here, so that no plan depends on what lies in memory."""
OBSERVING = {"aten._fused_moving_avg_obs_fq_helper"}
"""What these write (ranges that they have seen) nothing else reads."""
RESHAPED_IN_PLACE = {"aten.resize_", "aten.resize_as_"}
SILENT = {"prim.device", "aten.sym_size", "aten.sym_stride", "aten.sym_numel", "aten.is_contiguous", "aten.size"}


class Tracer(BaseTracer, TorchDispatchMode):
    """Records the neutral graph of everything that happens while it is active."""

    supports_higher_order_operators = True

    def __init__(
        self, parameters: dict[str, torch.Tensor], stand_ins: dict[int, str], lower: Callable[[Call], bool],
        has_lowering: Callable[[str], bool], budget: Budget, own: set[int],
    ) -> None:  # fmt: skip
        """`stand_ins`: names of parameters by the id of what stands for them in the model that is run; `own`: storages
        of constants that may be written to."""
        super().__init__()
        self._own = own
        self.budget = budget
        self.random = PrivateRandom(0)
        self.fake_mode = FakeTensorMode(allow_non_fake_inputs=True)
        self.lower, self.has_lowering = lower, has_lowering
        self.failed_at = ""
        self._records: dict[int, Record] = {}
        self.parameters = FakeParameters(parameters, stand_ins, partial(_fake, self.fake_mode))
        self._shadows: dict[int, torch.Tensor] = {}
        self._made_here: dict[int, torch.Tensor] = {}
        self._real_views: dict[int, tuple[torch.Tensor, Any, tuple[Any, ...], dict[str, Any], int]] = {}
        self._keep: list[Any] = []
        self.constants = ConstantTensors()
        self.origins = Origins(self.parameters.behind)
        self.ancestry = self.graph.ancestry = OriginAncestry()

    # --- tensors in and out ---------------------------------------------------------------------------------------

    def fake(self, shape: Any, dtype: torch.dtype, device: Any = "cpu", stride: Any = None) -> torch.Tensor:
        return _fake(self.fake_mode, shape, dtype, device, stride)

    def set(self, tensor: torch.Tensor, reference: Reference) -> None:
        if isinstance(reference, Value):
            self.ancestry.record(reference, self.origins.of(tensor))
        record = self._records.get(id(tensor))
        if record is None:
            self._records[id(tensor)] = Record(tensor, reference)
        else:
            record.reference = reference
            record.version += 1

    def record_of(self, tensor: torch.Tensor) -> Record:
        return self._records[id(tensor)]

    def reference(self, tensor: torch.Tensor) -> Reference:
        """What a tensor stands for in the graph."""
        if not isinstance(tensor, FakeTensor):
            return self.constants.of(tensor)
        record = self._records.get(id(tensor))
        if record is None:
            view = self.parameters.view(tensor)
            if view is not None:
                return view
            reference = Constant(tuple(tensor.shape), lambda: None)
            self.set(tensor, reference)
            return reference
        self._refresh(record)
        return record.reference

    def _refresh(self, record: Record) -> None:
        """A view whose base was written to meanwhile is derived anew."""
        chain = []
        current: Record | None = record
        while current is not None and current.base is not None:
            chain.append(current)
            current = current.base
        for item in reversed(chain):
            assert item.base is not None
            if item.seen != item.base.version and item.call is not None:
                self._lower_again(item.call)
                item.seen = item.base.version

    def incoming(self, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor to compute with: fake for parameters, a shadow for what was overwritten, else itself."""
        if isinstance(tensor, FakeTensor):
            return tensor
        found = self._shadows.get(id(tensor))
        if found is None:
            found = self.parameters.of(tensor, self, self.fake_mode)
        if found is not None:
            return found
        view = self._real_views.get(id(tensor))
        if view is not None:
            base, func, args, kwargs, k = view
            inner = self.incoming(base)
            if inner is not base:
                swapped = tree_map(lambda a: inner if a is base else a, (args, kwargs))
                with self:
                    out = func(*swapped[0], **swapped[1])
                made: torch.Tensor = tree_flatten(out)[0][k]
                self._shadow(tensor, made)
                return made
        if tensor.device.type == "meta":
            made = self.fake(tensor.shape, tensor.dtype, "cpu", tensor.stride())
            self._shadow(tensor, made)
            return made
        return tensor

    def close(self) -> None:
        """The walk is over: what knows each other goes, without a search for circles among all that it made."""
        self._records.clear()

    def data_of(self, tensor: torch.Tensor) -> torch.Tensor:
        """``tensor.data``: a parameter's is its fake, so that writing to it is seen."""
        inner = self.incoming(tensor)
        return inner if inner is not tensor else tensor.detach()

    def assign_data(self, tensor: torch.Tensor, value: torch.Tensor) -> None:
        """``tensor.data = value``: from here on the tensor is what was given, in whatever shape and dtype."""
        inner = self.incoming(value)
        alike = (tensor.shape, tensor.dtype) == (inner.shape, inner.dtype)
        if isinstance(tensor, FakeTensor):
            if not alike:
                raise RuntimeError("the data of an intermediate tensor is replaced by one of another shape or dtype")
            self.origins.stands_for(tensor, self.origins.of(inner) if isinstance(inner, FakeTensor) else None)
            written(self, tensor, self.reference(inner))
            return
        if not alike:  # as Python sees it: the tensor is a stand-in, see `shadow.py`
            DATA.__set__(tensor, torch.empty(inner.shape, dtype=inner.dtype, device=tensor.device))
        self.parameters.forget(tensor)
        self._shadow(tensor, inner)

    def _shadow(self, real: torch.Tensor, replacement: torch.Tensor) -> None:
        self._shadows[id(real)] = replacement
        self._keep.append(real)

    def writable(self, tensor: torch.Tensor, becomes_fake: bool) -> torch.Tensor:
        """The tensor that an in-place op may really write to (never one of the model's own)."""
        tensor = self.incoming(tensor)
        if isinstance(tensor, FakeTensor):
            return tensor
        if not becomes_fake and (id(tensor) in self._made_here or _storage(tensor) in self._own):
            return tensor
        root = tensor
        while id(root) in self._real_views:
            root = self._real_views[id(root)][0]
        if id(root) not in self._shadows:
            if becomes_fake:
                copy = self.fake(root.shape, root.dtype, root.device, root.stride())
                held = root.detach().clone()
                self.set(copy, self.constants.of(held))
                self.origins.given(copy, lambda: held, known=True)
            else:
                copy = root.detach().clone()
                self._made_here[id(copy)] = copy
            self._shadow(root, copy)
        return self.incoming(tensor)

    # --- dispatch -------------------------------------------------------------------------------------------------

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        try:
            return self._dispatch(func, args, kwargs or {})
        except Exception:
            self.failed_at = self.failed_at or self.module
            raise

    def _dispatch(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        name = op_name(func)
        if name in SILENT:
            return func(*tree_map(self._plain, args), **kwargs)
        self.budget.spend(self.module)
        occurrence = self.occurrence = self.counted(name)
        flat, form = taken_apart(func, args, kwargs)
        originals = flat
        flat = [self.incoming(a) if isinstance(a, torch.Tensor) else a for a in flat]
        any_fake = any(isinstance(a, FakeTensor) for a in flat) or name in RANDOM_FACTORIES
        if any_fake and not self.has_lowering(name) and _decomposes(func):
            with self:
                return func.decompose(*args, **kwargs)
        if is_mutable(func) and not (any_fake and name in OBSERVING):
            return self._mutate(func, name, originals, flat, form, any_fake)
        if not any_fake:
            return self._real(func, originals, form.holding(flat))
        args, kwargs = form.holding(flat)
        refuse(name, args)
        known = answer(self, func, name, args, kwargs)
        if known is not None:
            return known[0]
        operands = self.origins.operands(flat)
        out = self.run(func, args, kwargs)
        self.occurrence = occurrence
        outputs = tensors_in(out)
        self.origins.made(func, operands, form, outputs)
        self.record(func, args, kwargs, outputs)
        return out

    def _plain(self, a: Any) -> Any:
        return self.incoming(a) if isinstance(a, torch.Tensor) else a

    def _real(self, func: Any, originals: list[Any], call: Any) -> Any:
        args, kwargs = call
        out = self.random.call(func, args, kwargs)
        if op_name(func) in UNINITIALISED:
            out.zero_()
        tensors = tensors_in((args, kwargs))
        for k, t in enumerate(tree_flatten(out)[0]):
            if not isinstance(t, torch.Tensor) or isinstance(t, FakeTensor):
                continue
            self._made_here.setdefault(id(t), t)
            base = next((b for b in tensors if b is not t and _shares(t, b)), None)
            if base is not None:
                self._real_views[id(t)] = (base, func, args, kwargs, k)
                if id(base) not in self._made_here:
                    self._made_here.pop(id(t))
                    self._keep.append(t)
        return out

    def run(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Shapes of the outputs: the fake kernel, or a guess where shapes depend on values."""
        made = shortcut(self.fake_mode, func, op_name(func), args, kwargs)
        if made is not None:
            return made
        try:
            return self.fake_mode.dispatch(func, (), args, kwargs)
        except Exception:
            made = guessed_output(self, func, args, kwargs)
            if made is None:
                raise
            return made[0]

    def record(self, func: Any, args: Any, kwargs: Any, outputs: list[torch.Tensor]) -> None:
        """Lower the call into the graph and remember what its outputs are."""
        if all(t.is_complex() is False and _only_parameter_views(self, t) for t in outputs):
            return  # or no outputs at all: an assertion
        call = Call(self, func, args, kwargs, outputs)
        self._lower(call)
        for t in outputs:
            record = self._records.get(id(t))
            if record is None:
                continue
            base = next((b for b in call.tensors if b is not t and id(b) in self._records and _shares(t, b)), None)
            if base is not None and record.base is None:
                record.base = self._records[id(base)]
                record.seen = record.base.version
                record.call = call

    def _lower_again(self, call: Call) -> None:
        """A view that is derived anew is no call of the model's: it has no row of its own in a measurement."""
        occurrence, self.occurrence = self.occurrence, 0
        self._lower(call)
        self.occurrence = occurrence

    def _lower(self, call: Call) -> None:
        if sampled(call) or simulated_choice(call) or self.lower(call):
            return
        call.unknown()

    def _mutate(self, func: Any, name: str, originals: list[Any], flat: list[Any], form: Form, any_fake: bool) -> Any:
        """In-place and out= ops: compute the functional result, then give it to the tensor that is written."""
        occurrence = self.occurrence
        positions = written_positions(func, originals, form)
        becomes_fake = any_fake
        for k in positions:
            flat[k] = self.writable(originals[k], becomes_fake)
        args, kwargs = form.holding(flat)
        if not becomes_fake:
            out = self.random.call(func, args, kwargs)
            if name in RESHAPED_IN_PLACE:
                flat[positions[0]].zero_()
                self._real_views.pop(id(flat[positions[0]]), None)
        else:
            self._opened(flat, positions)
            operands = self.origins.operands(flat)
            out = self.run(func, args, kwargs)
            self.occurrence = occurrence
            targets = [flat[k] for k in positions]
            made = [self.origins.written(func, operands, form, k, flat[k]) for k in positions]
            self._lower_write(func, args, kwargs, targets, made)
        back = {id(flat[k]): originals[k] for k in positions}
        if isinstance(out, torch.Tensor):
            return back.get(id(out), out)
        return tree_map(lambda t: back.get(id(t), t) if isinstance(t, torch.Tensor) else t, out)

    def _opened(self, flat: list[Any], positions: list[int]) -> None:
        """A parameter that is written to is a value from here on, and so are its views."""
        for k in positions:
            target = flat[k]
            name = self.parameters.name_of(target)
            if name is None or id(target) in self._records:
                continue
            whole = self.parameters.whole(name)
            for tensor in (whole, target):
                if id(tensor) not in self._records:
                    self._records[id(tensor)] = Record(tensor, self.reference(tensor))
            if target is not whole:
                self._records[id(target)].base = self._records[id(whole)]
            self.parameters.rewrite(whole)

    def _lower_write(self, func: Any, args: Any, kwargs: Any, targets: list[torch.Tensor], made: list[Origin]) -> None:
        results = [self.fake(t.shape, t.dtype, t.device) for t in targets]
        for result, origin in zip(results, made, strict=True):
            self.origins.stands_for(result, origin)
        call = Call(self, func, args, kwargs, list(results))
        self._lower(call)
        for target, result in zip(targets, results, strict=True):
            written(self, target, self.reference(result))


def _fake(mode: FakeTensorMode, shape: Any, dtype: torch.dtype, device: Any, stride: Any = None) -> torch.Tensor:
    device = torch.device(device)
    if device.type == "meta":
        device = torch.device("cpu")
    if stride is None:
        meta = torch.empty(tuple(shape), dtype=dtype, device="meta")
    else:
        meta = torch.empty_strided(tuple(shape), tuple(stride), dtype=dtype, device="meta")
    return wrapped(mode, meta, device)


def _decomposes(func: Any) -> bool:
    """Composite ops fall apart into ops that are known better."""
    can = getattr(func, "_can_decompose", None)
    return bool(can and can())


def _shares(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.layout is torch.strided and b.layout is torch.strided and _storage(a) == _storage(b)


def _only_parameter_views(tracer: Tracer, tensor: torch.Tensor) -> bool:
    """A plain view of a parameter needs no node: it is named by its place in the parameter."""
    if not isinstance(tensor, FakeTensor) or id(tensor) in tracer._records:
        return False
    return tracer.parameters.is_plain(tensor)
