"""Language models: decoders, mixtures of experts, and those without attention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keras_hub import models

from .sizes import GROUPED, HEADS, INNER, LAYERS, TEXT, VOCABULARY, WIDTH

HEAD = WIDTH // HEADS
LINEAR_ATTENTION: dict[str, Any] = {
    "linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 32, "linear_value_head_dim": 32,
    "layer_types": ["linear_attention", "linear_attention", "full_attention"],
}  # fmt: skip


DECODERS: dict[str, Callable[[], Any]] = {
    "Bloom": lambda: models.BloomBackbone(**TEXT),
    "Falcon": lambda: models.FalconBackbone(
        vocabulary_size=VOCABULARY, num_layers=LAYERS, num_attention_heads=HEADS, hidden_dim=WIDTH,
        intermediate_dim=4 * WIDTH,
    ),
    "GPT2": lambda: models.GPT2Backbone(**TEXT),
    "GPTNeoX": lambda: models.GPTNeoXBackbone(**TEXT),
    "Gemma": lambda: models.GemmaBackbone(**GROUPED, head_dim=HEAD),
    "Gemma3": lambda: models.Gemma3Backbone(
        **GROUPED, image_size=64, head_dim=HEAD, use_post_ffw_norm=True, use_post_attention_norm=True,
        use_sliding_window_attention=True, sliding_window_size=16,
    ),
    "Gemma3n": lambda: models.Gemma3nBackbone(
        text_vocab_size=VOCABULARY, text_hidden_size=WIDTH, num_hidden_layers=LAYERS, pad_token_id=0,
        num_attention_heads=HEADS, num_key_value_heads=HEADS // 2, head_dim=HEAD, intermediate_size=[INNER] * LAYERS,
        hidden_activation="gelu_approximate", layer_types=["sliding_attention", "full_attention", "full_attention"],
        sliding_window=16, rope_theta=10000.0, max_position_embeddings=64, vocab_size_per_layer_input=VOCABULARY,
        hidden_size_per_layer_input=16, altup_num_inputs=2, laurel_rank=16,
    ),
    "Gemma4": lambda: models.Gemma4Backbone(
        **GROUPED, image_size=64, head_dim=HEAD, sliding_window_size=16, sliding_window_pattern=3
    ),
    "Llama": lambda: models.LlamaBackbone(**GROUPED),
    "Llama3": lambda: models.Llama3Backbone(**GROUPED),
    "Mistral": lambda: models.MistralBackbone(**GROUPED, sliding_window=16),
    "OPT": lambda: models.OPTBackbone(**TEXT),
    "Phi3": lambda: models.Phi3Backbone(**GROUPED),
    "Qwen": lambda: models.QwenBackbone(**GROUPED),
    "Qwen3": lambda: models.Qwen3Backbone(**GROUPED, head_dim=HEAD),
    "SmolLM3": lambda: models.SmolLM3Backbone(
        vocabulary_size=VOCABULARY, hidden_dim=WIDTH, intermediate_dim=INNER, num_layers=LAYERS,
        num_attention_heads=HEADS, num_key_value_heads=HEADS // 2, attention_bias=False, attention_dropout=0.0,
        rope_layer_enabled_list=[True, True, False], layer_types=["attention"] * LAYERS, mlp_bias=False,
        layer_norm_epsilon=1e-5, max_position_embeddings=64, rope_theta=10000.0, partial_rotary_factor=1.0,
    ),
}  # fmt: skip

EXPERTS: dict[str, Callable[[], Any]] = {
    "Gemma4 experts": lambda: models.Gemma4Backbone(
        **GROUPED, image_size=64, head_dim=HEAD, sliding_window_size=16, sliding_window_pattern=3,
        enable_moe_block=True, num_experts=4, expert_intermediate_dim=64, num_experts_per_token=2,
    ),
    "GptOss": lambda: models.GptOssBackbone(**GROUPED, num_experts=4, head_dim=HEAD, sliding_window=16),
    "Mixtral": lambda: models.MixtralBackbone(**GROUPED, num_experts=4),
    "Qwen3Moe": lambda: models.Qwen3MoeBackbone(
        **GROUPED, moe_intermediate_dim=64, num_experts=4, head_dim=HEAD, top_k=2
    ),
    "QwenMoe": lambda: models.QwenMoeBackbone(
        **GROUPED, moe_intermediate_dim=64, shared_expert_intermediate_dim=64, num_experts=4, top_k=2
    ),
    "Qwen3_5Moe": lambda: models.Qwen3_5MoeBackbone(
        **{k: v for k, v in GROUPED.items() if k != "intermediate_dim"}, head_dim=HEAD, moe_intermediate_dim=64,
        shared_expert_intermediate_size=64, num_experts=4, top_k=2, **LINEAR_ATTENTION,
    ),
}  # fmt: skip

STATE_SPACE: dict[str, Callable[[], Any]] = {
    "Qwen3_5": lambda: models.Qwen3_5Backbone(**GROUPED, head_dim=HEAD, **LINEAR_ATTENTION),
    "RWKV7": lambda: models.RWKV7Backbone(
        hidden_size=WIDTH, head_size=HEAD, num_layers=LAYERS, vocabulary_size=VOCABULARY, intermediate_dim=INNER,
        gate_lora=32, mv_lora=16, aaa_lora=16, decay_lora=16,
    ),
}  # fmt: skip
