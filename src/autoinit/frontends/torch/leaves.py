"""The tensors among an op's arguments or results, which lie in lists, tuples and dictionaries at most.

(`torch.utils._pytree` knows many more containers, and takes a third of the time of a walk.)
"""

from __future__ import annotations

from typing import Any

import torch


def tensors_in(value: Any) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []
    _gather(value, found)
    return found


def _gather(value: Any, found: list[torch.Tensor]) -> None:
    if isinstance(value, torch.Tensor):
        found.append(value)
    elif isinstance(value, (tuple, list)):
        for item in value:
            if item is not None and type(item) not in PLAIN:
                _gather(item, found)
    elif isinstance(value, dict):
        for item in value.values():
            _gather(item, found)


PLAIN = frozenset({int, float, bool, str})
