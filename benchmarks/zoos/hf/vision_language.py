"""Language models that read images (or audio): their features take the place of some tokens."""

from __future__ import annotations

from functools import partial

import torch

from autoinit import Input

from .declare import BATCH, VOCABULARY, WIDTHS, entry, images, text, tokens

SMALL = {**WIDTHS, "num_hidden_layers": 3, "intermediate_size": 256}
PICTURE = VOCABULARY - 1
"""The token that stands for a piece of the image."""

language = {
    "vocab_size": VOCABULARY, "max_position_embeddings": 128, "num_key_value_heads": 2, "use_cache": False,
    "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, **SMALL,
}  # fmt: skip
llama = {"model_type": "llama", **language}
image_tower = {"image_size": 64, "patch_size": 16, **SMALL}


def picture_and_words(pieces: int, words: int = 24) -> torch.Tensor:
    """Token numbers: so many for the image, then words."""
    numbers = torch.randint(3, PICTURE, (BATCH, words), generator=torch.Generator().manual_seed(0))
    return torch.cat([torch.full((BATCH, pieces), PICTURE), numbers], 1)


def looking(pieces: int, **others: object) -> dict[str, object]:
    return {"input_ids": picture_and_words(pieces), "pixel_values": images(), **others}


reader = partial(entry, family="vision-language")

