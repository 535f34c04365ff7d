"""nanodl: transformers of Flax linen, written from their papers."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from autoinit import Input

from ..zoos.entry import Entry
from .declare import BATCH, LENGTH, VOCABULARY, entry, tokens

WIDTHS = {"num_layers": 4, "num_heads": 4, "hidden_dim": 128, "feedforward_dim": 512, "dropout": 0.1}
WORDS = {"vocab_size": VOCABULARY, "embed_dim": 128, "max_length": LENGTH, "start_token": 0, "end_token": 1, **WIDTHS}
SIGHT = {"patch_size": (8, 8), "n_outputs": 100, **WIDTHS}
IMAGES = (BATCH, 64, 64, 3)
PAIR = (tokens(), tokens())


def build(name: str, options: dict[str, Any]) -> Any:
    return getattr(import_module("nanodl"), name)(**options)


def model(name: str, family: str, inputs: Any, **options: Any) -> Entry:
    return entry("nanodl", name.lower(), family, partial(build, name, options), inputs)


def adjacency(nodes: int = 24) -> Any:
    """A ring with chords, and every node its own neighbour."""
    near = np.abs(np.subtract.outer(np.arange(nodes), np.arange(nodes)))
    return np.isin(near, (0, 1, 5, nodes - 1, nodes - 5)).astype(np.float32)


ENTRIES: list[Entry] = [
    model("GPT3", "decoder", tokens(), **WORDS),
    model("GPT4", "decoder", tokens(), num_experts=4, top_k=2, **WORDS),
    model("Gemma", "decoder", tokens(), num_groups=2, **{**WORDS, "feedforward_dim": 128}),
    model("Llama3", "decoder", tokens(), num_groups=2, **WORDS),
    model("Mistral", "decoder", tokens(), num_groups=2, window_size=8, shift_size=4, **WORDS),
    model("Mixtral", "decoder", tokens(), num_groups=2, window_size=8, shift_size=4, **WORDS),
    model("LaMDA", "decoder", tokens(), **WORDS),
    model("T5", "encoder-decoder", PAIR, **WORDS),
    model("Transformer", "encoder-decoder", PAIR, **WORDS),
    model("Whisper", "audio", (Input((BATCH, LENGTH, 128)), tokens()), **WORDS),
    model("ViT", "vision", IMAGES, **{**SIGHT, "feedforward_dim": 128}),
    model("Mixer", "vision", IMAGES, **SIGHT),
    model("CLIP", "multimodal", (tokens(), Input(IMAGES)), dropout=0.1, num_heads=4, feedforward_dim=128,
          num_layers_text=3, hidden_dim_text=128, image_patch_size=(8, 8), hidden_dim_image=128, num_layers_images=3,
          max_len=LENGTH, vocab_size=VOCABULARY, embed_dim=128),
    model("UNet", "diffusion", (Input((BATCH, 32, 32, 3)), Input((BATCH, 1, 1, 1))), image_size=(32, 32),
          widths=[16, 32, 48], block_depth=1, embed_dims=32, embed_min_freq=1.0, embed_max_freq=1000.0),
    model("GAT", "graph", (Input((24, 64)), adjacency()), nfeat=64, nhid=32, nclass=10, dropout_rate=0.1, alpha=0.2,
          nheads=4),
]  # fmt: skip
