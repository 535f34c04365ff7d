"""Shapes of large language models, as their configurations in Hugging Face transformers say."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

LLAMA = {"vocab_size": 128256, "num_key_value_heads": 8, "max_position_embeddings": 8192}
SHAPES: dict[str, tuple[str, dict[str, Any]]] = {
    "Llama 70B": ("llama", {"hidden_size": 8192, "intermediate_size": 28672, "num_hidden_layers": 80,
                            "num_attention_heads": 64, **LLAMA}),
    "Llama 405B": ("llama", {"hidden_size": 16384, "intermediate_size": 53248, "num_hidden_layers": 126,
                             "num_attention_heads": 128, **LLAMA}),
    "Mixtral 8x7B": ("mixtral", {}),
    "DeepSeek-V3": ("deepseek_v3", {}),
}  # fmt: skip
"""Mixtral's and DeepSeek's defaults are the published models."""


def build(name: str, **changes: Any) -> nn.Module:
    """The model in bfloat16, on whatever device is the default."""
    from transformers import AutoConfig, AutoModelForCausalLM

    kind, options = SHAPES[name]
    config = AutoConfig.for_model(kind, **{**options, **changes})
    model: nn.Module = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    return model


def tokens(length: int) -> torch.Tensor:
    return torch.randint(0, 30_000, (1, length), generator=torch.Generator().manual_seed(0))
