"""The history of a search: one line of JSON for each generation.

It contains no times, so that a search has one history; how long things took stands in the journal.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..evolution.encoding import decode, encode
from .archive import Archive
from .problems import TaskError
from .search import Generation

HISTORY, JOURNAL, RESULT = "history.jsonl", "journal.jsonl", "result.json"
"""The files in the folder of a search."""


def line(generation: Generation, statuses: Mapping[str, str], archive: Archive) -> str:
    """All that happened in one generation."""
    told = {
        "generation": generation.number,
        "networks": [
            {**one.to_dict(), "fitness": generation.fitness[one.key], "status": statuses[one.key]}
            for one in generation.assemblies
        ],
        "blueprint_fitness": _by_text(generation.blueprint_fitness),
        "module_fitness": _by_text(generation.module_fitness),
        "blueprints": generation.blueprints.to_dict(),
        "modules": generation.modules.to_dict(),
        "preserved": [
            {"key": kept.network.key, "fitness": kept.fitness, "generation": kept.generation}
            for kept in archive.networks
        ],
    }  # fmt: skip
    return encode(told) + "\n"


def read(folder: Path) -> list[dict[str, Any]]:
    """The generations of a folder."""
    path = folder / HISTORY
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise TaskError("there is no search here, or its first generation has not ended", where=str(folder),
                        received=f"no {HISTORY}",
                        fix="python -m autoinit.labs.codeepneat run FOLDER --task ...") from None  # fmt: skip
    return [decode(one) for one in text.splitlines()]


def _by_text(fitness: Mapping[int, float]) -> dict[str, float]:
    return {str(number): fitness[number] for number in sorted(fitness)}
