"""Assembled networks in PyTorch and Keras: the same layers, parameters and plans."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("keras")

import keras
import torch
from torch import nn

import autoinit
from autoinit.labs.codeepneat import Input, Layer, NetworkGenome, Output
from autoinit.labs.codeepneat.initialization import described
from autoinit.labs.codeepneat.networks import keras as keras_networks
from autoinit.labs.codeepneat.networks import torch as torch_networks
from autoinit.labs.codeepneat.sampling import random_network
from tests.labs.codeepneat.small_spaces import SETTINGS

COUNT = 3


def networks(name: str, count: int = COUNT) -> list[NetworkGenome]:
    rng = np.random.default_rng(7)
    return [random_network(*SETTINGS[name], rng, changes=4) for _ in range(count)]


def batch_of(given: Input, size: int = 3, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if given.vocabulary is not None:
        return rng.integers(given.vocabulary, size=(size, *given.shape))
    return rng.standard_normal((size, *given.shape)).astype(np.float32)


def first(batch: np.ndarray) -> Any:
    """As the networks in PyTorch read it."""
    return torch.from_numpy(np.ascontiguousarray(np.moveaxis(batch, -1, 1) if batch.ndim > 2 else batch))


def planned(plan: autoinit.Plan) -> dict[str, list[tuple[float, str]]]:
    """Standard deviations of what is drawn, by the name of the layer."""
    found: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for entry in plan.parameters:
        layer = entry.name.removeprefix("layers.").replace("/", ".").split(".")[0]
        found[layer] += [(part.std, part.kind) for part in entry.parts if part.std > 0]
    return {layer: sorted(parts) for layer, parts in found.items() if parts}


@pytest.mark.parametrize("name", SETTINGS)
def test_planned_without_memory(name: str) -> None:
    """On the meta device; no parameter is unreached, nothing is simulated or unknown."""
    for genome in networks(name, 6):
        with autoinit.meta():
            model = torch_networks.build(genome)
        assert all(parameter.is_meta for parameter in model.parameters())
        plan = autoinit.plan(model, described(genome.input, channels_last=False))
        assert not plan.unreached() and {row.status for row in plan.tensors} == {"rule"}
        trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
        assert trained == genome.parameters


@pytest.mark.parametrize("name", SETTINGS)
def test_the_same_plan_in_both_frameworks(name: str) -> None:
    for genome in networks(name):
        with autoinit.meta():
            ours = torch_networks.build(genome)
        theirs = keras_networks.build(genome)
        assert theirs.count_params() == genome.parameters
        one = planned(autoinit.plan(ours, described(genome.input, channels_last=False)))
        other = planned(autoinit.plan(theirs, described(genome.input, channels_last=True)))
        assert one.keys() == other.keys() and len(one) >= len(genome.outputs)
        for layer, parts in one.items():
            assert [kind for _, kind in parts] == [kind for _, kind in other[layer]]
            assert [std for std, _ in parts] == pytest.approx([std for std, _ in other[layer]], rel=1e-6)


@pytest.mark.parametrize("name", SETTINGS)
def test_the_same_answers_with_the_same_weights(name: str) -> None:
    for genome in networks(name, 2):
        ours, theirs = torch_networks.build(genome).eval(), keras_networks.build(genome)
        for layer in genome.layers:
            if layer.shares is None and genome.parameters_of(layer):
                copy(ours.layers[layer.name], theirs.get_layer(layer.name), layer, genome)
        batch = batch_of(genome.input)
        with torch.no_grad():
            mine = ours(first(batch))
        told = theirs(batch, training=False)
        mine, told = (x if isinstance(x, dict) else {genome.outputs[0][0]: x} for x in (mine, told))
        assert list(mine) == [output for output, _ in genome.outputs] and mine.keys() == told.keys()
        for output in mine:
            theirs_told = keras.ops.convert_to_numpy(told[output])
            np.testing.assert_allclose(mine[output].numpy(), theirs_told, atol=2e-4, rtol=1e-3)


def copy(module: Any, layer: Any, told: Layer, genome: NetworkGenome) -> None:
    """Weights of a PyTorch layer into the Keras layer of the same name."""
    if isinstance(module, torch_networks.Recurrent):
        cell = module.cell
        nn.init.normal_(cell.bias_ih_l0)
        units = told["units"]

        def gates(x: Any) -> np.ndarray:
            """PyTorch's gates are reset, update, new; those of Keras update, reset, new. LSTMs agree."""
            parts = x.detach().reshape(-1, units, *x.shape[1:])
            parts = parts[[1, 0, 2]] if told.kind == "gru" else parts
            return parts.reshape(x.shape).numpy()

        biases = [gates(cell.bias_ih_l0), gates(cell.bias_hh_l0)]
        bias = np.stack(biases) if told.kind == "gru" else biases[0]
        layer.set_weights([gates(cell.weight_ih_l0).T, gates(cell.weight_hh_l0).T, bias])
        return
    weights = [p.detach().numpy() for p in module.parameters()]
    source = genome.shapes[told.inputs[0]]
    before = next((one for one in genome.layers if one.name == told.inputs[0]), None)
    if told.kind == "dense" and before is not None and before.kind == "flatten":
        places = genome.shapes[before.inputs[0]]
        kernel = weights[0].reshape(-1, places[-1], *places[:-1])
        weights[0] = np.moveaxis(kernel, 1, -1).reshape(-1, *source)
    if told.kind not in ("embedding", "weighted_sum"):
        weights[0] = np.moveaxis(weights[0], (0, 1), (-1, -2))
    layer.set_weights(weights)


