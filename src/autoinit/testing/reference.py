"""The plan of a specified model from the neutral core alone: what every front end has to come to."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..core.graph.checking import checked
from ..core.graph.graph import Constant, Graph, Node, Parameter, ParameterView, Reference, Value
from ..core.inputs import Input
from ..core.options import GivenOptions, read_options
from ..core.plan.plan import PlanData
from ..core.solve.outcome import RuleSet
from ..frontends.base_plan import planned
from ..frontends.chance import equal_chance
from ..rules import RULES
from . import specs

if TYPE_CHECKING:
    from typing_extensions import Unpack


def reference_plan(model: specs.Model, **options: Unpack[GivenOptions]) -> PlanData:
    """Neutral nodes by hand, then the same propagation that everybody uses."""
    made = _Builder()
    described = Input(model.shape, model.mean, model.variance, model.correlation or 0.0)
    x: Reference
    signals = {}
    if model.vocabulary is None:
        x = made.value(model.shape)
        signals[x.id] = described.signal()
    else:
        indices = words(model)
        x = Constant(model.shape, lambda: indices)
    out = made.stack(model.layers, x)
    made.graph.outputs = [out]
    settings = read_options(options)
    return planned(made.graph, signals, settings, RuleSet(RULES), model="reference", framework="none")


def words(model: specs.Model) -> NDArray[Any]:
    """The indices that a model with a vocabulary is fed with."""
    assert model.vocabulary is not None
    return np.random.default_rng(0).integers(0, model.vocabulary, model.shape)


class _Builder:
    def __init__(self) -> None:
        self.graph = Graph()
        self._values = 0

    def value(self, shape: tuple[int, ...]) -> Value:
        self._values += 1
        return Value(self._values, tuple(shape))

    def stack(self, layers: tuple[specs.Layer, ...], x: Any) -> Any:
        for layer in layers:
            x = self.layer(layer, x)
        return x

    def parameter(self, shape: tuple[int, ...], value: float | None = None) -> ParameterView:
        """A parameter of random values, or of one constant value (a norm's scale)."""
        name = f"p{len(self.graph.parameters)}"
        if value is None:
            values = np.random.default_rng(len(self.graph.parameters)).standard_normal(shape)
        else:
            values = np.full(shape, value)

        def read(view: ParameterView | None) -> Any:
            if view is None or view.whole:
                return values.reshape(shape if view is None else view.shape)
            strides = tuple(s * values.itemsize for s in view.stride)
            return np.lib.stride_tricks.as_strided(values.ravel()[view.offset :], view.shape, strides)

        self.graph.parameters[name] = Parameter(name, shape, "float32", True, read, (), lambda: not values.any())
        stride = tuple(prod(shape[k + 1 :]) for k in range(len(shape)))
        return ParameterView(name, shape, stride, 0, True)

    def node(self, op: str, inputs: tuple[Any, ...], shape: tuple[int, ...], **attrs: Any) -> Value:
        out = self.value(shape)
        self.graph.nodes.append(checked(Node(op, inputs, (out,), attrs, f"layer{len(self.graph.nodes)}", op, 1)))
        return out

    def layer(self, layer: specs.Layer, x: Any) -> Any:
        if isinstance(layer, specs.Dense):
            weight = self.parameter((layer.outputs, layer.inputs))
            bias = self.parameter((layer.outputs,)) if layer.bias else None
            return self.node("linear", (x, weight, bias), (*x.shape[:-1], layer.outputs))
        if isinstance(layer, specs.Conv):
            return self._conv(layer, x)
        if isinstance(layer, specs.Activation):
            return self.node("elementwise", (x,), x.shape, fn=layer.name)
        if isinstance(layer, specs.Dropout):
            return self.node("dropout", (x,), x.shape, rate=layer.rate, shared=(), kind="inverted")
        if isinstance(layer, (specs.BatchNorm, specs.LayerNorm)):
            last = len(x.shape) - 1
            axes = tuple(range(last)) if isinstance(layer, specs.BatchNorm) else (last,)
            scale, shift = self.parameter((layer.features,), 1.0), self.parameter((layer.features,), 0.0)
            return self.node("normalize", (x, scale, shift, None, None), x.shape, axes=axes, centre=True,
                             channel_axes=(last,), eps=layer.eps, use_running=False)  # fmt: skip
        if isinstance(layer, (specs.MaxPool, specs.AveragePool)):
            return self._pool(layer, x)
        if isinstance(layer, specs.GlobalAverage):
            axes = tuple(range(1, len(x.shape) - 1))
            return self.node("reduce", (x,), (x.shape[0], x.shape[-1]), kind="mean", axes=axes, keepdim=False)
        if isinstance(layer, specs.Embedding):
            table = self.parameter((layer.vocabulary, layer.features))
            return self.node("embedding", (table, x), (*x.shape, layer.features), vocabulary=layer.vocabulary,
                             chance=equal_chance(x.array()))  # fmt: skip
        if isinstance(layer, specs.Residual):
            return self.node("elementwise", (x, self.stack(layer.layers, x)), x.shape, fn="add")
        if isinstance(layer, specs.Branches):
            parts = tuple(self.stack(stack, x) for stack in layer.stacks)
            width = sum(p.shape[-1] for p in parts)
            return self.node("concat", parts, (*x.shape[:-1], width), axis=len(x.shape) - 1)
        weight, bias = self.parameter((layer.features, layer.features)), self.parameter((layer.features,))
        y = self.node("linear", (x, weight, bias), x.shape)
        y = self.node("elementwise", (y,), y.shape, fn="tanh")
        return self.node("linear", (y, weight, bias), x.shape)

    def _conv(self, layer: specs.Conv, x: Any) -> Value:
        k = layer.kernel
        weight = self.parameter((layer.outputs, layer.inputs // layer.groups, k, k))
        bias = self.parameter((layer.outputs,)) if layer.bias else None
        side = (k - 1) // 2 if layer.same else 0
        sizes = tuple(n + 2 * side - k + 1 for n in x.shape[1:3])
        return self.node("conv", (x, weight, bias), (x.shape[0], *sizes, layer.outputs), stride=(1, 1), dilation=(1, 1),
                         padding=((side, side),) * 2, groups=layer.groups, transposed=False,
                         x_axes=(0, 3, 1, 2), w_axes=(0, 1, 2, 3))  # fmt: skip

    def _pool(self, layer: specs.MaxPool | specs.AveragePool, x: Any) -> Value:
        n = layer.size
        shape = (x.shape[0], x.shape[1] // n, x.shape[2] // n, x.shape[3])
        attrs: dict[str, Any] = {"axes": (1, 2), "window": (n, n), "stride": (n, n), "padding": ((0, 0), (0, 0))}
        if isinstance(layer, specs.MaxPool):
            return self.node("max_pool", (x,), shape, dilation=(1, 1), **attrs)
        return self.node("average_pool", (x,), shape, include_pad=True, **attrs)
