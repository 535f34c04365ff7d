"""Image models: convolutional networks."""

from __future__ import annotations

from functools import partial

from .declare import entry, pixels

convolutional = partial(entry, family="convolutional", inputs=pixels(), num_labels=100)
stages = partial(convolutional, depths=[2, 2, 3, 2], hidden_sizes=[32, 64, 128, 256])

ENTRIES = [
    stages("convnext", class_name="ConvNextForImageClassification"),
    stages("convnextv2", class_name="ConvNextV2ForImageClassification"),
    stages("dinov3_convnext", class_name="DINOv3ConvNextModel"),
    stages("resnet", class_name="ResNetForImageClassification", hidden_sizes=[64, 128, 256, 512], embedding_size=32),
    stages("resnet_basic", class_name="ResNetForImageClassification", embedding_size=32, layer_type="basic"),
    stages("regnet_y", class_name="RegNetForImageClassification", groups_width=16, hidden_sizes=[64, 128, 256, 384]),
    stages("regnet_x", class_name="RegNetForImageClassification", groups_width=16, hidden_sizes=[64, 128, 256, 384],
           layer_type="x"),
    stages("bit", class_name="BitForImageClassification", embedding_size=32, num_groups=8),
    stages("bit_bottleneck", class_name="BitForImageClassification", embedding_size=32, num_groups=8,
           layer_type="bottleneck"),
    convolutional("mobilenet_v1", class_name="MobileNetV1ForImageClassification", image_size=64,
                  depth_multiplier=0.5),
    convolutional("mobilenet_v2", class_name="MobileNetV2ForImageClassification", image_size=64,
                  depth_multiplier=0.5),
    convolutional("mobilenet_v2_deeplab", class_name="MobileNetV2ForSemanticSegmentation", image_size=64,
                  depth_multiplier=0.5, output_stride=16),
    convolutional("efficientnet", class_name="EfficientNetForImageClassification", image_size=64, hidden_dim=1280,
                  width_coefficient=1.0, depth_coefficient=0.5),
    convolutional("hgnet_v2", class_name="HGNetV2ForImageClassification", stem_channels=[3, 16, 24],
                  stage_in_channels=[24, 48, 96, 128], stage_mid_channels=[24, 32, 48, 64],
                  stage_out_channels=[48, 96, 128, 256], hidden_sizes=[48, 96, 128, 256],
                  stage_numb_of_layers=[3, 3, 3, 3]),
    convolutional("textnet", class_name="TextNetForImageClassification", hidden_sizes=[32, 32, 64, 96, 128],
                  stem_out_channels=32),
    convolutional("pp_lcnet", class_name="PPLCNetForImageClassification", scale=0.5, class_expand=256),
]  # fmt: skip
