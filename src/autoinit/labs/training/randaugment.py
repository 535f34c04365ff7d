"""RandAugment (Cubuk et al., 2020): random operations on each image, all of one strength.

Fourteen operations, each chosen with the same probability. The magnitude m goes from 0, no change, to 10, the
limits that AutoAugment searched within. Operations that have a direction take it at random.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...errors import InputError

GREY = 128
"""What moves into the picture from outside."""

Operation = Callable[[Any, float], Any]
"""From a Pillow image and a strength: m/10, from 0 to 1, negative for the other direction."""


def _affine(image: Any, coefficients: tuple[float, ...]) -> Any:
    """The pixel at (x, y) comes from (a x + b y + c, d x + e y + f) in the given image, nearest neighbour."""
    from PIL import Image

    fill = GREY if image.mode == "L" else (GREY,) * 3
    return image.transform(image.size, Image.Transform.AFFINE, coefficients, fillcolor=fill)


def shear_x(image: Any, strength: float) -> Any:
    """By up to 0.3 of the height, around the middle row."""
    slope = 0.3 * strength
    return _affine(image, (1, slope, -slope * image.height / 2, 0, 1, 0))


def shear_y(image: Any, strength: float) -> Any:
    """By up to 0.3 of the width, around the middle column."""
    slope = 0.3 * strength
    return _affine(image, (1, 0, 0, slope, 1, -slope * image.width / 2))


def translate_x(image: Any, strength: float) -> Any:
    """By up to 150/331 of the width, in whole pixels."""
    return _affine(image, (1, 0, round(150 / 331 * image.width * strength), 0, 1, 0))


def translate_y(image: Any, strength: float) -> Any:
    """By up to 150/331 of the height, in whole pixels."""
    return _affine(image, (1, 0, 0, 0, 1, round(150 / 331 * image.height * strength)))


def rotate(image: Any, strength: float) -> Any:
    """By up to 30 degrees."""
    return image.rotate(30 * strength, fillcolor=GREY if image.mode == "L" else (GREY,) * 3)


def _enhance(kind: str) -> Operation:
    """Away from, or towards, a degenerate image (grey, black, blurred): the factor is 1 ± 0.9 m/10."""

    def change(image: Any, strength: float) -> Any:
        from PIL import ImageEnhance

        return getattr(ImageEnhance, kind)(image).enhance(1 + 0.9 * strength)

    return change


def identity(image: Any, strength: float) -> Any:
    return image


def autocontrast(image: Any, strength: float) -> Any:
    """Stretch each channel to the full range; has no strength."""
    from PIL import ImageOps

    return ImageOps.autocontrast(image)


def equalize(image: Any, strength: float) -> Any:
    """Flatten the histogram of each channel; has no strength."""
    from PIL import ImageOps

    return ImageOps.equalize(image)


def solarize(image: Any, strength: float) -> Any:
    """Invert what is at or above 256 (1 − m/10)."""
    from PIL import ImageOps

    return ImageOps.solarize(image, round(256 * (1 - abs(strength))))


def posterize(image: Any, strength: float) -> Any:
    """Keep the highest 8 − 4 m/10 bits, rounded."""
    from PIL import ImageOps

    return ImageOps.posterize(image, 8 - round(4 * abs(strength)))


OPERATIONS: dict[str, Operation] = {
    "identity": identity,
    "autocontrast": autocontrast,
    "equalize": equalize,
    "rotate": rotate,
    "solarize": solarize,
    "color": _enhance("Color"),
    "posterize": posterize,
    "contrast": _enhance("Contrast"),
    "brightness": _enhance("Brightness"),
    "sharpness": _enhance("Sharpness"),
    "shear_x": shear_x,
    "shear_y": shear_y,
    "translate_x": translate_x,
    "translate_y": translate_y,
}


def randaugment(images: Tensor, count: int, magnitude: float, rng: np.random.Generator) -> Tensor:
    """Apply `count` random operations to each image of a batch of bytes (batch, channels, height, width)."""
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError("RandAugment needs Pillow: pip install pillow") from error
    if images.dtype != torch.uint8 or images.shape[1] not in (1, 3):
        raise InputError("RandAugment takes bytes with one channel or three", where="randaugment",
                         received=f"{images.dtype} with {images.shape[1]} channels", fix="randaugment=0")  # fmt: skip
    grey = images.shape[1] == 1
    operations = list(OPERATIONS.values())
    changed = []
    for image in images:
        pixels = image[0].numpy() if grey else image.permute(1, 2, 0).contiguous().numpy()
        picture = Image.fromarray(pixels)
        for chosen, coin in zip(rng.integers(len(operations), size=count), rng.random(count), strict=True):
            picture = operations[chosen](picture, magnitude / 10 * (1 if coin < 0.5 else -1))
        pixels = torch.from_numpy(np.array(picture))
        changed.append(pixels[None] if grey else pixels.permute(2, 0, 1))
    return torch.stack(changed)
