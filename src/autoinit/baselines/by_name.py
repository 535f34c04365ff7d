"""Every way to initialize, by name: what experiments loop over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..api import initialize as autoinitialize
from ..core.options import OptionsButSeed
from ..errors import OptionError
from ..rules import paper
from .layer_sequential import LsuvOptions, lsuv
from .schemes import SCHEMES, classical, known_scheme, needs_inputs

if TYPE_CHECKING:
    from typing_extensions import Unpack

class SchemeOptions(OptionsButSeed, LsuvOptions, total=False):
    """Of `autoinit.plan` and of `autoinit.baselines.lsuv`; which of them there are depends on the scheme."""


AUTOINIT: dict[str, OptionsButSeed] = {
    "autoinit": {},
    "autoinit-train": {"recipe": "train"},
    "autoinit++": {"center": "activation"},
    "autoinit-paper": {"rules": paper},
}
"""The names of AutoInit's own variants, with the options they stand for."""

NAMES = (*SCHEMES, "lsuv", *AUTOINIT)


def initialize(model: Any, inputs: Any, scheme: str, seed: int = 0, **options: Unpack[SchemeOptions]) -> Any:
    """Initialize `model` in place by the scheme of that name, and return it.

    scheme: a classical one ("default", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "lecun_normal",
        "lecun_uniform", "orthogonal"), "lsuv", "autoinit", "autoinit-train", "autoinit++" (activations take
        their mean off) or "autoinit-paper" (the paper's own formulas).
    inputs: as for `autoinit.plan`. LSUV wants a real batch.
    options: of `autoinit.plan` for AutoInit's variants, of `autoinit.baselines.lsuv` for LSUV; the others have none.
    """
    known_scheme(scheme, "scheme", NAMES)
    if scheme != "default":
        needs_inputs(model, inputs, scheme)
    if scheme == "lsuv":
        lsuv(model, inputs, seed=seed, **_only("lsuv", options, (*LsuvOptions.__annotations__, "training")))
    elif scheme in AUTOINIT:
        settings: dict[str, Any] = {**AUTOINIT[scheme], "warn": False, **options}
        autoinitialize(model, inputs, seed=seed, **settings)
    else:
        _only(scheme, options, ())
        classical(model, scheme, seed, inputs=inputs)
    return model


def _only(scheme: str, options: Mapping[str, Any], known: tuple[str, ...]) -> dict[str, Any]:
    unknown = [name for name in options if name not in known]
    if unknown:
        raise OptionError(f"'{scheme}' has no option '{unknown[0]}'", where="options",
                          received=f"{unknown[0]}={options[unknown[0]]!r}",
                          fix=f"known: {', '.join(known)}" if known else "leave it out")  # fmt: skip
    return dict(options)
