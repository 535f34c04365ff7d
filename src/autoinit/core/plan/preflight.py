"""Preflight: do the tensors of a model hold what somebody put there? Nothing is run, and nothing is changed.

    report = autoinit.check(model)      # without inputs
    report.ok, report.problems

Looked for are numbers that are not finite, numbers that no initialization makes (huge ones, denormal garbage), memory
that nobody wrote since ``to_empty``, tensors that have no memory at all, shards that are the same on every device
(equal seeds), and copies that differ between devices.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...names import shown

HUGE = 1e6
"""No initialization makes larger numbers (masks hold the largest there are: buffers are not judged by this)."""
TINY = 1e-30
MOST_TINY = 0.01
"""More of the entries than this share below `TINY`, and not zero: what was in memory before."""
MOST_LINES = 8
"""About problems of one kind."""

EXPLAINED = {
    "meta": "has no memory (meta device)",
    "unwritten": "was never written since to_empty",
    "nan": "holds NaN",
    "infinite": "holds infinities",
    "huge": "holds huge numbers",
    "denormal": "holds denormal garbage",
    "same on devices": "is the same on devices that hold different shards",
    "differs": "differs between devices that hold copies",
}


@dataclass(frozen=True, slots=True)
class Contents:
    """What one tensor (or this process's shard of it) holds."""

    name: str
    is_parameter: bool
    size: int
    nan: int = 0
    infinite: int = 0
    tiny: int = 0
    """Entries that are not zero and below `TINY`."""
    largest: float = 0.0
    has_memory: bool = True
    is_written: bool = True
    devices: str = ""
    """ "same on devices" or "differs", if tensors on several devices were compared."""

    def problems(self) -> Iterator[Problem]:
        if not self.has_memory:
            yield Problem(self.name, "meta")
            return
        if not self.is_written:
            yield Problem(self.name, "unwritten")
        if self.nan:
            yield Problem(self.name, "nan", f" ({self.nan:,} of {self.size:,})")
        if self.infinite and self.is_parameter:
            yield Problem(self.name, "infinite", f" ({self.infinite:,} of {self.size:,})")
        if self.largest > HUGE and self.is_parameter:
            yield Problem(self.name, "huge", f" (up to {self.largest:.3g})")
        if self.size and self.tiny > MOST_TINY * self.size:
            yield Problem(self.name, "denormal", f" ({self.tiny:,} of {self.size:,} entries below {TINY:g})")
        if self.devices:
            yield Problem(self.name, self.devices)


@dataclass(frozen=True, slots=True)
class Problem:
    name: str
    kind: str
    numbers: str = ""

    @property
    def what(self) -> str:
        return EXPLAINED[self.kind] + self.numbers

    def __str__(self) -> str:
        return f"{shown(self.name)} {self.what}"


@dataclass(frozen=True, slots=True)
class Preflight:
    """What `autoinit.check(model)` found."""

    model: str
    contents: list[Contents]

    @property
    def problems(self) -> list[Problem]:
        return [problem for contents in self.contents for problem in contents.problems()]

    @property
    def ok(self) -> bool:
        return not self.problems

    def __repr__(self) -> str:
        found = len({p.name for p in self.problems})
        return f"<Preflight of {shown(self.model)}: {len(self.contents)} tensors, {found} with problems>"

    def __str__(self) -> str:
        size = sum(c.size for c in self.contents)
        head = f"Preflight of {shown(self.model)}: {len(self.contents)} parameters and buffers, {size:,} numbers"
        problems = self.problems
        if not problems:
            return f"{head}\n  all of them hold what somebody put there, as far as one can see"
        names = {p.name for p in problems}
        lines = [f"{head}, {len(names)} tensors with problems"]
        for kind in EXPLAINED:
            mine = [p for p in problems if p.kind == kind]
            lines += [f"  {p}" for p in mine[:MOST_LINES]]
            if len(mine) > MOST_LINES:
                lines.append(f"  ... and {len(mine) - MOST_LINES} more that {EXPLAINED[kind].split(' (')[0]}")
        return "\n".join(lines)
