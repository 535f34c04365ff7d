"""diffusers: a small configuration of its networks, in the sizes of the library's own tests."""

from __future__ import annotations

from .diffusers_models import autoencoders, controls, transformers, unets, video

ENTRIES = [*unets.ENTRIES, *autoencoders.ENTRIES, *transformers.ENTRIES, *video.ENTRIES, *controls.ENTRIES]
