"""Drawings of networks: nothing overlaps, everything is connected, names are told."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from autoinit.errors import OptionError
from autoinit.labs.codeepneat import Evolution, Input, Layer, NetworkGenome, Search
from autoinit.labs.codeepneat.drawings.labels import FAMILIES, detail, title
from autoinit.labs.codeepneat.drawings.networks import Portrait, portraits
from autoinit.labs.codeepneat.drawings.sketch import Box, Sketch, sketch
from autoinit.labs.codeepneat.layers import KINDS
from tests.labs.codeepneat.small_spaces import SETTINGS


def large(name: str, generations: int = 4) -> NetworkGenome:
    """The network with the most layers that a search for many layers finds."""
    setting = SETTINGS[name]
    chances = dict.fromkeys(("module_layer", "blueprint_node", "module_connection", "blueprint_connection"), 0.5)
    size = Evolution(blueprints=4, modules=8, evaluations=2, module_species=2).changed(**chances)
    search = Search(setting.space, size, setting.input, setting.outputs, seed=1)
    for _ in range(generations):
        search.tell({key: len(network.layers) for key, network in search.networks.items()})
    assert search.archive.best is not None
    return search.archive.best.network


def overlap(one: Box, other: Box) -> bool:
    return (
        abs(one.x - other.x) < (one.width + other.width) / 2 - 1e-6
        and abs(one.y - other.y) < (one.height + other.height) / 2 - 1e-6
    )


def at(drawn: Sketch, name: str) -> Box:
    return next(box for box in drawn.boxes if box.name == name)


@pytest.mark.parametrize("name", SETTINGS)
def test_boxes_and_lines(name: str) -> None:
    network = large(name)
    drawn = sketch(network)
    layers = network.needed([network.outputs[0][0]])
    assert [box.name for box in drawn.boxes] == ["input", *(layer.name for layer in layers)]
    assert not [pair for pair in combinations(drawn.boxes, 2) if overlap(*pair)]
    wanted = {(source, layer.name) for layer in layers for source in layer.inputs}
    assert len(drawn.lines) == len(wanted)
    ends = {(line[0], line[-1]) for line in drawn.lines}
    for source, target in wanted:
        above, below = at(drawn, source), at(drawn, target)
        assert ((above.x, above.y + above.height / 2), (below.x, below.y - below.height / 2)) in ends
    for line in drawn.lines:
        assert [y for _, y in line] == sorted(y for _, y in line), "lines run downwards"
        for x, y in line[1:-1]:
            within = [b for b in drawn.boxes if abs(b.x - x) < b.width / 2 and abs(b.y - y) < b.height / 2]
            assert not within, "a connection runs past boxes"
    assert all(box.x - box.width / 2 >= 0 and box.x + box.width / 2 <= drawn.width + 1e-6 for box in drawn.boxes)
    assert all(box.y - box.height / 2 >= 0 and box.y + box.height / 2 <= drawn.height + 1e-6 for box in drawn.boxes)
    assert drawn.boxes[-1].family == "output" and sketch(network) == drawn


def test_of_several_outputs_one_is_drawn() -> None:
    network = large("soft")
    drawn = sketch(network)
    assert drawn.note == "the way to 'greek'; 2 more outputs" and len(drawn.boxes) < len(network.layers)


def test_two_ways_stand_side_by_side() -> None:
    layers = (
        Layer("dense_1", "dense", (("units", 4), ("activation", "relu"), ("initialization", "he_normal")), ("input",),
              (4,)),
        Layer("dropout_1", "dropout", (("rate", 0.25),), ("input",), (4,)),
        Layer("add_1", "add", (), ("dense_1", "dropout_1"), (4,)),
    )  # fmt: skip
    drawn = sketch(NetworkGenome(Input((4,)), layers, (("out", "add_1"),)))
    dense, dropout, add = (at(drawn, name) for name in ("dense_1", "dropout_1", "add_1"))
    assert dense.y == dropout.y and add.x == pytest.approx((dense.x + dropout.x) / 2)
    assert (dense.title, dense.detail) == ("Dense · 4", "ReLU · He normal")
    assert (dropout.title, dropout.detail, dropout.family) == ("Dropout 0.25", "", "dropout")
    assert detail(layers[0], schemes=False) == "ReLU"


def test_titles() -> None:
    conv = Layer("c", "conv2d", (("units", 8), ("kernel", 3)), ("input",), (6, 6, 8))
    pool = Layer("p", "max_pooling2d", (), ("c",), (3, 3, 8))
    fitted = Layer("q", "max_pooling1d", (("window", [4]), ("stride", [3])), ("c",), (3, 8))
    assert [title(one) for one in (conv, pool, fitted)] == ["Conv2D 3×3 · 8", "MaxPooling2D 2×2", "MaxPooling1D 4"]
    assert set(FAMILIES) == set(KINDS), "every kind of layer has a colour"


def test_portraits(tmp_path: Path) -> None:
    chosen = [Portrait(large(name, 2), f"{name} \x1b[31m") for name in ("text", "chains")]
    figure = portraits(chosen, tmp_path / "networks.png")
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert "text \\x1b[31m" in texts and "LSTM" not in texts and any(text.startswith("Embedding") for text in texts)
    assert (tmp_path / "networks.png").stat().st_size > 10_000
    with pytest.raises(OptionError, match="no network to draw"):
        portraits([])
