"""Small data in the formats of the five data sets, in which the labels can be seen."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from autoinit.labs.data.adult_coding import COLUMNS
from autoinit.labs.data.toxicity import ANNOTATIONS, COMMENTS
from autoinit.labs.models import densenet121
from tests.labs.data import test_flowers
from tests.labs.data.making import idx, write

WORDS = ("lovely", "awful")


def mnist(folder: Path) -> Path:
    """The row that is bright is the digit."""
    rng = np.random.default_rng(0)
    files = {}
    for stem, count in (("train", 5200), ("t10k", 100)):
        labels = np.arange(count) % 10
        images = rng.integers(0, 60, (count, 28, 28), dtype=np.uint8)
        for row in (0, 1):
            images[np.arange(count), 2 * labels + 4 + row] = 255
        files[f"{stem}-images-idx3-ubyte"] = idx(images)
        files[f"{stem}-labels-idx1-ubyte"] = idx(labels.astype(np.uint8))
    return write(folder, files)


def adult(folder: Path) -> Path:
    """Who is old earns more."""
    rows = []
    for k in range(1000):
        fields = [str(17 + k % 60) if not values else values[k % len(values)] for values in COLUMNS.values()]
        rows.append(", ".join([*fields, ">50K" if k % 60 > 40 else "<=50K"]))
    return write(folder, {"adult.data": "\n".join(rows[:700]).encode(), "adult.test": "\n".join(rows[700:]).encode()})


def toxicity(folder: Path) -> Path:
    """Every second comment is awful."""
    comments = ["rev_id\tcomment\tyear\tlogged_in\tns\tsample\tsplit\n"]
    judged = ["rev_id\tworker_id\ttoxicity\ttoxicity_score\n"]
    number = 0
    for part, count in (("train", 400), ("dev", 100), ("test", 100)):
        for k in range(count):
            number += 1
            text = f"This page{k % 7} is {WORDS[k % 2]} and so are the others"
            comments.append(f"{number}.0\t{text}\t2006\tTrue\tuser\trandom\t{part}\n")
            judged.append(f"{number}.0\t1\t{k % 2}\t{-k % 2}\n")
    return write(folder, {COMMENTS: "".join(comments).encode(), ANNOTATIONS: "".join(judged).encode()})


def omniglot(folder: Path) -> Path:
    """The width of a bar is the character."""
    names = [name for name, count in (("Greek", 3), ("Latin", 4), ("Runes", 5)) for _ in range(count)]
    paper = np.ones((len(names), 20, 105, 105), np.bool_)
    rng = np.random.default_rng(0)
    for k, name in enumerate(names):
        width = 15 * (1 + k - names.index(name))
        for drawing in range(20):
            left = rng.integers(0, 105 - width)
            paper[k, drawing, :, left : left + width] = False
    np.savez_compressed(folder / "omniglot.npz", images=paper, alphabet=np.array(names))
    return folder


def _jpeg(levels: np.ndarray) -> bytes:
    content = io.BytesIO()
    Image.fromarray(levels.astype(np.uint8)).convert("RGB").save(content, "JPEG")
    return content.getvalue()


def flowers(folder: Path) -> Path:
    """A slope for each flower, and a DenseNet-121 of random weights in the file densenet121.pth."""
    slope = np.linspace(0, 1, 40) * np.linspace(1, 0, 30)[:, None]
    pictures = [_jpeg(slope * 2.5 * label) for label in test_flowers.LABELS]
    test_flowers.npz(
        folder / "flowers102_128px.npz", jpeg=np.frombuffer(b"".join(pictures), np.uint8),
        offsets=np.cumsum([0, *map(len, pictures)]),
    )  # fmt: skip
    torch.manual_seed(0)
    torch.save(densenet121().state_dict(), folder / "densenet121.pth")
    return folder