def test_outputs_can_be_asked_for() -> None:
    """One output of several: the same numbers, and nothing else is computed."""
    genome = networks("soft", 1)[0]
    model = torch_networks.build(genome).eval()
    batch = first(batch_of(genome.input))
    called: list[str] = []
    for name, module in model.layers.items():
        module.register_forward_hook(lambda *_, name=name: called.append(name))
    alone = model(batch, ["latin"])
    owners = {layer.owner for layer in genome.needed(["latin"])}
    assert {name for name in called if not name.endswith("_activation")} == owners
    torch.testing.assert_close(alone, model(batch)["latin"])
    assert len(owners) < len({layer.owner for layer in genome.layers})


def test_regularizers_are_part_of_the_loss() -> None:
    layers = (
        Layer("a", "dense", (("units", 3), ("regularizer", "l1"), ("strength", 0.5)), ("input",), (3,)),
        Layer("b", "dense", (("units", 2), ("regularizer", "l2"), ("strength", 0.25)), ("a",), (2,)),
    )
    genome = NetworkGenome(Input((4,)), layers, (("y", "b"),))
    model, twin = torch_networks.build(genome), keras_networks.build(genome)
    for name in ("a", "b"):
        copy(model.layers[name], twin.get_layer(name), layers[0], genome)
    expected = 0.5 * model.layers["a"].weight.abs().sum() + 0.25 * model.layers["b"].weight.square().sum()
    penalty = model.penalty()
    torch.testing.assert_close(penalty, expected)
    assert float(sum(twin.losses)) == pytest.approx(expected.item(), rel=1e-5)
    assert penalty.requires_grad


def test_keras_models_are_saved_and_loaded(tmp_path: Any) -> None:
    genome = networks("soft", 1)[0]
    model = keras_networks.build(genome)
    model.save(tmp_path / "network.keras")
    again = keras.models.load_model(tmp_path / "network.keras")
    batch = batch_of(genome.input)
    for output in ("greek", "runes"):
        np.testing.assert_allclose(*(keras.ops.convert_to_numpy(m(batch)[output]) for m in (model, again)), rtol=1e-5)


def test_second_biases_stay_zero() -> None:
    """PyTorch's LSTM has one bias too many; it is neither trained nor drawn."""
    layers = (
        Layer("l", "lstm", (("units", 3),), ("input",), (5, 3)),
        Layer("m", "maximum", (), ("l",), (3,)),
        Layer("d", "dense", (("units", 2),), ("m",), (2,)),
    )
    model = torch_networks.build(NetworkGenome(Input((5, 2)), layers, (("y", "d"),)))
    second = model.layers["l"].cell.bias_hh_l0
    assert not second.requires_grad and not second.any()
    autoinit.initialize(model, described(Input((5, 2)), channels_last=False))
    assert not second.any() and Output("y", 2).units == 2
