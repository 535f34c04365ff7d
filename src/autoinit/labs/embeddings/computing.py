"""Compute embeddings of a set of images and of augmented views of its training part; every piece once.

A piece (a part of the set, or one view of the training part) is a folder in the cache, named after what it depends on:
the encoded images, their size, the weights, the augmentation, the seed. It appears there whole or not at all: an
interrupted computation goes on where it stopped, and more views later add to those that are there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ...core.files import replace_text, replacing
from ...errors import OptionError
from ..data import cache
from ..data.examples import Examples, Parts
from ..data.images import Images, Split
from ..data.packages import report
from ..data.problems import DataError
from .augmentation import Augmentation
from .networks import Pretrained

BATCH = 8
"""Larger ones leave a processor's cache, and are slower there."""
FILE = "embeddings.npy"
FORM = 1
"""Raised when the same images would give other numbers."""


@dataclass(frozen=True)
class Embeddings(Parts):
    """Inputs are float32 (N, width); `views`: float32 (k, N, width), of the training images in the same order."""

    name: str
    network: str
    views: np.ndarray
    class_names: tuple[str, ...]

    @property
    def width(self) -> int:
        return int(self.train.inputs.shape[1])

    @property
    def classes(self) -> int:
        return len(self.class_names)

    def epoch(self, rng: np.random.Generator) -> Examples:
        """Every training image once, as one of its views at random; without views as it is."""
        if not len(self.views):
            return self.train
        count = len(self.train)
        return Examples(self.views[rng.integers(0, len(self.views), count), np.arange(count)], self.train.labels)


def embeddings(images: Images, network: Pretrained, *, views: int = 0, seed: int = 0,
               augmentation: Augmentation = Augmentation()) -> Embeddings:  # noqa: B008 (it is frozen)
    """What `network` makes of the three parts, and of `views` random views of every training image.

    seed: of the views; view k of image i is the same whatever else is computed.
    """
    if isinstance(views, bool) or not isinstance(views, int) or views < 0:
        raise OptionError("'views' takes a number of views for each training image", where="views",
                          received=repr(views), fix="views=8")  # fmt: skip
    parts = {name: Examples(_piece(images, name, network), getattr(images, name).labels)
             for name in ("train", "validation", "test")}  # fmt: skip
    width = parts["train"].inputs.shape[1]
    made = [_piece(images, "train", network, view, seed, augmentation) for view in range(views)]
    stacked = np.stack(made) if made else np.empty((0, len(images.train), width), np.float32)
    return Embeddings(**parts, name=images.name, network=network.name, views=stacked, class_names=images.class_names)


def _piece(images: Images, part: str, network: Pretrained, view: int | None = None, seed: int = 0,
           augmentation: Augmentation | None = None) -> np.ndarray:  # fmt: skip
    split: Split = getattr(images, part)
    about: dict[str, Any] = {"form": FORM, "images": _digest(split.images), "network": network.name,
                             "weights": network.digest}  # fmt: skip
    label = f"{images.name}-{network.name}-{images.shape[0]}px-{part}"
    change: Callable[[int, np.ndarray], np.ndarray] | None = None
    if view is not None and augmentation is not None:
        about |= {"view": view, "seed": seed, "augmentation": asdict(augmentation)}
        label += f"-view{view}"
        chosen = augmentation

        def change(number: int, image: np.ndarray) -> np.ndarray:
            return chosen.view(image, np.random.default_rng((seed, view, number)))

    key = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:16]

    def compute(folder: Path) -> None:
        report(f"{label}: {len(split):,} embeddings")
        rows = _computed(split.images, network, change)
        with replacing(folder / FILE) as file:
            np.save(file, rows)
        replace_text(folder / "about.json", json.dumps(about, indent=1, sort_keys=True))

    return _kept(cache.installed(f"{label}-{key}", compute, below="embeddings") / FILE, (len(split), network.width))


def _digest(images: Any) -> str:
    if isinstance(images, np.ndarray):
        head = f"{images.shape} {images.dtype}".encode()
        return hashlib.sha256(head + np.ascontiguousarray(images).tobytes()).hexdigest()
    return str(images.digest())


def _computed(images: Any, network: Pretrained, change: Callable[[int, np.ndarray], np.ndarray] | None) -> np.ndarray:
    rows = np.empty((len(images), network.width), np.float32)
    for start in range(0, len(images), BATCH):
        batch = images[start : start + BATCH]
        if change is not None:
            batch = np.stack([change(start + k, image) for k, image in enumerate(batch)])
        pixels = torch.from_numpy(batch).float().permute(0, 3, 1, 2)  # in the order of channels last, the faster one
        rows[start : start + BATCH] = network.embed(pixels).numpy()
    return rows


def _kept(path: Path, shape: tuple[int, int]) -> np.ndarray:
    fix = f"remove {path.parent}: it is then computed again"
    try:
        rows: np.ndarray = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise DataError(f"the embeddings in the cache cannot be read: {error}", where=str(path), fix=fix) from error
    if rows.shape != shape or rows.dtype != np.float32 or not np.isfinite(rows).all():
        raise DataError(f"the embeddings in the cache are not finite numbers of shape {shape}", where=str(path),
                        received=f"{rows.dtype}{rows.shape}", fix=fix)  # fmt: skip
    return rows
