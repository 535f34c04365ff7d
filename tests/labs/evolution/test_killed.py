"""A run that is killed at any moment: nothing is lost, nothing is repeated, nobody stays behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from autoinit.labs.evolution import Job, Journal, run

JOBS = 24
SCRIPT = f"""
from autoinit.labs.evolution import Job, run
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
jobs = [Job(f"job {{k}}", {{"x": k, "sleep": 0.2}}) for k in range({JOBS})]
run(jobs, "deeds:double", sys.argv[1], progress=False)
"""

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for processes in /proc")


def begin(path: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    return subprocess.Popen([sys.executable, "-c", SCRIPT, str(path)], env=environment, stderr=subprocess.PIPE)


def wait_for(lines: int, path: Path, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 180
    while not path.exists() or path.read_bytes().count(b"\n") < lines:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.005)


def children(process: int) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def gone(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    return state in "ZX"


def all_gone(processes: list[int], within: float = 60.0) -> bool:
    deadline = time.monotonic() + within
    while not all(map(gone, processes)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return all(map(gone, processes))


def test_killed_twice(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    for lines in (3, 7):
        process = begin(path)
        wait_for(lines, path, process)
        workers = children(process.pid)
        assert len(workers) == 2
        process.kill()
        process.wait()
        assert all_gone(workers), "the workers die with their parent"
    done = set(Journal.read(path).outcomes)
    assert 6 <= len(done) < JOBS
    before = path.read_bytes()
    outcomes = run([Job(f"job {k}", {"x": k, "sleep": 0.2}) for k in range(JOBS)], "deeds:double", path, progress=False)
    assert path.read_bytes().startswith(before[: before.rfind(b"\n") + 1]), "what was finished stays as it was"
    keys = Counter(json.loads(line)["key"] for line in path.read_text().splitlines()[1:])
    assert keys == Counter(f"job {k}" for k in range(JOBS))
    assert {key: o.value["y"] for key, o in outcomes.items() if o.value} == {f"job {k}": 2 * k for k in range(JOBS)}


def test_ctrl_c(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    process = begin(path)
    wait_for(4, path, process)
    workers = children(process.pid)
    process.send_signal(signal.SIGINT)
    errors = process.communicate(timeout=120)[1]
    assert errors.rstrip().endswith(b"KeyboardInterrupt") and process.returncode != 0
    assert all_gone(workers, within=0.0), "they are gone before the run returns"
    assert not path.with_name(path.name + ".lock").exists()
    assert path.read_bytes().endswith(b"\n") and len(Journal.read(path).outcomes) >= 3
