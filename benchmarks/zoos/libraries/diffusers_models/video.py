"""Transformers of videos."""

from __future__ import annotations

from functools import partial

import torch

from .declare import TEXT, network, steps

video = partial(network, "video transformer")
HEADS = {"num_attention_heads": 4, "attention_head_dim": 16, "num_layers": 2}
CLIP = {"hidden_states": (1, 4, 4, 8, 8), "timestep": steps(1), "encoder_hidden_states": (1, TEXT, 32)}
"""Channels before frames."""
FRAMES = {**CLIP, "hidden_states": (1, 4, 4, 8, 8)}
ONES = torch.ones(1, TEXT)
MASKED = {**CLIP, "encoder_attention_mask": ONES.bool()}

ENTRIES = [
    video("CogVideoXTransformer3DModel", FRAMES,
          {**HEADS, "in_channels": 4, "out_channels": 4, "time_embed_dim": 128, "text_embed_dim": 32,
           "sample_width": 8, "sample_height": 8, "sample_frames": 13, "patch_size": 2,
           "temporal_compression_ratio": 4, "max_text_seq_length": TEXT}),
    video("LatteTransformer3DModel", CLIP,
          {**HEADS, "in_channels": 4, "sample_size": 8, "patch_size": 2, "caption_channels": 32, "out_channels": 8,
           "cross_attention_dim": 64, "attention_bias": True, "num_embeds_ada_norm": 1000,
           "norm_type": "ada_norm_single", "norm_elementwise_affine": False, "video_length": 4}),
    video("AllegroTransformer3DModel", {**CLIP, "hidden_states": (1, 4, 2, 8, 8)},
          {**HEADS, "attention_head_dim": 24, "in_channels": 4, "out_channels": 4, "cross_attention_dim": 96,
           "sample_width": 8, "sample_height": 8, "sample_frames": 2, "caption_channels": 32}),
    video("HunyuanVideoTransformer3DModel", {**MASKED, "pooled_projections": (1, 24), "guidance": torch.tensor([6.0])},
          {"in_channels": 4, "out_channels": 4, "num_attention_heads": 4, "attention_head_dim": 16, "num_layers": 1,
           "num_single_layers": 1, "num_refiner_layers": 1, "patch_size": 1, "patch_size_t": 1,
           "guidance_embeds": True, "text_embed_dim": 32, "pooled_projection_dim": 24, "rope_axes_dim": (4, 4, 8)}),
    video("LTXVideoTransformer3DModel",
          {"hidden_states": (1, 32, 4), "encoder_hidden_states": (1, TEXT, 32), "timestep": steps(1),
           "encoder_attention_mask": ONES.bool(), "num_frames": 2, "height": 4, "width": 4},
          {"in_channels": 4, "out_channels": 4, "num_attention_heads": 4, "attention_head_dim": 16,
           "cross_attention_dim": 64, "num_layers": 2, "qk_norm": "rms_norm_across_heads", "caption_channels": 32}),
    video("MochiTransformer3DModel",
          {"hidden_states": (1, 4, 2, 8, 8), "encoder_hidden_states": (1, TEXT, 32), "timestep": steps(1),
           "encoder_attention_mask": ONES.bool()},
          {"patch_size": 2, "num_attention_heads": 4, "attention_head_dim": 16, "num_layers": 2,
           "pooled_projection_dim": 32, "in_channels": 4, "out_channels": None, "qk_norm": "rms_norm",
           "text_embed_dim": 32, "time_embed_dim": 16, "activation_fn": "swiglu", "max_sequence_length": TEXT}),
    video("WanTransformer3DModel", {**CLIP, "hidden_states": (1, 4, 2, 8, 8)},
          {**HEADS, "patch_size": (1, 2, 2), "in_channels": 4, "out_channels": 4, "text_dim": 32, "freq_dim": 64,
           "ffn_dim": 128, "rope_max_seq_len": 32}),
    video("SkyReelsV2Transformer3DModel", {**CLIP, "hidden_states": (1, 4, 2, 8, 8)},
          {**HEADS, "patch_size": (1, 2, 2), "in_channels": 4, "out_channels": 4, "text_dim": 32, "freq_dim": 64,
           "ffn_dim": 128, "rope_max_seq_len": 32}),
    video("CosmosTransformer3DModel",
          {"hidden_states": (1, 4, 2, 8, 8), "timestep": steps(1), "encoder_hidden_states": (1, TEXT, 32), "fps": 30,
           "padding_mask": torch.zeros(1, 1, 8, 8)},
          {"in_channels": 4, "out_channels": 4, "num_attention_heads": 4, "attention_head_dim": 16, "num_layers": 2,
           "mlp_ratio": 2.0, "text_embed_dim": 32, "adaln_lora_dim": 8, "max_size": (4, 32, 32),
           "patch_size": (1, 2, 2), "rope_scale": (2.0, 1.0, 1.0), "concat_padding_mask": True}),
    video("EasyAnimateTransformer3DModel", CLIP,
          {**HEADS, "in_channels": 4, "out_channels": 4, "time_embed_dim": 128, "text_embed_dim": 32,
           "sample_width": 8, "sample_height": 8, "patch_size": 2, "mmdit_layers": 1}),
    video("ConsisIDTransformer3DModel", FRAMES,
          {**HEADS, "in_channels": 4, "out_channels": 4, "time_embed_dim": 128, "text_embed_dim": 32,
           "sample_width": 8, "sample_height": 8, "sample_frames": 13, "patch_size": 2,
           "temporal_compression_ratio": 4, "max_text_seq_length": TEXT, "is_train_face": False}),
    video("TransformerTemporalModel", {"hidden_states": (4, 32, 8, 8), "num_frames": 4},
          {"num_attention_heads": 4, "attention_head_dim": 8, "in_channels": 32, "norm_num_groups": 8}),
]  # fmt: skip
