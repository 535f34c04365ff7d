"""jax_models: image classifiers of Flax linen, as published or smaller.

Without its ConvNeXt, PVT, SegFormer, Swin and VAN, which ask for values of arrays (`item`) and do not run under `jit`.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

from ..zoos.entry import Entry
from .declare import BATCH, CLASSES, entry

IMAGES = (BATCH, 64, 64, 3)
LARGER = (2, 224, 224, 3)


def build(file: str, name: str, options: dict[str, Any]) -> Any:
    return getattr(import_module(f"jax_models.models.{file}"), name)(**options)


def model(called: str, file: str, name: str, inputs: Any = IMAGES, **options: Any) -> Entry:
    return entry("jax_models", called, name, partial(build, file, name, options), inputs)


HEAD = {"attach_head": True, "num_classes": CLASSES}
ENTRIES: list[Entry] = [
    model("cait", "cait", "CaiT", patch_size=8, embed_dim=96, depth=4, num_heads=4, init_scale=1e-5, **HEAD),
    model("convmixer", "conv_mixer", "ConvMixer", features=96, num_mixer_layers=6, filter_size=8, **HEAD),
    model("mae", "masked_autoencoder", "MaskedAutoencoderViT", LARGER, emb_dim=96, dec_emb_dim=64, depth=3,
          dec_depth=1, num_heads=3, dec_num_heads=2),
    model("mixer-s16", "mlp_mixer", "MLPMixer", (BATCH, 128, 128, 3), patch_size=16, num_mixers_layers=8,
          hidden_size=512, channels_dim=2048, tokens_dim=256, **HEAD),
    model("patchconvnet-s60", "patchconvnet", "PatchConvNet", depth=6, dim=96, **HEAD),
    model("poolformer-s12", "poolformer", "S12", **HEAD),
]  # fmt: skip
