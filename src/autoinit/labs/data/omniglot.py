"""Omniglot (Lake et al., 2015): 1,623 characters of 50 alphabets, each drawn by 20 people, 105×105 pixels.

As it is distributed: images_background.zip and images_evaluation.zip, packed or not, with
images_background/Greek/character01/0394_01.png; or one npz file: `images` (characters, drawings, height, width), True
for paper, `alphabet` (a name for each character) and `is_background`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...errors import OptionError
from .alphabets import Alphabets, alphabet
from .drawings import Drawings, folder_drawings, npz_drawings, zip_drawings
from .origins import Origin, found
from .places import one_of, places
from .problems import DataError
from .smaller import averaged

SIDE = 105
HALVES = ("images_background", "images_evaluation")
ORIGIN = Origin("images_background.zip and images_evaluation.zip from github.com/brendenlake/omniglot (folder python)",
                "both (packed or unpacked)")  # fmt: skip


def load_omniglot(directory: str | Path | None = None, alphabets: int | Sequence[str] = 20, seed: int = 0, *,
                  size: int = SIDE) -> Alphabets:  # fmt: skip
    """Alphabets with their drawings in three parts.

    alphabets: how many are drawn at random, or their names.
    seed: which ones, and which drawings of a character are in which part; an alphabet's parts are the same whatever
        other alphabets are chosen.
    size: height and width; smaller images are the means of what their pixels cover.
    """
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= SIDE:
        raise OptionError("'size' takes a number of pixels", where="size", received=repr(size),
                          fix=f"from 1 to {SIDE}")  # fmt: skip
    drawings = found("omniglot", ORIGIN, read, directory)
    names = sorted(drawings.names)
    tasks = []
    for name in _chosen(names, alphabets, seed):
        ink = np.where(drawings.paper(name), np.uint8(0), np.uint8(255))
        tasks.append(alphabet(name, averaged(ink, size), (seed, names.index(name))))
    return Alphabets("omniglot", tuple(tasks))


def _chosen(names: list[str], wanted: int | Sequence[str], seed: int) -> list[str]:
    if isinstance(wanted, int) and not isinstance(wanted, bool):
        if not 1 <= wanted <= len(names):
            raise OptionError(f"there are {len(names)} alphabets", where="alphabets", received=wanted,
                              fix=f"from 1 to {len(names)}, or names")  # fmt: skip
        return sorted(np.random.default_rng(seed).permutation(names)[:wanted].tolist())
    if isinstance(wanted, (str, bool)) or not wanted or set(wanted) - set(names) or len(set(wanted)) < len(wanted):
        raise OptionError("'alphabets' takes a number, or different names of alphabets", where="alphabets",
                          received=repr(wanted), fix=f"some of {', '.join(names)}")  # fmt: skip
    return sorted(wanted)


def read(directory: Path) -> Drawings | None:
    """Both halves from their zip files or folders; or omniglot*.npz."""
    for place in places(directory, "omniglot", "omniglot-py", "omniglot/python"):
        there = [half for half in HALVES if (place / half).is_dir() or (place / f"{half}.zip").is_file()]
        if there and len(there) < len(HALVES):
            missing = next(half for half in HALVES if half not in there)
            raise DataError("one half of Omniglot is missing", where=str(place), received=f"no {missing}.zip",
                            fix=ORIGIN.fix)  # fmt: skip
        if there:
            return Drawings.together([folder_drawings(place / half) if (place / half).is_dir()
                                      else zip_drawings(place / f"{half}.zip") for half in HALVES])  # fmt: skip
    if path := one_of(directory, "omniglot*.npz"):
        return npz_drawings(path)
    return None
