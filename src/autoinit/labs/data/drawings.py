"""Drawings of characters by alphabet, decoded only for the alphabets that are asked for."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from .problems import DataError
from .zips import content, opened

DRAWINGS, SIDE = 20, 105
AGAIN = "fetch it again: it is damaged or not complete"


@dataclass(frozen=True)
class Drawings:
    """`paper(alphabet)`: bool (characters, 20, 105, 105), True for paper, False for ink."""

    names: tuple[str, ...]
    paper: Callable[[str], np.ndarray]

    @staticmethod
    def together(halves: Sequence[Drawings]) -> Drawings:
        owner = {name: half for half in halves for name in half.names}
        return Drawings(tuple(owner), lambda name: owner[name].paper(name))


def zip_drawings(path: Path) -> Drawings:
    with opened(path) as file:
        listed = _listed((entry.filename for entry in file.infolist()), str(path))

    def paper(name: str) -> np.ndarray:
        with opened(path) as file:
            return _decoded(listed[name], lambda member: content(file, file.getinfo(member)), str(path))

    return Drawings(tuple(listed), paper)


def folder_drawings(folder: Path) -> Drawings:
    files = (path.relative_to(folder.parent).as_posix() for path in sorted(folder.glob("*/*/*.png")))
    listed = _listed(files, str(folder))
    return Drawings(tuple(listed), lambda name: _decoded(
        listed[name], lambda member: (folder.parent / member).read_bytes(), str(folder)))  # fmt: skip


def _listed(files: Iterable[str], where: str) -> dict[str, list[list[str]]]:
    """Files of images_background/<alphabet>/<character>/<number>_<drawing>.png by alphabet and character."""
    tree: dict[str, dict[str, list[str]]] = {}
    for file in files:
        parts = PurePosixPath(file).parts
        if len(parts) == 4 and parts[3].endswith(".png") and not parts[3].startswith("."):
            tree.setdefault(parts[1], {}).setdefault(parts[2], []).append(file)
    if not tree:
        raise DataError("there is no image alphabet/character/….png", where=where, fix=AGAIN)
    for name, characters in tree.items():
        for character, drawings in characters.items():
            if len(drawings) != DRAWINGS:
                raise DataError(f"a character has {DRAWINGS} drawings", where=where,
                                received=f"{name}/{character}: {len(drawings)}", fix=AGAIN)  # fmt: skip
    return {name: [sorted(tree[name][character]) for character in sorted(tree[name])] for name in sorted(tree)}


def _decoded(characters: list[list[str]], read: Callable[[str], bytes], where: str) -> np.ndarray:
    paper = np.empty((len(characters), DRAWINGS, SIDE, SIDE), np.bool_)
    for k, drawings in enumerate(characters):
        for i, file in enumerate(drawings):
            paper[k, i] = _bits(read(file), f"{where}: {file}")
    return paper


def _bits(png: bytes, where: str) -> np.ndarray:
    from PIL import Image

    try:
        with Image.open(io.BytesIO(png), formats=["PNG"]) as picture:
            bits = np.asarray(picture.convert("L")) > 127
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise DataError(f"the image cannot be decoded: {error}", where=where, fix=AGAIN) from error
    if bits.shape != (SIDE, SIDE):
        raise DataError(f"a drawing has {SIDE}×{SIDE} pixels", where=where, received=bits.shape, fix=AGAIN)
    return bits


def npz_drawings(path: Path) -> Drawings:
    """The form is in `omniglot.py`."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays: dict[str, Any] = {key: file[key] for key in ("images", "alphabet") if key in file.files}
            there = ", ".join(file.files)
    except (OSError, ValueError, EOFError, AttributeError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(f"the file cannot be read: {error}", where=str(path), fix=AGAIN) from error
    if len(arrays) < 2:
        raise DataError("arrays are missing: images and alphabet", where=str(path), received=there,
                        fix="the file must hold images and alphabet")  # fmt: skip
    images, names = arrays["images"], arrays["alphabet"]
    fits = images.dtype == np.bool_ and images.ndim == 4 and images.shape[1:] == (DRAWINGS, SIDE, SIDE)
    if not fits or names.shape != images.shape[:1] or names.dtype.kind != "U" or not len(names):
        raise DataError(f"images are bool (characters, {DRAWINGS}, {SIDE}, {SIDE}), with one name of an alphabet for "
                        "each character", where=str(path),
                        received=f"images {images.dtype}{images.shape}, alphabet {names.dtype}{names.shape}",
                        fix="fetch it again: it is damaged or another data set")  # fmt: skip
    return Drawings(tuple(sorted(set(names.tolist()))), lambda name: images[names == name])
