"""Short cuts give what PyTorch's own fake kernels give: shape, layout, dtype, device."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

from autoinit.frontends.torch.shapes import shortcut

LAYOUTS = {
    "plain": lambda: torch.zeros(2, 3, 4, 5),
    "channels_last": lambda: torch.zeros(2, 3, 4, 5).to(memory_format=torch.channels_last),
    "permuted": lambda: torch.zeros(2, 4, 3, 5).transpose(1, 2),
    "expanded": lambda: torch.zeros(2, 1, 4, 5).expand(2, 3, 4, 5),
    "one_row": lambda: torch.zeros(1, 1, 4, 5),
    "vector": lambda: torch.zeros(5),
    "column": lambda: torch.zeros(3, 1, 1),
    "sliced": lambda: torch.zeros(2, 3, 4, 9)[..., ::2],
    "half": lambda: torch.zeros(2, 3, 4, 5, dtype=torch.float16),
    "whole": lambda: torch.zeros(2, 3, 4, 5, dtype=torch.int64),
    "complex": lambda: torch.zeros(2, 3, 4, 5, dtype=torch.complex64),
    "wrong": lambda: torch.zeros(7),
}
OPS = (torch.ops.aten.add.Tensor, torch.ops.aten.sub.Tensor, torch.ops.aten.mul.Tensor, torch.ops.aten.div.Tensor)


@pytest.mark.parametrize("second", LAYOUTS)
@pytest.mark.parametrize("first", LAYOUTS)
def test_two_tensors(first: str, second: str) -> None:
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    a, b = LAYOUTS[first](), LAYOUTS[second]()
    fake = mode.from_tensor(a), mode.from_tensor(b)
    for op, given in product(OPS, (fake, (a, fake[1]), (fake[0], b))):
        made = shortcut(mode, op, op.name().replace("::", ".").split(".Tensor")[0], given, {})
        expected = _expected(mode, op, given)
        if made is None:
            assert expected is None, "nothing here is unusual but shapes that do not fit"
            continue
        assert isinstance(made, FakeTensor) and expected is not None
        assert (made.shape, made.stride(), made.dtype) == (expected.shape, expected.stride(), expected.dtype)
        assert made.device == expected.device


def _expected(mode: FakeTensorMode, op: Any, given: tuple[Any, ...]) -> Any:
    try:
        return mode.dispatch(op, (), given, {})
    except Exception:
        return None


@pytest.mark.parametrize("second", LAYOUTS)
@pytest.mark.parametrize("first", LAYOUTS)
def test_written_in_place(first: str, second: str) -> None:
    """Where there is a short cut, the op's own kernel writes to the same tensor and leaves its shape and layout."""
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    a, b = mode.from_tensor(LAYOUTS[first]()), mode.from_tensor(LAYOUTS[second]())
    before = tuple(a.shape), a.stride(), a.dtype
    aten = torch.ops.aten
    calls: list[tuple[Any, tuple[Any, ...]]] = [(op, (a, b)) for op in (aten.add_.Tensor, aten.mul_.Tensor)]
    calls += [(aten.add_.Tensor, (a, 2.0)), (aten.relu_.default, (a,)), (aten.tanh_.default, (a,))]
    found = 0
    for op, args in calls:
        made = shortcut(mode, op, op.name().replace("::", ".").split(".Tensor")[0], args, {})
        if made is not None:
            assert made is a
            with mode:
                assert op(*args) is a
            assert (tuple(a.shape), a.stride(), a.dtype) == before
            found += 1
    assert found >= (3 if a.is_floating_point() else 0)
