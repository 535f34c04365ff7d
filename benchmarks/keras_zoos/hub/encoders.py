"""Text encoders, and encoders with a decoder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keras_hub import models

from .sizes import DEEP, HEADS, INNER, LAYERS, TEXT, VOCABULARY, WIDTH

ENCODERS: dict[str, Callable[[], Any]] = {
    "Albert": lambda: models.AlbertBackbone(**TEXT, embedding_dim=64),
    "Bert": lambda: models.BertBackbone(**TEXT),
    "DebertaV3": lambda: models.DebertaV3Backbone(**TEXT, max_sequence_length=64, bucket_size=16),
    "DistilBert": lambda: models.DistilBertBackbone(**TEXT),
    "ESM": lambda: models.ESMBackbone(**TEXT),
    "Electra": lambda: models.ElectraBackbone(vocab_size=VOCABULARY, embedding_dim=64, **DEEP),
    "FNet": lambda: models.FNetBackbone(**{k: v for k, v in TEXT.items() if k != "num_heads"}),
    "Roberta": lambda: models.RobertaBackbone(**TEXT),
    "RoformerV2": lambda: models.RoformerV2Backbone(**TEXT, head_size=WIDTH // HEADS),
    "XLMRoberta": lambda: models.XLMRobertaBackbone(**TEXT),
    "XLNet": lambda: models.XLNetBackbone(**TEXT),
}

BOTH_GEMMA: dict[str, Any] = {
    f"{side}_{key}": value
    for side in ("encoder", "decoder")
    for key, value in {
        "hidden_dim": WIDTH,
        "intermediate_dim": INNER,
        "num_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": HEADS // 2,
        "head_dim": WIDTH // HEADS,
        "layer_types": ["full_attention", "sliding_attention", "full_attention"],
    }.items()
}


ENCODER_DECODERS: dict[str, Callable[[], Any]] = {
    "Bart": lambda: models.BartBackbone(**TEXT),
    "EdRec": lambda: models.EdRecBackbone(
        vocab_size=VOCABULARY, num_layers_enc=LAYERS, num_layers_dec=LAYERS, hidden_dim=WIDTH, intermediate_dim=INNER,
        num_heads=HEADS,
    ),
    "T5": lambda: models.T5Backbone(**TEXT),
    "T5Gemma": lambda: models.T5GemmaBackbone(
        vocabulary_size=VOCABULARY, sliding_window=16, query_pre_attn_scalar=WIDTH / HEADS, **BOTH_GEMMA
    ),
    "T5Gemma2": lambda: models.T5Gemma2Backbone(
        vocabulary_size=VOCABULARY, sliding_window=16, query_pre_attn_scalar=WIDTH / HEADS, **BOTH_GEMMA
    ),
}  # fmt: skip
