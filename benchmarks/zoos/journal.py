"""The records of a run, one line of JSON each: what is on the disk stays, whatever happens to the run."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

from autoinit.core.files import replacing


class Journal:
    """Appends; of several records with one name the last counts."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[str, dict[str, Any]]:
        """name -> record. A line that was cut short is left out."""
        found: dict[str, dict[str, Any]] = {}
        if not self.path.exists():
            return found
        for line in self.path.read_bytes().split(b"\n"):
            try:
                record = json.loads(line)
                found[record["name"]] = record
            except (ValueError, KeyError, TypeError):
                continue
        return found

    def add(self, record: dict[str, Any]) -> None:
        """Append a record; on the disk when this returns."""
        line = json.dumps(finite(record), allow_nan=False, separators=(",", ":")).encode()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab+") as file:
            file.seek(0, os.SEEK_END)
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":  # the run before was stopped in the middle of a line
                    line = b"\n" + line
            file.write(line + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def compact(self) -> None:
        """Rewrite without what does not count any more."""
        records = self.read()
        if not records:
            return
        with replacing(self.path) as file:
            for record in records.values():
                file.write(json.dumps(record, allow_nan=False, separators=(",", ":")).encode() + b"\n")


def finite(value: Any) -> Any:
    """The same with null for every number that is not one: JSON has no infinity, and one model must not stop a run."""
    if isinstance(value, dict):
        return {k: finite(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
