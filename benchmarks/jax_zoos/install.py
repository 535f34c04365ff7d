"""Packages of the JAX zoo, in a folder of their own: the main environment stays as it is.

python -m benchmarks.jax_zoos.install             into .libraries-jax (or $AUTOINIT_JAX_LIBRARIES)
python -m benchmarks.jax_zoos.install FOLDER
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from ..zoos.libraries.install import ROOT, install, missing

VARIABLE = "AUTOINIT_JAX_LIBRARIES"
CONSTRAINTS = Path(__file__).with_name("constraints.txt")
QUIET = {"HF_HUB_OFFLINE": "1", "USE_TORCH": "0", "USE_TF": "0", "USE_FLAX": "1", "TRANSFORMERS_VERBOSITY": "error"}
"""What keeps the libraries off the network, and to JAX."""


def folder() -> Path:
    """Where the packages are, or will be."""
    given = os.environ.get(VARIABLE)
    return Path(given) if given else ROOT / ".libraries-jax"


def activate() -> None:
    """Put the folder on the path of this process, first: its transformers goes before that of the environment."""
    target = folder()
    lacking = missing(target, CONSTRAINTS)
    if lacking:
        raise RuntimeError(f"{target} lacks {', '.join(lacking)}; run python -m benchmarks.jax_zoos.install "
                           f"(or let {VARIABLE} name the folder that has them)")  # fmt: skip
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    if str(target) not in sys.path:
        sys.path.insert(0, str(target))


def main(given: Sequence[str]) -> int:
    return install(Path(given[0]).resolve() if given else folder(), CONSTRAINTS)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
