"""Pretrained networks from files of weights: PyTorch's, Keras', damaged ones, those of another network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from autoinit.errors import OptionError
from autoinit.labs.data import DataError, checksums
from autoinit.labs.data.pretrained import NAME
from autoinit.labs.embeddings import pretrained
from autoinit.labs.embeddings.densenet_weights import keras_names
from autoinit.labs.models import densenet121, efficientnet_lite0
from tests.labs.data.making import zipped
from tests.labs.models.test_pretrained_networks import unsettled

h5py = pytest.importorskip("h5py")
PIXELS = torch.randint(0, 256, (2, 3, 64, 48), generator=torch.Generator().manual_seed(0)).float()


@pytest.fixture(scope="module")
def dense() -> torch.nn.Module:
    torch.manual_seed(3)
    return unsettled(densenet121())


def wanted(network: torch.nn.Module) -> Tensor:
    mean, std = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    scaled = (PIXELS / 255 - mean[:, None, None]) / std[:, None, None]
    return network.embedding(scaled)


def old_names(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """As in torchvision's own file: features.denseblock1.denselayer1.norm.1.weight, and no counters."""
    return {re.sub(r"(denselayer\d+\.(?:norm|conv))([12])", r"\1.\2", name): value
            for name, value in state.items() if "num_batches" not in name}  # fmt: skip


def saved(path: Path, state: object) -> Path:
    torch.save(state, path)
    return path


@pytest.mark.parametrize("form", ["new names", "old names", "the old format", "without the last layer"])
def test_torchvision_s_file(tmp_path: Path, dense: torch.nn.Module, form: str) -> None:
    state = dense.state_dict()
    if form == "old names":
        state = old_names(state)
        assert "features.denseblock4.denselayer16.conv.2.weight" in state
    if form == "without the last layer":
        state = {name: value for name, value in state.items() if not name.startswith("classifier")}
    torch.save(state, tmp_path / "d.pth", _use_new_zipfile_serialization=form != "the old format")
    network = pretrained("densenet121", tmp_path / "d.pth")
    assert network.width == 1024 and network.digest == checksums.of_file(tmp_path / "d.pth")
    assert torch.allclose(network.embed(PIXELS), wanted(dense), atol=1e-4, rtol=1e-4)


def keras_arrays(network: torch.nn.Module) -> dict[str, list[np.ndarray]]:
    """What Keras' layers hold: kernels (height, width, in, out); gamma, beta, moving mean and variance."""
    state = {name.removeprefix("features."): value.numpy() for name, value in network.state_dict().items()}
    layers = {}
    for ours, theirs in keras_names().items():
        if theirs.endswith("bn"):
            layers[theirs] = [state[f"{ours}.{name}"] for name in ("weight", "bias", "running_mean", "running_var")]
        else:
            layers[theirs] = [state[f"{ours}.weight"].transpose(2, 3, 1, 0)]
    return layers


def second(path: Path, layers: dict[str, list[np.ndarray]], below: str = "", published: bool = False) -> Path:
    """Keras 2: attributes tell the layers and the names of their weights, "conv1/bn/gamma:0" in the published files."""
    kinds = {1: ["kernel:0"], 4: ["gamma:0", "beta:0", "moving_mean:0", "moving_variance:0"]}
    with h5py.File(path, "w") as file:
        root = file.create_group(below) if below else file
        names = {layer: layer.replace("conv1_", "conv1/") if published and layer.startswith("conv1_") else layer
                 for layer in layers}  # fmt: skip
        root.attrs["layer_names"] = [b"input_1", *(names[layer].encode() for layer in layers)]
        root.create_group("input_1").attrs["weight_names"] = np.array([], "S1")
        for layer, arrays in layers.items():
            group = root.require_group(names[layer])
            weights = [f"{names[layer]}/{kind}" for kind in kinds[len(arrays)]]
            group.attrs["weight_names"] = [weight.encode() for weight in weights]
            for weight, array in zip(weights, arrays, strict=True):
                group.create_dataset(weight, data=array)
    return path


