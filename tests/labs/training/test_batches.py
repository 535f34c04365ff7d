"""What random crops of encoded images are cut out of."""

from __future__ import annotations

import io
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from PIL import Image

from autoinit.labs.data.jpegs import Jpegs
from autoinit.labs.training import Recipe
from autoinit.labs.training.batches import Batches


class Wide:
    """Pictures three times as wide as high; only the outer thirds are white."""

    def __len__(self) -> int:
        return 12

    def open(self, number: int) -> tuple[io.BytesIO, str]:
        image = np.full((40, 120, 3), 255, np.uint8)
        image[:, 40:80] = 0
        file = io.BytesIO()
        Image.fromarray(image).save(file, format="PNG")
        file.seek(0)
        return file, f"picture {number}"


@pytest.mark.parametrize("size", [None, 24])
def test_crops_come_from_the_original_image(size: int | None) -> None:
    """The middle square, which is what an index decodes, is black."""
    images = Jpegs(Wide(), 40)
    assert images[:].max() == 0
    part = SimpleNamespace(images=images, labels=np.arange(12) % 3)
    data = SimpleNamespace(train=part, mean=np.zeros(3), std=np.ones(3))
    recipe = Recipe(batch_size=6, epochs=1, smallest_crop=0.08, image_size=size)
    batches = Batches(data, recipe, seed=0)
    crops = torch.cat([batches[k][0] for k in range(2)])
    assert crops.shape == (12, 3, size or 40, size or 40)
    assert crops.max() == 1 and len({round(float(c.mean()), 3) for c in crops}) > 6
    assert torch.equal(batches[1][0], crops[6:]), "a function of seed and step alone"
