"""All zoos together: which models there are, and the entry of a name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from importlib.util import find_spec

from .entry import Entry

ZOOS = ("timm", "transformers", "torchvision", "libraries")
INSTALLED = ZOOS[:-1]
"""Those whose packages the environment has; the libraries are installed in a folder of their own, for who asks."""


def entries(zoos: Iterable[str] = INSTALLED, everything: bool = False) -> list[Entry]:
    """The models of these zoos: some of every family, or all."""
    return [entry for zoo in zoos for entry in _OF_ZOO[zoo](everything)]


def choose(names: Iterable[str], patterns: Iterable[str]) -> list[str]:
    """The names that match one of the patterns (all, if there is no pattern)."""
    patterns = list(patterns)
    return [n for n in names if not patterns or any(fnmatchcase(n, p) for p in patterns)]


def find(name: str) -> Entry:
    """The entry of "zoo:model"."""
    zoo, _, model = name.partition(":")
    if zoo == "timm":
        from . import timm_models

        return timm_models.entry(model)
    if zoo == "torchvision":
        from . import torchvision_models

        return torchvision_models.entry(model)
    if zoo == "libraries":
        return next(entry for entry in _libraries(True) if entry.name == name)
    return next(entry for entry in _transformers(True) if entry.name == name)


def _timm(everything: bool) -> list[Entry]:
    from . import timm_models

    return timm_models.entries(everything)


def _torchvision(everything: bool) -> list[Entry]:
    from . import torchvision_models

    return torchvision_models.entries(everything)


def _transformers(everything: bool) -> list[Entry]:
    """Small configurations, always all of them."""
    if find_spec("benchmarks.zoos.transformers_models") is None:
        return []
    from . import transformers_models

    return list(transformers_models.ENTRIES)


def _libraries(everything: bool) -> list[Entry]:
    """Small configurations, always all of them; packages of a folder of their own."""
    from . import library_models

    library_models.activate()
    return list(library_models.ENTRIES)


_OF_ZOO: dict[str, Callable[[bool], list[Entry]]] = {
    "timm": _timm,
    "transformers": _transformers,
    "torchvision": _torchvision,
    "libraries": _libraries,
}
