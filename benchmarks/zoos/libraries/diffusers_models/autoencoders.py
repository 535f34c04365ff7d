"""Autoencoders of images, videos and sound."""

from __future__ import annotations

from functools import partial

from .declare import BATCH, network

auto = partial(network, "autoencoder")
IMAGE = (BATCH, 3, 32, 32)
CLIP = (1, 3, 9, 32, 32)
KL = {
    "block_out_channels": (32, 64), "down_block_types": ("DownEncoderBlock2D",) * 2,
    "up_block_types": ("UpDecoderBlock2D",) * 2, "norm_num_groups": 8, "latent_channels": 4,
}  # fmt: skip

ENTRIES = [
    auto("AutoencoderKL", IMAGE, KL),
    auto("AutoencoderKL", IMAGE, {**KL, "mid_block_add_attention": False, "layers_per_block": 2}, "deep"),
    auto("AutoencoderKLFlux2", IMAGE, KL),
    auto("AsymmetricAutoencoderKL", IMAGE,
         {"down_block_out_channels": (32, 64), "up_block_out_channels": (32, 64), "norm_num_groups": 8,
          "down_block_types": ("DownEncoderBlock2D",) * 2, "up_block_types": ("UpDecoderBlock2D",) * 2}),
    auto("AutoencoderKLTemporalDecoder", {"sample": (2, 3, 32, 32), "num_frames": 2},
         {"block_out_channels": (32, 64), "down_block_types": ("DownEncoderBlock2D",) * 2}),
    auto("AutoencoderTiny", IMAGE,
         {"encoder_block_out_channels": (32, 32), "decoder_block_out_channels": (32, 32),
          "num_encoder_blocks": (1, 2), "num_decoder_blocks": (2, 1)}),
    auto("AutoencoderDC", IMAGE,
         {"latent_channels": 4, "attention_head_dim": 8, "encoder_block_types": ("ResBlock", "EfficientViTBlock"),
          "decoder_block_types": ("ResBlock", "EfficientViTBlock"), "encoder_block_out_channels": (16, 32),
          "decoder_block_out_channels": (16, 32), "encoder_qkv_multiscales": ((), (5,)),
          "decoder_qkv_multiscales": ((), (5,)), "encoder_layers_per_block": (1, 1),
          "decoder_layers_per_block": (1, 1), "downsample_block_type": "conv", "upsample_block_type": "interpolate",
          "decoder_norm_types": "rms_norm", "decoder_act_fns": "silu"}),
    auto("VQModel", IMAGE, {**KL, "latent_channels": 3, "num_vq_embeddings": 64}),
    auto("AutoencoderKLKVAE", IMAGE, {"channels": 32, "num_enc_blocks": 1, "num_dec_blocks": 1, "z_channels": 4,
                                      "ch_mult": (1, 2), "sample_size": 32}),
    auto("AutoencoderKLHunyuanImage", IMAGE,
         {"in_channels": 3, "out_channels": 3, "latent_channels": 4, "block_out_channels": (32, 64),
          "layers_per_block": 1, "spatial_compression_ratio": 2, "sample_size": 32}),
    auto("AutoencoderKLCogVideoX", CLIP,
         {"block_out_channels": (8, 8, 8, 8), "norm_num_groups": 2, "layers_per_block": 1, "latent_channels": 4,
          "temporal_compression_ratio": 4, "down_block_types": ("CogVideoXDownBlock3D",) * 4,
          "up_block_types": ("CogVideoXUpBlock3D",) * 4}),
    auto("AutoencoderKLHunyuanVideo", CLIP,
         {"block_out_channels": (8, 8, 8, 8), "norm_num_groups": 2, "layers_per_block": 1, "latent_channels": 4}),
    auto("AutoencoderKLHunyuanVideo15", (1, 3, 9, 32, 32),
         {"block_out_channels": (16, 16, 32, 32, 32), "layers_per_block": 1, "latent_channels": 8}),
    auto("AutoencoderKLLTXVideo", CLIP,
         {"latent_channels": 8, "block_out_channels": (8, 8, 8, 8), "decoder_block_out_channels": (8, 8, 8, 8),
          "layers_per_block": (1, 1, 1, 1, 1), "decoder_layers_per_block": (1, 1, 1, 1, 1), "patch_size": 1,
          "encoder_causal": True}),
    auto("AutoencoderKLMagvit", CLIP,
         {"block_out_channels": [8, 8, 8, 8], "norm_num_groups": 2, "layers_per_block": 1, "latent_channels": 4,
          "spatial_group_norm": False}),
    auto("AutoencoderKLMochi", (1, 3, 7, 16, 16),
         {"in_channels": 15, "out_channels": 3, "latent_channels": 4, "encoder_block_out_channels": (32, 32, 32, 32),
          "decoder_block_out_channels": (32, 32, 32, 32), "layers_per_block": (1, 1, 1, 1, 1)}),
    auto("AutoencoderKLWan", (1, 3, 9, 16, 16),
         {"base_dim": 8, "z_dim": 16, "dim_mult": [1, 1, 1, 1], "num_res_blocks": 1,
          "temperal_downsample": [False, True, True]}),
    auto("AutoencoderKLQwenImage", (1, 3, 1, 16, 16),
         {"base_dim": 8, "z_dim": 16, "dim_mult": [1, 2, 4], "num_res_blocks": 1, "temperal_downsample": [False, True]}),
    auto("AutoencoderKLCosmos", (1, 3, 9, 32, 32),
         {"latent_channels": 4, "encoder_block_out_channels": (8, 8, 8, 8), "decode_block_out_channels": (8, 8, 8, 8),
          "attention_resolutions": (8,), "resolution": 64, "num_layers": 2, "patch_size": 4,
          "spatial_compression_ratio": 4, "temporal_compression_ratio": 4}),
    auto("AutoencoderKLKVAEVideo", (1, 3, 5, 16, 16), {"ch": 32, "ch_mult": (1, 2), "num_res_blocks": 1,
                                                       "z_channels": 4, "temporal_compress_times": 2}),
    auto("AutoencoderOobleck", (BATCH, 2, 1024),
         {"encoder_hidden_size": 12, "decoder_channels": 12, "decoder_input_channels": 6, "audio_channels": 2,
          "downsampling_ratios": [2, 4], "channel_multiples": [1, 2]}),
    auto("AutoencoderKLLTX2Audio", (BATCH, 2, 16, 16),
         {"base_channels": 32, "ch_mult": (1, 2), "num_res_blocks": 1, "resolution": 16, "mel_bins": 16,
          "latent_channels": 4}),
    auto("ConsistencyDecoderVAE", (BATCH, 3, 32, 32),
         {"encoder_block_out_channels": (32, 64), "encoder_down_block_types": ("DownEncoderBlock2D",) * 2,
          "encoder_layers_per_block": 1, "encoder_norm_num_groups": 8, "encoder_in_channels": 3,
          "encoder_out_channels": 4, "latent_channels": 4, "decoder_block_out_channels": (32, 64),
          "decoder_down_block_types": ("ResnetDownsampleBlock2D",) * 2,
          "decoder_up_block_types": ("ResnetUpsampleBlock2D",) * 2, "decoder_layers_per_block": 1,
          "decoder_norm_num_groups": 8}),
]  # fmt: skip
