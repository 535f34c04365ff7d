"""flaxdiff: networks of diffusion models, in small configurations."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

from autoinit import Input

from ..zoos.entry import Entry
from .declare import BATCH, entry, times

IMAGES = Input((BATCH, 32, 32, 3))
TEXT = Input((BATCH, 12, 64))
INPUTS = (IMAGES, times(), TEXT)
SMALL = {"patch_size": 4, "emb_features": 128, "num_layers": 4, "num_heads": 4}


def build(file: str, name: str, options: dict[str, Any]) -> Any:
    return getattr(import_module(f"flaxdiff.models.{file}"), name)(**options)


def model(called: str, file: str, name: str, **options: Any) -> Entry:
    return entry("flaxdiff", called, "diffusion", partial(build, file, name, options), INPUTS)


ENTRIES: list[Entry] = [
    model("unet", "simple_unet", "Unet", emb_features=128, feature_depths=(32, 64, 128),
          attention_configs=({"heads": 4}, {"heads": 4}, {"heads": 4}), num_res_blocks=1),
    model("dit", "simple_dit", "SimpleDiT", **SMALL),
    model("uvit", "simple_vit", "UViT", **SMALL),
    model("udit", "simple_vit", "SimpleUDiT", **SMALL),
    model("mmdit", "simple_mmdit", "SimpleMMDiT", **SMALL),
    model("hierarchical-mmdit", "simple_mmdit", "HierarchicalMMDiT", base_patch_size=2, emb_features=(64, 96, 128),
          num_layers=(2, 2, 2), num_heads=(4, 4, 4)),
    model("s5-dit", "ssm_dit", "HybridSSMAttentionDiT", ssm_state_dim=16, **SMALL),
]  # fmt: skip
