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

pytest.importorskip("torch.distributed.tensor")

from tests.distributed.cases import CASES

ROOT = Path(__file__).parents[2]
LIMIT = 900
WORLDS = (4, 3, 2, 1)
pytestmark = pytest.mark.xdist_group("processes")  # one worker of pytest starts them, once
OTHERS = ("without memory", "preflight", "twice the same", "says what to do", "all or nothing", "checkpoint")


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> dict[int, dict[str, list[str]]]:
    folder = tmp_path_factory.mktemp("distributed")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    results = {}
    for world in WORLDS:
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
        results[world] = json.loads((folder / f"found{world}.json").read_text("utf-8"))
    return results


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("case", [*CASES, *OTHERS])
def test_shards(case: str, world: int, found) -> None:
    assert found[world][case] == []
