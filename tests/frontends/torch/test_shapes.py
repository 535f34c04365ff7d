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
