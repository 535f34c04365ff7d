"""Image models: transformers."""

from __future__ import annotations

from functools import partial

from .declare import WIDTHS, entry, images, pixels

vision = partial(entry, family="vision", inputs=pixels(), num_labels=100)
vit_like = partial(vision, image_size=64, patch_size=8, **WIDTHS)
pyramid = partial(
    vision, depths=[2, 2, 2, 2], hidden_sizes=[32, 64, 128, 160], num_attention_heads=[1, 2, 4, 5],
    sr_ratios=[8, 4, 2, 1],
)  # fmt: skip
swin_like = partial(
    vision, image_size=64, patch_size=2, embed_dim=48, depths=[2, 2, 2], num_heads=[3, 6, 12], window_size=4
)
deep = {"out_indices": [1, 2, 3, 4]}
dino_backbone = {
    "model_type": "dinov2", "image_size": 70, "patch_size": 14, "hidden_size": 128, "num_hidden_layers": 4,
    "num_attention_heads": 4, "reshape_hidden_states": False, **deep,
}  # fmt: skip

ENTRIES = [
    vit_like("vit", class_name="ViTForImageClassification"),
    vit_like("vit_eager", class_name="ViTForImageClassification", attn_implementation="eager"),
    vit_like("deit", class_name="DeiTForImageClassificationWithTeacher"),
    vit_like("beit", class_name="BeitForImageClassification", use_relative_position_bias=True),
    vit_like("data2vec_vision", class_name="Data2VecVisionForImageClassification", use_relative_position_bias=True),
    vit_like("vit_mae", class_name="ViTMAEForPreTraining", decoder_hidden_size=128, decoder_num_hidden_layers=2,
             decoder_num_attention_heads=4, decoder_intermediate_size=256),
    vit_like("vit_msn", class_name="ViTMSNForImageClassification"),
    vit_like("ijepa", class_name="IJepaForImageClassification"),
    vit_like("dinov2", class_name="Dinov2ForImageClassification"),
    vit_like("dinov2_swiglu", class_name="Dinov2ForImageClassification", use_swiglu_ffn=True),
    vit_like("dinov2_with_registers", class_name="Dinov2WithRegistersForImageClassification"),
    vit_like("dinov3_vit", class_name="DINOv3ViTModel", num_register_tokens=4),
    vit_like("dinov3_vit_gated", class_name="DINOv3ViTModel", use_gated_mlp=True),
    vit_like("vitdet", class_name="VitDetModel", use_relative_position_embeddings=True, window_size=4,
             window_block_indices=[0, 2], residual_block_indices=[3], pretrain_image_size=64),
    vit_like("pixio", class_name="PixioModel", n_cls_tokens=4),
    vit_like("yolos", class_name="YolosForObjectDetection", image_size=[64, 64], num_detection_tokens=10),
    vit_like("sam_vision", class_name="SamVisionModel", output_channels=64, window_size=4, global_attn_indexes=[1, 3],
             mlp_dim=256, num_pos_feats=32),
    vit_like("aimv2", class_name="Aimv2VisionModel"),
    vit_like("clip_vision", class_name="CLIPForImageClassification",
             vision_config={"image_size": 64, "patch_size": 8, **WIDTHS}),
    vit_like("siglip_vision", class_name="SiglipForImageClassification",
             vision_config={"image_size": 64, "patch_size": 8, **WIDTHS}),
    swin_like("swin", class_name="SwinForImageClassification"),
    swin_like("swin_eager", class_name="SwinForImageClassification", attn_implementation="eager",
              use_absolute_embeddings=True),
    swin_like("swinv2", class_name="Swinv2ForImageClassification"),
    swin_like("donut_swin", class_name="DonutSwinForImageClassification"),
    vision("swin2sr", class_name="Swin2SRForImageSuperResolution", inputs=pixels(32), image_size=32, embed_dim=60,
           depths=[2, 2], num_heads=[3, 3], window_size=4),
    vision("hiera", class_name="HieraForImageClassification", image_size=[64, 64], embed_dim=48, depths=[1, 2, 2, 1],
           num_heads=[1, 2, 4, 8], masked_unit_size=[8, 8]),
    pyramid("pvt", class_name="PvtForImageClassification", image_size=64, sequence_reduction_ratios=[8, 4, 2, 1]),
    pyramid("pvt_v2", class_name="PvtV2ForImageClassification", image_size=64),
    pyramid("pvt_v2_linear", class_name="PvtV2ForImageClassification", image_size=64, linear_attention=True),
    pyramid("segformer", class_name="SegformerForSemanticSegmentation", decoder_hidden_size=64),
    pyramid("segformer_classifier", class_name="SegformerForImageClassification", attn_implementation="eager"),
    pyramid("glpn", class_name="GLPNForDepthEstimation", decoder_hidden_size=32),
    vision("poolformer", class_name="PoolFormerForImageClassification", depths=[2, 2, 2, 2],
           hidden_sizes=[32, 64, 128, 160]),
    vision("focalnet", class_name="FocalNetForImageClassification", image_size=64, embed_dim=48, depths=[2, 2, 2],
           hidden_sizes=[96, 192, 192], focal_levels=[2, 2, 2], focal_windows=[3, 3, 3]),
    vision("cvt", class_name="CvtForImageClassification", embed_dim=[32, 64, 128], num_heads=[1, 2, 4],
           depth=[1, 2, 3]),
    vision("levit", class_name="LevitForImageClassification", image_size=128, inputs=pixels(128),
           hidden_sizes=[64, 96, 128], num_attention_heads=[2, 3, 4], depths=[2, 2, 2],
           down_ops=[["Subsample", 16, 4, 4, 2, 2], ["Subsample", 16, 6, 4, 2, 2]]),
    vision("mobilevit", class_name="MobileViTForImageClassification", image_size=128, inputs=pixels(128),
           hidden_sizes=[64, 80, 96], neck_hidden_sizes=[16, 16, 32, 48, 64, 80, 160]),
    vision("mobilevitv2", class_name="MobileViTV2ForImageClassification", image_size=128, inputs=pixels(128),
           width_multiplier=0.5),
    vision("swiftformer", class_name="SwiftFormerForImageClassification", image_size=64, depths=[2, 2, 2, 2],
           embed_dims=[32, 48, 64, 96]),
    vit_like("dpt", class_name="DPTForDepthEstimation", backbone_out_indices=[0, 1, 2, 3], fusion_hidden_size=32,
             neck_hidden_sizes=[16, 32, 64, 96]),
    vision("depth_anything", class_name="DepthAnythingForDepthEstimation", inputs=pixels(70),
           backbone_config=dino_backbone, reassemble_hidden_size=128, neck_hidden_sizes=[16, 32, 64, 96],
           fusion_hidden_size=32, head_hidden_size=16),
    vit_like("zoedepth", class_name="ZoeDepthForDepthEstimation",
             backbone_config={"model_type": "beit", "image_size": 64, "patch_size": 8, **WIDTHS, **deep,
                              "reshape_hidden_states": False, "use_relative_position_bias": True},
             fusion_hidden_size=32, neck_hidden_sizes=[16, 32, 64, 96], bottleneck_features=32, bin_embedding_dim=32,
             num_relative_features=16),
    vit_like("vitpose", class_name="VitPoseForPoseEstimation", inputs=pixels(64),
             backbone_config={"model_type": "vitpose_backbone", "image_size": [64, 64], "patch_size": [8, 8],
                              "hidden_size": 128, "num_hidden_layers": 4, "num_attention_heads": 4,
                              "out_indices": [4]},
             use_simple_decoder=False),
    vit_like("seggpt", class_name="SegGptForImageSegmentation", image_size=[128, 64], mlp_dim=256,
             inputs={"pixel_values": images(), "prompt_pixel_values": images(), "prompt_masks": images()},
             decoder_hidden_size=32, merge_index=0, intermediate_hidden_state_indices=[1, 2, 3],
             pretrain_image_size=64),
    vit_like("vitmatte", class_name="VitMatteForImageMatting", inputs=pixels(64, 4),
             backbone_config={"model_type": "vitdet", "image_size": 64, "patch_size": 16, "num_channels": 4,
                              "hidden_size": 128, "num_hidden_layers": 4, "num_attention_heads": 4,
                              "out_indices": [4]},
             hidden_size=128, fusion_hidden_sizes=[64, 32, 32, 16]),
    vit_like("mgp_str", class_name="MgpstrForSceneTextRecognition", image_size=[32, 128], patch_size=4,
             inputs={"pixel_values": (4, 3, 32, 128)}, num_bpe_labels=1000, num_wordpiece_labels=1000),
]  # fmt: skip
