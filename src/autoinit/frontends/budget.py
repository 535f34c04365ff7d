"""How much work one walk may be: so many ops, so many seconds; then an error instead of a hang."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic

from ..core.options import DEFAULTS, Options
from ..core.progress import at
from ..errors import TraceError


@dataclass
class Budget:
    """What is left of one walk's allowance; `spend` is called once per op that is followed."""

    ops: float = DEFAULTS.max_ops
    seconds: float = DEFAULTS.max_seconds
    spent: int = 0
    began: float = field(default_factory=monotonic)

    @classmethod
    def start(cls, options: Options) -> Budget:
        """The allowance that the options give, from now on."""
        return cls(options.max_ops, options.max_seconds)

    def spend(self, where: str = "") -> None:
        """One more op; a `TraceError` once there were too many, or they took too long."""
        self.spent += 1
        at("following the model", self.spent, place=where)
        took = monotonic() - self.began
        if self.spent <= self.ops and took <= self.seconds:
            return
        by_ops = self.spent > self.ops
        limit = f"{self.ops:g} ops" if by_ops else f"{self.seconds:g} seconds"
        raise TraceError(
            f"the model was not at its end after {limit}; a loop that waits for a value (an adaptive solver, "
            "iteration until convergence) may never see it on a walk",
            where=where or "model", received=f"{self.spent} ops in {took:.1f} seconds",
            fix=f"raise max_{'ops' if by_ops else 'seconds'}, or bound the loop by a number of steps",
        )  # fmt: skip
