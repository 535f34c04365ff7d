"""Planning, version by version: this checkout against itself."""

from __future__ import annotations

import pytest

from benchmarks.versions import HERE, Version, shortest


@pytest.mark.slow
def test_versions_take_turns() -> None:
    versions = [Version(HERE), Version(HERE)]
    try:
        times = shortest(versions, "allcnnc", 2)
    finally:
        for version in versions:
            version.close()
    assert all(0.0 < time < 60.0 for time in times)
    assert [version.process.returncode for version in versions] == [0, 0]
