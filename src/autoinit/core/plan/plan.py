"""The plan: plain data about what will be done to which parameter, and what every tensor will look like."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import exp
from typing import TypeVar

from ...errors import PlanError
from ...names import shown
from .fields import Action, Count, Distribution, Kind, Number, Prediction, Seed, Size

SomePlan = TypeVar("SomePlan", bound="PlanData")


@dataclass(slots=True)
class PartPlan:
    """A strided region of a parameter and its filling.

    It is meant in the parameter's entries in C order, the last axis fastest, however they lie in memory: entry
    (i, j, ...) of the region is entry ``offset + i * stride[0] + j * stride[1] + ...``.
    """

    shape: list[Size]
    stride: list[Size]
    offset: Size
    kind: Kind
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
        """The kind, with the plan's distribution where that decides: a table has no rows that could be orthogonal."""
        if self.kind != "random":
            return self.kind
        return "truncated_normal" if distribution == "orthogonal" and not self.rows else distribution


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
    frozen: bool = False
    """The model does not train it: it is never written."""

    @property
    def std(self) -> float | None:
        """What its entries are drawn with (its first part's, if there are several)."""
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
class ResidualPlan:
    """An addition in which a branch comes back to its trunk."""

    tensor: Size
    """Index of the sum."""
    trunk: Size
    """Number of the trunk."""
    n: Count
    """Branches along the trunk."""
    skip: str
    """identity or projection."""
    norm: str
    """Where the branch is normalised: inside, end, after (the addition) or none."""
    share: Prediction
    """Of the sum's second moment: what the branch makes."""
    ends: list[str] = field(default_factory=list)
    """The weights that the branch ends in."""


@dataclass(slots=True)
class Note:
    """Something the reader should know: kind is warning, simulated, passed or info."""

    kind: str
    place: str
    message: str


@dataclass(slots=True)
class PlanData:
    """The result of an analysis. `autoinit.Plan` is this, with what it can do: apply itself, save, draw."""

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
    residual: list[ResidualPlan] = field(default_factory=list)
    """Additions along residual trunks."""
    fills: list[str] = field(default_factory=list)
    """Parameters and buffers that had no memory when the plan was made, and get what their constructors write."""

    def find(self, name: str) -> ParameterPlan | None:
        """The parameter of that name (or, if it is tied, one of its other names); None if there is none."""
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        return next((p for p in self.parameters if name in p.aliases), None)

    def parameter(self, name: str) -> ParameterPlan:
        """The parameter of that name; a `PlanError` if there is none."""
        found = self.find(name)
        if found is None:
            raise PlanError("no parameter of that name in the plan", where="Plan", received=repr(name),
                            fix=f"one of: {', '.join(p.name for p in self.parameters[:5])} ...")  # fmt: skip
        return found

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

    def restricted(self: SomePlan, names: set[str]) -> SomePlan:
        """The part of the plan that is about these parameters and modules."""
        parameters = [p for p in self.parameters if names & {p.name, *p.aliases}]
        if not parameters:
            raise PlanError("the model has none of the planned parameters", where="Plan.apply",
                            received=f"{len(names)} names, for instance {shown(min(names, default='none'))}",
                            fix="give a part of the model that the plan was made for, with its names")  # fmt: skip
        centers = [c for c in self.centers if c.place in names]
        return replace(self, parameters=parameters, centers=centers, fills=[n for n in self.fills if n in names])

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
