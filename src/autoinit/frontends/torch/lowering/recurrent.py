"""LSTM, GRU and plain RNN layers arrive as one op each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .table import aten

if TYPE_CHECKING:
    from ..tracer import Call

KINDS = {"aten.lstm": "lstm", "aten.gru": "gru", "aten.rnn_tanh": "tanh", "aten.rnn_relu": "relu"}


@aten("lstm", "gru", "rnn_tanh", "rnn_relu")
def recurrent(call: Call) -> None:
    if "batch_sizes" in call.values:
        tensors: list[Any] = [call.args[0]]
        call.emit("opaque", tensors)
        return
    kind = KINDS[call.name]
    x, params = call["input"], list(call["params"])
    states = list(call["hx"]) if kind == "lstm" else [call["hx"]]
    layers, directions = int(call["num_layers"]), 2 if call["bidirectional"] else 1
    bias = bool(call["has_biases"])
    per_cell = len(params) // (layers * directions)
    call.emit("recurrent", [x, *states, *params], kind=kind, layers=layers, bidirectional=directions == 2,
              batch_first=bool(call["batch_first"]), has_bias=bias, dropout=float(call["dropout"]),
              states=len(states), projected=per_cell == 3 + 2 * bias)  # fmt: skip
