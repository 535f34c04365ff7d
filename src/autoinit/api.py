"""plan, initialize, check, measure: they pick the front end from the object, and hold no framework themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar, overload

from .core.checks import brief
from .core.options import GivenOptions, Options, read_count, read_options, shows_options
from .core.plan.calibration import goals
from .core.plan.measured import matched_rows
from .core.plan.preflight import Preflight
from .core.progress import at
from .core.solve.outcome import RuleSet
from .core.solve.trusting import guarded
from .errors import ModelError, OptionError
from .frontends.choice import front_end_of, with_parameters
from .frontends.custom import CustomRules
from .measurement import Measurement
from .plans import Plan
from .report.architecture import Summary, architecture
from .report.progress import progress
from .rules import RULES
from .rules.adjoint import gradients
from .telling import complaints, tell

if TYPE_CHECKING:
    from typing_extensions import Unpack

MOST_REPEATS = 10_000

_USER_RULES: dict[Any, Callable[..., Any]] = {}


def _model(model: Any, inputs: Any, params: Any, abstract: bool = False) -> Any:
    """A model with its parameters; one that is given as JSON or config dict is made.

    abstract: without memory for weights, where there are none yet.
    """
    if params is not None or not _is_config(model):
        model = with_parameters(model, params)
        return front_end_of(model).bound(model, inputs, values=not abstract)
    from .keras.loading import load

    return load(model, abstract=abstract)


def _is_config(model: Any) -> bool:
    """Whether something looks like the JSON or the config of a Keras model."""
    if isinstance(model, str):
        return model.lstrip().startswith("{")
    return isinstance(model, Mapping) and ("class_name" in model or "layers" in model)


def rule(target: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Teach AutoInit a layer or function of your own.

    The decorated function takes the layer (or function) and the incoming signals, and returns the outgoing one::

        @autoinit.rule(MyLayer)
        def my_layer(layer, x):
            return x.scaled(layer.gain)
    """
    if not callable(target):
        raise OptionError("a rule is for a layer class or a function", where="autoinit.rule", received=brief(target),
                          fix="@autoinit.rule(MyLayer)")  # fmt: skip

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(function):
            raise OptionError("a rule is a function", where="autoinit.rule", received=brief(function),
                              fix="@autoinit.rule(MyLayer) above a function")  # fmt: skip
        if target in _USER_RULES:
            raise OptionError("there is a rule for this already", where="autoinit.rule", received=brief(target),
                              fix="autoinit.forget_rule(...) first, or pass rules={...} for one call")  # fmt: skip
        _USER_RULES[target] = function
        return function

    return register


def forget_rule(target: Any) -> None:
    """Remove a rule made with `rule`."""
    _USER_RULES.pop(target, None)


def _rules(options: Options) -> tuple[RuleSet, dict[Any, Any]]:
    """The table of neutral rules, and the user's rules for their own layers."""
    given = options.rules
    if given is None:
        return RuleSet(RULES, gradients=gradients), _USER_RULES
    if isinstance(given, RuleSet):
        return RuleSet({**RULES, **given.table}, given.project, gradients), _USER_RULES
    if not isinstance(given, Mapping):
        raise _no_rules("'rules' takes a mapping or a rule set", given)
    for target, function in given.items():
        if isinstance(target, str) and target not in RULES:
            close = get_close_matches(target, RULES, n=1)
            raise _no_rules("no such op", target, f"did you mean '{close[0]}'?" if close else KEYS)
        if not callable(target) and not isinstance(target, str):
            raise _no_rules("a rule is for a layer class, a function or an op", target, KEYS)
        if not callable(function):
            raise _no_rules("a rule is a function", function)
    neutral = {k: guarded(v, f"rule for '{k}'") for k, v in given.items() if isinstance(k, str)}
    own = {k: v for k, v in given.items() if not isinstance(k, str)}
    return RuleSet({**RULES, **neutral}, gradients=gradients), {**_USER_RULES, **own}


KEYS = "keys are layer classes, functions, or ops of autoinit.core.graph.specs.SPECS"


def _no_rules(why: str, received: Any, fix: str = "rules={MyLayer: my_rule}") -> OptionError:
    return OptionError(why, where="option 'rules'", received=brief(received), fix=fix)


