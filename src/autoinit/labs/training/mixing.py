"""Mixup (Zhang et al., 2018) and CutMix (Yun et al., 2019): images that belong to two classes at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional


@dataclass(frozen=True)
class Targets:
    """Image i belongs to `labels[i]` with weight `share`, and to `others[i]` with the rest."""

    labels: Tensor
    others: Tensor
    share: float = 1.0

    def to(self, device: Any) -> Targets:
        return Targets(self.labels.to(device), self.others.to(device), self.share)


def unmixed(labels: Tensor) -> Targets:
    return Targets(labels, labels)


def cross_entropy(outputs: Tensor, targets: Targets, smoothing: float = 0.0) -> Tensor:
    """Cross entropy against the shares of both classes.

    It is linear in the target distribution, so the distributions themselves are never written down:
    H(λp + (1 − λ)q, y) = λ H(p, y) + (1 − λ) H(q, y).
    """
    loss = functional.cross_entropy(outputs, targets.labels, label_smoothing=smoothing)
    if targets.share == 1:
        return loss
    other = functional.cross_entropy(outputs, targets.others, label_smoothing=smoothing)
    return targets.share * loss + (1 - targets.share) * other


def mixup(images: Tensor, labels: Tensor, alpha: float, rng: np.random.Generator) -> tuple[Tensor, Targets]:
    """λ·image + (1 − λ)·(another image of the batch), λ from Beta(α, α)."""
    partner = torch.from_numpy(rng.permutation(len(images)))
    share = float(rng.beta(alpha, alpha))
    return share * images + (1 - share) * images[partner], Targets(labels, labels[partner], share)


def cutmix(images: Tensor, labels: Tensor, alpha: float, rng: np.random.Generator) -> tuple[Tensor, Targets]:
    """A rectangle from another image of the batch: centre uniform, its area 1 − λ of the image, λ from Beta(α, α).

    Where it reaches over the border it is cut off; the classes share as the areas then do.
    """
    partner = torch.from_numpy(rng.permutation(len(images)))
    height, width = images.shape[-2:]
    part = (1 - float(rng.beta(alpha, alpha))) ** 0.5
    top, bottom = _span(height, part, rng)
    left, right = _span(width, part, rng)
    mixed = images.clone()
    mixed[..., top:bottom, left:right] = images[partner][..., top:bottom, left:right]
    share = 1 - (bottom - top) * (right - left) / (height * width)
    return mixed, Targets(labels, labels[partner], share)


def _span(size: int, part: float, rng: np.random.Generator) -> tuple[int, int]:
    """A stretch of `part` of `size` pixels around a random place, as far as it lies inside."""
    centre, half = int(rng.integers(size)), round(size * part) / 2
    return max(0, int(centre - half)), min(size, int(centre + half))


def mix(
    images: Tensor, labels: Tensor, mixup_alpha: float, cutmix_alpha: float, rng: np.random.Generator
) -> tuple[Tensor, Targets]:
    """Apply what is on (α > 0); if both are, a coin decides for the whole batch."""
    if mixup_alpha and not (cutmix_alpha and rng.random() < 0.5):
        return mixup(images, labels, mixup_alpha, rng)
    if cutmix_alpha:
        return cutmix(images, labels, cutmix_alpha, rng)
    return images, unmixed(labels)
