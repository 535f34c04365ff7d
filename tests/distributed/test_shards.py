"""Every shard holds exactly what the unsharded model would hold there, for any number of processes and any cut.

Each number of processes is started once and works through all cases (`worker`); the tests read what it found. The
worker also watches that no collective is called and that no global generator moves.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

pytest.importorskip("torch.distributed.tensor")

from tests.distributed.cases import CASES

ROOT = Path(__file__).parents[2]
LIMIT = 900
WORLDS = (4, 3, 2, 1)
OTHERS = ("without memory", "preflight", "twice the same", "says what to do", "all or nothing", "checkpoint")


@pytest.fixture(scope="session")
def found(tmp_path_factory) -> dict[int, dict[str, list[str]]]:
    """What each number of processes found; workers of one pytest run share it."""
    shared = tmp_path_factory.getbasetemp()
    folder = (shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared) / "distributed"
    folder.mkdir(exist_ok=True)
    with FileLock(folder / "lock"):
        return {world: _found(world, folder) for world in WORLDS}


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
    assert found[world][case] == []
