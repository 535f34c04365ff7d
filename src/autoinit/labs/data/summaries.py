"""A few lines about a data set: parts, sizes, classes, statistics."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from pathlib import Path
from typing import Any

import numpy as np

from .alphabets import Alphabets
from .comments import Comments
from .images import Images
from .table import Table

PARTS = ("train", "validation", "test")


@singledispatch
def summary(data: Any) -> str:
    raise TypeError(f"no summary of {type(data).__name__}")


@summary.register
def _(data: Images) -> str:
    lines = [f"{data.name}: {data.classes} classes, {' × '.join(map(str, data.shape))}"]
    for part in PARTS:
        split = getattr(data, part)
        counts = np.bincount(split.labels, minlength=data.classes)
        lines.append(f"  {part:<10} {len(split):>9,} images, {counts.min():,} to {counts.max():,} of each class")
    for what in ("mean", "std"):
        lines.append(f"  {what:<10} {'  '.join(f'{value:.4f}' for value in getattr(data, what))}")
    return "\n".join(lines)


@summary.register
def _(data: Comments) -> str:
    return "\n".join([f"{data.name}: texts, {data.classes} classes", *_shares(data, "texts", data.class_names)])


@summary.register
def _(data: Table) -> str:
    head = f"{data.name}: {data.features} features, {data.classes} classes"
    return "\n".join([head, *_shares(data, "rows", data.class_names)])


@summary.register
def _(data: Alphabets) -> str:
    classes = [task.classes for task in data.tasks]
    lines = [f"{data.name}: {len(data.tasks)} tasks of {min(classes)} to {max(classes)} characters, "
             f"{' × '.join(map(str, data.shape))}"]  # fmt: skip
    for part in PARTS:
        lines.append(f"  {part:<10} {sum(len(getattr(task, part)) for task in data.tasks):>9,} images")
    return "\n".join([*lines, f"  {'tasks':<10} {', '.join(task.name for task in data.tasks)}"])


@summary.register
def _(path: Path) -> str:
    return f"{path.name}: {path.stat().st_size:,} bytes"


def _shares(data: Comments | Table, what: str, names: Sequence[str]) -> list[str]:
    lines = []
    for part in PARTS:
        labels = getattr(data, part).labels
        shares = np.bincount(labels, minlength=len(names)) / max(len(labels), 1)
        told = ", ".join(f"{share:.1%} {name}" for share, name in zip(shares, names, strict=True))
        lines.append(f"  {part:<10} {len(labels):>9,} {what}, {told}")
    return lines
