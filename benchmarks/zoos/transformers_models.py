"""Hugging Face transformers: a small configuration of every architecture, built offline, with random weights."""

from __future__ import annotations

from .entry import Entry
from .hf import (
    audio,
    convolutional,
    decoders,
    detection,
    encoder_decoders,
    encoders,
    experts,
    multimodal,
    others,
    state_space,
    time_series,
    video,
    vision,
    vision_language,
)

KINDS = (
    encoders, decoders, encoder_decoders, experts, state_space, vision, convolutional, detection, video, audio,
    multimodal, vision_language, time_series, others,
)  # fmt: skip

ENTRIES: list[Entry] = [entry for kind in KINDS for entry in kind.ENTRIES]
