"""The images of an experiment: a data set by name, perhaps with smaller images, perhaps fewer of them to test on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

from autoinit.labs.data import Images, load
from autoinit.labs.data.images import balanced
from autoinit.labs.data.smaller import shrunk

DECODED = ("imagenette", "imagenette_96px", "imagenet")
"""Sets whose images are decoded from JPEGs, at any size."""


@dataclass(frozen=True)
class Pictures:
    """`side`: height and width, None for the set's own; `tested`: how many test images, equally many of each class."""

    name: str = "cifar10"
    side: int | None = None
    tested: int | None = None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Pictures:
        return cls(**given)

    def load(self) -> Images:
        """All training images are trained on, the test images are tested on; read once per process."""
        return _loaded(self)


@lru_cache(maxsize=1)
def _loaded(pictures: Pictures) -> Images:
    decoded = pictures.name in DECODED
    found = load(pictures.name, validation=0, size=pictures.side if decoded else None)
    if pictures.tested is not None and pictures.tested < len(found.test):
        found = replace(found, test=found.test.take(balanced(found.test.labels, pictures.tested, seed=0)))
    return found if decoded or pictures.side is None else shrunk(found, pictures.side)
