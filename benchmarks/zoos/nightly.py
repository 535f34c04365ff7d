"""A spread over all zoos that two cores plan and measure in less than five minutes."""

from __future__ import annotations

TIMM = (
    "resnet18", "mobilenetv2_050", "convnext_atto", "levit_128s", "vit_tiny_patch16_224", "mobilevit_xxs",
    "edgenext_xx_small", "mixer_s32_224", "resmlp_12_224", "xcit_nano_12_p16_224", "pit_ti_224", "mambaout_femto",
    "ghostnet_050", "efficientvit_b0", "hardcorenas_a", "regnety_002", "starnet_s050", "crossvit_tiny_240",
)  # fmt: skip
TRANSFORMERS = (
    "bert", "deberta_v2", "xlnet", "gpt2", "llama", "qwen3", "t5", "bart", "mixtral", "mamba", "wav2vec2", "clip",
    "llava", "vit", "swin", "videomae", "patchtst", "detr",
)  # fmt: skip
TORCHVISION = ("mobilenet_v2", "shufflenet_v2_x0_5", "squeezenet1_1", "lraspp_mobilenet_v3_large", "mnasnet0_5")

NIGHTLY = [
    *(f"timm:{name}" for name in TIMM),
    *(f"transformers:{name}" for name in TRANSFORMERS),
    *(f"torchvision:{name}" for name in TORCHVISION),
]