@shows_options
def plan(model: Any, inputs: Any = None, *, params: Any = None, **options: Unpack[GivenOptions]) -> Plan:
    """Analyse `model` without touching it, and return what should be done to its parameters.

    model: a torch.nn.Module, a Keras 3 model, the config dict or JSON string of one; a module of Flax, Equinox or
        Haiku, or a function of JAX that takes its parameters first.
    params: for models of JAX that keep no parameters of their own: arrays or shapes, in the structure that they take.
    inputs: a tensor or array, a shape (batch included), `autoinit.Input(...)`, or a tuple or dict of these. Of a real
        batch only mean, variance and axis correlations are used.
    recipe: a named set of the options below; what is given beside it wins. "paper" (default): the paper's system.
        "train": orthogonal weights, ``residual="depth"``, ``tables="scaled"``, ``variance="stable"``.
    variance: the variance every weight layer's output gets (the paper's nu; default 1); or one for each name pattern,
        ``{"head": 0.1, "blocks.*.fc2": 0.5, "*": 1.0}``, the first that matches a parameter or its layer. "stable", in
        place of a number: the smallest from 1 on at which deviations of a draw do not grow with depth.
    distribution: "truncated_normal" (default), "normal", "uniform" or "orthogonal".
    residual: what the branches of a residual trunk with n additions add to it: None (default): each as much as any
        layer; "depth": 1/n of that, at the last weight of a branch that has a norm, or spread over its weights; "zero":
        nothing, the last weight, or the gain of the norm that a branch ends in, begins at zero.
    tables: parameters that are added to the signal (learned positions): "kept" (default), or "matched" to the size of
        what they are added to. "scaled": besides, where a table has more rows than columns, what is looked up has
        the deviation columns/rows.
    seed: for drawing the weights.
    training: analyse in training mode (default) or evaluation mode.
    skip, only: name patterns ("head.*") of parameters to leave alone, or to restrict everything to.
    keep_zeros: leave parameters that are exactly zero now as they are (default).
    center: "bias" lets biases cancel the mean that comes in; "activation" takes the mean off every activation that
        stands as a module, a layer or an activation argument (but gates and outputs of the model).
    exact: shift and scale what is drawn, so that every weight has exactly mean zero and the planned standard deviation.
    calibrate: draw the weights of `seed` beside the model, run noise (never data) through it once, and scale each
        weight so that this draw is on target, and not the mean over draws; for deep networks without norms. The plan
        holds the factors, for this seed.
    gradients: predict gradients, too, from independent N(0, 1) gradients at the floating outputs: `Plan.gradients`.
    max_ops, max_seconds: a walk that takes more operations or seconds than this ends with an error, not never.
    rules: extra or replacing rules, {layer class, function or op: rule}; or a rule set such as
        ``autoinit.rules.independent``, the paper's model of the signal.
    warn: issue an `AutoInitWarning` if nothing is set, parameters are not reached, or something is simulated, capped
        or passed on (default).
    progress: in a terminal, say on standard error how far it is if that takes longer than two seconds (default).
    """
    settings = read_options(options)
    model = _model(model, inputs, params, abstract=True)
    made = _planned(model, inputs, settings)
    _speak(model, made, settings)
    return made


def _planned(model: Any, inputs: Any, settings: Options) -> Plan:
    """The plan, for one draw if that is wanted (and a scale was solved for)."""
    made = _analyse(model, inputs, settings, check=False)
    return made.calibrate(model, inputs) if settings.calibrate and goals(made) else made


def _analyse(model: Any, inputs: Any, options: Options, check: bool) -> Plan:
    front_end = front_end_of(model)
    rules, own = _rules(options)
    with progress(options.progress):
        return Plan.of(front_end.analyse(model, inputs, options, rules, CustomRules(own), check))


def _speak(model: Any, made: Plan, settings: Options) -> None:
    """Warn of what the user should hear of, if that is wanted."""
    if settings.warn:
        skipped = {name for name in made.unreached() if not settings.covers(name)}
        tell(made, complaints(made, skipped | front_end_of(model).frozen(model)))


