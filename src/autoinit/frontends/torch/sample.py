"""Drawing weights on the parameter's own device: seeded by name, never through the global generator."""

from __future__ import annotations

from dataclasses import replace
from math import erf, prod, sqrt

import torch

from ...core.drawing import INDEPENDENT
from ...core.plan import ParameterPlan, PartPlan, Plan
from ...core.sampling import CUT, TRUNCATED_STD, UNIFORM_BOUND, name_seed
from ...errors import PlanError
from .memory import in_c_order, region

WIDE = (torch.float32, torch.float64, torch.complex64, torch.complex128)
"""Types that are drawn as they are; others are drawn in float32 (complex64) and rounded."""
NO_NUMBERS = ("float8_e8m0fnu", "float4_e2m1fn_x2")
"""Powers of two alone, and pairs packed into one entry: scales and storage, no weights."""


def can_be_drawn(dtype: torch.dtype) -> bool:
    """Whether random numbers of both signs can be rounded to this type."""
    return (dtype.is_floating_point or dtype.is_complex) and str(dtype).removeprefix("torch.") not in NO_NUMBERS


def fill(out: torch.Tensor, plan: ParameterPlan, whole: Plan, seed: int) -> None:
    """Draw every part of a parameter in place; regions that no part covers keep their values."""
    with in_c_order(out) as entries:
        for k, part in enumerate(plan.parts):
            if 0 in part.shape:
                continue
            generator = torch.Generator(device=out.device).manual_seed(name_seed(seed, plan.name, k))
            kind = whole.distribution if part.kind == "random" else part.kind
            view = entries
            if tuple(part.shape) != tuple(out.shape) or not _any_order(part, kind):
                view = region(entries, part.shape, part.stride, part.offset)
            if out.dtype in WIDE:
                draw(view, part, kind, generator)
                if whole.exact:
                    settle(view, part, kind)
            else:
                wide = torch.empty(view.shape, dtype=_wide(out.dtype), device=out.device)
                draw(wide, part, kind, generator)
                if whole.exact:
                    settle(wide, part, kind)
                view.copy_(wide)


def _any_order(part: PartPlan, kind: str) -> bool:
    """Whether a part of the parameter's own shape may be drawn as if it were not transposed: nothing else changes."""
    return kind != "orthogonal" or len(part.shape) <= 2


def _wide(dtype: torch.dtype) -> torch.dtype:
    return torch.complex64 if dtype.is_complex else torch.float32


def settle(view: torch.Tensor, part: PartPlan, kind: str) -> None:
    """Shift and scale independent entries to have exactly mean zero and the planned standard deviation."""
    if kind in INDEPENDENT and view.numel() > 1:
        view.sub_(view.mean())
        squares = view.abs().square() if view.is_complex() else view.square()
        view.mul_(part.std / squares.mean().sqrt().clamp(min=1e-30))


def draw(view: torch.Tensor, part: PartPlan, kind: str, generator: torch.Generator) -> None:
    """Fill `view` in place. The values do not depend on its memory format.

    Half of the variance of a complex number is its real part's, half its imaginary part's: E|w|^2 is `std`^2.
    """
    if not view.is_contiguous() and kind in INDEPENDENT:
        dense = torch.empty(view.shape, dtype=view.dtype, device=view.device)
        draw(dense, part, kind, generator)
        view.copy_(dense)
        return
    if view.is_complex() and kind in INDEPENDENT:
        draw(torch.view_as_real(view), replace(part, std=part.std / sqrt(2.0)), kind, generator)
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
    """Orthogonal (of complex numbers: unitary) rows per group, or columns if these are fewer; mean square `std`^2.

    A matrix with orthonormal rows or columns has entries of mean square 1/max(rows, columns).
    """
    axes = list(part.rows) + [a for a in range(view.dim()) if a not in part.rows]
    moved = view.permute(axes)
    rows = prod(view.shape[a] for a in part.rows)
    groups = part.groups if part.groups > 1 and rows % part.groups == 0 else 1
    per_group = rows // groups
    columns = view.numel() // rows
    dtype = _wide(view.dtype)
    out = torch.empty(groups, per_group, columns, dtype=dtype, device=view.device)
    tall = max(per_group, columns), min(per_group, columns)
    for g in range(groups):
        gaussian = torch.empty(tall, dtype=dtype, device=view.device)
        (torch.view_as_real(gaussian) if dtype.is_complex else gaussian).normal_(generator=generator)
        q, r = torch.linalg.qr(gaussian)
        q = q * torch.sgn(torch.diagonal(r))
        out[g] = q if per_group >= columns else q.T
    out *= part.std * tall[0] ** 0.5
    moved.copy_(out.reshape(moved.shape))
