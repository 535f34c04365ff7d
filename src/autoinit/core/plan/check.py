"""Whether the parts of a plan fit together: names, indices, regions inside of their parameters.

A part is a strided region of its parameter's entries in C order (the last axis runs fastest), however the parameter
lies in memory: entry (i, j, ...) of the region is entry ``offset + i * stride[0] + j * stride[1] + ...``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NoReturn

from .fields import LARGEST, Distribution
from .file import Place, PlanReader, is_plain
from .plan import CenterPlan, ParameterPlan, PartPlan, PlanData

AGAIN = "make the plan again"


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


def outputs_of(shape: Sequence[int], rows: Sequence[int], groups: int) -> int:
    """How many row sums a weight has (see `drawing.row_sums`)."""
    return prod(shape[a] for a in rows) * (groups if groups > 1 and 0 not in rows else 1)


class PlanCheck:
    """The checks, with the place of what is wrong in their errors."""

    def __init__(self, plan: PlanData, where: str) -> None:
        self.plan, self.reader = plan, PlanReader(where)
        self.by_name = {entry.name: entry for entry in plan.parameters}

    def all(self) -> None:
        plan, tensors = self.plan, len(self.plan.tensors)
        for k, tensor in enumerate(plan.tensors):
            if tensor.index != k:
                self._refuse("tensors are numbered in their order", ("tensors", k, "index"), str(tensor.index))
            if len(tensor.correlation) > len(tensor.shape):
                self._refuse("there is one correlation for each axis", ("tensors", k, "correlation"),
                             f"{len(tensor.correlation)} for {len(tensor.shape)} axes")  # fmt: skip
        for k, output in enumerate(plan.outputs):
            if output >= tensors:
                self._refuse(f"the plan has {tensors} tensors", ("outputs", k), str(output))
        for k, entry in enumerate(plan.parameters):
            if entry.layer is not None and entry.layer >= tensors:
                self._refuse(f"the plan has {tensors} tensors", ("parameters", k, "layer"), str(entry.layer))
        self.writes()

    def writes(self) -> None:
        """Everything that `apply` relies on."""
        seen: set[str] = set()
        others: set[str] = {entry.name for entry in self.plan.parameters}
        for k, entry in enumerate(self.plan.parameters):
            place: Place = ("parameters", k)
            for n, alias in enumerate(entry.aliases):
                if alias in others:
                    self._refuse("two parameters have this name", (*place, "aliases", n), f"{alias!r:.200}")
                others.add(alias)
            if not entry.name or entry.name in seen:
                why = "this name is there twice" if entry.name else "a parameter has a name"
                self._refuse(why, (*place, "name"), f"{entry.name!r:.200}")
            seen.add(entry.name)
            if prod(entry.shape) > LARGEST:
                self._refuse("no parameter is that large", (*place, "shape"), f"{entry.shape!r:.200}")
            if entry.parts and entry.action in ("kept", "unreached"):
                self._refuse("a parameter that is left alone has no parts", (*place, "parts"), f"action {entry.action}")
            for n, part in enumerate(entry.parts):
                self._part(entry, part, (*place, "parts", n))
        places: set[str] = set()
        for k, center in enumerate(self.plan.centers):
            if center.place in places:
                self._refuse("this place is there twice", ("centers", k, "place"), f"{center.place!r:.200}")
            places.add(center.place)

    def _part(self, entry: ParameterPlan, part: PartPlan, place: Place) -> None:
        kind = part.drawn_as(self.plan.distribution)
        if part.std < 0 and kind != "constant":
            self._refuse("a standard deviation is not negative", (*place, "std"), str(part.std))
        self._region(part.shape, part.stride, part.offset, entry, place)
        if kind == "centre":
            self._centre(part, place)
        elif kind == "orthogonal":
            self._rows(part.rows, part.shape, place)

    def _region(
        self, shape: list[int], stride: list[int], offset: int, entry: ParameterPlan, place: Place, of: str = ""
    ) -> None:
        """`of`: what the fields are called that say where the region is."""
        size = prod(entry.shape)
        if len(stride) != len(shape):
            self._refuse("there is one stride for each axis", (*place, f"{of}stride"),
                         f"{len(stride)} for {len(shape)} axes")  # fmt: skip
        if not inside(shape, stride, offset, size):
            self._refuse(f"a part lies outside of its parameter, {entry.name!r:.200} with {size} entries",
                         (*place, f"{of}stride"), f"shape {shape}, stride {stride}, offset {offset}")  # fmt: skip
        if repeats(shape, stride):
            self._refuse("a part holds an entry of its parameter twice", (*place, f"{of}stride"),
                         f"shape {shape}, stride {stride}")  # fmt: skip

    def _rows(self, rows: list[int], shape: list[int], place: Place) -> None:
        if len(set(rows)) < len(rows) or any(a >= len(shape) for a in rows):
            self._refuse(f"rows are different axes, below {len(shape)}", (*place, "rows"), f"{rows!r:.200}")

    def _centre(self, part: PartPlan, place: Place) -> None:
        weight = self.by_name.get(part.of)
        if weight is None:
            self._refuse("a centring bias needs the weight that it belongs to, a parameter of the plan",
                         (*place, "of"), f"{part.of!r:.200}")  # fmt: skip
        self._region(part.of_shape, part.of_stride, part.of_offset, weight, place, "of_")
        self._rows(part.rows, part.of_shape, place)
        grouped = part.groups > 1 and 0 not in part.rows
        if grouped and (not part.of_shape or part.of_shape[0] % part.groups):
            self._refuse("groups divide the weight's first axis", (*place, "groups"), str(part.groups))
        outputs = outputs_of(part.of_shape, part.rows, part.groups)
        if outputs != prod(part.shape):
            self._refuse(f"the weight has {outputs} outputs, and so many entries has its bias", (*place, "shape"),
                         f"{part.shape!r:.200}")  # fmt: skip

    def _refuse(self, why: str, place: Place, received: str) -> NoReturn:
        self.reader.refuse(why, place, received, AGAIN)


def check_writes(plan: PlanData, where: str = "Plan.apply") -> None:
    """Raise if a plan that is about to be applied is not what a plan can be, whoever made or changed it."""
    reader = PlanReader(where)
    hints = (("distribution", Distribution), ("exact", bool), ("parameters", list[ParameterPlan]),
             ("centers", list[CenterPlan]))  # fmt: skip
    for name, hint in hints:
        if not is_plain(hint)(getattr(plan, name)):
            reader.read(hint, getattr(plan, name), (name,))
    PlanCheck(plan, where).writes()
