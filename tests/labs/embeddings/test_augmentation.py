"""Flips, rotations, shifts, shears and zooms of images."""

from __future__ import annotations

import numpy as np
import pytest

from autoinit.errors import OptionError
from autoinit.labs.embeddings import Augmentation

NOTHING = Augmentation(flip=False, rotation=0, shift=0, shear=0, zoom=0)
SIDE = 41


def spot(row: int, column: int) -> np.ndarray:
    image = np.zeros((SIDE, SIDE, 3), np.uint8)
    image[row - 1 : row + 2, column - 1 : column + 2] = 200
    return image


def centre(image: np.ndarray) -> np.ndarray:
    weight = image[..., 0].astype(float)
    grid = np.indices(weight.shape)
    return (grid * weight).sum(axis=(1, 2)) / weight.sum()


def drawn(augmentation: Augmentation, count: int = 4000) -> np.ndarray:
    """(count, 3, 3)"""
    rng = np.random.default_rng(0)
    return np.stack([augmentation.matrix(rng) for _ in range(count)])


def test_nothing_changes_nothing() -> None:
    image = np.random.default_rng(0).integers(0, 256, (30, 20, 3), dtype=np.uint8)
    view = NOTHING.view(image, np.random.default_rng(0))
    assert np.array_equal(view, image) and view.dtype == np.uint8


def test_the_paper_s_ranges() -> None:
    assert Augmentation() == Augmentation(flip=True, rotation=40, shift=0.2, shear=0.2, zoom=0.2)


def test_flips() -> None:
    flips = Augmentation(flip=True, rotation=0, shift=0, shear=0, zoom=0)
    image = np.random.default_rng(0).integers(0, 256, (SIDE, SIDE + 2, 3), dtype=np.uint8)
    views = [flips.view(image, np.random.default_rng(seed)) for seed in range(200)]
    mirrored = [np.array_equal(view, image[:, ::-1]) for view in views]
    assert all(flip or np.array_equal(view, image) for flip, view in zip(mirrored, views, strict=True))
    assert abs(sum(mirrored) - 100) < 4 * np.sqrt(50)  # four standard deviations of 200 tosses


def test_rotations_are_uniform_to_forty_degrees() -> None:
    matrices = drawn(Augmentation(flip=False, shift=0, shear=0, zoom=0))
    angles = np.rad2deg(np.arctan2(matrices[:, 1, 0], matrices[:, 0, 0]))
    assert np.abs(angles).max() < 40 and np.abs(angles).max() > 39
    assert np.allclose(np.linalg.det(matrices), 1)
    assert abs(angles.mean()) < 4 * 40 / np.sqrt(3 * 4000) and abs(angles.std() - 40 / np.sqrt(3)) < 1


def test_shifts_are_to_a_fifth() -> None:
    matrices = drawn(Augmentation(flip=False, rotation=0, shear=0, zoom=0))
    for axis in (0, 1):
        assert 0.195 < np.abs(matrices[:, axis, 2]).max() <= 0.2
    assert abs(np.corrcoef(matrices[:, 0, 2], matrices[:, 1, 2])[0, 1]) < 4 / np.sqrt(4000)


def test_shears_and_zooms_are_to_a_fifth() -> None:
    slopes = drawn(Augmentation(flip=False, rotation=0, shift=0, zoom=0))[:, 1, 0]
    assert 0.195 < np.abs(slopes).max() <= 0.2
    zooms = 1 / drawn(Augmentation(flip=False, rotation=0, shift=0, shear=0))[:, [0, 1], [0, 1]]
    assert zooms.min() >= 0.8 and zooms.max() <= 1.2 and zooms.min() < 0.805 and zooms.max() > 1.195
    assert abs(np.corrcoef(zooms.T)[0, 1]) < 4 / np.sqrt(4000)  # height and width for themselves


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", ["rotation", "shift", "shear", "zoom", "all"])
def test_a_spot_goes_where_the_matrix_says(seed: int, name: str) -> None:
    """The matrix leads from the view to the image, in units of the sides and from the middle."""
    chosen = {key: 0 for key in ("rotation", "shift", "shear", "zoom") if key != name}
    augmentation = Augmentation() if name == "all" else Augmentation(flip=False, **chosen)
    view = augmentation.view(spot(14, 24), np.random.default_rng(seed))
    matrix = augmentation.matrix(np.random.default_rng(seed))
    middle = (SIDE - 1) / 2
    place = np.linalg.inv(matrix) @ [(14 - middle) / SIDE, (24 - middle) / SIDE, 1]
    assert centre(view) == pytest.approx(place[:2] * SIDE + middle, abs=0.35)


def test_the_edge_goes_on_outside() -> None:
    image = np.zeros((SIDE, SIDE, 3), np.uint8)
    image[0] = 250
    shifted = Augmentation(flip=False, rotation=0, shift=0.2, shear=0, zoom=0)
    views = [shifted.view(image, np.random.default_rng(seed)) for seed in range(20)]
    downwards = [view for view in views if (view[:, 20, 0] > 240).sum() > 3]
    assert downwards and all((view[0] == 250).all() for view in downwards)


def test_an_oblong_image_is_rotated_in_units_of_its_sides() -> None:
    view = Augmentation().view(np.full((20, 50, 3), 77, np.uint8), np.random.default_rng(0))
    assert view.shape == (20, 50, 3) and (view == 77).all()


def test_the_seed_chooses() -> None:
    image = np.random.default_rng(0).integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)
    first, again, other = (Augmentation().view(image, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert np.array_equal(first, again) and not np.array_equal(first, other)


@pytest.mark.parametrize("wrong", [{"rotation": -1}, {"shift": 2}, {"shear": "x"}, {"zoom": 1}, {"rotation": True}])
def test_wrong_ranges(wrong: dict[str, object]) -> None:
    with pytest.raises(OptionError, match=next(iter(wrong))):
        Augmentation(**wrong)  # type: ignore[arg-type]
