"""What the paper claims, or we do, and how a summary of our results bears on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

YES, PARTLY, NO = "yes", "partly", "no"
INCOMPLETE, UNKNOWN = "incomplete", "not run"
"""Some of the jobs that a claim needs have not ended or failed; none was run."""


@dataclass(frozen=True)
class Finding:
    """Our figure in words, and whether it agrees with the claim."""

    ours: str
    agrees: str


@dataclass(frozen=True)
class Claim:
    """paper: what the paper found; None where the claim is ours.
    judge: from an experiment's summary to a finding; None where the results that it needs are missing.
    """

    text: str
    paper: str | None
    judge: Callable[[Mapping[str, Any]], Finding | None]

    def of(self, summary: Mapping[str, Any] | None) -> Finding:
        if summary is None:
            return Finding("not run", UNKNOWN)
        return self.judge(summary) or Finding("results that this needs are missing", INCOMPLETE)


def share(count: int, total: int, some: float = 0.5) -> str:
    """All of them: yes; at least `some` of them: partly."""
    return YES if count == total else PARTLY if count >= some * total else NO
