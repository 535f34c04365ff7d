"""The 1,797 handwritten digits of 8×8 pixels that come with scikit-learn: real images for tests and demonstrations."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .choosing import balanced
from .images import Split
from .places import Found

TEST = 360


def read(_directory: Path | None = None) -> Found:
    """Grey levels 0 to 16 are stretched to 0 to 255; 36 images of each class are the test part."""
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise ImportError("the digits come with scikit-learn: pip install scikit-learn") from error
    bundle = load_digits()
    images = np.rint(bundle.images * (255 / 16)).astype(np.uint8)[..., None]
    everything = Split(images, bundle.target.astype(np.int64))
    test = balanced(everything.labels, TEST, seed=0)
    train = np.setdiff1d(np.arange(len(everything)), test)
    return Found(everything.take(train), everything.take(test), tuple("0123456789"))
