"""Mixtures of experts."""

from __future__ import annotations

from functools import partial

from .declare import LATENT_ATTENTION, VOCABULARY, WIDTHS, entry, text, tokens

mixture = partial(entry, family="experts", inputs=text(), vocab_size=VOCABULARY, use_cache=False)
mixtral_like = partial(
    mixture, num_key_value_heads=2, num_local_experts=4, num_experts_per_tok=2, max_position_embeddings=64,
    pad_token_id=0, bos_token_id=1, eos_token_id=2, **{**WIDTHS, "intermediate_size": 256},
)  # fmt: skip
routed = partial(mixtral_like, moe_intermediate_size=128, num_local_experts=8, n_shared_experts=1)

ENTRIES = [
    mixtral_like("mixtral", class_name="MixtralForCausalLM"),
    mixtral_like("mixtral_eager", class_name="MixtralForCausalLM", attn_implementation="eager",
                 experts_implementation="eager"),
    mixtral_like("phimoe", class_name="PhimoeForCausalLM"),
    mixtral_like("granitemoe", class_name="GraniteMoeForCausalLM"),
    mixtral_like("granitemoeshared", class_name="GraniteMoeSharedForCausalLM", shared_intermediate_size=128),
    mixtral_like("gpt_oss", class_name="GptOssForCausalLM", head_dim=32, sliding_window=16,
                 layer_types=["sliding_attention", "full_attention"] * 2),
    mixtral_like("jetmoe", class_name="JetMoeForCausalLM", kv_channels=32),
    mixtral_like("llama4", class_name="Llama4ForCausalLM", head_dim=32, intermediate_size_mlp=256,
                 num_experts_per_tok=1, attention_chunk_size=16),
    mixtral_like("minimax_m2", class_name="MiniMaxM2ForCausalLM", head_dim=32),
    mixtral_like("qwen2_moe", class_name="Qwen2MoeForCausalLM", num_experts=4, moe_intermediate_size=128,
                 shared_expert_intermediate_size=256),
    mixtral_like("qwen3_moe", class_name="Qwen3MoeForCausalLM", head_dim=32, moe_intermediate_size=128,
                 norm_topk_prob=True),
    mixtral_like("olmoe", class_name="OlmoeForCausalLM", num_experts=4),
    mixtral_like("flex_olmo", class_name="FlexOlmoForCausalLM", num_experts=4),
    mixtral_like("ernie4_5_moe", class_name="Ernie4_5_MoeForCausalLM", moe_num_experts=4, moe_k=2,
                 moe_intermediate_size=128, moe_layer_end_index=3),
    mixtral_like("hunyuan_v1_moe", class_name="HunYuanMoEV1ForCausalLM", num_experts=4, moe_topk=2, head_dim=32),
    mixtral_like("lfm2_moe", class_name="Lfm2MoeForCausalLM", num_experts=4, moe_intermediate_size=128,
                 num_dense_layers=1, layer_types=["conv", "full_attention"] * 2),
    routed("deepseek_v2", class_name="DeepseekV2ForCausalLM", n_routed_experts=8, first_k_dense_replace=1,
           **LATENT_ATTENTION),
    routed("deepseek_v3", class_name="DeepseekV3ForCausalLM", n_group=2, topk_group=1, first_k_dense_replace=1,
           **LATENT_ATTENTION),
    routed("glm4_moe", class_name="Glm4MoeForCausalLM", head_dim=32),
    routed("dots1", class_name="Dots1ForCausalLM", head_dim=32, first_k_dense_replace=1),
    mixture("longcat_flash", class_name="LongcatFlashForCausalLM", hidden_size=128, num_layers=2,
            num_attention_heads=4, ffn_hidden_size=256, moe_topk=2, n_routed_experts=4, zero_expert_num=2,
            expert_ffn_hidden_size=128, head_dim=16, max_position_embeddings=64, **LATENT_ATTENTION),
    mixture("dbrx", class_name="DbrxForCausalLM", d_model=128, n_heads=4, n_layers=4, max_seq_len=64,
            attn_config={"kv_n_heads": 2, "clip_qkv": 8, "rope_theta": 10000.0},
            ffn_config={"hidden_size": 128, "ffn_hidden_size": 256, "moe_num_experts": 4, "moe_top_k": 2}),
    mixture("switch_transformers", class_name="SwitchTransformersForConditionalGeneration",
            inputs=text(decoder_input_ids=tokens(32)), d_model=128, d_kv=32, d_ff=256, num_layers=4,
            num_decoder_layers=4, num_heads=4, num_experts=4, num_sparse_encoder_layers=2,
            num_sparse_decoder_layers=2),
    mixture("nllb_moe", class_name="NllbMoeForConditionalGeneration", inputs=text(decoder_input_ids=tokens(32)),
            d_model=128, encoder_layers=4, decoder_layers=4, encoder_attention_heads=4, decoder_attention_heads=4,
            encoder_ffn_dim=256, decoder_ffn_dim=256, num_experts=4, encoder_sparse_step=2, decoder_sparse_step=2,
            encoder_layerdrop=0.0, decoder_layerdrop=0.0, max_position_embeddings=64),
]  # fmt: skip
