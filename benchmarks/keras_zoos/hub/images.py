"""Image encoders: convolutional ones and vision transformers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keras_hub import models

from .sizes import DEEP, HEADS, IMAGE, INNER, LAYERS, WIDTH

ViT: dict[str, Any] = {"image_shape": IMAGE, "patch_size": 8, **DEEP}


def resnet(pre_activation: bool = False, block: str = "basic_block") -> Any:
    """A ResNet with four stages, whose features others build on."""
    return models.ResNetBackbone(
        input_conv_filters=[64], input_conv_kernel_sizes=[7], stackwise_num_filters=[64, 64, 128, 128],
        stackwise_num_blocks=[2, 2, 2, 2], stackwise_num_strides=[1, 2, 2, 2], block_type=block,
        use_pre_activation=pre_activation, image_shape=IMAGE,
    )  # fmt: skip


def hgnet(out_features: list[str] | None = None, image_shape: Any = IMAGE) -> Any:
    return models.HGNetV2Backbone(
        depths=[1, 1, 2], embedding_size=32, hidden_sizes=[64, 128, 256], stem_channels=[3, 16, 32], hidden_act="relu",
        use_learnable_affine_block=False, apply_downsample=[False, True, True],
        stackwise_stage_filters=[(32, 16, 64, 1, 3, 3), (64, 32, 128, 1, 3, 3), (128, 64, 256, 2, 3, 5)],
        use_lightweight_conv_block=[False, False, True], image_shape=image_shape, out_features=out_features,
    )  # fmt: skip


def mit() -> Any:
    return models.MiTBackbone(
        image_shape=IMAGE, num_layers=4, hidden_dims=[32, 64, 128, 160], layerwise_depths=[2, 2, 2, 2],
        layerwise_num_heads=[1, 2, 4, 5], layerwise_sr_ratios=[8, 4, 2, 1], layerwise_patch_sizes=[7, 3, 3, 3],
        layerwise_strides=[4, 2, 2, 2], max_drop_path_rate=0.1,
    )  # fmt: skip


def vitdet() -> Any:
    return models.ViTDetBackbone(
        hidden_size=WIDTH, num_layers=LAYERS, intermediate_dim=INNER, num_heads=HEADS, window_size=4, patch_size=8,
        global_attention_layer_indices=[2], image_shape=IMAGE, num_output_channels=64,
    )  # fmt: skip


def dinov2() -> Any:
    return models.DINOV2Backbone(
        patch_size=8, num_layers=4, hidden_dim=WIDTH, num_heads=HEADS, intermediate_dim=INNER, image_shape=IMAGE,
        position_embedding_shape=IMAGE,
    )  # fmt: skip


def efficientnet() -> Any:
    return models.EfficientNetBackbone(
        stackwise_kernel_sizes=[3, 3, 5, 3], stackwise_num_repeats=[1, 2, 2, 2],
        stackwise_input_filters=[32, 16, 24, 40], stackwise_output_filters=[16, 24, 40, 80],
        stackwise_expansion_ratios=[1, 4, 6, 6], stackwise_squeeze_and_excite_ratios=[0.0, 0.25, 0.25, 0.25],
        stackwise_strides=[1, 2, 2, 2], stackwise_block_types=["fused", "v1", "v1", "unfused"],
        stackwise_force_input_filters=[0] * 4, stackwise_nores_option=[False] * 4, input_shape=IMAGE, num_features=256,
        stackwise_width_coefficients=[1.0] * 4, stackwise_depth_coefficients=[1.0] * 4,
    )  # fmt: skip


def mobilenet() -> Any:
    return models.MobileNetBackbone(
        stackwise_expansion=[[40, 56], [64, 144, 144], [72, 72]], stackwise_num_blocks=[2, 3, 2],
        stackwise_num_filters=[[16, 16], [24, 24, 24], [48, 48]], stackwise_kernel_size=[[3, 3], [5, 5, 5], [5, 5]],
        stackwise_num_strides=[[2, 1], [2, 1, 1], [1, 1]],
        stackwise_se_ratio=[[None, None], [0.25, 0.25, 0.25], [0.3, 0.3]], stackwise_activation=[
            ["relu", "relu"], ["hard_swish"] * 3, ["hard_swish"] * 2,
        ],
        stackwise_padding=[[1, 1], [2, 2, 2], [2, 2]], output_num_filters=288, depthwise_filters=8, depthwise_stride=2,
        depthwise_residual=False, last_layer_filter=576, squeeze_and_excite=0.5, image_shape=IMAGE,
    )  # fmt: skip


def mobilenet5() -> Any:
    """Edge residuals, universal inverted bottlenecks, and attention with one head for keys and values."""
    return models.MobileNetV5Backbone(
        stackwise_block_types=[["er"], ["uir", "uir"], ["uir", "mqa"]], stackwise_num_blocks=[1, 2, 2],
        stackwise_num_filters=[[24], [48, 48], [64, 64]], stackwise_strides=[[2], [2, 1], [2, 1]],
        stackwise_act_layers=[["gelu"], ["gelu"] * 2, ["gelu"] * 2], stackwise_exp_ratios=[[4.0], [6.0] * 2, [4.0] * 2],
        stackwise_se_ratios=[[0.0], [0.0] * 2, [0.0] * 2], stackwise_dw_kernel_sizes=[[0], [5, 5], [5, 3]],
        stackwise_dw_start_kernel_sizes=[[0], [3, 0], [0, 0]], stackwise_dw_end_kernel_sizes=[[0], [0, 0], [0, 0]],
        stackwise_exp_kernel_sizes=[[3], [0, 0], [0, 0]], stackwise_pw_kernel_sizes=[[1], [0, 0], [0, 0]],
        stackwise_num_heads=[[0], [0, 0], [0, 4]], stackwise_key_dims=[[0], [0, 0], [0, 16]],
        stackwise_value_dims=[[0], [0, 0], [0, 16]], stackwise_kv_strides=[[0], [0, 0], [0, 1]],
        stackwise_use_cpe=[[False], [False] * 2, [False] * 2], image_shape=IMAGE, num_features=128,
        msfa_output_resolution=4, layer_scale_init_value=None,
    )  # fmt: skip


CONVOLUTIONS: dict[str, Callable[[], Any]] = {
    "CSPNet": lambda: models.CSPNetBackbone(
        stem_filters=32, stem_kernel_size=3, stem_strides=1, stackwise_depth=[1, 2, 2], stackwise_strides=[1, 2, 2],
        stackwise_num_filters=[32, 64, 128], block_type="dark_block", stage_type="csp", image_shape=IMAGE,
        bottle_ratio=[1.0] * 3, block_ratio=[1.0] * 3, expand_ratio=[2.0] * 3,
    ),
    "DenseNet": lambda: models.DenseNetBackbone(
        stackwise_num_repeats=[2, 3, 4], image_shape=IMAGE, growth_rate=32
    ),
    "EfficientNet": efficientnet,
    "HGNetV2": hgnet,
    "MobileNet": mobilenet,
    "MobileNetV5": mobilenet5,
    "ResNet": resnet,
    "ResNet bottleneck": lambda: resnet(block="bottleneck_block"),
    "ResNetV2": lambda: resnet(pre_activation=True),
    "VGG": lambda: models.VGGBackbone(
        stackwise_num_repeats=[2, 2, 3], stackwise_num_filters=[32, 64, 128], image_shape=IMAGE
    ),
    "Xception": lambda: models.XceptionBackbone(
        stackwise_conv_filters=[[32, 64], [64, 128], [128, 128]], stackwise_pooling=[True, True, False],
        image_shape=IMAGE,
    ),
}  # fmt: skip

TRANSFORMERS: dict[str, Callable[[], Any]] = {
    "DINOV2": dinov2,
    "DINOV3": lambda: models.DINOV3Backbone(**ViT),
    "DeiT": lambda: models.DeiTBackbone(**ViT),
    "MiT": mit,
    "SwinTransformer": lambda: models.SwinTransformerBackbone(
        image_shape=IMAGE, embed_dim=32, depths=(2, 2, 2), num_heads=(2, 4, 4), window_size=4
    ),
    "ViT": lambda: models.ViTBackbone(
        image_shape=IMAGE, patch_size=8, num_layers=LAYERS, num_heads=HEADS, hidden_dim=WIDTH, mlp_dim=INNER
    ),
    "ViTDet": vitdet,
    "VideoPrism": lambda: models.VideoPrismBackbone(
        num_frames=4, patch_size=16, hidden_dim=WIDTH, intermediate_dim=INNER, num_heads=HEADS,
        num_spatial_layers=2, num_temporal_layers=2, num_auxiliary_layers=0, image_shape=IMAGE,
    ),
}  # fmt: skip
