"""Hugging Face transformers 4: small configurations of its Flax models, built offline.

Without T5, MT5 and LongT5, which call `jnp.clip` with arguments that it no longer has.
"""

from __future__ import annotations

import inspect
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from autoinit import Input

from ..zoos.entry import Entry
from .declare import BATCH, LENGTH, VOCABULARY, entry, tokens

WIDTHS = {"hidden_size": 128, "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 512}
ENCODER = {"vocab_size": VOCABULARY, "max_position_embeddings": 2 * LENGTH, **WIDTHS}
BART = {
    "vocab_size": VOCABULARY, "max_position_embeddings": 2 * LENGTH, "d_model": 128, "encoder_layers": 3,
    "decoder_layers": 3, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 512,
    "decoder_ffn_dim": 512,
}  # fmt: skip
SIGHT = {**WIDTHS, "image_size": 64, "patch_size": 8}
TWO = {"input_ids": tokens(), "decoder_input_ids": tokens()}
IMAGE = {"pixel_values": Input((BATCH, 64, 64, 3))}
FILLED = {"attention_mask": 1, "decoder_attention_mask": 1, "token_type_ids": 0, "bbox": 0}


def build(name: str, file: str, config: dict[str, Any]) -> Any:
    """The linen module inside of a class of transformers."""
    library = import_module(f"transformers.models.{file}.modeling_flax_{file}")
    cls = getattr(library, f"Flax{name}")
    return cls.module_class(config=cls.config_class(**config))


def inputs_of(module: Any, given: dict[str, Any]) -> dict[str, Any]:
    """With what a module wants beside its data: masks without a hidden token, places one after the other."""
    made = dict(given)
    for name, parameter in inspect.signature(type(module).__call__).parameters.items():
        if name in made:
            continue
        likes = given.get("decoder_input_ids" if name.startswith("decoder") else "input_ids")
        if name in FILLED and likes is not None:
            made[name] = np.full(likes.sizes, FILLED[name], np.int32)
        elif name.endswith("position_ids") and likes is not None:
            made[name] = np.broadcast_to(np.arange(likes.sizes[1], dtype=np.int32), likes.sizes)
        elif name == "head_mask" and parameter.default is parameter.empty:
            made[name] = None
    return made


def model(name: str, file: str, family: str, inputs: dict[str, Any], **config: Any) -> Entry:
    given = partial(inputs_of, given=inputs)
    return entry("transformers", file if name.endswith("Model") else f"{file}-{name}", family,
                 partial(build, name, file, config), given)  # fmt: skip


TEXT = {"input_ids": tokens()}
text = partial(model, family="encoder", inputs=TEXT, **ENCODER)
causal = partial(model, family="decoder", inputs=TEXT, vocab_size=VOCABULARY)
pair = partial(model, family="encoder-decoder", inputs=TWO)

ENTRIES: list[Entry] = [
    text("AlbertModel", "albert", embedding_size=64),
    text("BertForMaskedLM", "bert"),
    text("BigBirdModel", "big_bird", attention_type="original_full"),
    text("DistilBertModel", "distilbert", dim=128, hidden_dim=512, n_layers=4, n_heads=4),
    text("ElectraModel", "electra", embedding_size=64),
    text("RobertaModel", "roberta"),
    text("RobertaPreLayerNormModel", "roberta_prelayernorm"),
    text("RoFormerModel", "roformer", embedding_size=64),
    text("XLMRobertaModel", "xlm_roberta"),
    causal("BloomForCausalLM", "bloom", hidden_size=128, n_layer=4, n_head=4),
    causal("GemmaForCausalLM", "gemma", num_key_value_heads=1, head_dim=32, max_position_embeddings=64, **WIDTHS),
    causal("GPT2LMHeadModel", "gpt2", n_positions=64, n_embd=128, n_layer=4, n_head=4),
    causal("GPTNeoForCausalLM", "gpt_neo", hidden_size=128, num_layers=4, num_heads=4, window_size=8,
           attention_types=[[["global", "local"], 2]], max_position_embeddings=64),
    causal("GPTJForCausalLM", "gptj", n_positions=64, n_embd=128, n_layer=4, n_head=4, rotary_dim=16),
    causal("LlamaForCausalLM", "llama", num_key_value_heads=2, max_position_embeddings=64, **WIDTHS),
    causal("MistralForCausalLM", "mistral", num_key_value_heads=2, max_position_embeddings=64, **WIDTHS),
    causal("OPTForCausalLM", "opt", hidden_size=128, word_embed_proj_dim=128, num_hidden_layers=4,
           num_attention_heads=4, ffn_dim=512, max_position_embeddings=64),
    causal("XGLMForCausalLM", "xglm", d_model=128, num_layers=4, attention_heads=4, ffn_dim=512,
           max_position_embeddings=64),
    pair("BartForConditionalGeneration", "bart", **BART),
    pair("BlenderbotModel", "blenderbot", **BART),
    pair("BlenderbotSmallModel", "blenderbot_small", **BART),
    pair("MarianModel", "marian", pad_token_id=0, **BART),
    model("BeitModel", "beit", "vision", IMAGE, use_mean_pooling=True, use_relative_position_bias=True, **SIGHT),
    model("Dinov2Model", "dinov2", "vision", IMAGE, **SIGHT),
    model("ViTForImageClassification", "vit", "vision", IMAGE, **SIGHT),
    model("RegNetForImageClassification", "regnet", "vision", IMAGE, embedding_size=32, groups_width=16,
          hidden_sizes=[32, 64, 128, 256], depths=[1, 2, 3, 1]),
    model("ResNetForImageClassification", "resnet", "vision", IMAGE),
    model("CLIPModel", "clip", "multimodal", {**TEXT, **IMAGE},
          text_config={**ENCODER, "eos_token_id": 2}, vision_config=SIGHT, projection_dim=64),
    model("Wav2Vec2Model", "wav2vec2", "audio", {"input_values": Input((BATCH, 4000)), "attention_mask": None},
          feat_extract_norm="layer", do_stable_layer_norm=True, conv_dim=(64,) * 7, **WIDTHS),
    model("WhisperForConditionalGeneration", "whisper", "audio",
          {"input_features": Input((BATCH, 80, 100)), "decoder_input_ids": tokens()}, max_source_positions=50,
          max_target_positions=64, **{k: v for k, v in BART.items() if k != "max_position_embeddings"}),
]  # fmt: skip
