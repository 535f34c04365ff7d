"""Packages of the group "libraries", in a folder of their own.

python -m benchmarks.zoos.libraries.install             into .libraries (or $AUTOINIT_LIBRARIES)
python -m benchmarks.zoos.libraries.install FOLDER

The main environment stays as it is: packages are installed without their dependencies, with `pip --target`, and the
folder is put on the path of the processes that need it alone, behind everything else.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

VARIABLE = "AUTOINIT_LIBRARIES"
ROOT = Path(__file__).resolve().parents[3]
CONSTRAINTS = Path(__file__).with_name("constraints.txt")
NEVER = frozenset({"torch", "torchvision", "numpy", "scipy", "jax", "jaxlib", "flax", "equinox", "dm-haiku"})
"""The main environment has these, and only these builds of them fit together."""
QUIET = {"YOLO_OFFLINE": "true", "YOLO_AUTOINSTALL": "false", "YOLO_VERBOSE": "false", "HF_HUB_OFFLINE": "1"}
"""What keeps the libraries off the network and away from the user's settings."""


def folder() -> Path:
    """Where the packages are, or will be."""
    given = os.environ.get(VARIABLE)
    return Path(given) if given else ROOT / ".libraries"


def requirements(path: Path = CONSTRAINTS) -> dict[str, str]:
    """Package -> version."""
    lines = [line.split("#")[0].strip() for line in path.read_text("utf-8").splitlines()]
    pinned = dict(line.split("==", 1) for line in lines if line)
    forbidden = NEVER & {_plain(name) for name in pinned}
    if forbidden:
        raise ValueError(f"{path.name} must not name {', '.join(sorted(forbidden))}: the main environment has them")
    return pinned


def command(target: Path, python: str = sys.executable, listed: Path = CONSTRAINTS) -> list[str]:
    """The call of pip."""
    pinned = [f"{name}=={version}" for name, version in requirements(listed).items()]
    return [python, "-m", "pip", "install", "--no-deps", "--upgrade", "--target", str(target), *pinned]


def missing(target: Path, listed: Path = CONSTRAINTS) -> list[str]:
    """What is not there in the version asked for."""
    there = {_plain(d.metadata["Name"]): d.version for d in metadata.distributions(path=[str(target)])}
    return [name for name, version in requirements(listed).items() if there.get(_plain(name)) != version]


def installed() -> bool:
    return not missing(folder())


def activate() -> None:
    """Put the folder on the path of this process, last, and keep what it imports quiet."""
    target = folder()
    lacking = missing(target)
    if lacking:
        raise RuntimeError(
            f"{target} lacks {', '.join(lacking)}; run python -m benchmarks.zoos.libraries.install "
            f"(or let {VARIABLE} name the folder that has them)"
        )
    for name, value in {**QUIET, "YOLO_CONFIG_DIR": str(target)}.items():
        os.environ.setdefault(name, value)
    if str(target) not in sys.path:
        sys.path.append(str(target))


def install(target: Path, listed: Path = CONSTRAINTS) -> int:
    """pip's exit code; 0 at once if everything is there."""
    if not missing(target, listed):
        print(f"{target} is complete")
        return 0
    return subprocess.run(command(target, listed=listed), check=False).returncode


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def main(given: Sequence[str]) -> int:
    return install(Path(given[0]).resolve() if given else folder())


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