ENTRIES = [
    reader("llava", class_name="LlavaForConditionalGeneration", inputs=looking(16), text_config=llama,
           vision_config={"model_type": "clip_vision_model", **image_tower}, image_token_index=PICTURE,
           image_token_id=PICTURE),
    reader("vipllava", class_name="VipLlavaForConditionalGeneration", inputs=looking(16), text_config=llama,
           vision_config={"model_type": "clip_vision_model", **image_tower}, image_token_index=PICTURE,
           image_token_id=PICTURE, vision_feature_layers=[-1, -2]),
    reader("paligemma", class_name="PaliGemmaForConditionalGeneration",
           inputs=looking(16, token_type_ids=torch.zeros(BATCH, 40, dtype=torch.int64)),
           text_config={"model_type": "gemma", "head_dim": 32, **language},
           vision_config={"model_type": "siglip_vision_model", "vision_use_head": False, **image_tower},
           image_token_index=PICTURE, image_token_id=PICTURE, projection_dim=128, hidden_size=128,
           vocab_size=VOCABULARY),
    reader("gemma3_vision", class_name="Gemma3ForConditionalGeneration", mm_tokens_per_image=4,
           inputs=looking(4, token_type_ids=torch.zeros(BATCH, 28, dtype=torch.int64)),
           text_config={"head_dim": 32, "sliding_window": 16, "query_pre_attn_scalar": 32, **language},
           vision_config={"vision_use_head": False, **image_tower}, image_token_index=PICTURE,
           image_token_id=PICTURE),
    reader("internvl", class_name="InternVLForConditionalGeneration", inputs=looking(4),
           text_config={"model_type": "qwen2", **language}, image_token_id=PICTURE, image_seq_length=4,
           vision_config={"image_size": [64, 64], "patch_size": [16, 16], **SMALL}),
    reader("blip_2", class_name="Blip2ForConditionalGeneration", inputs=looking(8), num_query_tokens=8,
           vision_config=image_tower, image_token_index=PICTURE, image_token_id=PICTURE,
           qformer_config={"vocab_size": VOCABULARY, "encoder_hidden_size": 128, **SMALL},
           text_config={"model_type": "opt", "vocab_size": VOCABULARY, "hidden_size": 128, "num_hidden_layers": 3,
                        "num_attention_heads": 4, "ffn_dim": 256, "word_embed_proj_dim": 128, "use_cache": False,
                        "max_position_embeddings": 64}),
    reader("instructblip", class_name="InstructBlipForConditionalGeneration",
           inputs=looking(8, qformer_input_ids=tokens(12)), num_query_tokens=8, vision_config=image_tower,
           image_token_index=PICTURE, image_token_id=PICTURE, text_config=llama,
           qformer_config={"vocab_size": VOCABULARY, "encoder_hidden_size": 128, **SMALL}),
    reader("kosmos2", class_name="Kosmos2ForConditionalGeneration", latent_query_num=8,
           inputs=text(32, pixel_values=images(),
                       image_embeds_position_mask=torch.cat([torch.ones(BATCH, 8), torch.zeros(BATCH, 24)], 1)),
           vision_config=image_tower,
           text_config={"vocab_size": VOCABULARY, "embed_dim": 128, "layers": 3, "ffn_dim": 256, "attention_heads": 4,
                        "max_position_embeddings": 64, "use_cache": False}),
    reader("idefics", class_name="IdeficsForVisionText2Text", vocab_size=VOCABULARY, use_cache=False,
           freeze_text_layers=False, freeze_vision_layers=False, alpha_initializer="ones",
           inputs=text(24, pixel_values=(BATCH, 1, 3, 64, 64), attention_mask=torch.ones(BATCH, 24),
                       image_attention_mask=torch.ones(BATCH, 24, 1)),
           vision_config={"embed_dim": 128, "image_size": 64, "patch_size": 16, "num_hidden_layers": 3,
                          "num_attention_heads": 4, "intermediate_size": 256}, **SMALL),
    reader("idefics3", class_name="Idefics3ForConditionalGeneration", scale_factor=2, image_token_id=PICTURE,
           inputs={"input_ids": picture_and_words(4), "pixel_values": (BATCH, 1, 3, 64, 64)}, text_config=llama,
           vision_config=image_tower, pad_token_id=0),
    reader("smolvlm", class_name="SmolVLMForConditionalGeneration", scale_factor=2, image_token_id=PICTURE,
           inputs={"input_ids": picture_and_words(4), "pixel_values": (BATCH, 1, 3, 64, 64)}, text_config=llama,
           vision_config=image_tower, pad_token_id=0),
    reader("qwen2_vl_text", class_name="Qwen2VLForConditionalGeneration", inputs=text(),
           text_config={**language, "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0,
                                                        "mrope_section": [4, 6, 6]}},
           vision_config={"depth": 2, "embed_dim": 64, "hidden_size": 128, "num_heads": 4, "patch_size": 14},
           note="text only: the image tower is not called"),
    reader("fuyu", class_name="FuyuForCausalLM", image_token_id=PICTURE, patch_size=8, vocab_size=VOCABULARY,
           inputs={"input_ids": picture_and_words(16), "image_patches": Input((BATCH, 16, 192))},
           text_config={"model_type": "persimmon", **language}, **SMALL),
    reader("mllama_text", class_name="MllamaForCausalLM", inputs=text(), cross_attention_layers=[1], **language,
           note="text only: layers of cross-attention are skipped"),
    reader("vision_encoder_decoder", class_name="VisionEncoderDecoderModel",
           inputs={"pixel_values": images(), "decoder_input_ids": tokens(24)},
           encoder={"model_type": "vit", **image_tower},
           decoder={"model_type": "bert", "vocab_size": VOCABULARY, "max_position_embeddings": 64, "is_decoder": True,
                    "add_cross_attention": True, "use_cache": False, **SMALL}),
    reader("speech_encoder_decoder", class_name="SpeechEncoderDecoderModel",
           inputs={"input_values": (BATCH, 8000), "decoder_input_ids": tokens(24)},
           encoder={"model_type": "wav2vec2", "conv_dim": [64] * 7, "num_conv_pos_embeddings": 16,
                    "num_conv_pos_embedding_groups": 4, "layerdrop": 0.0, "mask_time_length": 4, **SMALL},
           decoder={"model_type": "bert", "vocab_size": VOCABULARY, "max_position_embeddings": 64, "is_decoder": True,
                    "add_cross_attention": True, "use_cache": False, **SMALL}),
    reader("florence2", class_name="Florence2ForConditionalGeneration",
           inputs=looking(5, decoder_input_ids=tokens(16)), image_token_id=PICTURE,
           text_config={"model_type": "bart", "vocab_size": VOCABULARY, "d_model": 128, "encoder_layers": 2,
                        "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
                        "encoder_ffn_dim": 256, "decoder_ffn_dim": 256, "max_position_embeddings": 64,
                        "use_cache": False},
           vision_config={"depths": [1, 1, 1, 1], "embed_dim": [32, 64, 96, 128], "num_heads": [2, 4, 6, 8],
                          "num_groups": [2, 4, 6, 8], "window_size": 4, "projection_dim": 128}),
    reader("pix2struct", class_name="Pix2StructForConditionalGeneration",
           inputs=lambda _: {"flattened_patches": patches_with_places(), "decoder_input_ids": tokens(24)},
           text_config={"vocab_size": VOCABULARY, "hidden_size": 128, "d_kv": 32, "d_ff": 256, "num_layers": 3,
                        "num_heads": 4},
           vision_config={"hidden_size": 128, "patch_embed_hidden_size": 192, "d_ff": 256, "d_kv": 32,
                          "num_hidden_layers": 3, "num_attention_heads": 4, "seq_len": 32}),
]  # fmt: skip


def patches_with_places() -> torch.Tensor:
    """Flat patches of an image, each led by its row and column."""
    noise = torch.randn(BATCH, 16, 192, generator=torch.Generator().manual_seed(0))
    places = torch.cartesian_prod(torch.arange(1, 5), torch.arange(1, 5)).float().expand(BATCH, -1, -1)
    return torch.cat([places, noise], -1)
