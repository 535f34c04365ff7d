"""Drawing weights on the parameter's own device: seeded by name, never through the global generator."""

from __future__ import annotations

from math import erf, prod, sqrt

import torch

from ...core.drawing import INDEPENDENT
from ...core.plan import ParameterPlan, PartPlan, Plan
from ...core.sampling import CUT, TRUNCATED_STD, UNIFORM_BOUND, name_seed
from ...errors import PlanError

LOW_PRECISION = (torch.bfloat16, torch.float16)


def filled(parameter: torch.Tensor, plan: ParameterPlan, whole: Plan, seed: int) -> torch.Tensor:
    """New values for a parameter (regions that no part covers keep theirs), leaving it alone."""
    out = parameter.detach().clone(memory_format=torch.preserve_format)
    fill(out, plan, whole, seed)
    return out


def fill(out: torch.Tensor, plan: ParameterPlan, whole: Plan, seed: int) -> None:
    """Draw every part of a parameter in place; low precision is drawn in float32 and rounded."""
    for k, part in enumerate(plan.parts):
        generator = torch.Generator(device=out.device).manual_seed(name_seed(seed, plan.name, k))
        if tuple(part.shape) == tuple(out.shape) and prod(part.shape) == out.numel():
            view = out
        else:
            view = torch.as_strided(out, part.shape, part.stride, part.offset + out.storage_offset())
        kind = whole.distribution if part.kind == "random" else part.kind
        if out.dtype in LOW_PRECISION:
            wide = torch.empty(view.shape, dtype=torch.float32, device=out.device)
            draw(wide, part, kind, generator)
            if whole.exact:
                settle(wide, part, kind)
            view.copy_(wide)
        else:
            draw(view, part, kind, generator)
            if whole.exact:
                settle(view, part, kind)


def settle(view: torch.Tensor, part: PartPlan, kind: str) -> None:
    """Shift and scale independent entries to have exactly mean zero and the planned standard deviation."""
    if kind in INDEPENDENT and view.numel() > 1:
        view.sub_(view.mean())
        view.mul_(part.std / view.square().mean().sqrt().clamp(min=1e-30))


def draw(view: torch.Tensor, part: PartPlan, kind: str, generator: torch.Generator) -> None:
    """Fill `view` in place. The values do not depend on its memory format."""
    if not view.is_contiguous() and kind in INDEPENDENT:
        dense = torch.empty(view.shape, dtype=view.dtype, device=view.device)
        draw(dense, part, kind, generator)
        view.copy_(dense)
        return
    if kind == "constant":
        view.fill_(part.std)
    elif kind == "centre":  # written when the weight that it belongs to is drawn
        view.zero_()
    elif kind == "normal":
        view.normal_(0.0, part.std, generator=generator)
    elif kind == "uniform":
        bound = UNIFORM_BOUND * part.std
        view.uniform_(-bound, bound, generator=generator)
    elif kind == "truncated_normal":
        truncated_normal(view, part.std, generator)
    elif kind == "orthogonal":
        orthogonal(view, part, generator)
    else:
        raise PlanError("the plan asks for a filling that does not exist", where="Plan.apply", received=kind,
                        fix="make a new plan")  # fmt: skip


def truncated_normal(view: torch.Tensor, std: float, generator: torch.Generator) -> None:
    """A normal cut at two of its own standard deviations, widened so that the result has standard deviation `std`.

    By inversion: sqrt(2) erfinv(u) with u uniform between the distribution function's values at the cuts.
    """
    edge = erf(CUT / sqrt(2.0))
    view.uniform_(-edge, edge, generator=generator).erfinv_().mul_(sqrt(2.0) * std / TRUNCATED_STD)


def orthogonal(view: torch.Tensor, part: PartPlan, generator: torch.Generator) -> None:
    """Orthogonal rows (or columns, whichever are fewer) per group, with mean square `std`^2 per entry.

    A matrix with orthonormal rows or columns has entries of mean square 1/max(rows, columns).
    """
    axes = list(part.rows) + [a for a in range(view.dim()) if a not in part.rows]
    moved = view.permute(axes)
    rows = prod(view.shape[a] for a in part.rows)
    groups = part.groups if part.groups > 1 and rows % part.groups == 0 else 1
    per_group = rows // groups
    columns = view.numel() // rows
    out = torch.empty(groups, per_group, columns, dtype=torch.float32, device=view.device)
    tall = max(per_group, columns), min(per_group, columns)
    for g in range(groups):
        gaussian = torch.empty(tall, dtype=torch.float32, device=view.device).normal_(generator=generator)
        q, r = torch.linalg.qr(gaussian)
        q = q * torch.sign(torch.diagonal(r))
        out[g] = q if per_group >= columns else q.T
    out *= part.std * tall[0] ** 0.5
    moved.copy_(out.reshape(moved.shape))
