"""The plan: plain data about what will be done to which parameter, and what every tensor will look like."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from math import exp
from pathlib import Path
from typing import Any

from ...errors import AutoInitWarning, PlanError
from ...names import shown
from ..files import replace_text
from ..options import read_flag, read_seed
from .fields import Action, Count, Distribution, Kind, Number, Prediction, Seed, Size

FORMAT = 2
OLDER = {1: "written by an older version, whose seeds gave other weights (of the same standard deviations)"}
"""Formats that are still read, and what to know of them."""


@dataclass(slots=True)
class PartPlan:
    """A strided region of a parameter and its filling.

    The region is meant in the parameter's entries in C order, the last axis fastest, however they lie in memory.
    """

    shape: list[Size]
    stride: list[Size]
    offset: Size
    kind: Kind
    """random, uniform, orthogonal, constant, centre."""
    std: Number
    rows: list[Size] = field(default_factory=lambda: [0])
    groups: Count = 1
    of: str = ""
    """For a centring bias: the weight whose row sums it takes, and which part of it (shape, stride, offset)."""
    of_shape: list[Size] = field(default_factory=list)
    of_stride: list[Size] = field(default_factory=list)
    of_offset: Size = 0
    value: Number = 0.0
    """For a centring bias: the incoming mean that it cancels."""

    def drawn_as(self, distribution: str) -> str:
        """The kind, with the plan's distribution where that decides."""
        return distribution if self.kind == "random" else self.kind


@dataclass(slots=True)
class ParameterPlan:
    """What happens to one parameter: action is set, gain, zero, centre, kept or unreached."""

    name: str
    shape: list[Size]
    action: Action
    reason: str
    parts: list[PartPlan] = field(default_factory=list)
    layer: Size | None = None
    """Index of the tensor whose variance this parameter was set for."""
    aliases: list[str] = field(default_factory=list)
    """Other names of the parameter in the model: it is tied."""

    @property
    def std(self) -> float | None:
        return self.parts[0].std if self.parts else None


@dataclass(slots=True)
class TensorPlan:
    """The predicted signal of one tensor."""

    index: Size
    module: str
    op: str
    call: Size
    output: Size
    shape: list[Size]
    mean: Prediction
    variance: Prediction
    """Variance of one entry, over weights, data and noise."""
    tensor_variance: Prediction
    """What x.var() over the whole tensor measures on average."""
    second: Prediction
    correlation: list[Prediction]
    """Correlation of two entries that differ along one axis, per axis."""
    weight: str | None = None
    """The parameter that this op contracts with, if it is a weight layer."""
    target: float | None = None
    """The variance that the weight was solved for."""
    fan: float | None = None
    scatter: Prediction = 0.0
    """Standard deviation of log(x.var()) from draw to draw, by finite width and finite size."""
    status: str = "rule"
    """rule, simulated or passed."""
    shown: str = ""
    """What to call the op in reports, if not by its name: a layer that is measured after its bias is no "Add"."""
    tied: bool = False
    """The rows of a table whose size the projection decides that it is tied to."""
    mean_in: float | None = None
    """Of a weight layer: mean and variance (as `tensor_variance`) of the signal that comes in."""
    variance_in: float | None = None

    @property
    def band(self) -> tuple[float, float]:
        """Where x.var() of one draw is expected: two standard deviations of its logarithm around the middle.

        x.var() is taken as log-normal with mean v = `tensor_variance` and spread s = `scatter`: its middle is
        v exp(-s^2/2).
        """
        middle = self.tensor_variance * exp(-(self.scatter**2) / 2)
        return middle * exp(-2 * self.scatter), middle * exp(2 * self.scatter)


@dataclass(slots=True)
class CenterPlan:
    """An activation whose mean is taken off: f(x) becomes f(x) - shift."""

    place: str
    function: str
    shift: Number
    """The mean of f(x) for the signal that comes in at the first call."""
    variance: Prediction
    """Of f(x), at that call."""
    calls: Count = 1


@dataclass(slots=True)
class Note:
    """Something the reader should know: kind is warning, simulated, passed or info."""

    kind: str
    place: str
    message: str


