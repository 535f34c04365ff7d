"""equimo: vision models of Equinox, as published or smaller."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

from ..zoos.entry import Entry
from .declare import CLASSES, entry

IMAGES = (2, 3, 64, 64)
FULL = (2, 3, 224, 224)


def build(file: str, name: str, options: dict[str, Any]) -> Any:
    import jax

    made = getattr(import_module(f"equimo.models.{file}"), name)
    return made(num_classes=CLASSES, key=jax.random.PRNGKey(0), **options)


def model(called: str, file: str, name: str, inputs: Any = IMAGES, **options: Any) -> Entry:
    return entry("equimo", called, file, partial(build, file, name, options), inputs)


VIT = {"img_size": 64, "in_channels": 3, "dim": 128, "patch_size": 8, "num_heads": 4, "depths": [6]}
ENTRIES: list[Entry] = [
    model("vit", "vit", "VisionTransformer", **VIT),
    model("vit-rope-swiglu", "vit", "VisionTransformer", use_global_pos_embed=False, use_local_pos_embed=True,
          ffn_layer="swiglu", init_values=1e-5, **VIT),
    model("shvit-s1", "shvit", "SHViT", (2, 3, 128, 128)),
    model("mlla-t", "mlla", "Mlla", img_size=64, in_channels=3, dim=48, depths=[1, 1, 2, 1]),
    model("vssd-t", "vssd", "Vssd", img_size=64, in_channels=3, dim=32, depths=[1, 1, 2, 1], d_state=16),
    model("lowformer-b0", "lowformer", "lowformer_backbone_b0", (2, 3, 128, 128), in_channels=3,
          attention_type="softmax"),
    model("attnet-xxs", "attnet", "attnet_xxs", FULL, in_channels=3),
    model("convnext-t", "convnext", "convnext_t", in_channels=3),
    model("iformer-t", "iformer", "iformer_t", in_channels=3),
    model("reduceformer-b1", "reduceformer", "reduceformer_backbone_b1", FULL, in_channels=3),
    model("mobilenetv3-small", "mobilenet", "mobilenetv3_small", (4, 3, 128, 128), in_channels=3),
    model("fastervit", "fastervit", "FasterViT", FULL, img_size=224, in_channels=3, dim=32, in_dim=32,
          num_heads=[2, 4, 4, 8], hat=[False, False, True, False], depths=[1, 1, 2, 1], window_size=[7, 7, 7, 7],
          ct_size=2),
    model("partialformer", "partialformer", "PartialFormer", FULL, img_size=224, in_channels=3, dim=48,
          num_heads=[1, 2, 4, 8], depths=[1, 1, 2, 1], foreground_ratios=[0.5, 0.5, 0.5, 0.5]),
]  # fmt: skip
