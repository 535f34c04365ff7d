"""The machinery stands alone: no framework, and nothing that only some runs need."""

from __future__ import annotations

import subprocess
import sys


def test_importing_it_loads_no_framework() -> None:
    code = "import autoinit.labs.evolution, sys; print([m for m in sys.argv[1:] if m in sys.modules])"
    names = ["torch", "keras", "tensorflow", "jax", "ray", "rich", "matplotlib"]
    done = subprocess.run([sys.executable, "-c", code, *names], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
