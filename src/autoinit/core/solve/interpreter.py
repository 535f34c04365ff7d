"""The interpreter: a loop over nodes that carries signals through the rules and solves for weights on the way."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from ...errors import RuleError, UserRuleError
from ..dependence import Joint
from ..dependence.places import Cut, Places
from ..dependence.relations import Relations
from ..dependence.sampling_fallback import Retrace
from ..dependence.story import Story
from ..graph.canonical.layout import Layout
from ..graph.feeding import WEIGHT, Feeding
from ..graph.graph import Graph, Node, ParameterView, Reference, Value
from ..graph.rewrite import rewritten
from ..graph.roles import weight_rows
from ..graph.specs import spec_of
from ..options import Options
from ..progress import at
from ..signal.signal import HUGE, Signal, iid, sound
from .activation_centring import Centres
from .bias_centring import centred_by_bias
from .given import Given, Revisited
from .no_rule import passed_through, simulate
from .operands import Operands
from .outcome import Outcome, RuleSet
from .policy import NORMALISED, Decisions
from .recurrent_chains import Fed, fed_by
from .recurrent_parts import cell_slots, recurrent_parts
from .stability import Deviations, stable_targets
from .targets import Targets
from .weights_in_the_making import Assignment, Derived, Recipe, combined, fresh

Rule = Callable[..., Any]
MOST_PASSES = 8
SINCE_THE_WEIGHTS = "measured on samples of the real ops since the last weights"


def propagate(
    graph: Graph, inputs: dict[int, Signal], options: Options, rules: RuleSet, check: bool = False
) -> Outcome:
    """Carry signals through the graph.

    Tables that are tied to a later projection need a few passes, and so do weights that are used as data before they
    are decided. `variance="stable"` needs to know the slopes at variance 1 first.
    """
    feeding, layouts = rewritten(graph)
    targets = Targets(graph, feeding, options, check)
    run = _settled(graph, inputs, options, rules, check, feeding, layouts, targets)
    found = Deviations(graph, feeding, run.outcome)
    if targets.wants_stable and not check:
        targets.stable = stable_targets(found)
        if targets.stable:
            run.close()
            run = _settled(graph, inputs, options, rules, check, feeding, layouts, targets)
            found = Deviations(graph, feeding, run.outcome)
    run.outcome.additions, run.outcome.stable = targets.additions, targets.stable
    run.outcome.slopes, run.outcome.growth = found.slopes, found.at
    if targets.wants_stable and check:
        targets.stable = stable_targets(found, as_it_is=True)
    run.review()
    if options.gradients and rules.gradients is not None:
        run.outcome.gradients = rules.gradients(run)
    outcome = run.outcome
    run.close()
    return outcome


def _settled(
    graph: Graph, inputs: dict[int, Signal], options: Options, rules: RuleSet, check: bool, feeding: Feeding,
    layouts: dict[int, Layout], targets: Targets,
) -> Propagation:  # fmt: skip
    tied = set() if check else targets.tied
    provisional = {name: targets.variance((name,)) ** 0.5 for name in tied}
    late: dict[str, float] = {}
    for left in reversed(range(MOST_PASSES)):
        run = Propagation(graph, inputs, options, rules, check, provisional, feeding, layouts, targets)
        run.late_tables = dict(late)
        outcome = run.run()
        changed = False
        for name, size in run.late_tables.items():
            late[name] = run.wanted(run.tables[name]) or size
            changed |= abs(late[name] - size) > 1e-6 * size
        for name in tied | run.decisions.drawn_later():
            parts = outcome.decisions.of[name].parts
            std = parts[0][1].std if parts else provisional[name]
            changed |= abs(std - provisional.get(name, 0.0)) > 1e-6 * abs(std)
            provisional[name] = std
        if not changed or not left:
            break
        run.close()
    for name in tied:
        decision = outcome.decisions.of[name]
        if decision.action == "set":
            decision.reason = "output variance of the projection that the embedding table is tied to"
    outcome.tied = frozenset(targets.tied)
    return run


class Propagation(Operands):
    """One pass. Also the context that rules talk to."""

    def __init__(
        self, graph: Graph, inputs: dict[int, Signal], options: Options, rules: RuleSet, check: bool,
        provisional: dict[str, float], feeding: Feeding, layouts: dict[int, Layout], targets: Targets,
    ) -> None:  # fmt: skip
        super().__init__(graph, inputs, options, Decisions(graph, options, check, provisional))
        self.feeding, self.rules, self.check, self.training = feeding, rules, check, options.training
        self.inputs, self.layouts, self.provisional, self.targets = inputs, layouts, provisional, targets
        self.tables, self.zeros = targets.tables, targets.zeros
        self.outcome = Outcome(self.signals, self.decisions, self.decisions.notes)
        self._once: dict[Hashable, Signal] = {}
        self._makers = {value.id: node for node in graph.nodes for value in node.outputs}
        self.story = Story(graph, layouts, self.weights_of, self.constants.identity)
        self.joint = Joint(self.story, lambda value: self.signals.get(value) or self.story.leaves.get(value))
        self.places = Places(self)
        self.retrace = Retrace(self)
        self.centres = Centres(graph, options, check, self.outcome.notes)
        self._doubt = ""
        self.used_weights: dict[tuple[int, int], Signal] = {}
        """The weight that a node (by identity) got in a slot."""

    # --- the loop -----------------------------------------------------------------------------------------------

    def run(self) -> Outcome:
        for index, node in enumerate(self.graph.nodes):
            self.decisions.index = index
            at("solving", index, len(self.graph.nodes), node.module)
            self.step(node)
        self.decisions.settle()
        return self.outcome

    def again(self, rules: dict[str, Rule]) -> Propagation:
        """The weights as they were decided, carried through with other rules for some ops."""
        table = RuleSet({**self.rules.table, **rules}, self.rules.project)
        run = Propagation(self.graph, self.inputs, self.options, table, self.check, self.provisional, self.feeding,
                          self.layouts, self.targets)  # fmt: skip
        run.decisions.follow(self.decisions)
        run.late_tables = dict(self.late_tables)
        run.run()
        return run

    def close(self) -> None:
        """Nobody asks any more: what knows each other goes, without a search for circles among all that was made."""
        vars(self).clear()

    def step(self, node: Node) -> None:
        parts = [self.part(ref) for ref in node.inputs]
        if any(p is not None for p in parts) and self._stays_weight(node, parts):
            self.story.seen(self.decisions.index, node)
            return
        skipped = self._weight_slots(node, parts)
        signals = [None if k in skipped else self.signal(node, k) for k in range(len(node.inputs))]
        spec = spec_of(node.op)
        if not spec.lazy:  # whatever asks for moments gets finite ones
            signals = [s if s is None or sound(s.mean, s.K) else iid(s.shape) for s in signals]
        if spec.random or any(isinstance(r, Value) and r.id in self.data for r in node.inputs):
            self.data.update(v.id for v in node.outputs)
        self.places.seen(self.decisions.index, node)
        self.story.seen(self.decisions.index, node, signals)
        self._doubt = ""
        part = None if self.rules.project else self.places.cut(node)
        outputs = self.centres.output(node, signals) or part or self.evaluate(node, signals)
        if part is None:  # what is worked out part by part is better than samples of the whole
            outputs = self._retraced(node) or outputs
        project = self.rules.project
        for value, signal in zip(node.outputs, outputs, strict=True):
            if signal.shape != value.shape:
                raise RuleError("the rule returned a signal of the wrong shape", where=node.place,
                                received=f"{signal.shape}, expected {value.shape}",
                                fix="return node.outputs[i].shape")  # fmt: skip
            self.signals[value.id] = project(signal) if project else signal

    def evaluate(self, node: Node, signals: list[Signal | None]) -> tuple[Signal, ...]:
        rule = self.rules.table.get(node.op)
        if rule is not None:
            try:
                made = rule(node, self, *signals)
                made = made if isinstance(made, tuple) else (made,)
                if len(made) != len(node.outputs) or not all(isinstance(s, Signal) for s in made):
                    raise RuleError("a rule returns one Signal per output of its op", where=node.place,
                                    received=repr(made))  # fmt: skip
                return made
            except Exception as error:
                if self.options.strict or node.attrs.get("users_own") or isinstance(error, UserRuleError):
                    raise
                self.note(node, "warning", f"the rule failed ({type(error).__name__}: {error}); fell back")
        what = node.label or node.op
        traced = self.retrace.outputs(node)
        if traced is not None:
            self.note(node, "simulated", f"no rule for {what}: {SINCE_THE_WEIGHTS}")
            return traced
        filled = [s if s is not None else self.signal(node, k) for k, s in enumerate(signals)]
        found = self._simulated(node, filled)
        if found is not None:
            self.note(node, "simulated", f"no rule for {what}: measured on samples of the real op")
            return found
        self.note(node, "passed", f"no rule for {what} and it cannot be run: mean and variance passed on")
        return passed_through(node, filled)

    def _retraced(self, node: Node) -> tuple[Signal, ...] | None:
        """The outputs from samples of the real ops, where a rule has doubts or an operand was sampled itself."""
        if not (self._doubt or self.retrace.follows(node)) or self.weights_of(node):
            return None
        found, spec = self.retrace.outputs(node), spec_of(node.op)
        if found is not None and (self._doubt or not (spec.moves or spec.joins)):  # of the same entries all is said
            self.note(node, "simulated", f"{self._doubt or 'follows from samples'}: {SINCE_THE_WEIGHTS}")
        elif found is None and self._doubt:
            self.note(node, "warning", f"{self._doubt}, and the ops before it cannot be run on samples: a rough number")
        return found

    def relations(self, node: Node) -> Relations:
        return Relations(None if self.rules.project else self.joint, node)

    def related(self, node: Node, slot: int, other: int) -> bool:
        return self.retrace.related(node.inputs[slot], node.inputs[other])

    def of_rows(self, node: Node, slot: int, axis: int, rows: tuple[int, ...]) -> Signal | None:
        ref = node.inputs[slot]
        known = isinstance(ref, Value) and not self.rules.project
        return self.places.part(Cut(ref.id, axis, 0, len(rows), rows)) if known else None  # type: ignore[union-attr]

    def doubt(self, why: str) -> None:
        self._doubt = why

    def revisited(self, node: Node) -> Revisited:
        return Revisited(self, node)

    def review(self) -> None:
        """Ask every signal, once, whether something went wrong on the way to it."""
        self.decisions.measure_centres()
        if self.check:
            self._expect_of_tables()
            self._expect_of_branches()
        self.centres.report(self.outcome)
        for index, node in enumerate(self.graph.nodes):
            self.decisions.index = index
            for value in node.outputs:
                signal = self.signals.get(value.id)
                if signal is None:
                    continue
                if not sound(signal.mean, signal.K):  # a finite signal in its place
                    self.note(node, "warning", f"the signal overflows here (a moment is beyond {HUGE:.0e}): shown as "
                              "that, and what follows is planned as if it had variance 1")  # fmt: skip
                    self.signals[value.id] = iid(signal.shape, 0.0, HUGE)
                if signal.problem:
                    self.note(node, "warning", signal.problem)

    # --- weights in the making ----------------------------------------------------------------------------------------

    def _stays_weight(self, node: Node, parts: list[Derived | None]) -> bool:
        """A node on the way to the place of a weight: remember how to work it out, until a contraction asks."""
        strength, spec = self.feeding.feeds(node), spec_of(node.op)
        data = any(isinstance(ref, Value) and p is None for ref, p in zip(node.inputs, parts, strict=True))
        weight = strength >= WEIGHT
        if (
            not strength
            or (data and (not weight or spec.parameters_only))
            or (spec.factors and strength < self.feeding.needed(node))
            or (spec.layer and not weight)
            or not node.attrs.get("scale_free", True)
            or (spec.opaque and not (node.run and all(p is None or p.recipe is None for p in parts)))
        ):
            return False
        if spec.bias is not None and spec.bias < len(parts):  # a bias is a bias, also of what makes a weight
            parts = [*parts[: spec.bias], None, *parts[spec.bias + 1 :]]
        others = [self.signal(node, k) if p is None else None for k, p in enumerate(parts)]
        varies = any(p is not None and p.varies for p in parts) or any(self.varies(node, k) for k in range(len(parts)))
        noisy = any(isinstance(ref, Value) and ref.id in self.feeding.noise for ref in node.inputs)
        recipe = Recipe(node, parts, others, self._made)
        for value, made in zip(node.outputs, combined(recipe, varies, noisy), strict=True):
            self.derived[value.id] = made
            if varies:
                self.data.add(value.id)
        return True

    def _made(self, node: Node, signals: list[Signal | None], assignment: Assignment) -> tuple[Signal, ...]:
        """The outputs of an op for given signals of all its operands, weights included."""
        given = Given(self, signals.__getitem__, lambda node: Relations(assignment.joint(self.story), node))
        rule = self.rules.table.get(node.op)
        if rule is None:
            return self._simulated(node, signals) or passed_through(node, signals)
        made: Any = rule(node, given, *signals)
        return made if isinstance(made, tuple) else (made,)

    def _simulated(self, node: Node, signals: list[Signal | None]) -> tuple[Signal, ...] | None:
        return simulate(node, signals, seed=self.options.seed * 100003 + self.decisions.index)

    def _weight_slots(self, node: Node, parts: list[Derived | None]) -> set[int]:
        """Operands that the rule asks for through `weight`."""
        spec = spec_of(node.op)
        slots = {*spec.weights, *cell_slots(node)}
        if spec.factors and len(node.inputs) == 2:
            weights = [k for k in (1, 0) if parts[k] is not None or isinstance(node.inputs[k], ParameterView)][:1]
            node.attrs["weights"] = tuple(weights)
            slots |= set(weights)
        return slots

    # --- what rules may ask -----------------------------------------------------------------------------------------

    def centred(self, node: Node, x: Signal) -> Signal:
        """The signal that a layer contracts: with center="bias" the mean is taken off it by the bias."""
        return centred_by_bias(self, node, x)

    def weight(self, node: Node, slot: int, second_moment: Callable[[Signal], float]) -> Signal:
        made = self._weight(node, slot, second_moment)
        self.used_weights[id(node), slot] = made
        return made

    def weights_of(self, node: Node) -> set[int]:
        return {slot for slot in range(len(node.inputs)) if (id(node), slot) in self.used_weights}

    def _weight(self, node: Node, slot: int, second_moment: Callable[[Signal], float]) -> Signal:
        ref, index = node.inputs[slot], self.decisions.index
        self.outcome.weight_nodes.setdefault(index, float("nan"))
        part = self.part(ref)
        if part is None:
            return self._kept_weight(node, slot, ref)
        if part.fixed:
            for view in part.views:
                self.decisions.keep(view.name, NORMALISED)
            return part.signal(self.decisions.assignment({}, unknown=0.0))
        if spec_of(node.op).looks_up and isinstance(ref, ParameterView) and ref.name in self.provisional:
            return fresh(ref).scaled(self.provisional[ref.name])
        if len({view.name for view in part.weights}) == 1:
            self.outcome.made_of[index] = part.weights[0].name
        if index in self.zeros:
            for view in part.weights:
                self.set_to_zero(view)
            return part.signal(self.decisions.assignment({}))
        rows, groups = weight_rows(node, slot)
        target = self._target(node, ref, part)
        before = {v: self.decisions.scale(v) for v in part.views}
        signal = self.decisions.solve(part, rows, groups, second_moment, target)
        decided = any(before[v] is None and self.decisions.scale(v) is not None for v in before)
        if decided and index not in self.decisions.free:
            self.outcome.weight_nodes[index] = target
            self.solved.add(node.outputs[0].id)
        return signal

    def _expect_of_tables(self) -> None:
        """Tables that are added to a tied one are right if they have its size."""
        for table in self.tables.values():
            if table.by_tied:
                self.outcome.weight_nodes[table.call] = self.wanted(table) or float("nan")

    def _expect_of_branches(self) -> None:
        """Weights in residual branches may be as small as their share, and others as large as is stable; tables have
        their share, or the size of what they are added to."""
        for index in self.outcome.weight_nodes:
            node = self.graph.nodes[index]
            signal, ref = self.signals.get(node.outputs[0].id), node.inputs[0]
            table = self.tables.get(ref.name) if isinstance(ref, ParameterView) and spec_of(node.op).looks_up else None
            matched = None if table is None or table.by_tied else self.wanted(table)
            target = None if signal is None else self.targets.as_good(index, signal.second, matched)
            if target is not None:
                self.outcome.weight_nodes[index] = target

    def _target(self, node: Node, ref: Reference, part: Derived) -> float:
        """The second moment that an output is to have: as planned, or that of what a table is added to."""
        parameter = self.graph.parameters[part.views[0].name]
        names = (parameter.name, *parameter.aliases)
        planned = self.targets.of(self.decisions.index, names, lambda gain: self.decisions.measured(gain, unknown=1.0))
        is_table = isinstance(ref, ParameterView) and spec_of(node.op).looks_up
        return (self.size_of_table(ref.name, planned) if is_table else None) or planned  # type: ignore[union-attr]

    def _kept_weight(self, node: Node, slot: int, ref: Reference) -> Signal:
        if isinstance(ref, ParameterView):
            self.decisions.keep(ref.name, self.decisions.why_kept(ref.name) or "used as it is")
            return self.decisions.measured(ref, unknown=0.0)
        signal = self.signal(node, slot)
        assert signal is not None
        return signal

    def recurrent(self, node: Node) -> None:
        """Decide a recurrent layer: orthogonal recurrent, Glorot input kernels, zero biases, forget bias 1."""
        for view, parts, reason in recurrent_parts(node):
            why = self.decisions.why_kept(view.name)
            if why is not None:
                self.decisions.keep(view.name, why)
            elif self.decisions.scale(view) is None:
                for part in parts:
                    self.decisions.store(part.view, part, "set", reason)

    def fed_by(self, node: Node) -> Fed | None:
        return fed_by(node, self._makers, self.signal)

    def once(self, key: Hashable, make: Callable[[], Signal]) -> Signal:
        if key not in self._once:
            self._once[key] = make()
        found = self._once[key]
        return Signal(found.shape, found.mean, found.K)

    def note(self, node: Node, kind: str, message: str) -> None:
        self.decisions.note(kind, message)

