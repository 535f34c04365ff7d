"""Pretrained networks: a module that gives embeddings, what it expects of pixels, and which weights it has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from ...errors import OptionError
from ..data.checksums import of_file
from ..data.pretrained import efficientnet_lite0_file
from ..data.problems import DataError
from ..models import densenet121, efficientnet_lite0
from .densenet_weights import KERAS_EPSILON, TORCH_EPSILON, densenet_features
from .state_dicts import fitted, torch_file

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""Of ImageNet's images, white = 1: what DenseNet-121 is trained with, in torchvision and in Keras."""


@dataclass(frozen=True)
class Pretrained:
    """`embed`: float32 (N, 3, height, width), levels 0 to 255, to (N, width); `digest`: of the file of weights."""

    name: str
    width: int
    embed: Callable[[Tensor], Tensor]
    digest: str


def pretrained(name: str = "efficientnet_lite0", weights: str | Path | None = None) -> Pretrained:
    """A network with ImageNet weights.

    name: efficientnet_lite0, whose weights come from a package, or densenet121, whose weights the user names.
    weights: for densenet121 torchvision's .pth file, or Keras' .h5 or .keras file.
    """
    if name == "efficientnet_lite0":
        return _efficientnet_lite0(efficientnet_lite0_file() if weights is None else _named(weights))
    if name == "densenet121":
        if weights is None:
            raise DataError("no package registry carries these weights", where="densenet121", fix=
                            "get densenet121-a639ec97.pth from download.pytorch.org/models, or "
                            "densenet121_weights_tf_dim_ordering_tf_kernels_notop.h5 from storage.googleapis.com/"
                            "tensorflow/keras-applications/densenet, and name it: weights=…")  # fmt: skip
        return _densenet121(_named(weights))
    raise OptionError("unknown network", where="name", received=repr(name), fix="efficientnet_lite0 or densenet121")


def _named(weights: str | Path) -> Path:
    path = Path(weights).expanduser()
    if not path.is_file():
        raise DataError("the file of weights does not exist", where="weights", received=str(path),
                        fix="name the file, not its folder")  # fmt: skip
    return path


def _efficientnet_lite0(path: Path) -> Pretrained:
    network = efficientnet_lite0()
    plain = {".".join(part.lstrip("_") for part in key.split(".")): value for key, value in torch_file(path).items()}
    fitted(network, plain, str(path), "EfficientNet-lite0")
    return _frozen("efficientnet_lite0", network, lambda x: (x - 127) / 128, path)


def _densenet121(path: Path) -> Pretrained:
    state, keras = densenet_features(path)
    network = densenet121(epsilon=KERAS_EPSILON if keras else TORCH_EPSILON)
    fitted(network.features, state, str(path), "DenseNet-121")
    mean, std = (torch.tensor(values).reshape(1, 3, 1, 1) * 255 for values in (MEAN, STD))
    return _frozen("densenet121", network, lambda x: (x - mean) / std, path)


def _frozen(name: str, network: nn.Module, scaled: Callable[[Tensor], Tensor], path: Path) -> Pretrained:
    network.eval().requires_grad_(False)
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # its types do not tell of it
    embedding: Callable[[Tensor], Tensor] = network.embedding  # type: ignore[assignment]

    def embed(pixels: Tensor) -> Tensor:
        with torch.no_grad():
            return embedding(scaled(pixels))

    return Pretrained(name, int(network.width), embed, of_file(path))  # type: ignore[arg-type]
