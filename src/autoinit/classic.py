"""The paper's class, for people who know it: a thin layer over `plan` and `Plan.apply`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import api
from .core.inputs import Input
from .core.options import DEFAULTS, DISTRIBUTIONS, VARIANCE, Distribution
from .core.signal.signal import Signal, iid
from .errors import OptionError
from .plans import Plan

Estimator = Callable[..., tuple[float, float]]


class AutoInit:
    """Signal-preserving initialization of Keras models.

    weight_init_config: {"distribution": "truncated_normal" (default), "normal", "uniform" or "orthogonal",
        "constrain_weights": True to give every weight exactly mean zero and the planned standard deviation}.
    input_data_mean, input_data_var: of the data; a number, or one per input (a list, or a dict by input name).
    custom_distribution_estimators: {layer class: function}, for layers of your own. A function takes the layer, the
        incoming mean and the incoming variance (lists of them for a layer with several inputs) and returns the
        outgoing mean and variance.
    signal_variance: the variance that every weight layer's output gets.
    seed: for drawing the weights.
    """

    def __init__(
        self,
        weight_init_config: Mapping[str, Any] | None = None,
        input_data_mean: Any = 0.0,
        input_data_var: Any = 1.0,
        custom_distribution_estimators: Mapping[type, Estimator] | None = None,
        signal_variance: float = VARIANCE,
        seed: int = DEFAULTS.seed,
    ) -> None:
        config = dict(weight_init_config or {})
        self.distribution: Distribution = config.pop("distribution", DEFAULTS.distribution)
        self.exact = bool(config.pop("constrain_weights", False))
        if config:
            raise OptionError(f"unknown key {next(iter(config))!r}", where="weight_init_config",
                              received=repr(dict(weight_init_config or {})),
                              fix="keys are 'distribution' and 'constrain_weights'")  # fmt: skip
        if self.distribution not in DISTRIBUTIONS:
            raise OptionError("unknown distribution", where="weight_init_config", received=repr(self.distribution),
                              fix=f"one of {', '.join(DISTRIBUTIONS)}")  # fmt: skip
        self.mean, self.variance = input_data_mean, input_data_var
        self.estimators = dict(custom_distribution_estimators or {})
        self.signal_variance, self.seed = signal_variance, seed

    def initialize_model(
        self, model: Any, return_estimates: bool = False, custom_objects: Mapping[str, Any] | None = None
    ) -> Any:
        """The model with new weights: the same object for a model, a new one for a config dict or a JSON string.

        return_estimates: also return {layer name: (mean, variance)} of what every layer puts out.
        """
        from .keras.loading import load

        made = load(model, custom_objects=custom_objects)
        plan = api.plan(
            made, self._inputs(made), variance=self.signal_variance, distribution=self.distribution, seed=self.seed,
            exact=self.exact, rules={cls: _rule(function) for cls, function in self.estimators.items()} or None,
        )  # fmt: skip
        plan.apply(made)
        return (made, estimates(plan)) if return_estimates else made

    def _inputs(self, model: Any) -> Any:
        """The model's own inputs with the given mean and variance; None (ask the model) where these are the usual."""
        tensors = getattr(model, "inputs", None)
        if not tensors:
            return None
        by_name = {}
        for k, tensor in enumerate(tensors):
            name = getattr(tensor, "name", str(k))
            mean, variance = _for_input(self.mean, k, name), _for_input(self.variance, k, name)
            floating = "float" in str(tensor.dtype)
            by_name[name] = Input(tuple(tensor.shape), mean, variance) if floating else Input(tuple(tensor.shape))
        import keras

        return keras.tree.map_structure(lambda t: by_name[t.name], model.input)


def _for_input(value: Any, position: int, name: str) -> float:
    if isinstance(value, Mapping):
        return float(value[name])
    if isinstance(value, Sequence):
        return float(value[position])
    return float(value)


def _rule(estimator: Estimator) -> Callable[..., Signal]:
    """A rule for a layer from a function of means and variances: entries of the output count as independent."""

    def rule(layer: Any, *signals: Signal) -> Signal:
        single = len(signals) == 1
        means = signals[0].mean if single else [s.mean for s in signals]
        variances = signals[0].variance if single else [s.variance for s in signals]
        mean, variance = estimator(layer, means, variances)
        try:
            shape = layer.compute_output_shape(signals[0].shape if single else [s.shape for s in signals])
        except NotImplementedError:  # a layer that says nothing about shapes: most likely it changes none
            shape = signals[0].shape
        return iid(tuple(shape), float(mean), float(variance))

    return rule


def estimates(plan: Plan) -> dict[str, tuple[float, float]]:
    """Mean and variance of what every layer of the model puts out: of its last tensor."""
    found: dict[str, tuple[float, float]] = {}
    for tensor in plan.tensors:
        layer = tensor.module.split("/")[0]
        if layer:
            found[layer] = (tensor.mean, tensor.variance)
    return found
