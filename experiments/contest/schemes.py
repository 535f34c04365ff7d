"""The initializations of the contest: names in one place, each with what it does to a network."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import Any

from autoinit.errors import OptionError

OURS = "autoinit-train"
SMALL = 0.02


@dataclass(frozen=True)
class Shown:
    """What an initialization may look at.

    described: shape and kind of a training batch; batch: a real one; endings: a pattern of the names of the weights
    that end residual branches, empty where there are none.
    """

    described: Any
    batch: Any
    endings: str


Scheme = Callable[[Any, Shown, int], None]
"""(network, what it is shown, seed); in place."""


def _as_built(model: Any, shown: Shown, seed: int) -> None:
    """What the framework or the library drew when the network was made."""


def _by_name(name: str, model: Any, shown: Shown, seed: int) -> None:
    from autoinit import baselines

    baselines.initialize(model, shown.described, name, seed=seed)


def _lsuv(model: Any, shown: Shown, seed: int) -> None:
    """Scaled by a real batch."""
    from autoinit import baselines

    baselines.initialize(model, shown.batch, "lsuv", seed=seed)


def _small_normal(model: Any, shown: Shown, seed: int) -> None:
    """GPT-2's: N(0, 0.02²) for every weight and table, 0.02/√n for the ends of n residual branches, biases zero."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    ends = endings(model, shown.endings)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            last = name.rpartition(".")[2]
            if "weight" in last and parameter.dim() >= 2:
                std = SMALL / sqrt(len(ends)) if name in ends else SMALL
                parameter.normal_(0.0, std, generator=generator)
            elif "bias" in last and parameter.dim() == 1:
                parameter.zero_()


def _zero_ends(model: Any, shown: Shown, seed: int) -> None:
    """LeCun normal, and each residual branch begins as zero: what Fixup and large-batch training of ResNets do."""
    import torch

    _by_name("lecun_normal", model, shown, seed)
    ends = endings(model, shown.endings)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name in ends:
                parameter.zero_()


def endings(model: Any, pattern: str) -> set[str]:
    """Names of the parameters that end residual branches."""
    found = {name for name, _ in model.named_parameters() if pattern and re.fullmatch(pattern, name)}
    if pattern and not found:
        raise OptionError("no parameter has such a name", where="endings", received=repr(pattern),
                          fix="a pattern of names that model.named_parameters() gives")  # fmt: skip
    return found


SCHEMES: dict[str, Scheme] = {
    "default": _as_built,
    "small_normal": _small_normal,
    "glorot_uniform": partial(_by_name, "glorot_uniform"),
    "he_normal": partial(_by_name, "he_normal"),
    "lecun_uniform": partial(_by_name, "lecun_uniform"),
    "orthogonal": partial(_by_name, "orthogonal"),
    "zero_ends": _zero_ends,
    "lsuv": _lsuv,
    "autoinit": partial(_by_name, "autoinit"),
    OURS: partial(_by_name, OURS),
}
LABELS = {
    "default": "Default",
    "small_normal": "GPT-2's small normal",
    "glorot_uniform": "Glorot uniform",
    "he_normal": "He normal",
    "lecun_uniform": "LeCun uniform",
    "orthogonal": "Orthogonal",
    "zero_ends": "LeCun normal with zero ends",
    "lsuv": "LSUV",
    "autoinit": "AutoInit of the paper",
    OURS: "AutoInit for training",
}


def initialize(model: Any, scheme: str, shown: Shown, seed: int) -> None:
    if scheme not in SCHEMES:
        raise OptionError("unknown scheme", where="scheme", received=repr(scheme), fix=f"one of {', '.join(SCHEMES)}")
    SCHEMES[scheme](model, shown, seed)
