"""The distribution, built once from a copy of the source: nothing of an older build gets into it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .environments import Environment, new_environment, outside

ROOT = Path(__file__).resolve().parents[2]
FILES = ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "CHANGELOG.md")
IGNORED = shutil.ignore_patterns("__pycache__", "*.egg-info")


@pytest.fixture(scope="session")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("source")
    for name in FILES:
        shutil.copy(ROOT / name, source)
    for name in ("src", "tests"):
        shutil.copytree(ROOT / name, source / name, ignore=IGNORED)
    code = "import setuptools.build_meta as b, sys; print(b.build_sdist(sys.argv[1]))"
    made = tmp_path_factory.mktemp("sdist")
    subprocess.run([sys.executable, "-c", code, str(made)], check=True, cwd=source, env=outside(), capture_output=True)
    return next(made.glob("*.tar.gz"))


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory, sdist: Path) -> Path:
    """As `python -m build` makes it: from the source distribution."""
    made = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-index", "--no-build-isolation", "-q"]
    subprocess.run([*command, "-w", str(made), str(sdist)], check=True, env=outside())
    return next(made.glob("*.whl"))


@pytest.fixture(scope="session")
def core(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Environment:
    """The wheel, with what it needs and nothing else."""
    made = new_environment(tmp_path_factory.mktemp("core") / "env", "numpy", "scipy")
    made.install(wheel)
    return made
