"""flaxmodels: VGG and ResNet. Its StyleGAN2 calls `jnp.reshape` with arguments that it no longer has."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

from autoinit import Input

from ..zoos.entry import Entry
from .declare import BATCH, CLASSES, entry

PIXELS = Input((BATCH, 64, 64, 3), mean=0.5, variance=1 / 12)
"""They standardise pixels between 0 and 1 themselves."""


def build(name: str, **options: Any) -> Any:
    return getattr(import_module("flaxmodels"), name)(pretrained=None, **options)


ENTRIES: list[Entry] = [
    entry("flaxmodels", "VGG16", "VGG", partial(build, "VGG16", include_head=False, normalize=True), PIXELS),
    entry("flaxmodels", "ResNet18", "ResNet", partial(build, "ResNet18", num_classes=CLASSES, normalize=True), PIXELS),
]
