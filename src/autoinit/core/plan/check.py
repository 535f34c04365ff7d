"""Whether the parts of a plan fit together: names, indices, regions inside of their parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import prod
from typing import Any

from .fields import LARGEST, Distribution, Place, Wrong, reader, shown
from .plan import CenterPlan, ParameterPlan, PartPlan, PlanData


def repeats(shape: Sequence[int], stride: Sequence[int]) -> bool:
    """Whether a region may hold an entry twice: an axis steps no further than the finer ones reach."""
    reach = 0
    for step, n in sorted((step, n) for n, step in zip(shape, stride, strict=True) if n > 1):
        if step <= reach:
            return True
        reach += (n - 1) * step
    return False


def inside(shape: Sequence[int], stride: Sequence[int], offset: int, size: int) -> bool:
    """Whether a region lies in a parameter of `size` entries."""
    if offset < 0 or min(stride, default=0) < 0 or min(shape, default=0) < 0:
        return False
    if 0 in shape:
        return offset <= size
    return offset + sum((n - 1) * step for n, step in zip(shape, stride, strict=True)) < size


def groups_of_inputs(rows: Sequence[int], groups: int) -> int:
    """Groups that divide the inputs of a weight.

    These come first where outputs do not (a transposed convolution: inputs, outputs per group, taps).
    """
    return 1 if 0 in rows else groups


def outputs_of(shape: Sequence[int], rows: Sequence[int], groups: int) -> int:
    """How many row sums a weight has (see `drawing.centred_bias`)."""
    return prod(shape[a] for a in rows) * groups_of_inputs(rows, groups)


@dataclass(slots=True)
class Writes:
    """What `apply` relies on."""

    distribution: Distribution
    exact: bool
    parameters: list[ParameterPlan]
    centers: list[CenterPlan]


def check_writes(plan: PlanData, where: str = "Plan.apply") -> None:
    """Raise if a plan that is about to be applied is not what a plan can be, whoever made or changed it."""
    try:
        _check_writes(reader(Writes)({f.name: getattr(plan, f.name) for f in fields(Writes)}))
    except Wrong as wrong:
        raise wrong.error(where) from None


def check_all(plan: PlanData) -> None:
    """Raise `Wrong` if the parts of a plan do not fit together."""
    for k, tensor in enumerate(plan.tensors):
        if tensor.index != k:
            raise _refused("tensors are numbered in their order", tensor.index, "tensors", k, "index")
        if len(tensor.correlation) > len(tensor.shape):
            raise _refused("there is one correlation for each axis", tensor.correlation, "tensors", k, "correlation")
    indices: list[tuple[int | None, Place]] = [(index, ("outputs", k)) for k, index in enumerate(plan.outputs)]
    indices += [(entry.layer, ("parameters", k, "layer")) for k, entry in enumerate(plan.parameters)]
    indices += [(one.tensor, ("slopes", k, "tensor")) for k, one in enumerate(plan.slopes)]
    indices += [
        (part.layer, ("parameters", k, "parts", n, "layer"))
        for k, entry in enumerate(plan.parameters)
        for n, part in enumerate(entry.parts)
    ]
    indices += [(one.tensor, ("residual", k, "tensor")) for k, one in enumerate(plan.residual)]
    for index, place in indices:
        if index is not None and index >= len(plan.tensors):
            raise _refused(f"the plan has {len(plan.tensors)} tensors", index, *place)
    _check_writes(plan)


def _check_writes(plan: PlanData | Writes) -> None:
    by_name = {entry.name: entry for entry in plan.parameters}
    names: list[tuple[str, Place]] = [(p.name, ("parameters", k, "name")) for k, p in enumerate(plan.parameters)]
    for k, entry in enumerate(plan.parameters):
        names += [(alias, ("parameters", k, "aliases", n)) for n, alias in enumerate(entry.aliases)]
    _check_different("two parameters have this name: it is there twice", names)
    _check_different("this place is there twice", [(c.place, ("centers", k)) for k, c in enumerate(plan.centers)])
    for k, entry in enumerate(plan.parameters):
        place: Place = ("parameters", k)
        if not entry.name:
            raise _refused("a parameter has a name", entry.name, *place, "name")
        if prod(entry.shape) > LARGEST:
            raise _refused("no parameter is that large", entry.shape, *place, "shape")
        if entry.parts and entry.action in ("kept", "unreached"):
            raise _refused("a parameter that is left alone has no parts", entry.action, *place, "parts")
        for n, part in enumerate(entry.parts):
            kind = part.drawn_as(plan.distribution)
            if part.std < 0 and kind != "constant":
                raise _refused("a standard deviation is not negative", part.std, *place, "parts", n, "std")
            if not part.factor > 0:
                raise _refused("calibration multiplies by a positive number", part.factor, *place, "parts", n, "factor")
            _check_region(part.shape, part.stride, part.offset, entry, (*place, "parts", n, "stride"))
            if kind == "centre":
                _check_centre(part, by_name.get(part.of), (*place, "parts", n))
            elif kind == "orthogonal":
                _check_rows(part.rows, part.shape, (*place, "parts", n))


def _check_different(why: str, names: list[tuple[str, Place]]) -> None:
    seen: set[str] = set()
    for name, place in names:
        if name in seen:
            raise _refused(why, name, *place)
        seen.add(name)


def _check_region(shape: list[int], stride: list[int], offset: int, entry: ParameterPlan, place: Place) -> None:
    size, received = prod(entry.shape), {"shape": shape, "stride": stride, "offset": offset}
    if len(stride) != len(shape):
        raise _refused("there is one stride for each axis", received, *place)
    if not inside(shape, stride, offset, size):
        why = f"a part lies outside of its parameter, {entry.name!r:.200} with {size} entries"
        raise _refused(why, received, *place)
    if repeats(shape, stride):
        raise _refused("a part holds an entry of its parameter twice", received, *place)


def _check_rows(rows: list[int], shape: list[int], place: Place) -> None:
    if len(set(rows)) < len(rows) or any(a >= len(shape) for a in rows):
        raise _refused(f"rows are different axes, below {len(shape)}", rows, *place, "rows")


def _check_centre(part: PartPlan, weight: ParameterPlan | None, place: Place) -> None:
    if weight is None:
        why = "a centring bias needs the weight that it belongs to, a parameter of the plan"
        raise _refused(why, part.of, *place, "of")
    _check_region(part.of_shape, part.of_stride, part.of_offset, weight, (*place, "of_stride"))
    _check_rows(part.rows, part.of_shape, place)
    groups = groups_of_inputs(part.rows, part.groups)
    if groups > 1 and (not part.of_shape or part.of_shape[0] % groups):
        raise _refused("groups divide the weight's first axis", groups, *place, "groups")
    outputs = outputs_of(part.of_shape, part.rows, part.groups)
    if outputs != prod(part.shape):
        why = f"the weight has {outputs} outputs, and so many entries has its bias"
        raise _refused(why, part.shape, *place, "shape")


def _refused(why: str, received: Any, *place: str | int) -> Wrong:
    return Wrong(why, shown(received), "make the plan again", place)
