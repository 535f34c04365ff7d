"""Dense predictions on top of an image encoder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras_hub
from keras_hub import models

from .images import dinov2, hgnet, mit, resnet, vitdet
from .sizes import HEADS, IMAGE, INNER, VOCABULARY, WIDTH


def dfine() -> Any:
    encoder = hgnet(["stage2", "stage3"], (None, None, 3))
    return models.DFineBackbone(
        backbone=encoder, decoder_in_channels=[128, 128], encoder_hidden_dim=128, num_denoising=0, num_labels=20,
        hidden_dim=128, learn_initial_query=False, num_queries=30, anchor_image_size=(64, 64), feat_strides=[8, 16],
        num_feature_levels=2, encoder_in_channels=[128, 256], encode_proj_layers=[1], num_attention_heads=4,
        encoder_ffn_dim=256, num_encoder_layers=1, hidden_expansion=0.5, depth_multiplier=0.5, eval_idx=-1,
        num_decoder_layers=2, decoder_attention_heads=4, decoder_ffn_dim=256, decoder_n_points=[4, 4],
        lqe_hidden_dim=64, num_lqe_layers=2, out_features=["stage2", "stage3"], image_shape=IMAGE, seed=0,
    )  # fmt: skip


def sam() -> Any:
    return models.SAMBackbone(
        image_encoder=vitdet(),
        prompt_encoder=keras_hub.layers.SAMPromptEncoder(
            hidden_size=64, image_embedding_size=(8, 8), input_image_size=(64, 64), mask_in_channels=16
        ),
        mask_decoder=keras_hub.layers.SAMMaskDecoder(
            num_layers=2, hidden_size=64, intermediate_dim=128, num_heads=4, embedding_dim=64,
            num_multimask_outputs=3, iou_head_depth=3, iou_head_hidden_dim=64,
        ),
    )  # fmt: skip


def sam3() -> Any:
    deep: dict[str, Any] = {"num_layers": 2, "hidden_dim": 64, "intermediate_dim": 128, "num_heads": 4}
    part = keras_hub.layers
    return models.SAM3PromptableConceptBackbone(
        vision_encoder=part.SAM3VisionEncoder(
            image_shape=(112, 112, 3), patch_size=14, fpn_hidden_dim=64, fpn_scale_factors=[4.0, 2.0, 1.0, 0.5],
            pretrain_image_shape=(112, 112, 3), window_size=4, global_attn_indexes=[1], **deep,
        ),
        text_encoder=part.SAM3TextEncoder(vocabulary_size=512, embedding_dim=64, **deep),
        geometry_encoder=part.SAM3GeometryEncoder(roi_size=7, **deep),
        detr_encoder=part.SAM3DetrEncoder(**deep),
        detr_decoder=part.SAM3DetrDecoder(image_shape=(112, 112, 3), patch_size=14, num_queries=20, **deep),
        mask_decoder=part.SAM3MaskDecoder(num_upsampling_stages=3, hidden_dim=64, num_heads=4),
    )  # fmt: skip


DETECTORS: dict[str, Callable[[], Any]] = {
    "BASNet": lambda: models.BASNetBackbone(
        image_encoder=models.ResNetBackbone(
            input_conv_filters=[64], input_conv_kernel_sizes=[7], stackwise_num_filters=[64, 128, 256, 512],
            stackwise_num_blocks=[2, 2, 2, 2], stackwise_num_strides=[1, 2, 2, 2], block_type="basic_block",
        ),
        num_classes=1, image_shape=IMAGE, projection_filters=64,
    ),
    "DFine": dfine,
    "DeepLabV3": lambda: models.DeepLabV3Backbone(
        image_encoder=resnet(), projection_filters=32, low_level_feature_key="P2", spatial_pyramid_pooling_key="P5",
        upsampling_size=8, dilation_rates=[2, 4], image_shape=IMAGE,
    ),
    "DepthAnything": lambda: models.DepthAnythingBackbone(
        image_encoder=dinov2(), reassemble_factors=[4, 2, 1, 0.5], neck_hidden_dims=[32, 64, 128, 128],
        fusion_hidden_dim=WIDTH // 2, head_hidden_dim=32, head_in_index=-1,
        feature_keys=["stage1", "stage2", "stage3", "stage4"],
    ),
    "PARSeq": lambda: models.PARSeqBackbone(
        image_encoder=models.ViTBackbone(
            image_shape=(32, 64, 3), patch_size=(4, 8), num_layers=2, num_heads=HEADS, hidden_dim=WIDTH, mlp_dim=INNER,
            use_class_token=False,
        ),
        vocabulary_size=VOCABULARY, max_label_length=25, decoder_hidden_dim=WIDTH, num_decoder_layers=1,
        num_decoder_heads=HEADS, decoder_mlp_dim=INNER,
    ),
    "RetinaNet": lambda: models.RetinaNetBackbone(
        image_encoder=resnet(), min_level=3, max_level=5, use_p5=False, image_shape=IMAGE
    ),
    "SAM": sam,
    "SAM3PromptableConcept": sam3,
    "SegFormer": lambda: models.SegFormerBackbone(image_encoder=mit(), projection_filters=64),
}  # fmt: skip
