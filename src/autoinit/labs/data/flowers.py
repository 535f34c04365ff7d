"""Oxford Flowers 102: 8,189 images of 102 kinds of flowers; 10 of each to train on, 10 to validate, the rest to test.

As it is distributed: 102flowers.tgz (jpg/image_00001.jpg to jpg/image_08189.jpg), imagelabels.mat (`labels`, 1 to 102,
one for each image) and setid.mat (`trnid`, `valid`, `tstid`: numbers of images, from 1). Or one npz file of JPEGs.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from . import cache, packed
from .archives import unpacked
from .flower_names import FLOWERS
from .images import Split
from .jpegs import Files, Jpegs
from .origins import Origin
from .places import Found, exists, one_of, places
from .problems import DataError

SIZE = 128
ARCHIVE, LABELS, PARTS = "102flowers.tgz", "imagelabels.mat", "setid.mat"
BELOW = ("flowers-102", "flowers102", "102flowers")
KEYS = {"train": "trnid", "validation": "valid", "test": "tstid"}
ORIGIN = Origin("102flowers.tgz, imagelabels.mat and setid.mat from www.robots.ox.ac.uk/~vgg/data/flowers/102",
                "the three of them (the archive packed or unpacked to a folder 'jpg')")  # fmt: skip


def read(directory: Path, size: int | None) -> Found | None:
    """The three official files, the images packed or not; or flowers102*.npz."""
    beside = directory.parent if directory.is_file() and directory.name == ARCHIVE else directory
    for place in places(beside, *BELOW):
        if (place / "jpg").is_dir() and exists(place, (LABELS, PARTS)):
            return _official(place, place / "jpg", size or SIZE)
        if (place / ARCHIVE).is_file():
            folder = cache.installed(Path(ARCHIVE).stem, partial(unpacked, place / ARCHIVE))
            return _official(place, folder / "jpg", size or SIZE)
        if exists(place, (LABELS, PARTS)):
            raise DataError("the labels are here, the images are not", where=str(place),
                            received="neither a folder 'jpg' nor 102flowers.tgz", fix=ORIGIN.fix)  # fmt: skip
    if path := one_of(directory, "flowers102*.npz"):
        return packed.read(path, size or SIZE, FLOWERS, packed.THREE_PARTS)
    return None


def _official(place: Path, images: Path, size: int) -> Found:
    labels = _numbers(place / LABELS, "labels", len(FLOWERS)) - 1
    names = [f"image_{number:05d}.jpg" for number in range(1, len(labels) + 1)]
    if lost := [name for name in names if not (images / name).is_file()]:
        raise DataError(f"{len(lost):,} of {len(names):,} images are missing", where=str(images),
                        received=f"no {lost[0]}", fix="unpack 102flowers.tgz again")  # fmt: skip
    parts = {part: _numbers(place / PARTS, key, len(labels)) - 1 for part, key in KEYS.items()}
    if len(np.unique(together := np.concatenate([*parts.values()]))) != len(together):
        raise DataError("an image is in two parts", where=str(place / PARTS),
                        fix=f"fetch {PARTS} again: it is damaged or another file")  # fmt: skip
    everything = Split(Jpegs(Files(images, names), size), labels)
    return Found(class_names=FLOWERS, **{part: everything.take(chosen) for part, chosen in parts.items()})


def _numbers(path: Path, key: str, largest: int) -> np.ndarray:
    """Numbers from 1 to `largest` out of a MATLAB file."""
    if not path.is_file():
        raise DataError("one of the three files of Oxford Flowers is missing", where=str(path.parent),
                        received=path.name, fix=ORIGIN.fix)  # fmt: skip
    content = _matlab(path)
    again = f"fetch {path.name} again: it is damaged or another file"
    if key not in content:
        raise DataError(f"there is no array '{key}'", where=str(path),
                        received=", ".join(name for name in content if not name.startswith("__")) or "no array",
                        fix=again)  # fmt: skip
    values = np.asarray(content[key])
    if values.dtype.kind not in "iuf" or values.size == 0 or max(values.shape) != values.size:
        raise DataError(f"'{key}' is one row of numbers", where=str(path), received=f"{values.dtype}{values.shape}",
                        fix=again)  # fmt: skip
    numbers = values.reshape(-1).astype(np.int64)
    if np.any(numbers != values.reshape(-1)) or numbers.min() < 1 or numbers.max() > largest:
        raise DataError(f"'{key}' holds whole numbers from 1 to {largest:,}", where=str(path),
                        received=f"{values.min()} to {values.max()}", fix=again)  # fmt: skip
    return numbers


def _matlab(path: Path) -> dict[str, Any]:
    from scipy.io import loadmat

    try:
        return loadmat(path)  # type: ignore[no-any-return]
    except Exception as error:  # damaged bytes fail in every possible way
        raise DataError(f"the MATLAB file cannot be read: {type(error).__name__}: {error}", where=str(path),
                        fix="fetch it again: it is damaged or not complete") from error  # fmt: skip
