"""Two plans for `autoinit diff`: from files that were written, or of models that are named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .. import api
from ..core.options import GivenOptions
from ..errors import AutoInitError
from ..plans import Plan
from .inputs import read_inputs
from .references import Named, resolve

BEGINNING = 200
"""So many characters of a plan file name its format."""


def plan_of(reference: str, inputs: list[str] | None, batch: int, options: GivenOptions, now: bool) -> Plan:
    """The plan in a file, or of a model (`now`: what its present weights do)."""
    path = Path(reference)
    if path.suffix == ".json" and _is_plan(path):
        return Plan.load(path)
    named = resolve(reference)
    return (api.predict if now else api.plan)(named.model, inputs_of(named, inputs, batch), **options)


def inputs_of(named: Named, words: list[str] | None, batch: int) -> Any:
    """What was described, or else what the model or its library knows."""
    found = read_inputs(words or [], batch)
    return named.inputs(batch) if found is None and named.inputs is not None else found


def _is_plan(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return '"autoinit_plan"' in file.read(BEGINNING)
    except OSError as error:
        raise AutoInitError("the file cannot be read", where="diff", received=str(path),
                            fix="give a file that --json wrote, or a model") from error  # fmt: skip
