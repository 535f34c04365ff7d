"""From the outcome of a propagation to the plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from math import gcd

from ..graph.graph import Graph, Node, ParameterView, Value
from ..graph.roles import weight_slots
from ..graph.specs import spec_of
from ..options import Options, with_layers
from ..plan.check import repeats
from ..plan.plan import Note, ParameterPlan, PartPlan, PlanData, ResidualPlan, SlopePlan, TensorPlan
from ..plan.weights import Part
from ..signal.signal import Signal
from ..signal.volatility import scatter
from .outcome import Outcome


def build_plan(
    graph: Graph, outcome: Outcome, options: Options, *, model: str, framework: str, check: bool = False
) -> PlanData:
    status = {index: kind for index, kind, _ in outcome.notes if kind in ("simulated", "passed")}
    tensors: list[TensorPlan] = []
    by_value: dict[int, int] = {}
    for index, node in enumerate(graph.nodes):
        for k, value in enumerate(node.outputs):
            signal = outcome.signals.get(value.id)
            if signal is None:
                continue
            source = node.inputs[0] if node.attrs.get("unreal") else None
            if isinstance(source, Value) and source.id in by_value:  # an activation that keeps its mean
                by_value[value.id] = by_value[source.id]
                continue
            by_value[value.id] = len(tensors)
            row = _tensor(len(tensors), node, k, signal, status.get(index, "rule"))
            if outcome.gradients is not None:
                row.gradient = outcome.gradients.tensors.get(value.id)
                row.chi = outcome.gradients.chi.get(index)
            if k == 0 and index in outcome.weight_nodes:
                _weight_layer(row, node, outcome, index)
            tensors.append(row)
    first_row = {id(node): by_value.get(node.outputs[0].id) for node in graph.nodes if node.outputs}
    parameters = []
    for name, decision in outcome.decisions.of.items():
        layer = None if decision.node is None else first_row.get(id(graph.nodes[decision.node]))
        shape, aliases = list(decision.parameter.shape), list(decision.parameter.aliases)
        parts = [_part(part, _solved_for(part, graph, outcome, first_row)) for _, part in decision.parts]
        parts, frozen = [] if check else parts, not decision.parameter.trainable
        entry = ParameterPlan(name, shape, decision.action, decision.reason, parts, layer, aliases, frozen)
        if outcome.gradients is not None:
            entry.gradient = outcome.gradients.parameters.get(name)
            entry.second = outcome.gradients.sizes.get(name)
        parameters.append(entry)
    told = [*outcome.notes, *(outcome.gradients.notes if outcome.gradients is not None else ())]
    notes = [Note(kind, graph.nodes[index].place, message) for index, kind, message in told]
    notes += [Note("warning", *_place_and_text(text)) for text in graph.notes]
    notes += [
        Note("warning", name, "no values to measure (meta device): taken as 1 for a gain, 0 otherwise")
        for name in sorted(outcome.decisions.assumed)
    ]
    notes += [
        Note("warning", name, f"{count} of its values are NaN or infinite: counted as 0")
        for name, count in sorted(outcome.decisions.damaged.items())
    ]
    notes += [Note("warning", "options", text) for text in _without_effect(graph, options)]
    if not check and not any(p.parts for p in parameters):
        text = "no parameter is set: all are frozen, skipped, zero, kept by policy or not reached"
        notes.append(Note("warning", "model", text))
    notes = list({(note.kind, note.place, note.message): note for note in notes}.values())
    outputs = [by_value[v.id] for v in graph.outputs if isinstance(v, Value) and v.id in by_value]
    return PlanData(
        model=model, framework=framework, variance=_nominal(options, outcome), distribution=options.distribution,
        seed=options.seed, training=options.training, parameters=parameters, tensors=tensors, notes=notes,
        outputs=outputs, checked=check, exact=options.exact, centers=outcome.centers,
        residual=_residual(graph, outcome, tensors, by_value), slopes=_slopes(outcome, by_value),
    )  # fmt: skip


def _residual(
    graph: Graph, outcome: Outcome, tensors: list[TensorPlan], by_value: dict[int, int]
) -> list[ResidualPlan]:
    made = []
    for one in outcome.additions:
        node = graph.nodes[one.node]
        branch, total = node.inputs[1 - one.trunk], node.outputs[0]
        row, added = by_value.get(total.id), outcome.signals.get(branch.id) if isinstance(branch, Value) else None
        if row is None or added is None:
            continue
        ends = [by_value.get(graph.nodes[end.node].outputs[0].id) for end in one.ends]
        names = [tensors[k].weight for k in ends if k is not None]
        share = added.second / tensors[row].second if tensors[row].second > 0 else 0.0
        power = outcome.growth[total.id].power if total.id in outcome.growth else 1.0
        made.append(ResidualPlan(row, one.group, one.n, one.skip.value, one.norm.value, share, [n for n in names if n],
                                 power))  # fmt: skip
    return made


def _slopes(outcome: Outcome, by_value: dict[int, int]) -> list[SlopePlan]:
    return [
        SlopePlan(by_value[one.value.id], one.slope, one.source.variance, one.power, one.before.depth)
        for one in outcome.slopes
        if one.value.id in by_value
    ]


def _nominal(options: Options, outcome: Outcome) -> float:
    """What most weights aim at; of stable targets the largest."""
    given = options.variance
    number = given.get("*", 1.0) if isinstance(given, Mapping) else given
    return max(outcome.stable.values(), default=1.0) if isinstance(number, str) else float(number)


def _without_effect(graph: Graph, options: Options) -> list[str]:
    """Patterns that match nothing are most likely misspelt."""
    names = [name for p in graph.parameters.values() for name in (p.name, *p.aliases)] + graph.other_names
    variances = tuple(options.variance) if isinstance(options.variance, Mapping) else ()
    matched = [
        ("skip", options.skip, names),
        ("only", options.only, names),
        ("variance", variances, with_layers(names)),
    ]
    return [
        f"the pattern {pattern!r} of '{option}' matches no parameter{_meant(pattern, known)}"
        for option, patterns, known in matched
        for pattern in patterns
        if not any(fnmatchcase(name, pattern) for name in known)
    ]


def _meant(pattern: str, known: Sequence[str]) -> str:
    """Of a layer that is named: the pattern of all that is in it."""
    inside = next((f"{pattern}{dot}*" for dot in "./" for name in known if name.startswith(f"{pattern}{dot}")), None)
    return "" if inside is None else f" (but {inside!r} would)"


def _place_and_text(note: str) -> tuple[str, str]:
    """Notes of a front end start with their place."""
    place, found, text = note.partition(": ")
    return (place, text) if found else ("model", note)


def _tensor(index: int, node: Node, k: int, signal: Signal, status: str) -> TensorPlan:
    return TensorPlan(
        index, node.module, node.label or node.op, node.call, node.first + k, list(signal.shape),
        signal.mean, signal.variance, signal.tensor_variance(), signal.second,
        correlation=[round(c, 6) for c in signal.correlations()], scatter=scatter(signal), status=status,
        shown=node.attrs.get("shown", ""),
    )  # fmt: skip


def _weight_layer(row: TensorPlan, node: Node, outcome: Outcome, index: int) -> None:
    slots = list(weight_slots(node)) or list(node.attrs.get("weights", ()))
    target = outcome.weight_nodes[index]
    row.target = target if target == target else None
    row.weight = outcome.made_of.get(index, "(computed weight)")
    for slot in slots:
        ref = node.inputs[slot]
        if isinstance(ref, ParameterView):
            row.weight = ref.name
            row.tied = spec_of(node.op).looks_up and ref.name in outcome.tied
    data = [r for s, r in enumerate(node.inputs) if s not in slots and isinstance(r, Value)]
    incoming = outcome.signals.get(data[0].id) if data else None
    if incoming is None or spec_of(node.op).looks_up:  # indices are no signal
        return
    row.mean_in, row.variance_in = incoming.mean, incoming.tensor_variance()
    weight = outcome.decisions.of.get(row.weight)
    std = weight.parts[0][1].std if weight and weight.parts else 0.0
    if incoming.second > 0 and std > 0:
        row.fan = row.second / (std**2 * incoming.second)


def _solved_for(part: Part, graph: Graph, outcome: Outcome, first_row: dict[int, int | None]) -> int | None:
    """The row of the contraction that a part was drawn for."""
    node = -1 if part.node is None else part.node
    return first_row.get(id(graph.nodes[node])) if node in outcome.weight_nodes else None


def _part(part: Part, layer: int | None) -> PartPlan:
    v, of = part.view, part.of
    shape, stride = _each_once(v)
    rows = [a for a in part.rows if a < len(shape)] if len(shape) == len(v.shape) else []
    made = PartPlan(shape, stride, v.offset, part.kind, float(part.std), rows, part.groups, value=float(part.value),
                    layer=layer)  # fmt: skip
    if of is not None:  # a centring bias, with the rows of its weight
        made.of, made.of_shape, made.of_stride, made.of_offset = of.name, list(of.shape), list(of.stride), of.offset
        made.rows = list(part.rows)
    return made


def _each_once(view: ParameterView) -> tuple[list[int], list[int]]:
    """Shape and stride of a region that holds every entry of the view once.

    A view that repeats entries (`expand`) is drawn once along the axes where it does. Where its windows overlap, the
    region is the run of entries from the first to the last, in steps of the strides' common divisor.
    """
    shape = [1 if step == 0 and n > 0 else n for n, step in zip(view.shape, view.stride, strict=True)]
    stride = list(view.stride)
    if not repeats(shape, stride):
        return shape, stride
    step = gcd(*(s for n, s in zip(shape, stride, strict=True) if n > 1))
    last = sum((n - 1) * s for n, s in zip(shape, stride, strict=True))
    return [last // step + 1], [step]
