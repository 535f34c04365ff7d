"""From images on disk or in memory to the batches that a step is made with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...errors import InputError
from . import geometry, mixing, streams
from .randaugment import randaugment
from .recipe import Recipe


class Normalization:
    """Bytes to floats; with means and deviations per channel, in units of the full range, also centred and scaled."""

    def __init__(self, data: Any, recipe: Recipe) -> None:
        self.moments: tuple[Tensor, Tensor] | None = None
        if recipe.normalize:
            mean, std = (torch.as_tensor(np.array(v), dtype=torch.float32) for v in (data.mean, data.std))
            if not (std > 0).all():
                raise InputError("a channel of the training images is constant", where="data.std",
                                 received=str(std.tolist()), fix="normalize=False")  # fmt: skip
            self.moments = mean.view(-1, 1, 1), std.view(-1, 1, 1)

    def __call__(self, images: Tensor) -> Tensor:
        scaled = images.float() / 255
        if self.moments is None:
            return scaled
        mean, std = self.moments
        return (scaled - mean) / std


def take(images: Any, places: np.ndarray) -> Tensor:
    """The images at these places as a tensor of bytes (batch, channels, height, width)."""
    chosen = np.asarray(images[places])
    if chosen.ndim == 3:
        chosen = chosen[..., None]
    if chosen.dtype != np.uint8 or chosen.ndim != 4:
        raise InputError("images are bytes of the shape (count, height, width, channels)", where="data",
                         received=f"{chosen.dtype} of shape {chosen.shape}", fix="images.astype('uint8')")  # fmt: skip
    return torch.from_numpy(np.ascontiguousarray(chosen.transpose(0, 3, 1, 2)))


def originals(images: Any, places: np.ndarray) -> Iterator[Tensor]:
    """One image after the other in its own size, bytes (channels, height, width)."""
    for place in places:
        yield torch.from_numpy(np.ascontiguousarray(images.original(int(place)).transpose(2, 0, 1)))


def labels_of(data: Any, part: str) -> np.ndarray:
    """Class numbers of the images in one part of the data; there must be some."""
    labels = np.asarray(getattr(data, part).labels).astype(np.int64)
    if len(labels) == 0:
        raise InputError("there are no images", where=f"data.{part}", received="0 labels",
                         fix="another part of the data, or another share for validation")  # fmt: skip
    return labels


class Batches:
    """The training batches of a run. Batch k is a function of the seed and k alone, whoever asks and when."""

    def __init__(self, data: Any, recipe: Recipe, seed: int) -> None:
        self.images, self.recipe, self.seed = data.train.images, recipe, seed
        self.labels = labels_of(data, "train")
        self.size = min(recipe.batch_size, len(self.labels))
        self.per_epoch = len(self.labels) // self.size
        self.total = recipe.steps if recipe.steps is not None else (recipe.epochs or 0) * self.per_epoch
        self.normalize = Normalization(data, recipe)
        self._order: tuple[int, np.ndarray] = (-1, np.empty(0, int))

    def __getitem__(self, step: int) -> tuple[Tensor, mixing.Targets]:
        """Images and targets of one step."""
        epoch, place = divmod(step, self.per_epoch)
        places = self._places(epoch)[place * self.size : (place + 1) * self.size]
        rng = streams.generator(self.seed, streams.AUGMENTATION, step)
        images = self._augment(self._chosen(places, rng), rng)
        return mixing.mix(images, torch.from_numpy(self.labels[places]), self.recipe.mixup, self.recipe.cutmix, rng)

    def _places(self, epoch: int) -> np.ndarray:
        """All training images in the order of this epoch; what is left over of a full batch waits for another."""
        known, order = self._order
        if known != epoch:
            order = streams.generator(self.seed, streams.ORDER, epoch).permutation(len(self.labels))
            self._order = (epoch, order)
        return order

    def _chosen(self, places: np.ndarray, rng: np.random.Generator) -> Tensor:
        """Images of one size; random crops are cut out of images in their own size where these are still encoded."""
        recipe = self.recipe
        if recipe.smallest_crop is None:
            images = take(self.images, places)
            return images if recipe.image_size is None else geometry.resize(images, recipe.image_size)
        whole = originals(self.images, places) if hasattr(self.images, "original") else take(self.images, places)
        return geometry.resized_crop(whole, recipe.smallest_crop, recipe.image_size or self.images.shape[2], rng)

    def _augment(self, images: Tensor, rng: np.random.Generator) -> Tensor:
        """RandAugment works on bytes; padding comes last, since its zeros are to be the mean colour."""
        recipe = self.recipe
        if recipe.flip:
            images = geometry.flip(images, rng)
        if recipe.randaugment:
            images = randaugment(images, recipe.randaugment, recipe.magnitude, rng)
        batch = self.normalize(images)
        return geometry.padded_crop(batch, recipe.pad, rng) if recipe.pad else batch
