"""MNIST and Fashion-MNIST: four idx files, plain or gzipped.

An idx file: two zero bytes, a type (8 for bytes), the number of axes, the axes' sizes as big-endian 32-bit numbers,
the values.
"""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from . import checksums
from .archives import LARGEST
from .images import Split
from .places import Found, exists, places
from .problems import DataError

STEMS = ("train-images", "train-labels", "t10k-images", "t10k-labels")
MNIST_CLASSES = tuple("0123456789")
FASHION_CLASSES = ("T-shirt/top", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag",
                   "ankle boot")  # fmt: skip


def mnist(directory: Path) -> Found | None:
    return _read(directory, "mnist", ("mnist", "MNIST/raw", "MNIST"), MNIST_CLASSES)


def fashion_mnist(directory: Path) -> Found | None:
    folders = ("fashion_mnist", "fashion-mnist", "fashion", "FashionMNIST/raw", "FashionMNIST")
    return _read(directory, "fashion_mnist", folders, FASHION_CLASSES)


def _read(directory: Path, name: str, folders: Sequence[str], class_names: tuple[str, ...]) -> Found | None:
    for place in places(directory, *folders):
        if exists(place, (spelling for stem in STEMS for spelling in _spellings(stem))):
            break
    else:
        return None
    train = Split(parsed(_file(place, "train-images"), 3)[..., None], _labels(_file(place, "train-labels"), name))
    test = Split(parsed(_file(place, "t10k-images"), 3)[..., None], _labels(_file(place, "t10k-labels"), name))
    for split, stem in ((train, "train"), (test, "t10k")):
        if len(split.images) != len(split.labels):
            raise DataError("there must be one label for each image", where=f"{place}: {stem}-…",
                            received=f"{len(split.images):,} images, {len(split.labels):,} labels",
                            fix="fetch the four files again, from one place")  # fmt: skip
    return Found(train, test, class_names)


def _spellings(stem: str) -> list[str]:
    kind = "idx3-ubyte" if stem.endswith("images") else "idx1-ubyte"
    return [f"{stem}{dot}{kind}{end}" for end in ("", ".gz") for dot in ("-", ".")]


def _file(place: Path, stem: str) -> Path:
    for spelling in _spellings(stem):
        if (place / spelling).is_file():
            return place / spelling
    raise DataError("one of the four files is missing", where=str(place), received=_spellings(stem)[0],
                    fix="put it there, plain or gzipped")  # fmt: skip


def parsed(path: Path, axes: int) -> np.ndarray:
    """The bytes of an idx file, in its shape."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            content = file.read(LARGEST)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"the file cannot be read: {error}", where=str(path),
                        fix="fetch it again: it is damaged or not complete") from error  # fmt: skip
    start = 4 + 4 * axes
    if len(content) < start or content[:4] != bytes([0, 0, 8, axes]):
        raise DataError(f"not an idx file of bytes with {axes} axes", where=str(path), received=content[:4].hex(" "),
                        fix="fetch it again; a page that was saved instead of the file begins differently")  # fmt: skip
    shape = struct.unpack(f">{axes}I", content[4:start])
    promised = int(np.prod(shape, dtype=object))
    if promised != len(content) - start or not promised:
        raise DataError("the file is not as long as its head says", where=str(path),
                        received=f"{len(content) - start:,} values for {' × '.join(map(str, shape))}",
                        fix="fetch it again: it is damaged or not complete")  # fmt: skip
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape).copy()


def _labels(path: Path, name: str) -> np.ndarray:
    """The two data sets have files of the same names: the labels tell which one this is."""
    labels = parsed(path, 1)
    if labels.max() > 9:
        raise DataError("labels are numbers from 0 to 9", where=str(path), received=f"up to {labels.max()}",
                        fix="fetch it again: it is damaged or another data set")  # fmt: skip
    head = bytes([0, 0, 8, 1]) + struct.pack(">I", len(labels))
    digest = checksums.of_bytes(head + labels.tobytes())
    for other in {"mnist", "fashion_mnist"} - {name}:
        if digest in checksums.FILES[other].values():
            raise DataError(f"these are the labels of '{other}', not of '{name}'", where=str(path),
                            fix=f"keep the files of the two in folders of their own, '{other}' and '{name}'"
                            )  # fmt: skip
    return labels.astype(np.int64)
