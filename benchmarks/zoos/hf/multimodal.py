"""Models of text together with images, audio or page layout: two towers, and encoders of both at once."""

from __future__ import annotations

from functools import partial

import torch

from autoinit import Input

from .declare import BATCH, VOCABULARY, WIDTHS, entry, images, text, tokens

SMALL = {**WIDTHS, "num_hidden_layers": 3, "intermediate_size": 256}
image_tower = {"image_size": 64, "patch_size": 16, **SMALL}
text_tower = {
    "vocab_size": VOCABULARY, "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
    **SMALL,
}  # fmt: skip
captioned = text(24, pixel_values=images())


def ordered_boxes(length: int) -> torch.Tensor:
    """(x0, y0, x1, y1) with x0 <= x1 and y0 <= y1, as page layouts have them."""
    corners = torch.randint(0, 500, (BATCH, length, 4), generator=torch.Generator().manual_seed(0))
    return torch.cat([corners[..., :2], corners[..., :2] + corners[..., 2:]], -1)


multimodal = partial(entry, family="multimodal", inputs=captioned)
towers = partial(multimodal, text_config=text_tower, vision_config=image_tower, projection_dim=64)
joint = partial(multimodal, vocab_size=VOCABULARY, max_position_embeddings=64, **SMALL)

ENTRIES = [
    towers("clip", class_name="CLIPModel"),
    towers("siglip", class_name="SiglipModel", text_config={**text_tower, "projection_size": 128}),
    towers("chinese_clip", class_name="ChineseCLIPModel"),
    towers("altclip", class_name="AltCLIPModel", text_config={**text_tower, "project_dim": 64}),
    towers("metaclip_2", class_name="MetaClip2Model"),
    towers("clipseg", class_name="CLIPSegForImageSegmentation", extract_layers=[0, 1, 2], reduce_dim=32,
           decoder_intermediate_size=64),
    towers("owlvit", class_name="OwlViTForObjectDetection", projection_dim=128),
    towers("owlv2", class_name="Owlv2ForObjectDetection", projection_dim=128),
    towers("groupvit", class_name="GroupViTModel", projection_intermediate_dim=128,
           vision_config={**image_tower, "depths": [2, 1, 1], "num_group_tokens": [8, 4, 0],
                          "num_output_groups": [8, 4, 4]}),
    towers("x_clip", class_name="XCLIPModel", prompt_num_attention_heads=4,
           inputs=text(24, pixel_values=(BATCH, 4, 3, 64, 64)),
           vision_config={**image_tower, "num_frames": 4, "mit_hidden_size": 64, "mit_intermediate_size": 128,
                          "mit_num_attention_heads": 4}),
    towers("align", class_name="AlignModel", projection_dim=160,
           vision_config={"image_size": 64, "hidden_dim": 640, "width_coefficient": 0.5, "depth_coefficient": 0.5}),
    towers("clap", class_name="ClapModel", inputs=text(24, input_features=(BATCH, 1, 64, 64)),
           audio_config={"spec_size": 64, "num_mel_bins": 64, "window_size": 4, "patch_embeds_hidden_size": 32,
                         "depths": [2, 2, 2], "num_attention_heads": [2, 4, 8], "hidden_size": 128,
                         "projection_dim": 64}),
    towers("blip", class_name="BlipForConditionalGeneration",
           text_config={**text_tower, "encoder_hidden_size": 128, "use_cache": False}),
    towers("blip_retrieval", class_name="BlipForImageTextRetrieval", image_text_hidden_size=64,
           text_config={**text_tower, "encoder_hidden_size": 128, "use_cache": False}),
    towers("vision_text_dual_encoder", class_name="VisionTextDualEncoderModel",
           text_config={"model_type": "bert", **text_tower}, vision_config={"model_type": "vit", **image_tower}),
    multimodal("flava", class_name="FlavaModel", text_config=text_tower, image_config=image_tower,
               multimodal_config={**SMALL, "num_hidden_layers": 2}, hidden_size=128, projection_dim=64),
    multimodal("bridgetower", class_name="BridgeTowerForImageAndTextRetrieval", hidden_size=128, num_hidden_layers=2,
               num_attention_heads=4, intermediate_size=256, text_config=text_tower,
               vision_config={"image_size": 64, "patch_size": 16, "hidden_size": 128, "num_hidden_layers": 3},
               note="heads of the image tower have 64 features"),
    joint("vilt", class_name="ViltForMaskedLM", image_size=64, patch_size=16),
    joint("git", class_name="GitForCausalLM", vision_config=image_tower, use_cache=False),
    joint("visual_bert", class_name="VisualBertForPreTraining", visual_embedding_dim=64,
          inputs=text(24, visual_embeds=(BATCH, 16, 64), visual_attention_mask=torch.ones(BATCH, 16),
                      attention_mask=torch.ones(BATCH, 24))),
    joint("lxmert", class_name="LxmertModel", l_layers=2, x_layers=2, r_layers=2, visual_feat_dim=64,
          num_hidden_layers={"language": 2, "vision": 2, "cross_encoder": 2},
          inputs=text(24, visual_feats=(BATCH, 16, 64), visual_pos=(BATCH, 16, 4))),
    joint("layoutlmv3", class_name="LayoutLMv3ForTokenClassification", hidden_size=144, coordinate_size=24,
          shape_size=24, input_size=64, rel_pos_bins=16, rel_2d_pos_bins=16,
          inputs=lambda _: text(24, bbox=ordered_boxes(24), pixel_values=images())),
    joint("markuplm", class_name="MarkupLMForTokenClassification", max_depth=8, xpath_unit_hidden_size=16,
          inputs=text(24, xpath_tags_seq=Input((BATCH, 24, 8), vocabulary=216),
                      xpath_subs_seq=Input((BATCH, 24, 8), vocabulary=1000))),
    multimodal("udop", class_name="UdopForConditionalGeneration", vocab_size=VOCABULARY, d_model=128, d_kv=32,
               d_ff=256, num_layers=3, num_decoder_layers=3, num_heads=4, image_size=64, patch_size=16,
               use_cache=False,
               inputs=lambda _: text(24, bbox=ordered_boxes(24) / 1000.0, pixel_values=images(),
                                     decoder_input_ids=tokens(16))),
]  # fmt: skip
