"""Networks in the shape of a U."""

from __future__ import annotations

from functools import partial

import torch

from .declare import BATCH, TEXT, network, steps, text

unet = partial(network, "unet")
PLANE = (BATCH, 4, 16, 16)
TWO = {"block_out_channels": (32, 64), "layers_per_block": 1, "norm_num_groups": 8}
CROSS = {
    **TWO, "cross_attention_dim": 32, "down_block_types": ("CrossAttnDownBlock2D", "DownBlock2D"),
    "up_block_types": ("UpBlock2D", "CrossAttnUpBlock2D"), "attention_head_dim": 8, "sample_size": 16,
}  # fmt: skip
CONDITION = {"sample": PLANE, "timestep": steps(), "encoder_hidden_states": text()}
PLAIN = {"sample": (BATCH, 3, 16, 16), "timestep": steps()}
CLIP = {"sample": (1, 4, 4, 16, 16), "timestep": steps(1), "encoder_hidden_states": (1, 12, 32)}

ENTRIES = [
    unet("UNet2DModel", PLAIN, {**TWO, "attention_head_dim": 8, "down_block_types": ("DownBlock2D", "AttnDownBlock2D"),
                                "up_block_types": ("AttnUpBlock2D", "UpBlock2D")}),
    unet("UNet2DModel", PLAIN, {**TWO, "attention_head_dim": 8, "time_embedding_type": "fourier",
                                "down_block_types": ("SkipDownBlock2D", "AttnSkipDownBlock2D"),
                                "up_block_types": ("AttnSkipUpBlock2D", "SkipUpBlock2D")}, "skip"),
    unet("UNet2DModel", PLAIN, {**TWO, "add_attention": False, "resnet_time_scale_shift": "scale_shift",
                                "down_block_types": ("ResnetDownsampleBlock2D", "ResnetDownsampleBlock2D"),
                                "up_block_types": ("ResnetUpsampleBlock2D", "ResnetUpsampleBlock2D")}, "resnet"),
    unet("UNet2DModel", {**PLAIN, "class_labels": steps() % 7},
         {**TWO, "num_class_embeds": 7, "attention_head_dim": 8, "down_block_types": ("DownBlock2D", "AttnDownBlock2D"),
          "up_block_types": ("AttnUpBlock2D", "UpBlock2D")}, "classes"),
    unet("UNet2DConditionModel", CONDITION, CROSS),
    unet("UNet2DConditionModel", CONDITION, {**CROSS, "use_linear_projection": True, "act_fn": "gelu"}, "linear"),
    unet("UNet2DConditionModel", CONDITION, {**CROSS, "transformer_layers_per_block": 2,
                                             "resnet_time_scale_shift": "scale_shift"}, "deep"),
    unet("UNet2DConditionModel", CONDITION,
         {**CROSS, "down_block_types": ("SimpleCrossAttnDownBlock2D", "ResnetDownsampleBlock2D"),
          "mid_block_type": "UNetMidBlock2DSimpleCrossAttn",
          "up_block_types": ("ResnetUpsampleBlock2D", "SimpleCrossAttnUpBlock2D")}, "simple"),
    unet("UNet1DModel", {"sample": (BATCH, 14, 16), "timestep": steps()},
         {"block_out_channels": (8, 16, 16, 16), "in_channels": 14, "out_channels": 14,
          "time_embedding_type": "positional", "use_timestep_embedding": True, "out_block_type": "OutConv1DBlock",
          "flip_sin_to_cos": False, "act_fn": "swish",
          "down_block_types": ("DownResnetBlock1D",) * 4, "up_block_types": ("UpResnetBlock1D",) * 3,
          "mid_block_type": "MidResTemporalBlock1D"}),
    unet("UNet1DModel", {"sample": (BATCH, 2, 256), "timestep": steps()},
         {"sample_size": 256, "in_channels": 2, "out_channels": 2, "extra_in_channels": 64, "norm_num_groups": 8},
         "audio"),
    unet("UNet3DConditionModel", CLIP,
         {"block_out_channels": (32, 64), "norm_num_groups": 8, "cross_attention_dim": 32, "attention_head_dim": 8,
          "layers_per_block": 1, "down_block_types": ("CrossAttnDownBlock3D", "DownBlock3D"),
          "up_block_types": ("UpBlock3D", "CrossAttnUpBlock3D")}),
    unet("I2VGenXLUNet", {**CLIP, "fps": steps(1) % 8, "image_latents": (1, 4, 4, 16, 16), "image_embeddings": (1, 32)},
         {"block_out_channels": (16, 32), "norm_num_groups": 8, "cross_attention_dim": 32, "attention_head_dim": 8,
          "layers_per_block": 1, "down_block_types": ("CrossAttnDownBlock3D", "DownBlock3D"),
          "up_block_types": ("UpBlock3D", "CrossAttnUpBlock3D")}),
    unet("UNetMotionModel", {**CLIP, "encoder_hidden_states": (4, TEXT, 32)},
         {"block_out_channels": (16, 32), "norm_num_groups": 8, "cross_attention_dim": 32, "num_attention_heads": 4,
          "layers_per_block": 1, "down_block_types": ("CrossAttnDownBlockMotion", "DownBlockMotion"),
          "up_block_types": ("UpBlockMotion", "CrossAttnUpBlockMotion")}),
    unet("UNetSpatioTemporalConditionModel",
         {"sample": (1, 2, 4, 16, 16), "timestep": steps(1), "encoder_hidden_states": (1, 1, 32),
          "added_time_ids": (1, 3)},
         {"block_out_channels": (32, 64), "in_channels": 4, "out_channels": 4, "cross_attention_dim": 32,
          "num_attention_heads": 8, "layers_per_block": 1, "addition_time_embed_dim": 32,
          "projection_class_embeddings_input_dim": 96,
          "down_block_types": ("CrossAttnDownBlockSpatioTemporal", "DownBlockSpatioTemporal"),
          "up_block_types": ("UpBlockSpatioTemporal", "CrossAttnUpBlockSpatioTemporal")}),
    unet("Kandinsky3UNet", {**CONDITION, "encoder_attention_mask": torch.ones(BATCH, TEXT)},
         {"in_channels": 4, "time_embedding_dim": 32, "groups": 4, "attention_head_dim": 8, "layers_per_block": 2,
          "block_out_channels": (16, 32, 32, 64), "cross_attention_dim": 32, "encoder_hid_dim": 32}),
    unet("StableCascadeUNet",
         {"sample": (BATCH, 16, 8, 8), "timestep_ratio": (BATCH,), "clip_text_pooled": (BATCH, 1, 32)},
         {"block_out_channels": (64, 64), "num_attention_heads": (4, 4), "down_num_layers_per_block": (1, 1),
          "up_num_layers_per_block": (1, 1), "conditioning_dim": 32, "clip_text_pooled_in_channels": 32,
          "timestep_ratio_embedding_dim": 32}),
    unet("UVit2DModel", {"input_ids": steps()[:, None, None] % 7 + (steps(64) % 100).reshape(1, 8, 8),
                         "encoder_hidden_states": text(), "pooled_text_emb": (BATCH, 32), "micro_conds": (BATCH, 5)},
         {"hidden_size": 64, "cond_embed_dim": 32, "micro_cond_encode_dim": 16, "micro_cond_embed_dim": 80,
          "encoder_hidden_size": 32, "vocab_size": 120, "codebook_size": 110, "in_channels": 64,
          "block_out_channels": 64, "num_res_blocks": 1, "block_num_heads": 4, "num_hidden_layers": 2,
          "num_attention_heads": 4, "intermediate_size": 128, "sample_size": 8}),
]  # fmt: skip
