from __future__ import annotations

import numpy as np
import pytest
import torch

from autoinit.labs.training import geometry


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_half_of_the_images_are_mirrored():
    images = torch.arange(3.0).expand(2000, 1, 2, 3)
    flipped = geometry.flip(images, rng())
    mirrored = (flipped[:, 0, :, 0] == 2).all(1)
    assert torch.equal(flipped[mirrored], images[mirrored].flip(-1))
    assert torch.equal(flipped[~mirrored], images[~mirrored])
    # Binomial: five standard deviations of the share are 5 · sqrt(1/4/2000).
    assert float(mirrored.float().mean()) == pytest.approx(0.5, abs=5 * (0.25 / 2000) ** 0.5)


def test_padded_crops_shift_the_image_and_fill_with_zeros():
    image = torch.arange(1.0, 10).view(1, 1, 3, 3)
    crops = geometry.padded_crop(image.expand(600, 1, 3, 3), 2, rng())
    seen = set()
    for crop in crops[:, 0]:
        if not crop.any():
            continue
        row, column = (int(v) for v in (crop > 0).nonzero()[0])
        first = int(crop[row, column]) - 1
        down, right = row - first // 3, column - first % 3
        seen.add((down, right))
        expected = torch.zeros(3, 3)
        for r in range(3):
            for c in range(3):
                if 0 <= r - down < 3 and 0 <= c - right < 3:
                    expected[r, c] = image[0, 0, r - down, c - right]
        assert torch.equal(crop, expected)
    assert seen == {(d, r) for d in range(-2, 3) for r in range(-2, 3)}


def test_centre_crop():
    image = torch.arange(100.0).view(1, 1, 10, 10)
    assert torch.equal(geometry.centre_crop(image, 0.6), image[..., 2:8, 2:8])
    assert geometry.centre_crop(torch.zeros(1, 3, 160, 160), 0.95).shape == (1, 3, 152, 152)
    assert torch.equal(geometry.centre_crop(image, 1.0), image)


def test_boxes_have_the_areas_and_aspects_asked_for():
    source, areas, aspects = rng(), [], []
    for _ in range(2000):
        top, left, tall, wide = geometry.box(200, 200, 0.08, source)
        assert 0 <= top <= 200 - tall and 0 <= left <= 200 - wide
        areas.append(tall * wide / 200**2)
        aspects.append(wide / tall)
    rounding = 0.02  # half a pixel on sides of 50 and more
    assert 0.08 * (1 - rounding) <= min(areas) < 0.1 and max(areas) > 0.9
    assert 3 / 4 * (1 - rounding) <= min(aspects) < 0.8 and 1.25 < max(aspects) <= 4 / 3 * (1 + rounding)
    # Large wide boxes do not fit and are drawn again, so the mean lies a little below that of U(0.08, 1).
    assert 0.45 < np.mean(areas) < 0.54


def test_a_box_that_never_fits_is_the_largest_centre_square():
    assert geometry.box(10, 1000, 1.0, rng()) == (0, 495, 10, 10)


def test_resized_crops_have_one_size_and_keep_bytes():
    images = torch.full((5, 3, 20, 24), 77, dtype=torch.uint8)
    crops = geometry.resized_crop(images, 0.08, 16, rng())
    assert crops.dtype == torch.uint8 and crops.shape == (5, 3, 16, 16)
    assert (crops == 77).all()
    ramp = torch.arange(64, dtype=torch.uint8).expand(4, 1, 64, 64)
    crops = geometry.resized_crop(ramp, 0.08, 32, rng())
    assert (crops.diff(dim=-1) >= 0).all() if crops.dtype.is_signed else (crops.int().diff(dim=-1) >= 0).all()
    assert len({tuple(c[0, 0].tolist()) for c in crops}) == 4


def test_resize_averages():
    image = torch.tensor([[0.0, 2.0], [4.0, 6.0]]).repeat_interleave(2, 0).repeat_interleave(2, 1)[None, None]
    assert float(geometry.resize(image, 1)) == pytest.approx(3.0)
    assert geometry.resize(image, 4) is image
