"""What a backbone of KerasHub is fed: shapes for signals, arrays for tokens, masks and places."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from .sizes import BATCH, IMAGE, TOKENS, VOCABULARY

SIZES: dict[str, dict[str, tuple[int, ...]]] = {
    "Whisper": {"encoder_features": (BATCH, 64, 80)},
    "Moonshine": {"encoder_input_values": (BATCH, 4096, 1), "encoder_padding_mask": (BATCH, 4096)},
    "Flux": {"timesteps": (BATCH,), "guidance": (BATCH,)},
    "SAM": {
        "points": (BATCH, 2, 2),
        "labels": (BATCH, 2),
        "boxes": (BATCH, 1, 2, 2),
        "masks": (BATCH, 1, 32, 32, 1),
    },
    "PARSeq": {"token_ids": (BATCH, 25), "padding_mask": (BATCH, 25)},
    "Gemma3 with images": {"images": (BATCH, 1, *IMAGE), "vision_indices": (BATCH, 4)},
    "SAM3PromptableConcept": {"boxes": (BATCH, 2, 5), "box_labels": (BATCH, 2)},
}
"""Inputs with other sizes than (batch, tokens) or the images."""


def inputs_of(name: str, model: Any) -> Any:
    """The model's own inputs with sizes; integers drawn below the vocabulary, masks that let everything through."""
    given = model.input
    if not isinstance(given, dict):
        return _one(name, "", given) if not isinstance(given, list) else [_one(name, t.name, t) for t in given]
    return {key: _one(name, key, tensor) for key, tensor in given.items()}


def _one(model: str, key: str, tensor: Any) -> Any:
    shape = SIZES.get(model, {}).get(key) or _sized(tensor.shape)
    rng = np.random.default_rng(len(key))
    if "vision_mask" in key or "audio_mask" in key:
        return _marked(shape)
    if key.endswith("_indices"):
        return np.broadcast_to(np.arange(shape[-1]), shape).astype("int32")
    if "mask" in key and "masks" not in key:
        return np.ones(shape, tensor.dtype)
    if "segment" in key:
        return rng.integers(0, 2, shape).astype("int32")
    if "position" in key or (key.endswith("_ids") and len(shape) == 3):
        return np.broadcast_to(np.arange(shape[1]).reshape(1, -1, *[1] * (len(shape) - 2)), shape).astype(tensor.dtype)
    if key == "labels" or key == "box_labels":
        return np.ones(shape, tensor.dtype)
    if key == "boxes" and shape[-1] == 5:  # the image, and where in it: between 0 and 1
        images = np.broadcast_to(np.arange(shape[0]).reshape(-1, 1, 1), (*shape[:-1], 1))
        return np.concatenate([images, rng.uniform(0.3, 0.6, (*shape[:-1], 4))], axis=-1).astype(tensor.dtype)
    if key in ("points", "boxes"):
        return (rng.uniform(0.2, 0.8, shape) * IMAGE[0]).astype(tensor.dtype)
    if "int" in tensor.dtype:
        return rng.integers(1, VOCABULARY, shape).astype(tensor.dtype)
    return shape


def _sized(shape: tuple[int | None, ...]) -> tuple[int, ...]:
    """The batch, then tokens, or the sides of an image."""
    free = IMAGE[0] if len(shape) == 4 and shape[-1] == 3 else TOKENS
    return tuple(size or (BATCH if axis == 0 else free) for axis, size in enumerate(shape))


def _marked(shape: tuple[int, ...]) -> Any:
    """The first places are those of the image (or the sound)."""
    made = np.zeros(shape, "int32")
    made[:, : max(1, prod(shape[1:]) // 8)] = 1
    return made