@dataclass(slots=True)
class Plan:
    """The result of an analysis. `apply` puts it into a model; everything else only reads it."""

    model: str
    framework: str
    variance: Number
    distribution: Distribution
    seed: Seed
    training: bool
    parameters: list[ParameterPlan]
    tensors: list[TensorPlan]
    notes: list[Note]
    outputs: list[Size] = field(default_factory=list)
    checked: bool = False
    """The plan describes the weights as they are (`check`), and sets nothing."""
    exact: bool = False
    """Weights are shifted and scaled to have exactly the planned mean and standard deviation."""
    centers: list[CenterPlan] = field(default_factory=list)
    """Activations that `apply` centres (center="activation")."""
    fills: list[str] = field(default_factory=list)
    """Parameters and buffers that had no memory when the plan was made, and get what their constructors write."""

    def __getitem__(self, name: str) -> ParameterPlan:
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        raise PlanError("no parameter of that name in the plan", received=name,
                        fix=f"one of: {', '.join(p.name for p in self.parameters[:5])} ...")  # fmt: skip

    @property
    def warnings(self) -> list[Note]:
        return [n for n in self.notes if n.kind == "warning"]

    @property
    def weight_layers(self) -> list[TensorPlan]:
        return [t for t in self.tensors if t.weight is not None]

    def unreached(self) -> list[str]:
        """Parameters that the walk never met."""
        return [p.name for p in self.parameters if p.action == "unreached"]

    def changed(self) -> Iterator[ParameterPlan]:
        """Parameters that `apply` writes."""
        return (p for p in self.parameters if p.parts)

    def apply(self, model: Any, seed: int | None = None, *, partial: bool = False, warn: bool = True) -> Any:
        """Draw the weights and write them into `model`: all of them, or none if anything does not fit.

        That holds whatever happens meanwhile: an interrupt or too little memory leaves the model as it was. Every
        weight is a function of the seed, its parameter's name and its place there, so a shard gets what the whole
        parameter would hold at its place.

        partial: the model is a part of the planned one (a pipeline stage); what it does not have is left out.
        """
        from ...api import front_end_of
        from ...telling import left_frozen, tell, untied
        from .check import check_writes

        seed = self.seed if seed is None else read_seed(seed)
        front_end = front_end_of(model)
        if self.checked:
            raise PlanError("this plan only describes the present weights", where="Plan.apply",
                            received="what autoinit.check gave",
                            fix="use autoinit.plan(...) instead of check(...)")  # fmt: skip
        check_writes(self)
        plan = self.restricted(front_end.names(model)) if read_flag("partial", partial) else self
        made = front_end.apply(plan, model, seed)
        tell(self, [*left_frozen(self, front_end.frozen(model)), *untied(self, front_end.identities(model))], warn)
        return made

    def restricted(self, names: set[str]) -> Plan:
        """The part of the plan that is about these parameters and modules."""
        parameters = [p for p in self.parameters if names & {p.name, *p.aliases}]
        if not parameters:
            raise PlanError("the model has none of the planned parameters", where="Plan.apply",
                            received=f"{len(names)} names, for instance {shown(min(names, default='none'))}",
                            fix="give a part of the model that the plan was made for, with its names")  # fmt: skip
        centers = [c for c in self.centers if c.place in names]
        return replace(self, parameters=parameters, centers=centers, fills=[n for n in self.fills if n in names])

    def save(self, path: str | Path) -> None:
        """Write the plan as JSON. The file is replaced as a whole, or (on a full disk, say) stays as it was."""
        replace_text(path, json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> Plan:
        """Read a plan written by `save`. Loading never runs code, and every field is checked."""
        from .file import parsed

        return cls.from_dict(parsed(path), where=str(path))

    def to_dict(self) -> dict[str, Any]:
        return {"autoinit_plan": FORMAT, **_clean(asdict(self))}

    @classmethod
    def from_dict(cls, data: Any, where: str = "plan") -> Plan:
        """The inverse of `to_dict`. Anything that is not what `save` writes is a `PlanError` with its place."""
        from .check import PlanCheck
        from .file import MEND, PlanReader, shown

        if not isinstance(data, dict) or "autoinit_plan" not in data:
            raise PlanError("this is no plan: there is no field autoinit_plan", where=where,
                            received=type(data).__name__, fix=MEND)  # fmt: skip
        number = data["autoinit_plan"]
        if type(number) is not int or (number != FORMAT and number not in OLDER):
            newer = type(number) is int and number > FORMAT
            raise PlanError("a newer version wrote this plan" if newer else "not a plan of this format",
                            where=f"{where}: autoinit_plan", received=shown(number),
                            fix="update autoinit" if newer else MEND)  # fmt: skip
        plan: Plan = PlanReader(where).read(cls, {k: v for k, v in data.items() if k != "autoinit_plan"})
        PlanCheck(plan, where).all()
        if number in OLDER:
            plan.notes.append(Note("warning", "seed", OLDER[number]))
            warnings.warn(f"{where}: {OLDER[number]}", AutoInitWarning, stacklevel=3)
        return plan

    def summary(self) -> str:
        """One line."""
        layers = self.weight_layers
        done = sum(p.action in ("set", "gain", "zero", "centre") for p in self.parameters)
        words = [f"{len(layers)} weight layers"]
        if not self.checked:
            words.append(f"{done} of {len(self.parameters)} parameters set")
        if self.centers:
            words.append(f"{len(self.centers)} activations centred")
        for kind, label in (("warning", "warnings"), ("simulated", "ops simulated"), ("passed", "ops passed through")):
            count = sum(n.kind == kind for n in self.notes)
            if count:
                words.append(f"{count} {label}")
        if self.unreached():
            words.append(f"{len(self.unreached())} parameters not reached")
        return ", ".join(words)

    def __repr__(self) -> str:
        return f"<{'Check' if self.checked else 'Plan'} of {shown(self.model)}: {self.summary()}>"

    def __str__(self) -> str:
        from ...report.text import table

        return table(self)

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        from ...report.terminal import coloured

        yield coloured(self, options.max_width)

    def _repr_html_(self) -> str:
        from ...report.notebook import plan_html

        return plan_html(self)

    def show(self) -> None:
        """Print the table; in a terminal with rich installed in colour."""
        from ...report.terminal import show

        show(self)

    def plot(self, path: str | Path | None = None, **options: Any) -> Any:
        """Draw variance and mean against depth (needs matplotlib); options as of `autoinit.report.plot`.

        `compare={"default": autoinit.check(model, inputs)}` draws others beside it, `measured=autoinit.measure(...)`
        what was measured over it.
        """
        from ...report.plot import plot

        return plot(self, path, **options)

    def to_html(self, path: str | Path | None = None, *, default: Any = None, measured: Any = None) -> str:
        """The plan as one interactive page without network (needs plotly); saved if a path is given.

        `default` is what to compare with (a `check` plan or a measurement), `measured` a measurement of this plan.
        """
        from ...report.page import page

        return page(self, path, default=default, measured=measured)


def _clean(value: Any) -> Any:
    """JSON has no inf and nan: they become None."""
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    if isinstance(value, dict):
        return {k: _clean(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(v) for v in value]
    return value
