"""Random views of images: flipped, rotated, shifted, sheared and zoomed, in one bilinear step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from ...errors import OptionError


@dataclass(frozen=True)
class Augmentation:
    """How far a view may be from its image; the defaults are the paper's for Oxford Flowers.

    flip: left to right, for every second image; rotation: in degrees, to either side; shift: a share of the height and
    of the width; shear: the slope that columns get (0.2 moves the top edge by a tenth of the height); zoom: height and
    width are scaled by factors of their own between 1 − zoom and 1 + zoom. Every number is uniform.
    """

    flip: bool = True
    rotation: float = 40
    shift: float = 0.2
    shear: float = 0.2
    zoom: float = 0.2

    def __post_init__(self) -> None:
        for name, limit in (("rotation", 180), ("shift", 1), ("shear", 1), ("zoom", 0.99)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= limit:
                raise OptionError(f"'{name}' is a number from 0 to {limit}", where="Augmentation", received=repr(value),
                                  fix=f"{name}={getattr(Augmentation, name)}")  # fmt: skip

    def matrix(self, rng: np.random.Generator) -> np.ndarray:
        """(3, 3): from a place (row, column, 1) of the view, in units of the sides and from the middle, to the image's.

        Always the same number of random numbers is drawn, so that one setting does not change what the others do.
        """
        mirrored = self.flip and rng.random() < 0.5
        angle = np.deg2rad(rng.uniform(-self.rotation, self.rotation))
        down, right = rng.uniform(-self.shift, self.shift, 2)
        slope = rng.uniform(-self.shear, self.shear)
        tall, wide = rng.uniform(1 - self.zoom, 1 + self.zoom, 2)
        rotated = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
        shifted = np.array([[1, 0, down], [0, 1, right], [0, 0, 1]])
        sheared = np.array([[1, 0, 0], [slope, 1, 0], [0, 0, 1]])
        zoomed = np.diag([1 / tall, (-1 if mirrored else 1) / wide, 1])
        view: np.ndarray = rotated @ shifted @ sheared @ zoomed
        return view

    def view(self, image: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """uint8 (height, width, channels) to the same; what comes in from outside continues the image's edge."""
        matrix = self.matrix(rng)
        sides = np.array(image.shape[:2], np.float64)
        linear = sides[:, None] * matrix[:2, :2] / sides[None, :]
        middle = (sides - 1) / 2
        offset = middle + sides * matrix[:2, 2] - linear @ middle
        out = np.empty_like(image)
        for channel in range(image.shape[2]):
            ndimage.affine_transform(image[..., channel], linear, offset, output=out[..., channel], order=1,
                                     mode="nearest")  # fmt: skip
        return out
