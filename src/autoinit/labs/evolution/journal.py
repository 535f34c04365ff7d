"""The journal of a run: a file of JSON lines that only grows, one complete line for each finished evaluation.

    {"journal": "autoinit.labs.evolution", "version": 1, "config": {...}}
    {"key": "relu/default", "status": "done", "value": {...}, "seconds": 3.1, ..., "payload": {...}, "notes": {...}}

A line is written by one call and is on the disk before the run goes on, so a run that is killed at any moment loses
at most what it was evaluating. A line that was cut short by a power loss can only be the last: it is cut off when
the journal is opened again. Numbers that are not finite are written as `encoding` says.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from types import TracebackType
from typing import Any

from .encoding import decode, encode, normalised, same
from .errors import JournalError
from .jobs import STATUSES, Outcome
from .lock import Lock

NAME, VERSION = "autoinit.labs.evolution", 1
BEGINNING = f'{{"journal":"{NAME}"'.encode()


@dataclass(frozen=True)
class Record:
    """One line: how the job ended, what it was, and what the run noted about it."""

    outcome: Outcome
    payload: dict[str, Any] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)
    attempt: int = 1
    finished: str = ""

    @property
    def key(self) -> str:
        return self.outcome.key


@dataclass(frozen=True)
class Contents:
    """A journal as it was read: the run's configuration, and the last record of each key in order of finishing."""

    config: dict[str, Any] | None
    records: dict[str, Record]
    whole: int
    """How many bytes of the file are complete lines."""

    @property
    def outcomes(self) -> dict[str, Outcome]:
        return {key: record.outcome for key, record in self.records.items()}


class Journal:
    """Opens a journal for writing, and begins it if there is none; nobody else can write to it meanwhile.

    config: what this run is, as JSON. A journal that was begun with another one is refused.
    """

    def __init__(self, path: Path | str, config: Mapping[str, Any] | None = None) -> None:
        self.path = Path(path)
        wanted = None if config is None else normalised(config)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._descriptor: int | None = None
        self._lock = Lock(self.path)
        try:
            contents = read(self.path) if self.path.exists() else Contents(None, {}, 0)
            if contents.config is not None and wanted is not None:
                _compare(contents.config, wanted, self.path)
            self.records = contents.records
            self.config: dict[str, Any] = contents.config if contents.config is not None else wanted or {}
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            os.ftruncate(self._descriptor, contents.whole)
            if contents.config is None:
                self._write({"journal": NAME, "version": VERSION, "config": self.config})
                _sync_directory(self.path.parent)
        except BaseException:
            self.close()
            raise

    @staticmethod
    def read(path: Path | str) -> Contents:
        """What a journal holds; it is neither locked nor changed, so a run may be writing to it."""
        return read(Path(path))

    @property
    def outcomes(self) -> dict[str, Outcome]:
        return {key: record.outcome for key, record in self.records.items()}

    def append(
        self,
        outcome: Outcome,
        payload: Mapping[str, Any] | None = None,
        notes: Mapping[str, Any] | None = None,
        *,
        again: bool = False,
    ) -> Record:
        """Write one finished evaluation; `again` allows a key that is there already, and supersedes it."""
        earlier = self.records.get(outcome.key)
        if earlier is not None and not again:
            raise JournalError("this key is in the journal already", where=str(self.path), received=repr(outcome.key),
                               fix="give every job its own key")  # fmt: skip
        line = {
            **outcome.to_dict(),
            "payload": payload or {},
            "notes": notes or {},
            "attempt": 1 if earlier is None else earlier.attempt + 1,
            "finished": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        }
        self._write(line)
        record = _record(normalised(line))
        self.records.pop(outcome.key, None)
        self.records[outcome.key] = record
        return record

    def _write(self, line: Mapping[str, Any]) -> None:
        if self._descriptor is None:
            raise JournalError("the journal is closed", where=str(self.path), fix="open it again: Journal(path)")
        data = (encode(line) + "\n").encode()
        before, failure = os.fstat(self._descriptor).st_size, None
        try:
            written = os.write(self._descriptor, data)
        except OSError as error:
            written, failure = 0, error
        if written != len(data):
            os.ftruncate(self._descriptor, before)
            raise JournalError("the line did not fit on the disk", where=str(self.path),
                               received=f"{written} of {len(data)} bytes were written",
                               fix="free some space and resume") from failure  # fmt: skip
        os.fsync(self._descriptor)

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        self._lock.release()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def read(path: Path) -> Contents:
    """All complete lines. A last line that was cut short is left out; any other that is broken is an error."""
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        raise JournalError("there is no journal", where=str(path), fix="check the path") from None
    tail, lines = lines[-1], lines[:-1]
    while lines and b"\0" in lines[-1]:  # space that was reserved on the disk but never written
        lines.pop()
    if not lines:
        if tail.startswith(BEGINNING) or BEGINNING.startswith(tail):
            return Contents(None, {}, 0)
        raise _not_a_journal(path, tail)
    config = _header(lines[0], path)
    records: dict[str, Record] = {}
    for number, text in enumerate(lines[1:], start=2):
        record = _parse(text, path, number)
        earlier = records.pop(record.key, None)
        if record.attempt != (1 if earlier is None else earlier.attempt + 1):
            raise JournalError(f"line {number} repeats the key of an earlier line", where=str(path),
                               received=repr(record.key), fix="remove one of the two lines")  # fmt: skip
        records[record.key] = record
    return Contents(config, records, sum(len(text) + 1 for text in lines))


