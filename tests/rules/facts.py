"""Facts of the table of ops against the real op: what the spec claims has to be true of a few random arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from autoinit.core.graph.specs import SPECS
from autoinit.core.signal.samples import sample
from autoinit.core.signal.signal import Signal


def check_facts(op: str, signals: Sequence[Signal], run: Callable[..., Any], attrs: dict[str, Any]) -> None:
    """degree, linear, moves: only what is claimed. Ops that draw by chance are left out."""
    spec = SPECS[op]
    degree = None if attrs.get("use_running") else spec.degree  # a norm with given statistics is no norm
    if spec.random or not signals:
        return
    rng = np.random.default_rng(3)
    x, *rest = (torch.from_numpy(np.asarray(sample(s, rng, None), float)) for s in signals)
    y = torch.from_numpy(np.asarray(sample(signals[0], rng, None), float))

    def outputs(first: torch.Tensor) -> list[torch.Tensor]:
        with torch.no_grad(), torch.random.fork_rng():
            torch.manual_seed(0)  # a run may draw indices
            made = run(first, *rest)
        return [t.double() for t in (made if isinstance(made, (tuple, list)) else [made])]

    of_x, of_y = outputs(x), outputs(y)
    for k, made in enumerate(of_x):
        size = float(made.abs().max()) * 1e-4 + 1e-9
        if degree is not None:
            gap = float((outputs(3.0 * x)[k] - 3.0**degree * made).abs().max())
            allowed = size * (100 if degree == 0 else 3)  # norms have an epsilon
            assert gap <= allowed, f"degree {degree} of '{op}' in its spec is not true of it: off by {gap:.3g}"
        if spec.linear:
            gap = float((outputs(x + y)[k] - made - of_y[k] + outputs(0.0 * x)[k]).abs().max())
            assert gap <= size * 3, f"'{op}' is said to be linear in its spec, and is not: off by {gap:.3g}"
        if spec.moves:
            new = set(made.float().ravel().tolist()) - set(x.float().ravel().tolist())
            assert not new, f"'{op}' is said to move entries in its spec, and makes new ones: {sorted(new)[:3]}"
