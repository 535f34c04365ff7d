"""Workers import the tasks of these tests by name."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def importable_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
