"""Networks that steer others."""

from __future__ import annotations

from functools import partial

import torch

from .declare import BATCH, network, steps, text
from .unets import CONDITION, CROSS

control = partial(network, "control")
IMAGE = (BATCH, 3, 128, 128)
HALF = {k: v for k, v in CROSS.items() if k not in ("up_block_types", "sample_size")}
STEERED = {**CONDITION, "controlnet_cond": IMAGE, "conditioning_scale": 1.0}

ENTRIES = [
    control("ControlNetModel", STEERED, {**HALF, "conditioning_embedding_out_channels": (16, 32, 32, 64)}),
    control("T2IAdapter", (BATCH, 3, 64, 64),
            {"channels": [32, 32, 64, 64], "num_res_blocks": 2, "adapter_type": "full_adapter"}),
    control("T2IAdapter", (BATCH, 3, 64, 64),
            {"channels": [32, 32, 64, 64], "num_res_blocks": 2, "adapter_type": "light_adapter"}, "light"),
    control("T2IAdapter", (BATCH, 3, 64, 64),
            {"channels": [32, 32, 64, 64], "num_res_blocks": 2, "adapter_type": "full_adapter_xl",
             "downscale_factor": 16}, "xl"),
    control("SD3ControlNetModel",
            {"hidden_states": (BATCH, 4, 16, 16), "controlnet_cond": (BATCH, 4, 16, 16), "timestep": steps(),
             "encoder_hidden_states": text(), "pooled_projections": (BATCH, 48), "conditioning_scale": 1.0},
            {"sample_size": 16, "patch_size": 1, "in_channels": 4, "num_layers": 2, "attention_head_dim": 16,
             "num_attention_heads": 4, "joint_attention_dim": 32, "caption_projection_dim": 64,
             "pooled_projection_dim": 48, "out_channels": 4, "pos_embed_max_size": 96}),
    control("FluxControlNetModel",
            {"hidden_states": (BATCH, 16, 4), "controlnet_cond": (BATCH, 16, 4), "encoder_hidden_states": text(),
             "pooled_projections": (BATCH, 32), "timestep": torch.tensor([0.3, 0.8]), "img_ids": torch.zeros(16, 3),
             "txt_ids": torch.zeros(12, 3)},
            {"patch_size": 1, "in_channels": 4, "num_layers": 1, "num_single_layers": 1, "attention_head_dim": 16,
             "num_attention_heads": 2, "joint_attention_dim": 32, "pooled_projection_dim": 32,
             "axes_dims_rope": [4, 4, 8]}),
    control("SparseControlNetModel",
            {"sample": (1, 4, 4, 16, 16), "timestep": steps(1), "encoder_hidden_states": (4, 12, 32),
             "controlnet_cond": (1, 4, 4, 16, 16), "conditioning_mask": torch.ones(1, 1, 4, 16, 16)},
            {"in_channels": 4, "conditioning_channels": 4, "block_out_channels": (16, 32), "norm_num_groups": 8,
             "layers_per_block": 1, "cross_attention_dim": 32, "num_attention_heads": 4, "attention_head_dim": 8,
             "motion_num_attention_heads": 4, "use_simplified_condition_embedding": True,
             "down_block_types": ("CrossAttnDownBlockMotion", "DownBlockMotion")}),
]  # fmt: skip
