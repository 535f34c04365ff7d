"""State-space models, linear attention and other recurrences over the sequence, alone or mixed with attention."""

from __future__ import annotations

from functools import partial

from .declare import VOCABULARY, WIDTHS, entry, text

recurrent = partial(entry, family="state-space", inputs=text(32), vocab_size=VOCABULARY, use_cache=False)
hybrid = partial(
    recurrent, num_key_value_heads=2, max_position_embeddings=64, pad_token_id=0, bos_token_id=1, eos_token_id=2,
    **{**WIDTHS, "intermediate_size": 256},
)  # fmt: skip
mamba2_heads = {
    "mamba_n_heads": 8, "mamba_d_head": 32, "mamba_d_state": 16, "mamba_n_groups": 1, "mamba_chunk_size": 16,
}  # fmt: skip
delta_net = {
    "linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 32, "linear_value_head_dim": 32,
    "layer_types": ["linear_attention", "linear_attention", "linear_attention", "full_attention"],
}  # fmt: skip

ENTRIES = [
    recurrent("mamba", class_name="MambaForCausalLM", hidden_size=128, num_hidden_layers=4, state_size=16,
              time_step_rank=16),
    recurrent("falcon_mamba", class_name="FalconMambaForCausalLM", hidden_size=128, num_hidden_layers=4, state_size=16,
              time_step_rank=16),
    recurrent("mamba2", class_name="Mamba2ForCausalLM", hidden_size=128, num_hidden_layers=4, state_size=32,
              num_heads=8, head_dim=32, n_groups=2, chunk_size=16),
    recurrent("rwkv", class_name="RwkvForCausalLM", hidden_size=128, attention_hidden_size=128, num_hidden_layers=4,
              intermediate_size=512, context_length=64),
    recurrent("xlstm", class_name="xLSTMForCausalLM", hidden_size=128, embedding_dim=128, num_hidden_layers=3,
              num_blocks=3, num_heads=4, chunk_size=16, mode="train",
              autocast_kernel_dtype="float32"),
    hybrid("jamba", class_name="JambaForCausalLM", num_experts=4, attn_layer_period=2, attn_layer_offset=1,
           expert_layer_period=2, expert_layer_offset=1, mamba_d_state=16, mamba_dt_rank=16, use_mamba_kernels=False),
    hybrid("zamba", class_name="ZambaForCausalLM", num_key_value_heads=4, attention_hidden_size=256,
           attention_head_dim=64, n_mamba_heads=2, mamba_d_state=16, mamba_dt_rank=16, use_mamba_kernels=False,
           layers_block_type=["linear_attention", "hybrid", "linear_attention", "hybrid"]),
    hybrid("zamba2", class_name="Zamba2ForCausalLM", num_key_value_heads=4, n_mamba_heads=8, mamba_d_state=16,
           mamba_ngroups=1, chunk_size=16, adapter_rank=16, use_mamba_kernels=False,
           layers_block_type=["linear_attention", "hybrid", "linear_attention", "hybrid"]),
    hybrid("bamba", class_name="BambaForCausalLM", attn_layer_indices=[1, 3], **mamba2_heads),
    hybrid("falcon_h1", class_name="FalconH1ForCausalLM", mamba_d_ssm=256, **mamba2_heads),
    hybrid("granitemoehybrid", class_name="GraniteMoeHybridForCausalLM", num_local_experts=4,
           shared_intermediate_size=256, layer_types=["linear_attention", "full_attention"] * 2, **mamba2_heads),
    hybrid("nemotron_h", class_name="NemotronHForCausalLM", head_dim=32, ssm_state_size=16, mamba_num_heads=8,
           mamba_head_dim=32, n_groups=2, chunk_size=16, n_routed_experts=4, moe_intermediate_size=128,
           moe_shared_expert_intermediate_size=128, use_mamba_kernels=False,
           layers_block_type=["linear_attention", "moe", "full_attention", "mlp"]),
    hybrid("recurrent_gemma", class_name="RecurrentGemmaForCausalLM", lru_width=128, head_dim=32,
           attention_window_size=16),
    hybrid("lfm2", class_name="Lfm2ForCausalLM", layer_types=["conv", "full_attention"] * 2),
    hybrid("qwen3_next", class_name="Qwen3NextForCausalLM", head_dim=32, num_experts=4, num_experts_per_tok=2,
           moe_intermediate_size=128, shared_expert_intermediate_size=128, **delta_net),
    hybrid("qwen3_5", class_name="Qwen3_5ForCausalLM", head_dim=32, **delta_net),
    hybrid("olmo_hybrid", class_name="OlmoHybridForCausalLM", num_key_value_heads=4,
           **{**delta_net, "linear_num_key_heads": 4}),
    hybrid("kimi_linear", class_name="KimiLinearForCausalLM", num_key_value_heads=4, kv_lora_rank=32,
           qk_rope_head_dim=16, qk_nope_head_dim=32, v_head_dim=32, num_experts=4, num_experts_per_token=2,
           moe_intermediate_size=128, linear_head_dim=32, linear_num_heads=4,
           mlp_layer_types=["dense", "sparse", "sparse", "sparse"], layer_types=delta_net["layer_types"]),
    hybrid("minimax", class_name="MiniMaxForCausalLM", head_dim=32, num_local_experts=4, block_size=16,
           layer_types=["linear_attention", "full_attention"] * 2),
]  # fmt: skip
