"""What goes into a run and what comes out of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from ...errors import OptionError

STATUSES = ("done", "time", "memory", "crashed", "error")
"""How a job can end: with a value; over its time; over its memory; its process died; it raised."""


@dataclass(frozen=True)
class Job:
    """One evaluation: a key that no other job of the run has, and the argument of the work function."""

    key: str
    payload: Mapping[str, Any]

    def __post_init__(self) -> None:
        if not isinstance(self.key, str) or not self.key:
            raise OptionError("a job's key is a text that is not empty", where="Job", received=repr(self.key),
                              fix="make the key of what the job does, e.g. 'relu/autoinit'")  # fmt: skip
        if not isinstance(self.payload, Mapping):
            raise OptionError("a job's payload is a dict", where=f"job '{self.key}'",
                              received=type(self.payload).__name__, fix="Job(key, {'name': value})")  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """How one job ended. `value` is what the work function returned if `status` is "done", otherwise None."""

    key: str
    status: str
    value: dict[str, Any] | None = None
    seconds: float = 0.0
    peak_bytes: int | None = None
    message: str = ""

    @property
    def done(self) -> bool:
        return self.status == "done"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Outcome:
        return cls(**{field.name: data[field.name] for field in fields(cls) if field.name in data})


@dataclass(frozen=True)
class Limits:
    """What one job may use: seconds from its beginning, and bytes of resident memory of its whole process.

    The memory is that of the process with everything it has imported, not what the job adds to it.
    """

    seconds: float | None = None
    bytes: int | None = None

    def __post_init__(self) -> None:
        for name, value in (("seconds", self.seconds), ("bytes", self.bytes)):
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if value is not None and not (number and value > 0):
                raise OptionError(f"'{name}' takes a positive number or None", where="Limits", received=repr(value),
                                  fix="Limits(seconds=600, bytes=2 * 2**30)")  # fmt: skip
