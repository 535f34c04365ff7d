"""Images with text, sound, and diffusion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keras_hub import models
from keras_hub.src.models.blip2.blip2_custom_opt import BLIP2CustomOPT
from keras_hub.src.models.blip2.blip2_qformer import BLIP2QFormer
from keras_hub.src.models.blip2.blip2_vision_encoder import BLIP2VisionEncoder
from keras_hub.src.models.clip.clip_text_encoder import CLIPTextEncoder
from keras_hub.src.models.clip.clip_vision_encoder import CLIPVisionEncoder
from keras_hub.src.models.gemma3.gemma3_vision_encoder import Gemma3VisionEncoder
from keras_hub.src.models.metaclip_2.metaclip_2_text_encoder import MetaCLIP2TextEncoder
from keras_hub.src.models.metaclip_2.metaclip_2_vision_encoder import MetaCLIP2VisionEncoder
from keras_hub.src.models.siglip.siglip_text_encoder import SigLIPTextEncoder
from keras_hub.src.models.siglip.siglip_vision_encoder import SigLIPVisionEncoder
from keras_hub.src.models.vae.vae_backbone import VAEBackbone

from .sizes import DEEP, GROUPED, HEADS, IMAGE, INNER, LAYERS, TEXT, TOKENS, VOCABULARY, WIDTH

VISION: dict[str, Any] = {"patch_size": 16, "image_shape": IMAGE, **DEEP}
LANGUAGE: dict[str, Any] = {**TEXT, "embedding_dim": WIDTH}


def blip2() -> Any:
    return models.BLIP2Backbone(
        vision_encoder=BLIP2VisionEncoder(
            image_size=64, patch_size=16, num_layers=2, num_heads=HEADS, hidden_dim=WIDTH, intermediate_dim=INNER,
            use_patch_bias=True, use_class_token=True, use_mha_bias=True, use_mlp_bias=True, dropout_rate=0.0,
            layer_norm_epsilon=1e-6, initializer_range=0.02,
        ),
        qformer=BLIP2QFormer(
            num_query_tokens=8, num_layers=2, num_heads=HEADS, hidden_dim=WIDTH, intermediate_dim=INNER,
            vision_dim=WIDTH, cross_attention_frequency=2, dropout=0.1, layer_norm_epsilon=1e-12,
        ),
        language_model=BLIP2CustomOPT(
            **TEXT, num_query_tokens=8, dropout=0.1, max_sequence_length=64, qformer_hidden_dim=WIDTH
        ),
    )  # fmt: skip


def clip_text(width: int = WIDTH, **settings: Any) -> Any:
    deep = {**LANGUAGE, "hidden_dim": width, "embedding_dim": width}
    return CLIPTextEncoder(**deep, max_sequence_length=TOKENS, **settings)


def gemma3() -> Any:
    return models.Gemma3Backbone(
        **GROUPED, image_size=64, head_dim=WIDTH // HEADS, use_post_ffw_norm=True, use_post_attention_norm=True,
        vision_encoder=Gemma3VisionEncoder(
            image_size=64, patch_size=16, num_heads=HEADS, hidden_dim=WIDTH, num_layers=2, intermediate_dim=INNER,
            output_dim=WIDTH, pool_size=2,
        ),
    )  # fmt: skip


def stable_diffusion() -> Any:
    return models.StableDiffusion3Backbone(
        mmdit_patch_size=2, mmdit_hidden_dim=WIDTH, mmdit_num_layers=2, mmdit_num_heads=2, mmdit_position_size=192,
        mmdit_qk_norm="rms_norm", mmdit_dual_attention_indices=None, latent_channels=16, image_shape=IMAGE,
        vae=VAEBackbone([32, 32, 32, 32], [1, 1, 1, 1], [32, 32, 32, 32], [1, 1, 1, 1]),
        clip_l=clip_text(64, intermediate_output_index=1, name="clip_l"),
        clip_g=clip_text(64, intermediate_output_index=1, name="clip_g"),
    )  # fmt: skip


MULTIMODAL: dict[str, Callable[[], Any]] = {
    "BLIP2": blip2,
    "CLIP": lambda: models.CLIPBackbone(
        CLIPVisionEncoder(**VISION), clip_text(), projection_dim=64
    ),
    "Gemma3 with images": gemma3,
    "MetaCLIP2": lambda: models.MetaCLIP2Backbone(
        MetaCLIP2VisionEncoder(**VISION), MetaCLIP2TextEncoder(**LANGUAGE, max_sequence_length=TOKENS),
        projection_dim=64,
    ),
    "PaliGemma": lambda: models.PaliGemmaBackbone(
        **GROUPED, image_size=64, head_dim=WIDTH // HEADS, vit_patch_size=16, vit_num_heads=HEADS, vit_hidden_dim=WIDTH,
        vit_num_layers=2, vit_intermediate_dim=INNER,
    ),
    "SigLIP": lambda: models.SigLIPBackbone(
        SigLIPVisionEncoder(**VISION), SigLIPTextEncoder(**LANGUAGE, max_sequence_length=TOKENS)
    ),
    "VideoPrism with text": lambda: models.VideoPrismBackbone(
        num_frames=4, patch_size=16, hidden_dim=WIDTH, intermediate_dim=INNER, num_heads=HEADS,
        num_spatial_layers=2, num_temporal_layers=2, num_auxiliary_layers=1, image_shape=IMAGE,
        vocabulary_size=VOCABULARY, num_text_layers=2,
    ),
}  # fmt: skip

AUDIO: dict[str, Callable[[], Any]] = {
    "Moonshine": lambda: models.MoonshineBackbone(
        vocabulary_size=VOCABULARY, filter_dim=WIDTH, encoder_num_layers=LAYERS, decoder_num_layers=LAYERS,
        hidden_dim=WIDTH, intermediate_dim=INNER, encoder_num_heads=HEADS, decoder_num_heads=HEADS,
    ),
    "Whisper": lambda: models.WhisperBackbone(
        **TEXT, max_encoder_sequence_length=64, max_decoder_sequence_length=TOKENS
    ),
}  # fmt: skip

DIFFUSION: dict[str, Callable[[], Any]] = {
    "Flux": lambda: models.FluxBackbone(
        input_channels=64, hidden_size=WIDTH, mlp_ratio=2.0, num_heads=HEADS, depth=2, depth_single_blocks=2,
        axes_dim=[8, 12, 12], theta=10000, use_bias=True, guidance_embed=True, image_shape=(16, 64),
        text_shape=(TOKENS, 64), image_ids_shape=(16, 3), text_ids_shape=(TOKENS, 3), y_shape=(64,),
    ),
    "StableDiffusion3": stable_diffusion,
}  # fmt: skip