def _header(text: bytes, path: Path) -> dict[str, Any]:
    try:
        header = decode(text)
    except ValueError:
        raise _not_a_journal(path, text) from None
    if not isinstance(header, dict) or header.get("journal") != NAME:
        raise _not_a_journal(path, text)
    if header.get("version") != VERSION:
        raise JournalError("this journal has a format that is not known here", where=str(path),
                           received=f"version {header.get('version')!r}, known is {VERSION}",
                           fix="use the version of autoinit that wrote it, or begin a new journal")  # fmt: skip
    return dict(header.get("config") or {})


def _parse(text: bytes, path: Path, number: int) -> Record:
    try:
        line = decode(text)
        if line["status"] not in STATUSES:
            raise ValueError(line["status"])
        return _record(line)
    except (ValueError, KeyError, TypeError) as error:
        raise JournalError(f"line {number} is broken", where=str(path), received=_shown(text),
                           fix="mend or remove that line; the others are untouched") from error  # fmt: skip


def _record(line: Mapping[str, Any]) -> Record:
    outcome = Outcome.from_dict(line)
    return Record(
        outcome, line.get("payload", {}), line.get("notes", {}), line.get("attempt", 1), line.get("finished", "")
    )


def _not_a_journal(path: Path, text: bytes) -> JournalError:
    return JournalError("this file is not a journal; it was left as it is", where=str(path), received=_shown(text),
                        fix="name a file that does not exist yet")  # fmt: skip


def _shown(text: bytes) -> str:
    return repr(text[:80].decode(errors="replace")) + (" ..." if len(text) > 80 else "")


def _compare(there: Mapping[str, Any], wanted: Mapping[str, Any], path: Path) -> None:
    differences = _differences(there, wanted, "")
    if differences:
        raise JournalError("the journal belongs to a run with another configuration", where=str(path),
                           received="; ".join(differences),
                           fix="resume with the journal's configuration, or name another journal")  # fmt: skip


def _differences(there: Any, wanted: Any, place: str) -> list[str]:
    if isinstance(there, Mapping) and isinstance(wanted, Mapping):
        names = dict.fromkeys([*there, *wanted])
        return [
            line
            for name in names
            for line in _differences(there.get(name), wanted.get(name), f"{place}.{name}" if place else name)
        ]
    return [] if same(there, wanted) else [f"{place}: {there!r} in the journal, {wanted!r} now"]


def _sync_directory(path: Path) -> None:
    """So that a new file's name survives a power loss as well; only POSIX lets directories be opened."""
    if os.name == "posix":
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
