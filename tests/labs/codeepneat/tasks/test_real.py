"""The real data, where it is: nothing is fetched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.importorskip("torch")

from autoinit.labs.codeepneat import run
from autoinit.labs.codeepneat.finding import _loaded, task_class
from autoinit.labs.data import cache

OWN = os.environ.get("AUTOINIT_DATA")
CACHE = cache.root()
"""Of the person who runs the tests: each test has another one."""
FILES = {"omniglot": ("omniglot*.npz", "images_background*", "omniglot*"), "flowers102": ("flowers102*.npz", "jpg",
         "102flowers.tgz", "flowers-102")}  # fmt: skip
CHANCE = {"mnist": 0.1, "adult": 0.7, "toxicity": 0.5, "omniglot": 0.0, "flowers": 0.01}
"""Of a network that says the same of everything."""

pytestmark = pytest.mark.slow


def missing(name: str) -> str | None:
    """Why a data set cannot be read here without fetching it."""
    if name in FILES:
        there = OWN is not None and any(next(Path(OWN).glob(p), None) for p in FILES[name])
        return None if there else f"there is no {name} in AUTOINIT_DATA"
    return None if (CACHE / name).is_dir() else f"'{name}' is not installed: python -m autoinit.labs.data {name}"


@pytest.mark.parametrize("name", CHANCE)
def test_a_search_of_a_minute(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for needed in task_class(name).needs:
        if (why := missing(needed)) is not None:
            pytest.skip(why)
    _loaded.cache_clear()
    monkeypatch.setenv("AUTOINIT_CACHE", str(CACHE))
    if OWN is not None:
        monkeypatch.setenv("AUTOINIT_DATA", OWN)
    result = run(name, tmp_path / "run", preset="smoke", generations=1, engine="serial", progress=False)
    assert result.best.fitness > CHANCE[name] and result.test["accuracy"] > CHANCE[name]
