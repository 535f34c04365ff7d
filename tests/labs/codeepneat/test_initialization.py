"""How assembled networks begin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("keras")

import keras
import torch

import autoinit
from autoinit.errors import OptionError
from autoinit.labs.codeepneat import SCHEMES, Input, Layer, NetworkGenome
from autoinit.labs.codeepneat.initialization import NAMES, described, initialize
from autoinit.labs.codeepneat.networks import keras as keras_networks
from autoinit.labs.codeepneat.networks import torch as torch_networks


def deep(schemes: tuple[str, ...] = SCHEMES, units: int = 128, activation: str = "relu") -> NetworkGenome:
    """One dense layer for each scheme."""
    names = ["input", *(f"dense_{k}" for k in range(len(schemes)))]
    layers = tuple(
        Layer(name, "dense", (("units", units), ("activation", activation), ("initialization", scheme)), (before,),
              (units,))
        for before, name, scheme in zip(names, names[1:], schemes, strict=False)
    )  # fmt: skip
    return NetworkGenome(Input((64,)), layers, (("y", names[-1]),))


def text() -> NetworkGenome:
    he, half = (("initialization", "he_uniform"),), (("initialization", "glorot_normal"),)
    layers = (
        Layer("embedding_1", "embedding", (("units", 16), ("vocabulary", 40)), ("input",), (9, 16)),
        Layer("gru_1", "gru", (("units", 24), *he), ("embedding_1",), (9, 24)),
        Layer("lstm_1", "lstm", (("units", 24), *half), ("gru_1",), (9, 24)),
        Layer("maximum_1", "maximum", (), ("lstm_1",), (24,)),
        Layer("dense_1", "dense", (("units", 2), *he), ("maximum_1",), (2,)),
    )
    return NetworkGenome(Input((9,), 40), layers, (("y", "dense_1"),))


def kernel(model: Any, layer: str) -> np.ndarray:
    if hasattr(model, "genome"):
        found: np.ndarray = torch_networks.kernel_of(model.layers[layer]).detach().numpy()
        return found
    return np.asarray(keras.ops.convert_to_numpy(model.get_layer(layer).weights[0]))


@pytest.mark.parametrize("framework", [torch_networks, keras_networks])
def test_evolved_draws_every_layer_by_its_gene(framework: Any) -> None:
    genome = deep()
    model = framework.build(genome)
    initialize(model, genome, "evolved", seed=3)
    for k, scheme in enumerate(SCHEMES):
        fan_in, fan_out = (64 if k == 0 else 128), 128
        variance = 2 / (fan_in + fan_out) if scheme.startswith("glorot") else 2 / fan_in
        drawn = kernel(model, f"dense_{k}")
        assert drawn.std() == pytest.approx(variance**0.5, rel=0.03) and abs(drawn.mean()) < 0.01
        bounded = np.abs(drawn).max() <= (3 * variance) ** 0.5 * 1.0001
        assert bounded == scheme.endswith("uniform")
    first = kernel(model, "dense_0").copy()
    initialize(model, genome, "evolved", seed=3)
    np.testing.assert_array_equal(kernel(model, "dense_0"), first)
    initialize(model, genome, "evolved", seed=4)
    assert not np.array_equal(kernel(model, "dense_0"), first)


def test_evolved_recurrent_layers_begin_as_in_keras() -> None:
    genome = text()
    model = torch_networks.build(genome)
    initialize(model, genome, "evolved", seed=1)
    table = model.layers["embedding_1"].weight.detach()
    assert float(table.abs().max()) <= 0.05 and float(table.std()) == pytest.approx(0.05 / 3**0.5, rel=0.1)
    gru, lstm = (model.layers[name].cell.requires_grad_(False) for name in ("gru_1", "lstm_1"))
    assert float(gru.weight_ih_l0.std()) == pytest.approx((2 / 16) ** 0.5, rel=0.1)
    assert float(lstm.weight_ih_l0.std()) == pytest.approx((2 / (24 + 4 * 24)) ** 0.5, rel=0.1)
    for cell in (gru, lstm):
        product = cell.weight_hh_l0.T @ cell.weight_hh_l0
        torch.testing.assert_close(product, torch.eye(24), atol=1e-5, rtol=0)
    assert not gru.bias_ih_l0.any() and not gru.bias_hh_l0.any()
    assert lstm.bias_ih_l0.tolist() == [0.0] * 24 + [1.0] * 24 + [0.0] * 48


@pytest.mark.parametrize("name", ["autoinit", "autoinit-paper", "he_normal"])
def test_other_names_replace_what_evolution_chose(name: str) -> None:
    """The genes do not matter, and what comes out is what the library does by that name."""
    one, other = deep(), deep(tuple(reversed(SCHEMES)))
    models = [torch_networks.build(genome) for genome in (one, other)]
    for model, genome in zip(models, (one, other), strict=True):
        assert initialize(model, genome, name, seed=5) >= 0
    again = torch_networks.build(one)
    autoinit.baselines.initialize(again, described(one.input, channels_last=False), name, seed=5)
    for k in range(4):
        layer = f"dense_{k}"
        np.testing.assert_array_equal(kernel(models[0], layer), kernel(models[1], layer))
        np.testing.assert_array_equal(kernel(models[0], layer), kernel(again, layer))


def test_autoinit_keeps_the_signal_where_genes_do_not() -> None:
    genome = deep(("glorot_uniform",) * 20, activation="relu")
    batch = torch.randn(256, 64, generator=torch.Generator().manual_seed(0))
    spread = {}
    for name in ("evolved", "autoinit"):
        model = torch_networks.build(genome).eval()
        initialize(model, genome, name, seed=0)
        with torch.no_grad():
            spread[name] = float(model(batch).square().mean())
    assert spread["evolved"] < 1e-4 and 0.1 < spread["autoinit"] < 2


def test_lsuv_looks_at_data() -> None:
    genome = deep()
    model = torch_networks.build(genome)
    with pytest.raises(OptionError, match="'lsuv' needs real inputs"):
        initialize(model, genome, "lsuv")
    initialize(model, genome, "lsuv", batch=torch.randn(64, 64))
    assert kernel(model, "dense_0").std() > 0


@pytest.mark.parametrize("genome", [deep(), text()], ids=["dense", "text"])
@pytest.mark.parametrize("name", NAMES)
def test_every_name_works(name: str, genome: NetworkGenome) -> None:
    model = torch_networks.build(genome)
    before = {key: value.clone() for key, value in model.state_dict().items()}
    batch = torch.randint(40, (64, 9)) if genome.input.vocabulary else torch.randn(64, 64)
    initialize(model, genome, name, seed=1, batch=batch)
    after = model.state_dict()
    assert all(bool(torch.isfinite(value).all()) for value in after.values())
    assert not torch.equal(after["layers.dense_1.weight"], before["layers.dense_1.weight"])


def test_unknown_names_are_refused() -> None:
    with pytest.raises(OptionError, match=r"(?s)unknown initialization 'he'.*evolved, default"):
        initialize(torch_networks.build(deep()), deep(), "he")
