"""Has planning become slower? This version against checkouts of others, taking turns in one run.

python -m benchmarks.versions PATH [PATH ...]            prints the table
python -m benchmarks.versions PATH [PATH ...] --check    and exits with 1 if a bound is broken
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from .speed import PLANNED

LIMIT = 1.05
HERE = Path(__file__).resolve().parent.parent
WORKER = Path(__file__).with_name("planning_turns.py")


class Version:
    """A process that plans with the library and the networks of one checkout."""

    def __init__(self, checkout: Path) -> None:
        self.name = checkout.name
        self.process = subprocess.Popen(
            [sys.executable, "-c", WORKER.read_text()], cwd=checkout, text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(checkout / "src")},
        )  # fmt: skip

    def seconds(self, network: str) -> float:
        """Of one plan, on the processor."""
        assert self.process.stdin is not None and self.process.stdout is not None
        print(network, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())

    def close(self) -> None:
        self.process.communicate()


def shortest(versions: list[Version], network: str, repeats: int) -> list[float]:
    """The shortest time of each version; they take turns, so that a busy machine hits all alike."""
    taken = [[version.seconds(network) for version in versions] for _ in range(repeats)]
    return [min(times) for times in zip(*taken, strict=True)]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paths", type=Path, nargs="+", help="checkouts of other versions")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a bound is broken")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--networks", nargs="+", default=PLANNED)
    options = parser.parse_args()
    versions = [Version(path) for path in (HERE, *(path.resolve() for path in options.paths))]
    print(f"CPU seconds of a plan, one thread, best of {options.repeats}; in brackets: this version over that one.\n")
    row("network", "now", *(version.name for version in versions[1:]))
    passed = True
    for network in options.networks:
        now, *others = shortest(versions, network, options.repeats)
        row(network, f"{now:.3f} s", *(f"{other:.3f} s ({now / other:.2f})" for other in others))
        passed &= all(now <= LIMIT * other for other in others)
    for version in versions:
        version.close()
    return int(options.check and not passed)


def row(network: str, now: str, *others: str) -> None:
    """One line of the table, as soon as it is known."""
    print(f"{network:{max(map(len, PLANNED))}}  {now:>7}", *(f"{other:>16}" for other in others), flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
