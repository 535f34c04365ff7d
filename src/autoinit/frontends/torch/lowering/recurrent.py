"""LSTM, GRU and plain RNN layers and cells arrive as one op each; so do packed sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .table import aten

if TYPE_CHECKING:
    from ..call import Call

KINDS = {"lstm": "lstm", "gru": "gru", "rnn_tanh": "tanh", "rnn_relu": "relu"}


@aten("lstm", "gru", "rnn_tanh", "rnn_relu")
def recurrent(call: Call) -> None:
    kind = KINDS[call.name.split(".")[1]]
    params = list(call["params"])
    states = list(call["hx"]) if kind == "lstm" else [call["hx"]]
    layers, directions = int(call["num_layers"]), 2 if call["bidirectional"] else 1
    bias = bool(call["has_biases"])
    per_cell = len(params) // (layers * directions)
    attrs: dict[str, Any] = {
        "kind": kind, "layers": layers, "bidirectional": directions == 2, "has_bias": bias,
        "dropout": float(call["dropout"]), "states": len(states), "projected": per_cell == 3 + 2 * bias,
    }  # fmt: skip
    if "batch_sizes" in call.values:
        _packed(call, params, states, attrs)
    else:
        call.emit("recurrent", [call["input"], *states, *params], batch_first=bool(call["batch_first"]), **attrs)


def _packed(call: Call, params: list[Any], states: list[Any], attrs: dict[str, Any]) -> None:
    """A packed sequence: steps x entries per step (their mean number), and back. Initial states count as zero."""
    data, out = call["data"], call.outputs[0]
    steps = int(call["batch_sizes"].shape[0])
    entries = max(data.shape[0] // steps, 1)
    (cut,) = call.emit(
        "slice", [data], [(steps * entries, data.shape[1])], axis=0, start=0, stop=steps * entries, step=1
    )
    (x,) = call.emit("reshape", [cut], [(steps, entries, data.shape[1])])
    sequence = (steps, entries, out.shape[1])
    made = call.emit(
        "recurrent", [x, *[None for _ in states], *params], [sequence, *call.outputs[1:]], batch_first=False, **attrs
    )
    (flat,) = call.emit("reshape", [made[0]], [(steps * entries, out.shape[1])])
    call.emit("gather", [flat, None], [out], axis=0)


@aten("lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell")
def cell(call: Call) -> None:
    """One step of a layer of one cell."""
    kind = KINDS[call.name.split(".")[1].removesuffix("_cell")]
    x, hidden = call["input"], call["hx"]
    states = list(hidden) if kind == "lstm" else [hidden]
    biases = [b for b in (call.get("b_ih"), call.get("b_hh")) if b is not None]
    lifted = [call.emit("reshape", [t], [(1, *t.shape)])[0] for t in (x, *states)]
    shape = (1, *call.outputs[0].shape)
    made = call.emit(
        "recurrent", [*lifted, call["w_ih"], call["w_hh"], *biases], [shape] * (3 if kind == "lstm" else 2), kind=kind,
        layers=1, bidirectional=False, batch_first=False, has_bias=bool(biases), dropout=0.0, states=len(states),
        projected=False,
    )  # fmt: skip
    for value, out in zip(made[1:], call.outputs, strict=True):
        call.emit("reshape", [value], [out])


@aten("_pack_padded_sequence")
def pack(call: Call) -> None:
    """The live entries of (batch, steps, features) or (steps, batch, features), one after the other."""
    x, out = call["input"], call.outputs[0]
    (flat,) = call.emit("reshape", [x], [(x.shape[0] * x.shape[1], *x.shape[2:])])
    call.emit("gather", [flat, None], [out], axis=0)


@aten("_pad_packed_sequence")
def unpack(call: Call) -> None:
    """Back again; what is padded is zero (or the padding value, which is taken for zero)."""
    data, out = call["data"], call.outputs[0]
    places = out.shape[0] * out.shape[1]
    (spread,) = call.emit("gather", [data, None], [(places, *out.shape[2:])], axis=0)
    (shaped,) = call.emit("reshape", [spread], [tuple(out.shape)])
    rate = 1.0 - data.shape[0] / places
    call.emit("dropout", [shaped], [out], rate=rate, shared=tuple(range(2, out.dim())), kind="raw")
