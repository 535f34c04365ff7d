"""Detection and segmentation: a backbone with an encoder-decoder on top."""

from __future__ import annotations

from functools import partial

from .declare import entry, pixels

resnet = {
    "model_type": "resnet", "layer_type": "basic", "embedding_size": 32, "hidden_sizes": [32, 64, 128, 256],
    "depths": [1, 1, 2, 1], "out_features": ["stage2", "stage3", "stage4"],
}  # fmt: skip
resnet_all = {**resnet, "out_features": ["stage1", "stage2", "stage3", "stage4"]}
swin = {
    "model_type": "swin", "image_size": 64, "patch_size": 4, "embed_dim": 32, "depths": [2, 2, 2, 2],
    "num_heads": [2, 4, 8, 16], "window_size": 4, "out_features": ["stage1", "stage2", "stage3", "stage4"],
}  # fmt: skip
detection = partial(entry, family="detection", inputs=pixels(), num_labels=20)
detr_like = partial(
    detection, use_timm_backbone=False, use_pretrained_backbone=False, backbone_config=resnet_all, d_model=64,
    num_queries=16, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
    encoder_ffn_dim=128, decoder_ffn_dim=128,
)  # fmt: skip
rt_detr_like = partial(
    detection, d_model=64, encoder_hidden_dim=64, encoder_in_channels=[64, 128, 256],
    decoder_in_channels=[64, 64, 64], encoder_ffn_dim=128, decoder_ffn_dim=128, encoder_attention_heads=4,
    decoder_attention_heads=4, decoder_layers=2, num_queries=16,
)  # fmt: skip

ENTRIES = [
    detr_like("detr", class_name="DetrForObjectDetection"),
    detr_like("conditional_detr", class_name="ConditionalDetrForObjectDetection"),
    detr_like("deformable_detr", class_name="DeformableDetrForObjectDetection", backbone_config=resnet,
              disable_custom_kernels=True),
    detr_like("deformable_detr_two_stage", class_name="DeformableDetrForObjectDetection", backbone_config=resnet,
              disable_custom_kernels=True, two_stage=True, with_box_refine=True, two_stage_num_proposals=16),
    detr_like("table_transformer", class_name="TableTransformerForObjectDetection"),
    detr_like("dab_detr", class_name="DabDetrForObjectDetection", hidden_size=64),
    rt_detr_like("rt_detr", class_name="RTDetrForObjectDetection",
                 backbone_config={**resnet, "model_type": "rt_detr_resnet"}),
    rt_detr_like("rt_detr_v2", class_name="RTDetrV2ForObjectDetection",
                 backbone_config={**resnet, "model_type": "rt_detr_resnet"}),
    detection("upernet", class_name="UperNetForSemanticSegmentation", backbone_config=swin, hidden_size=64,
              auxiliary_in_channels=128, auxiliary_channels=64),
    detection("upernet_convnext", class_name="UperNetForSemanticSegmentation",
              backbone_config={"model_type": "convnext", "hidden_sizes": [32, 64, 128, 256], "depths": [2, 2, 2, 2],
                               "out_features": ["stage1", "stage2", "stage3", "stage4"]},
              hidden_size=64, auxiliary_in_channels=128, auxiliary_channels=64),
    detection("maskformer", class_name="MaskFormerForInstanceSegmentation", backbone_config=swin, fpn_feature_size=64,
              mask_feature_size=64,
              decoder_config={"model_type": "detr", "backbone_config": resnet_all, "d_model": 64, "num_queries": 16,
                              "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
                              "decoder_attention_heads": 4, "encoder_ffn_dim": 128, "decoder_ffn_dim": 128,
                              "use_timm_backbone": False, "use_pretrained_backbone": False}),
    detection("mask2former", class_name="Mask2FormerForUniversalSegmentation", backbone_config=swin, feature_size=64,
              mask_feature_size=64, hidden_dim=64, encoder_layers=2, decoder_layers=3, num_attention_heads=4,
              encoder_feedforward_dim=128, dim_feedforward=128, num_queries=16),
    detection("eomt", class_name="EomtForUniversalSegmentation", image_size=64, patch_size=8, hidden_size=128,
              num_hidden_layers=4, num_attention_heads=4, num_blocks=2, num_queries=16),
    detection("d_fine", class_name="DFineForObjectDetection", d_model=64, encoder_hidden_dim=64,
              encoder_in_channels=[96, 128, 256], decoder_in_channels=[64, 64, 64], encoder_ffn_dim=128,
              decoder_ffn_dim=128, encoder_attention_heads=4, decoder_attention_heads=4, decoder_layers=2,
              num_queries=16, head_dim=16,
              backbone_config={"model_type": "hgnet_v2", "stem_channels": [3, 16, 24],
                               "stage_in_channels": [24, 48, 96, 128], "stage_mid_channels": [24, 32, 48, 64],
                               "stage_out_channels": [48, 96, 128, 256], "hidden_sizes": [48, 96, 128, 256],
                               "stage_numb_of_layers": [2, 2, 2, 2],
                               "stage_num_blocks": [1, 1, 1, 1], "out_features": ["stage2", "stage3", "stage4"]}),
    detection("swin_backbone", class_name="SwinBackbone", inputs=pixels(),
              **{k: v for k, v in swin.items() if k != "model_type"}),
]  # fmt: skip
