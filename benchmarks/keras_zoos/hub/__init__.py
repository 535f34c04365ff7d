"""KerasHub: every backbone in a small configuration, made here and not loaded."""

from __future__ import annotations

from functools import partial

from ...zoos.entry import Entry
from . import decoders, detectors, encoders, images, multimodal
from .feeding import inputs_of

FAMILIES = {
    "encoder": encoders.ENCODERS,
    "encoder-decoder": encoders.ENCODER_DECODERS,
    "decoder": decoders.DECODERS,
    "mixture of experts": decoders.EXPERTS,
    "state space": decoders.STATE_SPACE,
    "convolutions": images.CONVOLUTIONS,
    "vision transformer": images.TRANSFORMERS,
    "segmentation and detection": detectors.DETECTORS,
    "multimodal": multimodal.MULTIMODAL,
    "audio": multimodal.AUDIO,
    "diffusion": multimodal.DIFFUSION,
}
"""Family -> name of the backbone -> how to build it."""


def entries() -> list[Entry]:
    return [
        Entry(f"hub:{name}", family, build, partial(inputs_of, name))
        for family, members in FAMILIES.items()
        for name, build in members.items()
    ]
