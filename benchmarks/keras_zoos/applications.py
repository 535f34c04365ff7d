"""keras.applications: all image classifiers, without pretrained weights, at reduced sizes."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import keras

import autoinit

from ..zoos.entry import Entry

BATCH, SIZE, CLASSES = 4, 128, 100
OTHERS = {"Inception": 160, "Xception": 160, "NASNet": 160, "VGG": 96}
"""Architectures that leave nothing of a small image for their last batch norms; or whose weights grow with it."""
PIXELS = ("ConvNeXt", "EfficientNet", "MobileNetV3")
"""Architectures that standardise pixels between 0 and 255 themselves; the others are fed what is standardised."""


def names() -> list[str]:
    return [name for name in dir(keras.applications) if name[0].isupper()]


def entries() -> list[Entry]:
    return [entry(name) for name in names()]


def entry(name: str, size: int | None = None) -> Entry:
    """`size`: of the images, if not the one that suits the architecture."""
    size = size or next((s for start, s in OTHERS.items() if name.startswith(start)), SIZE)
    shape = (BATCH, size, size, 3)
    inputs = autoinit.Input(shape, mean=127.5, variance=64.0**2) if name.startswith(PIXELS) else shape
    return Entry(f"applications:{name}", family(name), partial(build, name, size), inputs)


def family(name: str) -> str:
    """ResNet50V2 and ResNet101V2 are ResNetV2, EfficientNetB0 and B7 EfficientNet."""
    return re.sub(r"(B\d|Tiny|Small|Base|Large|XLarge|Mobile|[SML])$", "", re.sub(r"\d{2,}", "", name)) or name


def build(name: str, size: int) -> Any:
    return getattr(keras.applications, name)(weights=None, input_shape=(size, size, 3), classes=CLASSES)
