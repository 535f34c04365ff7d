"""LSTM, GRU and SimpleRNN: layers, cells on their own, and `RNN` over such cells, one `recurrent` node for each cell.

Kernels are turned into the neutral layout, (gates x units, inputs), as views. Keras keeps the gates of a GRU as
update, reset, candidate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from keras import activations, layers

from ....core.graph.graph import ParameterView
from ...views import viewed
from .operands import reference_of, shape_of
from .table import keras_layer

if TYPE_CHECKING:
    from ..call import Call

KINDS: list[tuple[Any, str]] = [
    (layers.LSTMCell, "lstm"), (layers.GRUCell, "gru"), (layers.SimpleRNNCell, "tanh"),
]  # fmt: skip

FUNCTIONS = {
    "linear": "identity", "relu": "relu", "relu6": "relu6", "tanh": "tanh", "sigmoid": "sigmoid", "elu": "elu",
    "selu": "selu", "silu": "silu", "softplus": "softplus", "softsign": "softsign", "hard_sigmoid": "hardsigmoid",
    "hard_silu": "hardswish", "hard_tanh": "hardtanh", "gelu": "gelu", "mish": "mish", "exponential": "exp",
    "log_sigmoid": "log_sigmoid", "tanh_shrink": "tanhshrink",
}  # fmt: skip


def function_name(activation: Any) -> str | None:
    """The neutral name of an activation; None if it has none."""
    name = getattr(activation, "__name__", "")
    known = getattr(activations, name, None) is activation
    return FUNCTIONS.get(name) if known else None


def kind_of(cell: Any) -> str | None:
    """lstm, gru or tanh for Keras' own cells (and subclasses that keep their `call`); None for all others."""
    made: Any = type(cell)
    for cls, kind in KINDS:
        if isinstance(cell, cls) and made.call is cls.call:
            named = [getattr(cell, a) for a in ("activation", "recurrent_activation") if hasattr(cell, a)]
            return kind if all(function_name(f) is not None for f in named) else None
    return None


def cells_of(layer: Any) -> list[Any] | None:
    """The cells of a recurrent layer from the first to the last; None if one of them is not Keras' own."""
    inner = layer.cell
    cells = list(inner.cells) if isinstance(inner, layers.StackedRNNCells) else [inner]
    return cells if all(kind_of(cell) is not None for cell in cells) else None


def _biases(call: Call, cell: Any, kind: str) -> list[Any]:
    """(input bias, recurrent bias): Keras has one, or both as two rows."""
    if not cell.use_bias:
        return []
    bias = call.weight(cell.bias)
    if kind == "gru" and cell.reset_after and isinstance(bias, ParameterView):
        return [viewed(bias, lambda a: a[0]), viewed(bias, lambda a: a[1])]
    return [bias, None]


def _weights(call: Call, cell: Any, kind: str) -> list[Any]:
    kernels = [call.permuted(call.weight(w), (1, 0)) for w in (cell.kernel, cell.recurrent_kernel)]
    return [*kernels, *_biases(call, cell, kind)]


def _settings(call: Call, cell: Any, kind: str) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "kind": kind, "layers": 1, "bidirectional": False, "batch_first": True, "has_bias": bool(cell.use_bias),
        "dropout": 0.0, "projected": False, "activation": function_name(cell.activation),
        "recurrent_dropout": float(cell.recurrent_dropout) if call.training else 0.0,
    }  # fmt: skip
    if kind != "tanh":
        settings["gate"] = function_name(cell.recurrent_activation)
    if kind == "gru":
        settings |= {"gate_order": (1, 0, 2), "reset_after": bool(cell.reset_after)}
    if kind == "lstm":
        settings["forget_bias"] = float(cell.unit_forget_bias)
    return settings


def _run(call: Call, cell: Any, x: Any, states: list[Any]) -> tuple[Any, list[Any]]:
    """One cell over (batch, steps, features): all outputs, and the last states (batch, units)."""
    kind = kind_of(cell)
    assert kind is not None
    batch, steps, _ = shape_of(x)
    units = int(cell.units)
    if call.training and cell.dropout > 0.0:
        (x,) = call.emit("dropout", [x], [shape_of(x)], rate=float(cell.dropout), shared=(1,), kind="inverted")
    given = [call.reshaped(s, (1, batch, units)) for s in states if s is not None]
    last = (1, batch, units)
    made = call.emit(
        "recurrent", [x, *given, *_weights(call, cell, kind)],
        [(batch, steps, units), *[last] * (2 if kind == "lstm" else 1)], states=len(given),
        **_settings(call, cell, kind),
    )  # fmt: skip
    return made[0], [call.reshaped(value, (batch, units)) for value in made[1:]]


@keras_layer("LSTM", "GRU", "SimpleRNN", "RNN", when=lambda layer: cells_of(layer) is not None)
def recurrent(call: Call) -> None:
    """The sequence or its last output, and the states if asked for. A mask is taken to let all steps through."""
    layer, current = call.op, call.get("sequences", call.get("sequence"))
    cells = cells_of(layer) or []
    starts, finals = _flat(call.get("initial_state")), []
    for cell in cells:  # each over the outputs of the one before
        needed = 2 if kind_of(cell) == "lstm" else 1
        own, starts = starts[:needed], starts[needed:]
        own = [s for s in own if reference_of(call, s) is not None]
        current, states = _run(call, cell, current, own if len(own) == needed else [])
        finals += states
    last = finals[-2] if kind_of(cells[-1]) == "lstm" else finals[-1]
    for k, value in enumerate([current if layer.return_sequences else last, *finals][: len(call.outputs)]):
        call.emit("identity", [value], [call.outputs[k]])


def _flat(states: Any) -> list[Any]:
    if states is None:
        return []
    if isinstance(states, (list, tuple)):
        return [s for item in states for s in _flat(item)]
    return [states]


@keras_layer("LSTMCell", "GRUCell", "SimpleRNNCell", when=lambda cell: kind_of(cell) is not None)
def cell(call: Call) -> None:
    """One step: a sequence of one."""
    x = call.get("inputs", call.get("sequence"))
    batch, features = shape_of(x)
    lifted = call.reshaped(x, (batch, 1, features))
    _, states = _run(call, call.op, lifted, _flat(call["states"]))
    for value, out in zip([states[0], *states], call.outputs, strict=True):
        call.emit("identity", [value], [out])
