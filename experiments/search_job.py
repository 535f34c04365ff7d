"""A job that is a whole search: CoDeepNEAT on one task, with one initialization and one seed.

Its own journal lies in a folder below the experiment's results, so that a job that is begun again goes on there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .place import Place

WORK = "experiments.search_job:evaluate"


def evaluate(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The course of the search, as `autoinit.labs.codeepneat.results.Course` writes it.

    payload: {at: {task, scheme, seed}, preset, generations, engine}.
    """
    from autoinit.labs.codeepneat import run
    from autoinit.labs.codeepneat.results import Course

    at, place = payload["at"], Place.from_environment()
    with place.run_folder(f"{at['task']}-{at['scheme']}-{at['seed']}") as folder:
        run(
            at["task"], folder, preset=payload["preset"], initialization=at["scheme"], seed=at["seed"],
            generations=payload["generations"], engine=payload["engine"], workers=1, device=place.device,
            progress=False,
        )  # fmt: skip
        return Course.read(folder).to_dict()
