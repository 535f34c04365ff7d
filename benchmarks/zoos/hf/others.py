"""Models that fit nowhere else."""

from __future__ import annotations

from functools import partial

import torch

from autoinit import Input

from .declare import BATCH, VOCABULARY, WIDTHS, entry, pixels, text, tokens

perceiver = partial(
    entry, family="other", num_latents=32, d_latents=128, d_model=128, num_blocks=1, num_self_attends_per_block=4,
    num_self_attention_heads=4, num_cross_attention_heads=4,
)  # fmt: skip

ENTRIES = [
    perceiver("perceiver_text", class_name="PerceiverForMaskedLM", vocab_size=262, max_position_embeddings=64,
              inputs={"inputs": tokens(64, 262)}, qk_channels=64, v_channels=128),
    perceiver("perceiver_image", class_name="PerceiverForImageClassificationLearned", image_size=32, num_labels=10,
              inputs={"pixel_values": (BATCH, 3, 32, 32)}, num_cross_attention_heads=1,
              d_model=512),
    perceiver("perceiver_convolutional", class_name="PerceiverForImageClassificationConvProcessing", num_labels=10,
              inputs={"pixel_values": (BATCH, 3, 64, 64)}, image_size=64, num_cross_attention_heads=1, d_model=322),
    entry("decision_transformer", "other", "DecisionTransformerModel",
          {"states": (BATCH, 12, 17), "actions": (BATCH, 12, 4), "rewards": (BATCH, 12, 1),
           "returns_to_go": (BATCH, 12, 1), "timesteps": Input((BATCH, 12), vocabulary=100),
           "attention_mask": torch.ones(BATCH, 12)},
          hidden_size=128, n_layer=4, n_head=4, max_ep_len=128, n_positions=64, use_cache=False),
    entry("superpoint", "other", "SuperPointForKeypointDetection", pixels(), encoder_hidden_sizes=[32, 32, 64, 64],
          decoder_hidden_size=64, descriptor_decoder_dim=64, keypoint_threshold=0.0,
          note="the key points depend on data"),
    entry("dpr", "other", "DPRQuestionEncoder", text(), vocab_size=VOCABULARY, max_position_embeddings=64,
          projection_dim=64, **WIDTHS),
    entry("esm_contacts", "other", "EsmForTokenClassification", text(), vocab_size=VOCABULARY, pad_token_id=1,
          mask_token_id=4, max_position_embeddings=64, position_embedding_type="absolute", token_dropout=True,
          emb_layer_norm_before=True, **WIDTHS),
    entry("hrm_text", "other", "HrmTextForCausalLM", text(), vocab_size=VOCABULARY, hidden_size=128, head_dim=32,
          intermediate_size=256, num_attention_heads=4, num_layers_per_stack=2, num_hidden_layers=16,
          max_position_embeddings=64, use_cache=False, pad_token_id=0, bos_token_id=1, eos_token_id=2),
    entry("vitpose_experts", "other", "VitPoseForPoseEstimation",
          {"pixel_values": (BATCH, 3, 64, 64), "dataset_index": torch.zeros(BATCH, dtype=torch.int64)},
          backbone_config={"model_type": "vitpose_backbone", "image_size": [64, 64], "patch_size": [8, 8],
                           "hidden_size": 128, "num_hidden_layers": 3, "num_attention_heads": 4, "num_experts": 3,
                           "part_features": 32, "out_indices": [3]}),
]  # fmt: skip
