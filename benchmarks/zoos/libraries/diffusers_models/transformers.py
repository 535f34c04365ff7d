"""Transformers of images and sound."""

from __future__ import annotations

from functools import partial

import torch

from autoinit import Input

from ..declare import normal, numbers
from .declare import BATCH, TEXT, network, steps, text

image = partial(network, "image transformer")
HEADS = {"num_attention_heads": 4, "attention_head_dim": 16, "num_layers": 2}
PLANE = (BATCH, 4, 16, 16)
SAMPLE = {"hidden_states": PLANE, "timestep": steps()}
READ = {**SAMPLE, "encoder_hidden_states": text()}
MASK = torch.ones(BATCH, TEXT, dtype=torch.int64)
PLACES = torch.stack([torch.zeros(16), torch.arange(16) // 4, torch.arange(16) % 4], dim=1)
"""Where the 16 patches of a picture are."""
TOKENS = {
    "hidden_states": (BATCH, 16, 4), "encoder_hidden_states": text(), "timestep": torch.tensor([0.3, 0.8]),
    "img_ids": PLACES, "txt_ids": torch.zeros(TEXT, 3),
}  # fmt: skip
FLUX = {"patch_size": 1, "in_channels": 4, "num_layers": 1, "num_single_layers": 2, "attention_head_dim": 16,
        "num_attention_heads": 2, "joint_attention_dim": 32, "axes_dims_rope": [4, 4, 8]}  # fmt: skip

ENTRIES = [
    image("Transformer2DModel", {"hidden_states": (BATCH, 32, 16, 16), "encoder_hidden_states": text()},
          {**HEADS, "in_channels": 32, "cross_attention_dim": 32, "norm_num_groups": 8}),
    image("Transformer2DModel", {"hidden_states": numbers(1, 50, BATCH, 16)},
          {**HEADS, "num_vector_embeds": 50, "sample_size": 4, "activation_fn": "geglu-approximate",
           "norm_type": "layer_norm"}, "discrete"),
    image("DiTTransformer2DModel", {**SAMPLE, "class_labels": steps() % 10},
          {**HEADS, "in_channels": 4, "out_channels": 8, "sample_size": 16, "num_embeds_ada_norm": 10}),
    image("PixArtTransformer2DModel", {**READ, "added_cond_kwargs": {"aspect_ratio": None, "resolution": None}},
          {**HEADS, "in_channels": 4, "out_channels": 8, "cross_attention_dim": 64, "caption_channels": 32,
           "sample_size": 16, "use_additional_conditions": False}),
    image("SD3Transformer2DModel", {**READ, "pooled_projections": (BATCH, 48)},
          {**HEADS, "sample_size": 16, "patch_size": 1, "in_channels": 4, "joint_attention_dim": 32,
           "caption_projection_dim": 64, "pooled_projection_dim": 48, "out_channels": 4, "pos_embed_max_size": 96}),
    image("SD3Transformer2DModel", {**READ, "pooled_projections": (BATCH, 48)},
          {**HEADS, "sample_size": 16, "patch_size": 1, "in_channels": 4, "joint_attention_dim": 32,
           "caption_projection_dim": 64, "pooled_projection_dim": 48, "out_channels": 4, "pos_embed_max_size": 96,
           "dual_attention_layers": (0,), "qk_norm": "rms_norm"}, "3.5"),
    image("FluxTransformer2DModel", {**TOKENS, "pooled_projections": (BATCH, 32)},
          {**FLUX, "pooled_projection_dim": 32}),
    image("FluxTransformer2DModel", {**TOKENS, "pooled_projections": (BATCH, 32), "guidance": torch.tensor([3.5, 1.0])},
          {**FLUX, "pooled_projection_dim": 32, "guidance_embeds": True}, "guided"),
    image("ChromaTransformer2DModel", TOKENS,
          {**FLUX, "approximator_num_channels": 8, "approximator_hidden_dim": 16, "approximator_layers": 1}),
    image("AuraFlowTransformer2DModel", {**READ, "timestep": torch.tensor([0.3, 0.8])},
          {"sample_size": 16, "patch_size": 2, "in_channels": 4, "num_mmdit_layers": 1, "num_single_dit_layers": 1,
           "attention_head_dim": 16, "num_attention_heads": 4, "joint_attention_dim": 32,
           "caption_projection_dim": 64, "out_channels": 4, "pos_embed_max_size": 256}),
    image("HunyuanDiT2DModel",
          {**READ, "timestep": steps() * 1.0, "text_embedding_mask": MASK, "encoder_hidden_states_t5": (BATCH, 8, 24),
           "text_embedding_mask_t5": torch.ones(BATCH, 8, dtype=torch.int64), "image_meta_size": normal(3, BATCH, 6),
           "style": torch.zeros(BATCH, dtype=torch.int64), "image_rotary_emb": [normal(4, 64, 16), normal(5, 64, 16)]},
          {**HEADS, "sample_size": 16, "patch_size": 2, "in_channels": 4, "hidden_size": 64, "mlp_ratio": 2.0,
           "cross_attention_dim": 32, "cross_attention_dim_t5": 24, "pooled_projection_dim": 4, "text_len": TEXT,
           "text_len_t5": 8, "activation_fn": "gelu-approximate"}),
    image("SanaTransformer2DModel", READ,
          {"patch_size": 1, "in_channels": 4, "out_channels": 4, "num_layers": 2, "attention_head_dim": 16,
           "num_attention_heads": 4, "num_cross_attention_heads": 4, "cross_attention_head_dim": 16,
           "cross_attention_dim": 64, "caption_channels": 32, "sample_size": 16}),
    image("CogView3PlusTransformer2DModel",
          {**READ, "original_size": steps(4).reshape(2, 2) * 1.0, "target_size": steps(4).reshape(2, 2) * 1.0,
           "crop_coords": torch.zeros(2, 2)},
          {**HEADS, "patch_size": 2, "in_channels": 4, "out_channels": 4, "text_embed_dim": 32, "time_embed_dim": 32,
           "condition_dim": 8, "pos_embed_max_size": 16, "sample_size": 16}),
    image("CogView4Transformer2DModel",
          {**READ, "original_size": steps(4).reshape(2, 2) * 1.0, "target_size": steps(4).reshape(2, 2) * 1.0,
           "crop_coords": torch.zeros(2, 2)},
          {**HEADS, "patch_size": 2, "in_channels": 4, "out_channels": 4, "text_embed_dim": 32, "time_embed_dim": 32,
           "condition_dim": 8, "sample_size": 16}),
    image("LuminaNextDiT2DModel",
          {"hidden_states": PLANE, "timestep": torch.tensor([0.3, 0.8]), "encoder_hidden_states": text(),
           "encoder_mask": MASK, "image_rotary_emb": torch.polar(torch.ones(384, 384, 8), torch.ones(384, 384, 8)),
           "cross_attention_kwargs": {}},
          {"sample_size": 16, "patch_size": 2, "in_channels": 4, "hidden_size": 64, "num_layers": 2,
           "num_attention_heads": 4, "num_kv_heads": 2, "multiple_of": 16, "cross_attention_dim": 32}),
    image("Lumina2Transformer2DModel",
          {"hidden_states": PLANE, "timestep": torch.tensor([0.3, 0.8]), "encoder_hidden_states": text(),
           "encoder_attention_mask": MASK.bool()},
          {"sample_size": 16, "patch_size": 2, "in_channels": 4, "hidden_size": 48, "num_layers": 2,
           "num_refiner_layers": 1, "num_attention_heads": 3, "num_kv_heads": 1, "multiple_of": 2,
           "scaling_factor": 1.0, "axes_dim_rope": (4, 4, 8), "axes_lens": (128, 128, 128), "cap_feat_dim": 32}),
    image("OmniGenTransformer2DModel",
          {"hidden_states": PLANE, "timestep": torch.tensor([0.3, 0.8]), "input_ids": numbers(2, 100, BATCH, TEXT),
           "input_img_latents": [], "input_image_sizes": {},
           "attention_mask": torch.ones(BATCH, TEXT + 1 + 64, TEXT + 1 + 64),
           "position_ids": torch.arange(TEXT + 1 + 64).repeat(BATCH, 1)},
          {"hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 4, "intermediate_size": 128,
           "num_layers": 2, "pad_token_id": 0, "vocab_size": 100, "in_channels": 4, "time_step_dim": 16,
           "pos_embed_max_size": 16,
           "rope_scaling": {"long_factor": list(range(1, 9)), "short_factor": list(range(1, 9))}}),
    image("QwenImageTransformer2DModel",
          {"hidden_states": (BATCH, 16, 16), "encoder_hidden_states": text(), "timestep": torch.tensor([0.3, 0.8]),
           "encoder_hidden_states_mask": MASK},
          {"patch_size": 2, "in_channels": 16, "out_channels": 4, "num_layers": 2, "attention_head_dim": 16,
           "num_attention_heads": 4, "joint_attention_dim": 32, "axes_dims_rope": (8, 4, 4)},
          fixed={"img_shapes": [[(1, 4, 4)]] * BATCH}),
    image("PriorTransformer",
          {"hidden_states": (BATCH, 32), "timestep": steps(), "proj_embedding": (BATCH, 32),
           "encoder_hidden_states": (BATCH, 7, 32)},
          {**HEADS, "embedding_dim": 32, "num_embeddings": 7, "additional_embeddings": 4}),
    image("StableAudioDiTModel",
          {"hidden_states": (BATCH, 4, 24), "timestep": torch.tensor([0.3, 0.8]), "encoder_hidden_states": text(),
           "global_hidden_states": (BATCH, 1, 32)},
          {"sample_size": 24, "in_channels": 4, "num_layers": 2, "attention_head_dim": 16, "num_attention_heads": 4,
           "num_key_value_attention_heads": 2, "out_channels": 4, "cross_attention_dim": 32,
           "time_proj_dim": 16, "global_states_input_dim": 32, "cross_attention_input_dim": 32}),
    image("T5FilmDecoder",
          {"encodings_and_masks": [(Input((BATCH, 8, 64)), torch.ones(BATCH, 8))],
           "decoder_input_tokens": (BATCH, 24, 16), "decoder_noise_time": torch.tensor([0.3, 0.8])},
          {"input_dims": 16, "targets_length": 24, "d_model": 64, "num_layers": 2, "num_heads": 4, "d_kv": 16,
           "d_ff": 128}),
]  # fmt: skip
