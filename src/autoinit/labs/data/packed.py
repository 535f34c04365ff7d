"""One npz file of JPEGs: `jpeg` (bytes one after the other), `offsets` (N + 1), `labels` (N), `split` (N names)."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from .images import Split
from .jpegs import Jpegs, Packed
from .places import Found
from .problems import DataError

TWO_PARTS = {"train": ("train",), "test": ("val", "valid", "test")}
THREE_PARTS = {"train": ("train",), "validation": ("val", "valid"), "test": ("test",)}
KEYS = ("jpeg", "offsets", "labels", "split")


def read(path: Path, size: int, class_names: tuple[str, ...],
         parts: Mapping[str, tuple[str, ...]] = TWO_PARTS) -> Found:  # fmt: skip
    """The images whose split has one of a part's names; with two parts "val" is the test part."""
    jpeg, offsets, labels, split = _arrays(path)
    wrong = _problem(jpeg, offsets, labels, split, len(class_names), parts)
    if wrong:
        raise DataError(wrong, where=str(path), received=", ".join(
            f"{key} {array.dtype}{array.shape}" for key, array in zip(KEYS, (jpeg, offsets, labels, split), strict=True)
        ), fix="fetch it again: it is damaged or another data set")  # fmt: skip
    images = Jpegs(Packed(jpeg, offsets, path.name), size)
    everything = Split(images, labels.astype(np.int64))
    found = {part: everything.take(np.flatnonzero(np.isin(split, names))) for part, names in parts.items()}
    return Found(class_names=class_names, **found)


def _arrays(path: Path) -> list[np.ndarray]:
    try:
        with np.load(path, allow_pickle=False) as file:
            missing = [key for key in KEYS if key not in file.files]
            if not missing:
                return [file[key] for key in KEYS]
            received = ", ".join(file.files)
    except (OSError, ValueError, EOFError, AttributeError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(f"the file cannot be read: {error}", where=str(path),
                        fix="fetch it again: it is damaged or not complete") from error  # fmt: skip
    raise DataError(f"arrays are missing: {', '.join(missing)}", where=str(path), received=received,
                    fix=f"the file must hold {', '.join(KEYS)}")  # fmt: skip


def _problem(jpeg: np.ndarray, offsets: np.ndarray, labels: np.ndarray, split: np.ndarray, classes: int,
             parts: Mapping[str, tuple[str, ...]]) -> str:  # fmt: skip
    count = len(labels) if labels.ndim == 1 else -1
    if jpeg.dtype != np.uint8 or jpeg.ndim != 1 or count < 1 or split.shape != (count,) or split.dtype.kind != "U":
        return "the arrays are not bytes, and one label and one split name for each image"
    if offsets.shape != (count + 1,) or offsets.dtype.kind not in "iu":
        return "there must be one offset more than images"
    if offsets[0] != 0 or offsets[-1] != len(jpeg) or np.any(offsets[1:] <= offsets[:-1]):
        return "the offsets must rise from 0 to the number of bytes"
    if labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() >= classes:
        return f"labels are numbers from 0 to {classes - 1}"
    if unknown := set(np.unique(split)) - {name for names in parts.values() for name in names}:
        return f"unknown names of parts: {', '.join(sorted(unknown))}"
    missing = [part for part, names in parts.items() if not np.isin(split, names).any()]
    return f"there is no image of the {missing[0]} part" if missing else ""
