"""jax_resnet: residual networks, one or two of every family, as published."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

from ..zoos.entry import Entry
from .declare import CLASSES, IMAGES, entry

NAMES = ("ResNet18", "ResNet50", "ResNeXt50", "ResNetD18", "ResNeSt50")


def build(name: str) -> Any:
    return getattr(import_module("jax_resnet"), name)(n_classes=CLASSES)


ENTRIES: list[Entry] = [
    entry("jax_resnet", name, name.rstrip("0123456789"), partial(build, name), IMAGES) for name in NAMES
]
