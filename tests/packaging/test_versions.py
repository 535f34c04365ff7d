"""The versions that are claimed are those that continuous integration runs."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import autoinit

ROOT = Path(__file__).resolve().parents[2]
PROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def claimed() -> list[tuple[int, ...]]:
    return sorted((3, int(minor)) for minor in re.findall(r'"Programming Language :: Python :: 3\.(\d+)"', PROJECT))


def test_both_ends_are_run() -> None:
    yaml = pytest.importorskip("yaml")
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))["jobs"]
    commands = {name: [step["run"] for step in job["steps"] if "run" in step] for name, job in jobs.items()}
    assert commands["highest"] == [".ci/run"] and commands["lowest"] == ["make lowest"]
    highest = max(tuple(map(int, v.split("."))) for v in jobs["highest"]["strategy"]["matrix"]["python"])
    (lowest,) = (s["with"]["python-version"] for s in jobs["lowest"]["steps"] if "python-version" in s.get("with", {}))
    assert (highest, tuple(map(int, lowest.split(".")))) == (claimed()[-1], claimed()[0])


def test_the_lowest_python_is_the_one_that_is_required() -> None:
    (required,) = re.findall(r'requires-python = ">=3\.(\d+)"', PROJECT)
    assert claimed()[0] == (3, int(required)) and sys.version_info[:2] in claimed()


def test_the_version_stands_in_one_place() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", autoinit.__version__)
    assert not re.search(r"^version *= *\"", PROJECT, re.MULTILINE)
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{autoinit.__version__}]" in changes or "## [Unreleased]" in changes
