"""What a training run leaves behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from math import isfinite, nan
from typing import Any

POINTS = 100
"""The loss curve has at most so many points, each the mean over an equal number of steps."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """The outcome of one run. Accuracies are shares from 0 to 1 of the images that `evaluated_on` names."""

    accuracy: float
    top5: float
    loss: float
    """Cross entropy, in nats, on the images of the evaluation."""
    losses: tuple[float, ...]
    """The training loss over time; see `POINTS`."""
    diverged: bool
    """A loss was not finite, in training or in the evaluation."""
    steps: int
    epochs: float
    """How far the run came; less than the recipe says if it diverged."""
    seconds: float
    seed: int
    evaluated_on: str | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values that JSON can hold: a number that is not finite becomes None."""
        return {
            name: [_plain(v) for v in value] if isinstance(value, tuple) else _plain(value)
            for name, value in asdict(self).items()
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Record:
        """The inverse of `to_dict`; infinities come back as NaN."""
        numbers = {f.name for f in fields(cls) if f.type == "float"}
        read: dict[str, Any] = {name: nan if v is None and name in numbers else v for name, v in values.items()}
        return cls(**{**read, "losses": tuple(nan if v is None else v for v in values["losses"])})


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not isfinite(value) else value


def curve(losses: list[float], total: int) -> tuple[float, ...]:
    """Means over equal stretches of a run that was to have `total` steps; a stretch that began counts."""
    stretch = max(1, -(-total // POINTS))
    parts = [losses[k : k + stretch] for k in range(0, len(losses), stretch)]
    return tuple(sum(part) / len(part) for part in parts)
