"""Everything that can be listed, installed and told about by name: sets of images and all the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from . import adult, omniglot, pretrained, toxicity
from .catalogue import CATALOGUE
from .loading import load
from .origins import Origin


@dataclass(frozen=True)
class Known:
    """`load(directory, seed)` gives what `summary` tells about."""

    origin: Origin
    load: Callable[[Path | None, int], Any]


def _image_set(name: str, directory: Path | None, seed: int) -> Any:
    return load(name, directory, seed=seed)


SETS = {name: Known(entry.origin, partial(_image_set, name)) for name, entry in CATALOGUE.items()} | {
    "toxicity": Known(toxicity.ORIGIN, lambda directory, _: toxicity.load_toxicity(directory)),
    "adult": Known(adult.ORIGIN, adult.load_adult),
    "omniglot": Known(omniglot.ORIGIN, lambda directory, seed: omniglot.load_omniglot(directory, seed=seed)),
    "efficientnet_lite0": Known(pretrained.ORIGIN, lambda directory, _: pretrained.efficientnet_lite0_file(directory)),
}