def third(path: Path, layers: dict[str, list[np.ndarray]]) -> Path:
    """Keras 3: groups are named after classes, the layer's name is an attribute."""
    with h5py.File(path, "w") as file:
        for number, (layer, arrays) in enumerate(layers.items()):
            group = file.create_group(f"layers/layer_{number}/vars")
            group.attrs["name"] = layer
            for k, array in enumerate(arrays):
                group.create_dataset(str(k), data=array)
        file.create_group("layers/activation/vars").attrs["name"] = "relu"
    return path


KERAS: dict[str, Callable[[Path, dict[str, list[np.ndarray]]], Path]] = {
    "published": lambda p, layers: second(p / "densenet121_notop.h5", layers, published=True),
    "Keras 2": lambda p, layers: second(p / "w.h5", layers),
    "a whole model": lambda p, layers: second(p / "w.hdf5", layers, "model_weights"),
    "Keras 3": lambda p, layers: third(p / "d.weights.h5", layers),
    ".keras": lambda p, layers: zipped(
        p / "d.keras", {"config.json": b"{}", "model.weights.h5": third(p / "inner.h5", layers).read_bytes()}
    ),
}


@pytest.mark.parametrize("form", KERAS)
def test_keras_files(tmp_path: Path, dense: torch.nn.Module, form: str) -> None:
    network = pretrained("densenet121", KERAS[form](tmp_path, keras_arrays(dense)))
    received = network.embed(PIXELS)
    assert torch.allclose(received, wanted(dense), atol=1e-3, rtol=1e-3) and received.shape == (2, 1024)


SCRIPT = """
import sys, keras, numpy as np
keras.utils.set_random_seed(0)
model = keras.applications.DenseNet121(weights=None, include_top=True, input_shape=(64, 64, 3))
rng = np.random.default_rng(0)
for layer in model.layers:
    if isinstance(layer, keras.layers.BatchNormalization):
        n = layer.gamma.shape[0]
        layer.set_weights([rng.uniform(.5, 1.5, n), rng.normal(0, .1, n), rng.normal(0, .1, n), rng.uniform(.5, 2, n)])
folder = sys.argv[1]
model.save_weights(folder + "/d.weights.h5"); model.save(folder + "/d.keras"); model.save(folder + "/d.h5")
embedding = keras.Model(model.inputs, model.get_layer("avg_pool").output)
pixels = rng.integers(0, 256, (1, 64, 64, 3)).astype("float32")
scaled = keras.applications.densenet.preprocess_input(pixels.copy())
np.savez(folder + "/answer.npz", pixels=pixels, embedding=keras.ops.convert_to_numpy(embedding(scaled)))
"""


@pytest.mark.slow
def test_keras_itself(tmp_path: Path) -> None:
    """Keras' own DenseNet-121 gives the same embeddings as ours with the files that Keras writes."""
    pytest.importorskip("keras")
    environment = {**os.environ, "KERAS_BACKEND": "torch"}
    subprocess.run([sys.executable, "-c", SCRIPT, str(tmp_path)], check=True, capture_output=True, env=environment)
    answer = np.load(tmp_path / "answer.npz")
    pixels = torch.from_numpy(answer["pixels"]).permute(0, 3, 1, 2)
    for name in ("d.weights.h5", "d.keras", "d.h5"):
        received = pretrained("densenet121", tmp_path / name).embed(pixels)
        assert np.allclose(received.numpy(), answer["embedding"], atol=1e-4, rtol=1e-4)


def test_the_right_weights_of_the_wrong_network(tmp_path: Path, dense: torch.nn.Module) -> None:
    path = saved(tmp_path / "e.pth", efficientnet_lite0().state_dict())
    with pytest.raises(DataError, match="not the weights of DenseNet-121"):
        pretrained("densenet121", path)
    path = saved(tmp_path / "d.pth", dense.state_dict())
    with pytest.raises(DataError, match="not the weights of EfficientNet-lite0"):
        pretrained("efficientnet_lite0", path)
    layers = keras_arrays(dense)
    del layers["conv4_block7_1_bn"]
    with pytest.raises(DataError, match="conv4_block7_1_bn") as caught:
        pretrained("densenet121", second(tmp_path / "w.h5", layers))
    assert "no such layer" in str(caught.value)
    layers = keras_arrays(dense)
    layers["conv1_conv"] = [layers["conv1_conv"][0][:3]]
    with pytest.raises(DataError, match=r"conv0.weight \(64, 3, 3, 7\) instead of \(64, 3, 7, 7\)"):
        pretrained("densenet121", second(tmp_path / "w.h5", layers))


