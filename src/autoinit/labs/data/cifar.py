"""CIFAR-10 in the two forms in which it is distributed, unpacked or in their archives.

Binary: records of 1 + 3072 bytes: the label, then 1024 red, 1024 green and 1024 blue values, row by row.
Python: pickled dictionaries with `data` (N, 3072) in the same order, and `labels`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .archives import members
from .images import Split
from .pickles import load_batch
from .places import Found, exists, one_of, places
from .problems import DataError

TRAIN = tuple(f"data_batch_{k}" for k in range(1, 6))
TEST = "test_batch"
RECORD = 1 + 3 * 32 * 32
CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
Batch = tuple[np.ndarray, np.ndarray]


def read(directory: Path) -> Found | None:
    """The data set if its files lie here or in the usual folder; None if there is none of them."""
    for place in places(directory, "cifar-10-batches-bin", "cifar10/cifar-10-batches-bin", "cifar10"):
        if exists(place, [f"{name}.bin" for name in (*TRAIN, TEST)]):
            return _joined(partial(_binary_in, place))
    for place in places(directory, "cifar-10-batches-py", "cifar10/cifar-10-batches-py", "cifar10"):
        if exists(place, (*TRAIN, TEST)):
            return _joined(partial(_pickle_in, place))
    if binaries := one_of(directory, "cifar-10-binary.tar.gz"):
        binary = members(binaries, [f"{name}.bin" for name in (*TRAIN, TEST)])
        return _joined(lambda name: _from_binary(binary[f"{name}.bin"], binaries, name))
    if pickles := one_of(directory, "cifar-10-python.tar.gz"):
        pickled: Mapping[str, bytes] = members(pickles, (*TRAIN, TEST))
        return _joined(lambda name: _from_pickle(pickled[name], pickles, name))
    return None


def _binary_in(place: Path, name: str) -> Batch:
    return _from_binary(_content(place / f"{name}.bin"), place, name)


def _pickle_in(place: Path, name: str) -> Batch:
    return _from_pickle(_content(place / name), place, name)


def _content(path: Path) -> bytes:
    if not path.is_file():
        raise DataError("one of CIFAR-10's six files is missing", where=str(path.parent), received=path.name,
                        fix="unpack the archive again")  # fmt: skip
    return path.read_bytes()


def _joined(batch: Callable[[str], Batch]) -> Found:
    parts = [batch(name) for name in (*TRAIN, TEST)]
    sizes = [len(labels) for _, labels in parts]
    if len(set(sizes)) > 1:
        received = ", ".join(f"{name} {size:,}" for name, size in zip((*TRAIN, TEST), sizes, strict=True))
        raise DataError("the six files of CIFAR-10 hold equally many images (10,000 each)", where="cifar10",
                        received=received, fix="fetch the shorter ones again: they are not complete")  # fmt: skip
    train = Split(np.concatenate([images for images, _ in parts[:-1]]), np.concatenate([y for _, y in parts[:-1]]))
    return Found(train, Split(*parts[-1]), CLASSES)


def _from_binary(content: bytes, place: Path, name: str) -> Batch:
    if not content or len(content) % RECORD:
        raise DataError(f"the file is not made of records of {RECORD} bytes", where=f"{place}: {name}.bin",
                        received=f"{len(content):,} bytes (the original has 30,730,000)",
                        fix="fetch it again: it is damaged or not complete")  # fmt: skip
    records = np.frombuffer(content, np.uint8).reshape(-1, RECORD)
    return _upright(records[:, 1:]), _checked(records[:, 0], f"{place}: {name}.bin")


def _from_pickle(content: bytes, place: Path, name: str) -> Batch:
    where = f"{place}: {name}"
    batch = load_batch(content, where)
    data, labels = batch.get("data"), batch.get("labels")
    shape = data.shape if isinstance(data, np.ndarray) and data.dtype == np.uint8 else ()
    if data is None or not isinstance(labels, list) or not labels or shape != (len(labels), RECORD - 1):
        received = f"keys {', '.join(sorted(batch)) or 'none'}, data {getattr(data, 'shape', type(data).__name__)}"
        raise DataError("a batch holds 'data' (N × 3072 bytes) and N 'labels'", where=where, received=received,
                        fix="fetch it again: it is damaged or not CIFAR-10")  # fmt: skip
    return _upright(data), _checked(labels, where)


def _upright(planes: np.ndarray) -> np.ndarray:
    """(N, 3072) in planes of colour to (N, 32, 32, 3)."""
    return np.ascontiguousarray(planes.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1))


def _checked(labels: np.ndarray | list[Any], where: str) -> np.ndarray:
    given = np.asarray(labels)
    if given.dtype.kind not in "iu" or given.ndim != 1 or given.min() < 0 or given.max() >= len(CLASSES):
        raise DataError("labels are numbers from 0 to 9", where=where, received=f"{given.dtype}, up to {given.max()}",
                        fix="fetch it again: it is damaged or not CIFAR-10")  # fmt: skip
    return given.astype(np.int64)


def as_binary(images: np.ndarray, labels: np.ndarray) -> bytes:
    """The inverse of reading: images (N, 32, 32, 3) and labels as records."""
    planes = images.transpose(0, 3, 1, 2).reshape(len(images), -1)
    return np.concatenate([labels.astype(np.uint8)[:, None], planes], axis=1).tobytes()
