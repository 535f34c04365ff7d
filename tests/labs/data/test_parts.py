"""The validation part, the statistics, the bundled digits."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from autoinit.errors import OptionError
from autoinit.labs.data import Images, Split, load, names
from autoinit.labs.data.choosing import balanced
from autoinit.labs.data.images import moments, parted


def example(count: int = 200) -> Split:
    rng = np.random.default_rng(3)
    labels = rng.permutation(np.repeat(np.arange(4), count // 4))
    images = np.arange(count, dtype=np.uint8)[:, None, None, None] * np.ones((1, 2, 3, 1), np.uint8)
    return Split(images, labels.astype(np.int64))


def part(validation: int, seed: int = 0) -> Images:
    return parted("example", example(), example(8), ("a", "b", "c", "d"), validation, seed)


@pytest.mark.parametrize("validation", [0, 1, 4, 40, 41, 43, 196])
def test_validation_is_balanced(validation: int) -> None:
    sets = part(validation)
    counts = np.bincount(sets.validation.labels, minlength=4)
    assert len(sets.validation) == validation and counts.max() - counts.min() <= 1
    assert len(sets.train) == 200 - validation and sets.validation.images.shape == (validation, 2, 3, 1)


def test_every_image_is_in_one_part_with_its_label() -> None:
    whole, sets = example(), part(40)
    numbers = np.concatenate([sets.train.images[:, 0, 0, 0], sets.validation.images[:, 0, 0, 0]])
    labels = np.concatenate([sets.train.labels, sets.validation.labels])
    assert sorted(numbers) == list(range(200))
    assert np.array_equal(labels, whole.labels[numbers])
    assert np.all(np.diff(sets.train.images[:, 0, 0, 0].astype(int)) > 0)  # the order stays


def test_the_seed_chooses() -> None:
    assert np.array_equal(part(40, 1).validation.images, part(40, 1).validation.images)
    assert not np.array_equal(part(40, 1).validation.images, part(40, 2).validation.images)


def test_global_random_state_is_left_alone() -> None:
    before = np.random.get_state()[1].copy()
    part(40)
    assert np.array_equal(before, np.random.get_state()[1])


def test_unequal_classes() -> None:
    labels = np.repeat([0, 1, 2], [5, 50, 500])
    assert np.bincount(labels[balanced(labels, 12, 0)]).tolist() == [4, 4, 4]
    assert np.bincount(labels[balanced(labels, 15, 0)]).tolist() == [5, 5, 5]
    with pytest.raises(OptionError, match="at most 12"):
        balanced(labels, 15, 0, leave=1)
    with pytest.raises(OptionError, match="at most 15"):
        balanced(labels, 18, 0)


@pytest.mark.parametrize("validation", [-1, 2.5, "many", True, 200, 10**9])
def test_wrong_sizes(validation: object) -> None:
    with pytest.raises(OptionError):
        part(validation)  # type: ignore[arg-type]


def test_statistics_are_exact() -> None:
    rng = np.random.default_rng(4)
    images = rng.integers(0, 256, (2500, 3, 5, 3), dtype=np.uint8)
    images[..., 2] //= 2
    mean, std = moments(images)
    scaled = images / 255
    assert np.allclose(mean, scaled.mean(axis=(0, 1, 2)), atol=1e-12)
    assert np.allclose(std, scaled.std(axis=(0, 1, 2)), atol=1e-12)


def test_statistics_are_of_the_training_part() -> None:
    sets = part(40)
    assert np.allclose(sets.mean, (sets.train.images / 255).mean()) and sets.mean.shape == (1,)
    assert not np.allclose(sets.mean, (example().images / 255).mean(), atol=1e-6)


def test_digits() -> None:
    sets = load("digits")
    assert (len(sets.train), len(sets.validation), len(sets.test)) == (1257, 180, 360)
    assert sets.shape == (8, 8, 1) and sets.classes == 10 and sets.train.images.dtype == np.uint8
    assert sets.train.images.max() == 255 and sets.train.images.min() == 0
    assert np.bincount(sets.test.labels).tolist() == [36] * 10
    assert np.array_equal(load("digits", seed=5).test.images, sets.test.images)  # the test part is always the same
    centroids = np.stack([sets.train.images[sets.train.labels == k].mean(axis=0) for k in range(10)])
    nearest = ((sets.test.images[:, None].astype(float) - centroids) ** 2).sum(axis=(2, 3, 4)).argmin(axis=1)
    assert (nearest == sets.test.labels).mean() > 0.85  # images and labels belong together


def test_unknown_names_and_sizes() -> None:
    with pytest.raises(OptionError, match="one of cifar10, mnist"):
        load("cifar")
    with pytest.raises(OptionError, match="own size"):
        load("digits", size=16)
    images = {"cifar10", "mnist", "fashion_mnist", "flowers102", "imagenette", "imagenette_96px", "imagenet", "digits"}
    assert set(names()) == images


def test_importing_loads_no_framework() -> None:
    code = (
        "import sys, autoinit.labs.data\n"
        "print([m for m in ('torch', 'keras', 'jax', 'tensorflow', 'PIL', 'sklearn') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
