"""Every shard holds exactly what the unsharded model would hold there, for any number of processes and any cut.

Each number of processes is started once and works through all cases (`worker`); the tests read what it found. The
worker also watches that no collective is called and that no global generator moves.
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
def found(tmp_path_factory) -> Callable[[int], dict[str, list[str]]]:
    """What a number of processes found; workers of one pytest run share it."""
    shared = tmp_path_factory.getbasetemp()
    folder = (shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared) / "distributed"
    folder.mkdir(exist_ok=True)

    def of(world: int) -> dict[str, list[str]]:
        with FileLock(folder / f"lock{world}"):
            return _found(world, folder)

    return cache(of)


def _found(world: int, folder: Path) -> dict[str, list[str]]:
    said_by_all = folder / f"found{world}.json"
    if not said_by_all.exists():
        environment = {**os.environ, "OMP_NUM_THREADS": "1",
                       "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}  # fmt: skip
        command = [sys.executable, "-m", "tests.distributed.worker"]
        started = [
            subprocess.Popen([*command, str(rank), str(world), str(folder)], cwd=ROOT, env=environment,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            for rank in range(world)
        ]  # fmt: skip
        try:
            said = [process.communicate(timeout=LIMIT)[0] for process in started]
        finally:
            for process in started:
                process.kill()
        assert all(process.returncode == 0 for process in started), "\n".join(said)[-4000:]
    found: dict[str, list[str]] = json.loads(said_by_all.read_text("utf-8"))
    return found


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("case", [*CASES, *OTHERS])
def test_shards(case: str, world: int, found) -> None:
    assert found(world)[case] == []
