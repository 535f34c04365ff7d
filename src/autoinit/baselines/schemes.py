"""The classical schemes: a scale from the number of connections alone, whatever comes before or after the layer.

fan_in and fan_out count the connections of one node: channels of a group times taps of the kernel. Borders and strides
do not enter, which is part of what these schemes are.

Without inputs the layers that frameworks know are set. With inputs the model is traced as for a plan, and weights that
forward contracts by hand (einsum, x @ W) are set too.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace
from math import prod, sqrt
from typing import Any

from ..api import plan as analyse
from ..core.plan.plan import ParameterPlan, PartPlan
from ..errors import InputError, OptionError, PlanError
from ..frontends.choice import front_end_of
from ..plans import Plan


@dataclass(frozen=True, slots=True)
class Scheme:
    """Variance gain / fan, the fan being fan_in or its average with fan_out; orthogonal: unit rows or columns."""

    distribution: str
    gain: float = 1.0
    average: bool = False

    def std(self, fan_in: float, fan_out: float) -> float:
        if self.distribution == "orthogonal":
            return 1.0 / sqrt(max(fan_in, fan_out, 1.0))
        return sqrt(self.gain / max((fan_in + fan_out) / 2 if self.average else fan_in, 1.0))


DRAWN = {
    "glorot_normal": Scheme("normal", 1.0, average=True),
    "glorot_uniform": Scheme("uniform", 1.0, average=True),
    "he_normal": Scheme("normal", 2.0),
    "he_uniform": Scheme("uniform", 2.0),
    "lecun_normal": Scheme("normal", 1.0),
    "lecun_uniform": Scheme("uniform", 1.0),
    "orthogonal": Scheme("orthogonal"),
}
SCHEMES = ("default", *DRAWN)


def classical(model: Any, scheme: str = "default", seed: int = 0, *, inputs: Any = None) -> Any:
    """Initialize `model` in place with a classical scheme and return it.

    scheme: "default" (what the framework's layers draw themselves), "glorot_", "he_" or "lecun_" followed by
        "normal" or "uniform", or "orthogonal". All but the default set the weights of dense, convolutional,
        bilinear, attention and recurrent layers, and put their biases to zero; the rest stays.
    inputs: as for `autoinit.plan`; with them every weight that forward contracts is set, whatever holds it. Keras
        models know their own.

    Frozen parameters are left alone, and the global random state stays as it was.
    """
    known_scheme(scheme, "scheme", SCHEMES)
    framework = front_end_of(model).NAME
    if scheme == "default":
        if framework == "torch":
            from .schemes_torch import reset
        else:
            from .schemes_keras import reset
        reset(model, seed)
    elif framework == "torch" and inputs is None:
        from .schemes_torch import fill_layers

        fill_layers(model, DRAWN[scheme], seed)
    else:
        scheme_plan(analyse(model, inputs, keep_zeros=False), scheme).apply(model, seed)
    return model


def known_scheme(scheme: Any, where: str, names: tuple[str, ...]) -> None:
    if scheme not in names:
        raise OptionError("unknown scheme", where=where, received=repr(scheme), fix=f"one of {', '.join(names)}")


def scheme_plan(plan: Plan, scheme: str, tables: bool = False) -> Plan:
    """The plan with a classical scheme's deviations: weights drawn, biases zero, gains (and embeddings) left alone."""
    drawn = DRAWN[scheme]
    parameters = [replace(p, parts=_parts(p, plan, drawn, tables)) for p in plan.parameters]
    return replace(plan, parameters=parameters, distribution=drawn.distribution)


def _parts(entry: ParameterPlan, plan: Plan, scheme: Scheme, tables: bool) -> list[PartPlan]:
    if entry.action == "zero":
        return entry.parts
    if entry.action != "set" or (_is_table(entry, plan) and not tables):
        return []
    return [_drawn(part, scheme) for part in entry.parts]


def _is_table(entry: ParameterPlan, plan: Plan) -> bool:
    """Whether rows of the parameter are looked up: such a weight layer has no incoming signal."""
    row = None if entry.layer is None else plan.tensors[entry.layer]
    return row is not None and row.weight is not None and row.variance_in is None


def _drawn(part: PartPlan, scheme: Scheme) -> PartPlan:
    if part.kind == "constant":  # biases of recurrent layers
        return replace(part, std=0.0)
    if scheme.distribution == "orthogonal":
        rows = prod(part.shape[a] for a in part.rows)
        groups = part.groups if part.groups > 1 and rows % part.groups == 0 else 1
        return replace(part, kind="random", std=scheme.std(prod(part.shape) / max(rows, 1), rows / groups))
    return replace(part, kind="random", std=scheme.std(*fans(part.shape, part.rows, part.groups)))


def fans(shape: list[int], rows: list[int], groups: int = 1) -> tuple[float, float]:
    """(fan_in, fan_out) of a weight whose outputs run along `rows`.

    One axis of outputs and more than two axes: a convolution, outputs and inputs first, then taps. Its groups divide
    the outputs, or the inputs where those come first (transposed).
    """
    taps = prod(shape[2:]) if len(rows) == 1 and len(shape) > 2 else 1
    outputs = prod(shape[a] for a in rows)
    inputs = prod(shape) / max(outputs, 1)
    return (inputs, outputs * taps / groups) if 0 in rows else (inputs / groups, outputs * taps)


def fits(plan: Plan, parameters: Container[str]) -> None:
    """A plan of another model is refused before anything is written."""
    for entry in plan.parameters:
        if entry.name not in parameters:
            raise PlanError("the plan was made for another model", where=entry.name, received="no such parameter",
                            fix="plan=autoinit.plan(model, inputs)")  # fmt: skip


def needs_inputs(model: Any, inputs: Any, scheme: str) -> None:
    """PyTorch models do not know their inputs."""
    if inputs is None and front_end_of(model).NAME == "torch":
        raise InputError(f"'{scheme}' needs inputs", where="inputs", received="None",
                         fix="a batch, a shape, or autoinit.Input(...)")  # fmt: skip
