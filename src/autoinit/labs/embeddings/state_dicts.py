"""Weights in files of PyTorch, and whether they fit a module."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor, nn

from ..data.problems import DataError

COUNTER = "num_batches_tracked"
"""Of batch normalization: old files lack it, and a frozen network needs it not."""


def torch_file(path: Path) -> dict[str, Tensor]:
    """The state dict in a .pth file; nothing but tensors is made of it, no function is called."""
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # damaged bytes fail in every possible way
        first = str(error).strip().split("\n")[0]
        raise DataError(f"the file holds no weights that can be read safely: {type(error).__name__}: {first}",
                        where=str(path), fix="name a file that torch.save(model.state_dict(), …) wrote; a damaged one "
                        "must be fetched again") from error  # fmt: skip
    if not isinstance(content, dict) or not all(isinstance(value, Tensor) for value in content.values()):
        raise DataError("the file does not hold a state dict, names with their tensors", where=str(path),
                        received=type(content).__name__,
                        fix="name a file that torch.save(model.state_dict(), …) wrote")  # fmt: skip
    return content


def fitted(module: nn.Module, state: Mapping[str, Tensor], where: str, network: str) -> None:
    """Load the weights; every parameter and statistic must be there in its shape."""
    own = module.state_dict()
    missing = [name for name in own if name not in state and not name.endswith(COUNTER)]
    unknown = [name for name in state if name not in own]
    wrong = [f"{name} {tuple(value.shape)} instead of {tuple(own[name].shape)}"
             for name, value in state.items() if name in own and value.shape != own[name].shape]  # fmt: skip
    for what, names in (("are missing", missing), ("are unknown", unknown), ("have another shape", wrong)):
        if names:
            raise DataError(f"these are not the weights of {network}: {len(names)} tensors {what}", where=where,
                            received=", ".join(names[:3]), fix=f"name a file of {network}'s weights")  # fmt: skip
    if bad := [name for name, value in state.items() if not torch.isfinite(value.double()).all()]:
        raise DataError("weights are not finite", where=where, received=", ".join(bad[:3]),
                        fix="fetch the file again: it is damaged")  # fmt: skip
    module.load_state_dict(dict(state), strict=False)
