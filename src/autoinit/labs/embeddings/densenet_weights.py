"""DenseNet-121's weights from torchvision's and Keras' files, by the names of torchvision, without the last layer.

torchvision's own file spells the layers of a block `denselayer1.norm.1.weight` for `denselayer1.norm1.weight`.
Keras' layers are `conv1_conv`, `conv1_bn`, `conv2_block1_0_bn`, `conv2_block1_1_conv`, …, `pool2_bn`, `pool2_conv`, …,
`bn`; the published files spell the first two `conv1/conv` and `conv1/bn`.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from ..data.problems import DataError
from ..models.densenet121 import BLOCKS
from .keras_files import keras_file
from .state_dicts import torch_file

TORCH_EPSILON, KERAS_EPSILON = 1e-5, 1.001e-5
OLD = re.compile(r"(denselayer\d+\.(?:norm|conv))\.([12]\.)")
KERAS = (".h5", ".hdf5", ".keras")
TORCH = (".pth", ".pt", ".bin")
STATISTICS = ("weight", "bias", "running_mean", "running_var")
"""Keras' gamma, beta, moving_mean and moving_variance, in this order."""


def densenet_features(path: Path) -> tuple[dict[str, Tensor], bool]:
    """Everything but the last layer, and whether it comes from Keras."""
    if path.suffix in KERAS:
        return _from_keras(path), True
    if path.suffix in TORCH:
        state = {OLD.sub(r"\1\2", key): value for key, value in torch_file(path).items()}
        return {key.removeprefix("features."): value for key, value in state.items()
                if not key.startswith("classifier.")}, False  # fmt: skip
    raise DataError("the ending of a file of weights says what wrote it", where=str(path), received=path.suffix,
                    fix=f"{', '.join(TORCH)} for PyTorch, {', '.join(KERAS)} for Keras")  # fmt: skip


def keras_names() -> dict[str, str]:
    """Of every layer with weights: torchvision's name, below `features`, and Keras' name."""
    names = {"conv0": "conv1_conv", "norm0": "conv1_bn"}
    for block, layers in enumerate(BLOCKS, 1):
        for layer in range(1, layers + 1):
            ours, theirs = f"denseblock{block}.denselayer{layer}", f"conv{block + 1}_block{layer}"
            names |= {f"{ours}.norm1": f"{theirs}_0_bn", f"{ours}.conv1": f"{theirs}_1_conv",
                      f"{ours}.norm2": f"{theirs}_1_bn", f"{ours}.conv2": f"{theirs}_2_conv"}  # fmt: skip
        if block < len(BLOCKS):
            names |= {f"transition{block}.norm": f"pool{block + 1}_bn",
                      f"transition{block}.conv": f"pool{block + 1}_conv"}  # fmt: skip
    return names | {"norm5": "bn"}


def _from_keras(path: Path) -> dict[str, Tensor]:
    layers = keras_file(path)
    state: dict[str, Tensor] = {}
    for ours, theirs in keras_names().items():
        arrays = layers.get(theirs)
        wanted = 4 if theirs.endswith("bn") else 1
        if arrays is None or len(arrays) != wanted:
            raise DataError(f"these are not the weights of DenseNet-121: the layer '{theirs}' has {wanted} arrays",
                            where=str(path), received="no such layer" if arrays is None else f"{len(arrays)} arrays",
                            fix="name a file of DenseNet-121's weights")  # fmt: skip
        if wanted == 4:
            state |= {f"{ours}.{name}": torch.from_numpy(array)
                      for name, array in zip(STATISTICS, arrays, strict=True)}  # fmt: skip
        else:
            kernel = arrays[0].transpose(3, 2, 0, 1) if arrays[0].ndim == 4 else arrays[0]
            state[f"{ours}.weight"] = torch.from_numpy(np.ascontiguousarray(kernel))
    return state