class _Value(Protocol):
    """A module that is a value, as those of Equinox and Flax linen are: a data class."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


Parameters = TypeVar("Parameters")


@overload
def initialize(
    model: Any, inputs: Any = None, *, params: Parameters, **options: Unpack[GivenOptions]
) -> tuple[Parameters, Plan]: ...
@overload
def initialize(
    model: _Value, inputs: Any = None, *, params: None = None, **options: Unpack[GivenOptions]
) -> tuple[Any, Plan]: ...
@overload
def initialize(model: Any, inputs: Any = None, *, params: None = None, **options: Unpack[GivenOptions]) -> Plan: ...
@shows_options
def initialize(
    model: Any, inputs: Any = None, *, params: Any = None, **options: Unpack[GivenOptions]
) -> Plan | tuple[Any, Plan]:
    """Set the initial weights of `model` so that signals neither explode nor vanish; returns the plan.

    Modules of PyTorch, Keras and Flax NNX are set in place. Where models are values, (new model, plan) is returned: for
    Equinox the module, for functions and for modules of Flax linen and Haiku their parameters. Options as for `plan`.
    """
    if params is None and _is_config(model):
        raise ModelError("weights are set in place, and there is no model here yet", where="model",
                         received="a config", fix="model = autoinit.keras.load(config) first")  # fmt: skip
    settings = read_options(options)
    model = _model(model, inputs, params, abstract=True)
    made = _planned(model, inputs, settings)
    new = made.apply(model, warn=False)
    _speak(model, made, settings)
    return made if new is model else (new, made)


@shows_options
def check(
    model: Any, inputs: Any = None, *, params: Any = None, **options: Unpack[GivenOptions]
) -> Plan | Preflight:
    """Predict what the present weights do to signals. Changes nothing. Options as for `plan`.

    Without inputs, a PyTorch model gets a preflight: which of its parameters and buffers hold NaN, infinities, garbage,
    or what nobody wrote since ``to_empty``; also on shards, where the processes compare theirs.
    """
    model = _model(model, inputs, params)
    read_options(options)
    found = front_end_of(model).preflight(model) if inputs is None else None
    return predict(model, inputs, **options) if found is None else found


@shows_options
def predict(model: Any, inputs: Any = None, *, params: Any = None, **options: Unpack[GivenOptions]) -> Plan:
    """`check` that always predicts: a model that does not know its inputs needs to be told."""
    settings = read_options(options)
    model = _model(model, inputs, params)
    made = _analyse(model, inputs, settings, check=True)
    _speak(model, made, settings)
    return made


@shows_options
def summary(model: Any, inputs: Any = None, **options: Unpack[GivenOptions]) -> Summary:
    """The architecture of a model as a table: layer, op, shape of the output, parameters, predicted variance, verdict.

        print(autoinit.summary(model, (32, 3, 224, 224)))

    It describes the weights that the model has, and changes nothing; of a plan, ``autoinit.summary(plan)``, the weights
    that it would write. Options as for `plan`.
    """
    if isinstance(model, Plan):
        if inputs is not None or options:
            raise OptionError("a plan knows its inputs and options", where="autoinit.summary",
                              received=", ".join(["inputs"] * (inputs is not None) + [*options]),
                              fix="autoinit.summary(plan)")  # fmt: skip
        return architecture(model)
    return architecture(predict(model, inputs, **options))


def preflight(model: Any) -> Preflight:
    """What the parameters and buffers of a model hold, without running it: `check` without inputs."""
    found = front_end_of(model).preflight(model)
    if found is None:
        raise ModelError("a preflight is for PyTorch models", where="model", received=type(model).__name__,
                         fix="autoinit.check(model) predicts what its weights do")  # fmt: skip
    return found


@shows_options
def measure(
    model: Any, inputs: Any = None, *, repeats: int = 1, params: Any = None, **options: Unpack[GivenOptions]
) -> Measurement:
    """Run noise (or your batch) through the real model and put what is measured beside what is predicted.

    The model's weights are used as they are; its state is as before afterwards. With ``gradients=True`` automatic
    differentiation runs as well, from N(0, 1) gradients at the outputs: `Measurement.gradients`.
    """
    repeats = read_count("repeats", repeats, most=MOST_REPEATS)
    settings = read_options(options)
    model = _model(model, inputs, params)
    front_end = front_end_of(model)
    predicted = _analyse(model, inputs, settings, check=True)
    runs = []
    found: list[dict[str, float]] = []
    with progress(settings.progress):
        for k in range(repeats):
            at("measuring", k, repeats)
            runs.append(front_end.measure(model, inputs, settings, settings.seed + k))
            if settings.gradients:
                found.append(front_end.measure_gradients(model, inputs, settings, settings.seed + k))
    seconds = {name: sum(one.get(name, 0.0) for one in found) / repeats for name in (found[0] if found else ())}
    _speak(model, predicted, settings)
    return Measurement(predicted, matched_rows(predicted, runs), seconds)
