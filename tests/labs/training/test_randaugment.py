from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image

from autoinit.errors import InputError
from autoinit.labs.training.randaugment import GREY, OPERATIONS, randaugment

RAMP = np.arange(0, 256, 4, dtype=np.uint8).reshape(8, 8)


def apply(name: str, strength: float, pixels: np.ndarray = RAMP) -> np.ndarray:
    return np.array(OPERATIONS[name](Image.fromarray(pixels), strength))


def test_there_are_fourteen_operations():
    assert len(OPERATIONS) == 14


GEOMETRIC = ["rotate", "shear_x", "shear_y", "translate_x", "translate_y"]
ENHANCING = ["color", "contrast", "brightness", "sharpness"]


@pytest.mark.parametrize("name", [*GEOMETRIC, *ENHANCING, "posterize", "solarize", "identity"])
@pytest.mark.parametrize("shape", [(8, 8), (8, 8, 3)])
def test_strength_zero_changes_nothing(name, shape):
    pixels = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    assert np.array_equal(apply(name, 0.0, pixels), pixels)


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("strength", [-1.0, 0.6, 1.0])
@pytest.mark.parametrize("shape", [(9, 7), (9, 7, 3)])
def test_sizes_and_kinds_stay(name, strength, shape):
    pixels = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    changed = apply(name, strength, pixels)
    assert changed.shape == shape and changed.dtype == np.uint8


@pytest.mark.parametrize("name", [n for n in OPERATIONS if n not in ("identity", "autocontrast", "equalize")])
def test_directions_differ_where_there_are_two(name):
    pixels = np.random.default_rng(0).integers(20, 200, (16, 16, 3), np.uint8)
    same = np.array_equal(apply(name, 0.7, pixels), apply(name, -0.7, pixels))
    assert same == (name in ("posterize", "solarize"))
    assert not np.array_equal(apply(name, 0.7, pixels), pixels)


def test_translations():
    """150/331 of 8 pixels are 3.6, rounded 4."""
    right = apply("translate_x", -1.0)
    assert np.array_equal(right[:, 4:], RAMP[:, :4]) and (right[:, :4] == GREY).all()
    up = apply("translate_y", 0.5)
    assert np.array_equal(up[:-2], RAMP[2:]) and (up[-2:] == GREY).all()


def test_shears_leave_the_middle_and_move_the_edges():
    wide = np.tile(np.arange(100, dtype=np.uint8), (100, 1))
    sheared = apply("shear_x", 1.0, wide)
    # Row y takes its pixels from 0.3 (y − 50) further right; half a pixel is rounding.
    for y in (0, 25, 50, 99):
        inside = slice(20, 80)
        moved = sheared[y, inside].astype(float) - np.arange(100)[inside]
        assert np.abs(moved - 0.3 * (y + 0.5 - 50)).max() <= 1
    assert np.array_equal(apply("shear_y", 1.0, wide.T), sheared.T)


def test_rotation_by_thirty_degrees():
    """A point right of the centre goes up (anticlockwise) by sin 30° of its distance."""
    pixels = np.zeros((101, 101), np.uint8)
    pixels[49:52, 89:92] = 255  # 40 right of the centre (50, 50)
    rows, columns = np.nonzero(apply("rotate", 1.0, pixels) == 255)
    assert rows.mean() == pytest.approx(50 - 40 * 0.5, abs=1)
    assert columns.mean() == pytest.approx(50 + 40 * 3**0.5 / 2, abs=1)


def test_brightness_and_contrast():
    assert apply("brightness", -1.0) == pytest.approx(RAMP * 0.1, abs=1)
    assert apply("brightness", 1.0) == pytest.approx(np.minimum(RAMP * 1.9, 255), abs=1)
    mean = round(RAMP.mean())
    assert apply("contrast", -1.0) == pytest.approx(mean + 0.1 * (RAMP.astype(float) - mean), abs=1)


def test_color_goes_to_grey():
    red = np.zeros((4, 4, 3), np.uint8)
    red[..., 0] = 200
    grey = apply("color", -1.0, red)
    luma = 0.299 * 200
    assert grey[0, 0] == pytest.approx([luma + 0.1 * (200 - luma), 0.9 * luma, 0.9 * luma], abs=2)


def test_sharpness_raises_or_lowers_differences():
    pixels = np.random.default_rng(0).integers(60, 190, (16, 16), np.uint8)
    inner = (slice(1, -1), slice(1, -1))
    spread = [apply("sharpness", s, pixels)[inner].std() for s in (-0.9, 0.0, 0.4)]
    assert spread[0] < spread[1] < spread[2]


def test_posterize_solarize():
    assert np.array_equal(apply("posterize", 1.0), RAMP & 0xF0)
    assert np.array_equal(apply("posterize", 0.6), RAMP & 0b11111100)  # 8 − 2.4 bits, rounded 6
    assert np.array_equal(apply("solarize", 0.5), np.where(RAMP < 128, RAMP, 255 - RAMP))
    assert np.array_equal(apply("solarize", -1.0), 255 - RAMP)


def test_autocontrast_and_equalize():
    narrow = (RAMP // 4 + 100).astype(np.uint8)
    stretched = apply("autocontrast", 0.6, narrow)
    assert stretched.min() == 0 and stretched.max() >= 254
    skewed = (np.arange(256) ** 2 / 256).astype(np.uint8).reshape(16, 16)
    values = np.sort(apply("equalize", 0.6, skewed).ravel())
    # The histogram is flat as far as ties allow: quantiles lie on a line.
    assert np.abs(values - np.arange(256)).max() <= 20


def test_batches():
    images = torch.randint(0, 256, (40, 3, 12, 12), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    before = images.clone()
    changed = randaugment(images, 2, 6.0, np.random.default_rng(0))
    assert changed.shape == images.shape and changed.dtype == torch.uint8
    assert torch.equal(images, before)
    again = randaugment(images, 2, 6.0, np.random.default_rng(0))
    assert torch.equal(changed, again)
    untouched = sum(torch.equal(a, b) for a, b in zip(changed, images, strict=True))
    assert untouched < 10  # two identities: one in 196, and a few that noise does not show
    assert torch.equal(randaugment(images, 0, 6.0, np.random.default_rng(0)), images)
    assert randaugment(images[:, :1], 2, 6.0, np.random.default_rng(0)).shape == (40, 1, 12, 12)


@pytest.mark.parametrize("images", [torch.zeros(2, 3, 4, 4), torch.zeros(2, 2, 4, 4, dtype=torch.uint8)])
def test_what_it_does_not_take(images):
    with pytest.raises(InputError, match="one channel or three"):
        randaugment(images, 2, 6.0, np.random.default_rng(0))
