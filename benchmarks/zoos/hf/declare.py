"""How an entry of this catalogue is declared: a class of transformers, the sizes of its config, and its inputs.

Everything is built offline from a config: nothing is downloaded, and transformers is imported only by `build`.
"""

from __future__ import annotations

from copy import deepcopy
from functools import cache, partial
from importlib import import_module
from typing import Any

from torch import nn

from autoinit import Input

from ..entry import Entry

BATCH, LENGTH, VOCABULARY = 4, 48, 1000

WIDTHS = {"hidden_size": 128, "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 512}
"""Four layers of width 128, four heads of 32 features each: what most configs call these."""

LATENT_ATTENTION = {
    "num_key_value_heads": 4, "kv_lora_rank": 32, "q_lora_rank": 64, "qk_rope_head_dim": 16, "qk_nope_head_dim": 32,
    "v_head_dim": 32,
}  # fmt: skip
"""Attention with compressed keys and values."""


@cache
def transformers_library() -> Any:
    """The library; torchvision counts as absent where it cannot be imported, and so does timm, which needs it."""
    library = import_module("transformers")
    try:
        import_module("torchvision")
    except Exception:
        _hide("torchvision", "timm")
    return library


def _hide(*packages: str) -> None:
    utils = import_module("transformers.utils.import_utils")
    found = utils._is_package_available

    def available(name: str, *args: Any, **kwargs: Any) -> Any:
        return (False, None) if name in packages else found(name, *args, **kwargs)

    utils._is_package_available = available
    utils.is_torchvision_available.cache_clear()
    utils.is_timm_available.cache_clear()


def build(class_name: str, config: dict[str, Any]) -> nn.Module:
    """The model of that class, with a config of its own kind (configs take their arguments apart: it gets a copy)."""
    cls = getattr(transformers_library(), class_name)
    model: nn.Module = cls(cls.config_class(**deepcopy(config)))
    return model


def entry(name: str, family: str, class_name: str, inputs: Any, note: str = "", **config: Any) -> Entry:
    """A catalogue entry; `config` are the arguments of the config class."""
    return Entry(f"transformers:{name}", family, partial(build, class_name, config), inputs, note)


def tokens(length: int = LENGTH, vocabulary: int = VOCABULARY, batch: int = BATCH) -> Input:
    """Random token numbers."""
    return Input((batch, length), vocabulary=vocabulary)


def text(length: int = LENGTH, vocabulary: int = VOCABULARY, **others: Any) -> dict[str, Any]:
    """The inputs of a text model."""
    return {"input_ids": tokens(length, vocabulary), **others}


def images(size: int = 64, channels: int = 3, batch: int = BATCH) -> Input:
    return Input((batch, channels, size, size))


def pixels(size: int = 64, channels: int = 3, **others: Any) -> dict[str, Any]:
    """The inputs of a vision model."""
    return {"pixel_values": images(size, channels), **others}
