"""Embeddings are computed once, of every part and of every view, and kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from autoinit.errors import OptionError
from autoinit.labs.data import DataError, Images, Split, load
from autoinit.labs.embeddings import Augmentation, Embeddings, Pretrained, embeddings
from tests.labs.data.test_flowers import npz


class Counting:
    """An embedding of four numbers: means of the colours, and of the left half's red."""

    def __init__(self) -> None:
        self.seen = 0

    def __call__(self, pixels: torch.Tensor) -> torch.Tensor:
        assert pixels.dtype == torch.float32 and pixels.shape[1] == 3
        self.seen += len(pixels)
        half = pixels[:, :1, :, : pixels.shape[3] // 2].mean(dim=(2, 3))
        return torch.cat([pixels.mean(dim=(2, 3)), half], dim=1)


@pytest.fixture
def images() -> Images:
    rng = np.random.default_rng(0)
    made = [Split(rng.integers(0, 256, (n, 16, 16, 3), dtype=np.uint8), np.arange(n) % 2) for n in (20, 6, 10)]
    return Images("made", *made, ("a", "b"))


def network(digest: str = "d") -> tuple[Pretrained, Counting]:
    counting = Counting()
    return Pretrained("counting", 4, counting, digest), counting


def folders(cache: Path) -> list[str]:
    return sorted(path.name for path in (cache / "embeddings").iterdir() if not path.name.startswith("."))


def test_every_image_has_its_row(images: Images, cache_directory: Path) -> None:
    made = embeddings(images, network()[0])
    for part in ("train", "validation", "test"):
        split, rows = getattr(images, part), getattr(made, part)
        assert rows.inputs.dtype == np.float32 and np.array_equal(rows.labels, split.labels)
        assert np.allclose(rows.inputs[:, :3], split.images.mean(axis=(1, 2)), atol=1e-3)
    assert made.width == 4 and made.classes == 2 and made.views.shape == (0, 20, 4) and made.network == "counting"


def test_they_are_computed_once(images: Images, cache_directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net, counting = network()
    first = embeddings(images, net, views=2)
    assert counting.seen == 36 + 2 * 20 and capsys.readouterr().err.count("embeddings") == 5
    again = embeddings(images, net, views=2)
    assert counting.seen == 76 and not capsys.readouterr().err
    assert np.array_equal(first.views, again.views) and np.array_equal(first.test.inputs, again.test.inputs)
    more = embeddings(images, net, views=3)  # one more view is one more piece
    assert counting.seen == 96 and np.array_equal(more.views[:2], first.views) and len(folders(cache_directory)) == 6


def test_what_they_depend_on(images: Images, cache_directory: Path) -> None:
    net, counting = network()
    embeddings(images, net, views=1)
    other = replace(images, train=Split(images.train.images ^ 1, images.train.labels))
    for call, cost in (
        (lambda: embeddings(images, net, views=1, seed=1), 20),
        (lambda: embeddings(images, net, views=1, augmentation=Augmentation(rotation=10)), 20),
        (lambda: embeddings(images, replace(net, digest="e"), views=1), 56),
        (lambda: embeddings(images, replace(net, name="other"), views=1), 56),
        (lambda: embeddings(other, net, views=1), 40),
        (lambda: embeddings(images, net, views=1), 0),
    ):
        before = counting.seen
        call()
        assert counting.seen - before == cost


def test_views_are_views_of_their_image(images: Images) -> None:
    made = embeddings(images, network()[0], views=3, seed=5)
    for view in range(3):
        for number in (0, 7, 19):
            rng = np.random.default_rng((5, view, number))
            pixels = Augmentation().view(images.train.images[number], rng).astype(np.float32)
            assert np.allclose(made.views[view, number, :3], pixels.mean(axis=(0, 1)), atol=1e-3)
    assert not np.allclose(made.views[0], made.views[1])


def test_an_epoch_takes_one_view_of_each_image(images: Images) -> None:
    made = embeddings(images, network()[0], views=3)
    epoch, other = made.epoch(np.random.default_rng(0)), made.epoch(np.random.default_rng(1))
    matches = (made.views == epoch.inputs[None]).all(axis=2)
    assert matches.any(axis=0).all() and len({int(k) for k in matches.argmax(axis=0)}) == 3
    assert np.array_equal(epoch.labels, images.train.labels) and not np.array_equal(epoch.inputs, other.inputs)
    plain: Embeddings = embeddings(images, network()[0])
    assert plain.epoch(np.random.default_rng(0)) is plain.train


def test_an_interrupted_computation_leaves_whole_pieces(images: Images, cache_directory: Path) -> None:
    net, counting = network()

    def failing(pixels: torch.Tensor) -> torch.Tensor:
        if counting.seen > 36 + 20:  # in the middle of the second view
            raise KeyboardInterrupt
        return counting(pixels)

    with pytest.raises(KeyboardInterrupt):
        embeddings(images, replace(net, embed=failing), views=3)
    assert len(folders(cache_directory)) == 4
    assert not [p for p in (cache_directory / "embeddings").iterdir() if "part-" in p.name]
    before = counting.seen
    embeddings(images, net, views=3)
    assert counting.seen - before == 40


def test_encoded_images(tmp_path: Path) -> None:
    data = load("flowers102", npz(tmp_path / "flowers102_128px.npz"), size=16)
    made = embeddings(data, network()[0], views=1)
    assert made.train.inputs.shape == (102, 4) and made.views.shape == (1, 102, 4) and made.classes == 102
    assert np.abs(made.test.inputs[:, 0] - 2 * (data.test.labels + 1)).max() < 2  # flat greys by label


@pytest.mark.parametrize(
    "damage", [b"", b"\x93NUMPY", None, np.zeros((20, 3), np.float32), np.full((20, 4), np.nan, np.float32)]
)
def test_damaged_pieces_are_named(images: Images, cache_directory: Path, damage: bytes | np.ndarray | None) -> None:
    embeddings(images, network()[0])
    piece = next(p for p in (cache_directory / "embeddings").iterdir() if "-train-" in p.name) / "embeddings.npy"
    if damage is None:
        piece.unlink()
    elif isinstance(damage, bytes):
        piece.write_bytes(damage)
    else:
        np.save(piece, damage)
    with pytest.raises(DataError, match="embeddings in the cache") as caught:
        embeddings(images, network()[0])
    assert "computed again" in caught.value.fix and str(piece.parent) in caught.value.fix


@pytest.mark.parametrize("views", [-1, True, 1.5, "x"])
def test_wrong_numbers_of_views(images: Images, views: object) -> None:
    with pytest.raises(OptionError, match="views"):
        embeddings(images, network()[0], views=views)  # type: ignore[arg-type]
