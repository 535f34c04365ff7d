"""Every shard holds exactly what the unsharded model would hold there, for any number of processes and any cut.

Each number of processes works through all cases once (`worker`); the tests read what it found. The worker also watches
that no collective is called and that no global generator moves.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from filelock import FileLock

pytest.importorskip("torch.distributed.tensor")

from tests.distributed.cases import CASES

ROOT = Path(__file__).parents[2]
LIMIT = 900
WORLDS = (4, 3, pytest.param(2, marks=pytest.mark.thorough), 1)
"""With four there are meshes of two axes, three divide nothing, one is no company."""
OTHERS = ("without memory", "preflight", "twice the same", "says what to do", "all or nothing", "checkpoint")


@pytest.fixture(scope="session")
def found(tmp_path_factory, request) -> Callable[[int], dict[str, list[str]]]:
    """What a number of processes found; workers of one pytest run share it."""
    shared = tmp_path_factory.getbasetemp()
    folder = (shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared) / "distributed"
    folder.mkdir(exist_ok=True)
    worlds = (4, 3, 2, 1) if request.config.getoption("--thorough") else (4, 3, 1)
    with FileLock(folder / "lock"):
        if not (folder / f"found{worlds[-1]}.json").exists():
            _run(worlds, folder)
    return cache(lambda world: json.loads((folder / f"found{world}.json").read_text("utf-8")))


def _run(worlds: tuple[int, ...], folder: Path) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "1",
                   "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}  # fmt: skip
    command = [sys.executable, "-m", "tests.distributed.worker", str(folder), *map(str, worlds)]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT
    )
    assert done.returncode == 0, done.stdout[-4000:]


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("case", [*CASES, *OTHERS])
def test_shards(case: str, world: int, found) -> None:
    assert found(world)[case] == []
