"""ImageNet (1,000 classes) and Imagenette (ten of them that are easy to tell apart), 160×160 as in the paper."""

from __future__ import annotations

from pathlib import Path

from . import cache, folders, packed
from .archives import unpacked
from .places import Found, one_of
from .problems import DataError

SIZE = 160
IMAGENETTE = {
    "n01440764": "tench",
    "n02102040": "English springer",
    "n02979186": "cassette player",
    "n03000684": "chain saw",
    "n03028079": "church",
    "n03394916": "French horn",
    "n03417042": "garbage truck",
    "n03425413": "gas pump",
    "n03445777": "golf ball",
    "n03888257": "parachute",
}
NAMES = tuple(IMAGENETTE[folder] for folder in sorted(IMAGENETTE))
BELOW = ("imagenette2", "imagenette2-320", "imagenette2-160", "imagenette")


def imagenette(directory: Path, size: int | None) -> Found | None:
    """Class folders, one npz file, or the archive, which is unpacked into the cache."""
    if found := folders.read(directory, size or SIZE, BELOW, IMAGENETTE):
        return found
    if path := one_of(directory, "imagenette*.npz"):
        return packed.read(path, size or SIZE, NAMES)
    if archive := one_of(directory, "imagenette2.tgz", "imagenette2-320.tgz", "imagenette2-160.tgz"):
        folder = cache.installed(archive.stem, lambda into: unpacked(archive, into))
        return folders.read(folder, size or SIZE, BELOW, IMAGENETTE)
    return None


def imagenette_96px(directory: Path, size: int | None) -> Found | None:
    path = one_of(directory, "imagenette_96px.npz")
    return packed.read(path, size or 96, NAMES) if path else None


def imagenet(directory: Path, size: int | None) -> Found | None:
    below = ("imagenet", "ImageNet", "ILSVRC2012", "ILSVRC/Data/CLS-LOC", "imagenet/ILSVRC/Data/CLS-LOC")
    found = folders.read(directory, size or SIZE, below)
    if found and set(found.class_names) == set(IMAGENETTE):
        raise DataError("this is Imagenette, ten classes of ImageNet", where="imagenet", received=str(directory),
                        fix="load 'imagenette', or name the directory of ImageNet")  # fmt: skip
    return found
