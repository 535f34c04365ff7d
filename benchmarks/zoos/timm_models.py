"""timm: by default one or two small members of every family (a family is a module of timm), or all of its models."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import torch
from torch import nn

from .entry import Entry

BATCH = 4
LARGEST = 288
"""Images larger than this are replaced by smaller ones where the model takes them."""
SMALLER = (224, 256, 192, 240, 288)
SMALL_FIRST = (
    "atto", "femto", "pico", "nano", "xxs", "xx_small", "xx_tiny", "_xt", "tiny", "_t_", "_t0", "_s0", "_m0", "_b0",
    "18", "x0_5", "050", "lite", "small", "_s", "mini", "xs", "26", "50",
)  # fmt: skip
"""Parts of names that tell a small member of a family; the earlier the smaller."""
CHOSEN: dict[str, tuple[str, ...]] = {
    "byobnet": ("resnet26t", "mobileone_s0", "repvgg_a0"),
    "byoanet": ("halonet26t", "lambda_resnet26rpt_256", "botnet26t_256"),
    "convnext": ("convnext_atto", "convnextv2_atto"),
    "efficientnet": ("efficientnet_b0", "mobilenetv2_050", "tf_efficientnetv2_b0"),
    "eva": ("eva02_tiny_patch14_224", "vit_small_patch16_rope_224"),
    "maxxvit": ("coatnet_nano_rw_224", "maxvit_rmlp_pico_rw_256"),
    "metaformer": ("poolformer_s12", "caformer_s18"),
    "mlp_mixer": ("mixer_s32_224", "gmlp_ti16_224", "resmlp_12_224"),
    "mobilevit": ("mobilevit_xxs", "mobilevitv2_050"),
    "nfnet": ("nfnet_f0", "eca_nfnet_l0", "nf_resnet26"),
    "resnet": ("resnet18", "seresnext26d_32x4d", "resnetblur50"),
    "resnetv2": ("resnetv2_50", "resnetv2_50x1_bit"),
    "vgg": ("vgg11", "vgg11_bn"),
    "vision_transformer": ("vit_tiny_patch16_224", "vit_small_patch16_18x2_224"),
    "vision_transformer_relpos": ("vit_relpos_small_patch16_224", "vit_srelpos_small_patch16_224"),
}
"""Families whose members differ in more than size."""


@cache
def library() -> Any:
    import timm

    return timm


def entries(everything: bool) -> list[Entry]:
    timm = library()
    found: dict[str, Entry] = {}
    for family in timm.list_modules():
        members = timm.list_models(module=family)
        for name in members if everything else representatives(family, members):
            found.setdefault(name, entry(name, family))
    return list(found.values())


def entry(name: str, family: str | None = None) -> Entry:
    return Entry(f"timm:{name}", family or family_of(name), build=partial(build, name), inputs=partial(images, name))


@cache
def family_of(name: str) -> str:
    return str(library().models.model_entrypoint(name).__module__.rsplit(".", 1)[-1])


def representatives(family: str, members: list[str]) -> list[str]:
    """The members chosen by hand, if this version has them; else the smallest, as far as names tell."""
    chosen = [name for name in CHOSEN.get(family, ()) if name in members]
    real = [name for name in members if not name.startswith("test_")] or members
    return chosen or sorted(real, key=_size_by_name)[:1]


def _size_by_name(name: str) -> tuple[int, int, str]:
    rank = next((k for k, part in enumerate(SMALL_FIRST) if part in f"{name}_"), len(SMALL_FIRST))
    return rank, len(name), name


def build(name: str) -> nn.Module:
    timm = library()
    made: nn.Module = timm.create_model(name, pretrained=False, **_settings(name)[1])
    return made


def images(name: str, model: nn.Module) -> tuple[int, ...]:
    return (BATCH, *_settings(name)[0])


@cache
def _settings(name: str) -> tuple[tuple[int, int, int], dict[str, int]]:
    """Size of the images, and what create_model must be told about it."""
    size, fixed = own_size(name)
    if size[-1] <= LARGEST:
        return size, {}
    tries: list[tuple[tuple[int, int, int], dict[str, int]]] = [((size[0], s, s), {}) for s in SMALLER if not fixed]
    tries += [((size[0], s, s), {"img_size": s}) for s in SMALLER]
    return next((t for t in tries if _works(partial(library().create_model, name, **t[1]), t[0])), (size, {}))


def own_size(name: str) -> tuple[tuple[int, int, int], bool]:
    """The size that the model was published with, and whether it is bound to it."""
    config = library().models.get_pretrained_cfg(name)
    if config is None:
        return (3, 224, 224), False
    return config.input_size, bool(config.fixed_input_size)


def _works(make: Callable[[], nn.Module], size: tuple[int, int, int]) -> bool:
    """Tried without memory or arithmetic; inception and the like need more than 224."""
    try:
        with torch.device("meta"), torch.no_grad():
            make().train()(torch.empty(2, *size))
    except Exception:
        return False
    return True