def test_weights_that_are_not_finite(tmp_path: Path, dense: torch.nn.Module) -> None:
    state = {name: value.clone() for name, value in dense.state_dict().items()}
    state["features.norm5.bias"][7] = float("nan")
    with pytest.raises(DataError, match="not finite"):
        pretrained("densenet121", saved(tmp_path / "d.pth", state))


class Touch:
    """Unpickled by plain pickle it makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


def test_a_pickle_calls_nothing(tmp_path: Path) -> None:
    path = saved(tmp_path / "d.pth", {"x": Touch(tmp_path / "touched")})
    with pytest.raises(DataError, match="read safely"):
        pretrained("densenet121", path)
    assert not (tmp_path / "touched").exists()


def test_a_whole_module_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="state_dict"):
        pretrained("densenet121", saved(tmp_path / "d.pth", torch.nn.Linear(2, 2)))
    with pytest.raises(DataError, match="does not hold a state dict"):
        pretrained("densenet121", saved(tmp_path / "d.pth", {"model": {"a": torch.zeros(1)}}))


@pytest.mark.parametrize("name", ["d.pth", "d.h5", "d.keras"])
@pytest.mark.parametrize("content", [b"", b"<html>not found</html>"])
def test_damaged_files_are_named(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=re.escape(name)) as caught:
        pretrained("densenet121", tmp_path / name)
    assert caught.value.fix


def test_cut_files(tmp_path: Path, dense: torch.nn.Module) -> None:
    for path in (saved(tmp_path / "d.pth", dense.state_dict()), third(tmp_path / "d.weights.h5", keras_arrays(dense))):
        path.write_bytes(path.read_bytes()[:100_000])
        with pytest.raises(DataError, match=re.escape(path.name)):
            pretrained("densenet121", path)


def test_files_without_layers(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "d.h5", "w") as file:
        file.create_dataset("x", data=np.zeros(3))
    with pytest.raises(DataError, match="no layers with weights"):
        pretrained("densenet121", tmp_path / "d.h5")
    zipped(tmp_path / "d.keras", {"config.json": b"{}"})
    with pytest.raises(DataError, match=r"model\.weights\.h5"):
        pretrained("densenet121", tmp_path / "d.keras")


def test_what_the_user_must_name(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no package registry") as caught:
        pretrained("densenet121")
    assert "densenet121-a639ec97.pth" in caught.value.fix and "notop.h5" in caught.value.fix
    with pytest.raises(DataError, match="does not exist"):
        pretrained("densenet121", tmp_path / "nowhere.pth")
    (tmp_path / "d.onnx").write_bytes(b"x")
    with pytest.raises(DataError, match=r"\.pth, \.pt, \.bin for PyTorch"):
        pretrained("densenet121", tmp_path / "d.onnx")
    with pytest.raises(OptionError, match="efficientnet_lite0 or densenet121"):
        pretrained("resnet50")


def test_the_package_s_weights(tmp_path: Path, cache_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names begin with underscores there: _blocks.0._bn1.weight."""
    network = unsettled(efficientnet_lite0())
    names = {name: ".".join(f"_{part}" if part[0].isalpha() and part not in ENDS else part for part in name.split("."))
             for name in network.state_dict()}  # fmt: skip
    assert names["blocks.3.bn0.running_mean"] == "_blocks.3._bn0.running_mean"
    path = cache_directory / "efficientnet_lite0" / NAME
    path.parent.mkdir(parents=True)
    torch.save({names[name]: value for name, value in network.state_dict().items()}, path,
               _use_new_zipfile_serialization=False)  # fmt: skip
    monkeypatch.setitem(checksums.FILES["efficientnet_lite0"], NAME, checksums.of_file(path))
    made = pretrained()
    assert made.name == "efficientnet_lite0" and made.width == 1280
    assert torch.allclose(made.embed(PIXELS), network.embedding((PIXELS - 127) / 128), atol=1e-4, rtol=1e-4)


ENDS = ("weight", "bias", "running_mean", "running_var", "num_batches_tracked")
