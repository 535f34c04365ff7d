"""Images that stay encoded until they are indexed."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from .problems import DataError

FORMATS = ("JPEG", "PNG")
"""ImageNet has a few PNGs under the name of JPEGs."""


class Sources(Protocol):
    """Encoded images by number."""

    def __len__(self) -> int: ...

    def open(self, number: int) -> tuple[Any, str]:
        """Something that Pillow opens, and its name in messages."""


class Jpegs:
    """Looks like a uint8 array (N, size, size, 3); `images[5]`, `images[3:9]`, `images[[4, 2]]` decode what they name.

    Each image is scaled until its shorter side is `size`, and the centre is cut out. `take` chooses without decoding,
    `original` gives one image in its own size.
    """

    dtype = np.dtype(np.uint8)
    ndim = 4

    def __init__(self, sources: Sources, size: int, chosen: np.ndarray | None = None) -> None:
        self.sources, self.size = sources, size
        self.chosen = np.arange(len(sources)) if chosen is None else chosen

    def __len__(self) -> int:
        return len(self.chosen)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        return len(self), self.size, self.size, 3

    def take(self, chosen: Any) -> Jpegs:
        return Jpegs(self.sources, self.size, self.chosen[chosen])

    def __getitem__(self, index: Any) -> np.ndarray:
        if isinstance(index, tuple):
            raise IndexError("encoded images are chosen by their number alone; index what that gives")
        chosen = self.chosen[index]
        if np.ndim(chosen) == 0:
            return self._decoded(int(chosen))
        images = np.empty((len(chosen), self.size, self.size, 3), np.uint8)
        for place, number in enumerate(chosen):
            images[place] = self._decoded(int(number))
        return images

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        if copy is False:
            raise ValueError("encoded images become an array only by decoding them")
        return self[:].astype(dtype or np.uint8, copy=False)

    def original(self, index: int) -> np.ndarray:
        """One image as uint8 (height, width, 3), not scaled."""
        return self._opened(int(self.chosen[index]), None)

    def digest(self) -> str:
        """SHA-256 of the size and of every encoded image, in order: equal for the same images, wherever they lie."""
        whole = hashlib.sha256(f"{self.size} {len(self)}".encode())
        for number in self.chosen:
            source, name = self.sources.open(int(number))
            try:
                content = source.read_bytes() if isinstance(source, Path) else source.getvalue()
            except OSError as error:
                raise DataError(f"the image cannot be read: {error}", where=name, fix="put it back") from error
            whole.update(hashlib.sha256(content).digest())
        return whole.hexdigest()

    def _decoded(self, number: int) -> np.ndarray:
        return self._opened(number, self.size)

    def _opened(self, number: int, size: int | None) -> np.ndarray:
        from PIL import Image

        source, name = self.sources.open(number)
        try:
            with Image.open(source, formats=FORMATS) as picture:
                if size is not None:
                    picture.draft("RGB", (size, size))  # JPEG decodes at a half, quarter or eighth for nothing
                coloured = picture.convert("RGB")
                return np.asarray(coloured if size is None else _centred(coloured, size))
        except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
            raise DataError(f"the image cannot be decoded: {error}", where=name,
                            fix="fetch it again: it is damaged or not complete") from error  # fmt: skip


def _centred(picture: Any, size: int) -> Any:
    from PIL import Image

    width, height = picture.size
    side = min(width, height)
    left, top = (width - side) / 2, (height - side) / 2
    if (width, height) == (size, size):
        return picture
    return picture.resize((size, size), Image.Resampling.BILINEAR, box=(left, top, left + side, top + side))


class Files:
    """One file for each image, below one folder; names are kept as bytes in one array, for there may be a million."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self.folder = folder
        self.names = np.array([name.encode() for name in names], dtype=np.bytes_)

    def __len__(self) -> int:
        return len(self.names)

    def open(self, number: int) -> tuple[Any, str]:
        path = self.folder / self.names[number].decode()
        return path, str(path)


class Packed:
    """All images one after the other in one array of bytes."""

    def __init__(self, content: np.ndarray, offsets: np.ndarray, name: str) -> None:
        self.content, self.offsets, self.name = content, offsets, name

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def open(self, number: int) -> tuple[Any, str]:
        start, end = self.offsets[number], self.offsets[number + 1]
        return io.BytesIO(self.content[start:end].tobytes()), f"{self.name}: image {number}"
