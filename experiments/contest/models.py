"""The networks of the contest by the names of their builders. PyTorch is loaded when they are built."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any

from autoinit.errors import OptionError

LABS = (
    "GPT", "MlpMixer", "RecurrentLanguageModel", "TextEncoder", "UNet", "VisionTransformer", "all_cnn_c", "coatnet",
    "convnext", "mlp", "plain_cnn", "preactivation_resnet",
)  # fmt: skip
GPT2 = "GPT2LMHeadModel"
NAMES = (*LABS, GPT2)


def build(name: str, sizes: Mapping[str, int], options: Mapping[str, Any], seed: int) -> Any:
    """A new network with the initialization of its own library, which follows from the seed.

    sizes: what is known of the data; a network takes those that it has an option for.
    """
    import torch

    if name not in NAMES:
        raise OptionError("unknown model", where="model", received=repr(name), fix=f"one of {', '.join(NAMES)}")
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        make = _builder(name)
        asked = signature(make).parameters
        return make(**{**{size: value for size, value in sizes.items() if size in asked}, **options})


def _builder(name: str) -> Any:
    if name == GPT2:
        return _gpt2
    from autoinit.labs import models

    return getattr(models, name)


def _gpt2(*, vocabulary: int, length: int, width: int, depth: int, heads: int) -> Any:
    """GPT-2 as the library transformers makes it from a config, its table tied to the output, without dropout."""
    from torch import Tensor, nn
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        vocab_size=vocabulary, n_positions=length, n_embd=width, n_layer=depth, n_head=heads, resid_pdrop=0.0,
        embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False, bos_token_id=None, eos_token_id=None,
    )  # fmt: skip

    class Logits(nn.Module):
        """Tokens in, logits out."""

        def __init__(self) -> None:
            super().__init__()
            self.model = GPT2LMHeadModel(config)

        def forward(self, tokens: Tensor) -> Tensor:
            out: Tensor = self.model(tokens).logits
            return out

    return Logits()
