"""Forecasting of time series."""

from __future__ import annotations

from functools import partial

import torch

from autoinit import Input

from .declare import BATCH, entry

CONTEXT, LAGS, HORIZON, CHANNELS = 48, 3, 12, 4
series = {"past_values": (BATCH, CONTEXT, CHANNELS)}
covariates = {
    "past_values": (BATCH, CONTEXT + LAGS),
    "past_time_features": (BATCH, CONTEXT + LAGS, 2),
    "past_observed_mask": torch.ones(BATCH, CONTEXT + LAGS),
    "static_categorical_features": Input((BATCH, 1), vocabulary=8),
    "future_values": (BATCH, HORIZON),
    "future_time_features": (BATCH, HORIZON, 2),
}

patches = partial(
    entry, family="time series", inputs=series, context_length=CONTEXT, num_input_channels=CHANNELS, patch_length=8,
    patch_stride=4, d_model=128, prediction_length=HORIZON,
)  # fmt: skip
sequence = partial(
    entry, family="time series", inputs=covariates, prediction_length=HORIZON, context_length=CONTEXT,
    lags_sequence=[1, 2, LAGS], num_time_features=2, num_static_categorical_features=1, cardinality=[8],
    embedding_dimension=[8], d_model=128, encoder_layers=3, decoder_layers=3, encoder_attention_heads=4,
    decoder_attention_heads=4, encoder_ffn_dim=256, decoder_ffn_dim=256, use_cache=False,
)  # fmt: skip

ENTRIES = [
    patches("patchtst", class_name="PatchTSTForPrediction", num_hidden_layers=4, num_attention_heads=4, ffn_dim=256),
    patches("patchtst_classifier", class_name="PatchTSTForClassification", num_hidden_layers=4, num_targets=5,
            num_attention_heads=4, ffn_dim=256, norm_type="layernorm", use_cls_token=True),
    patches("patchtst_pretraining", class_name="PatchTSTForPretraining", num_hidden_layers=4, do_mask_input=True,
            num_attention_heads=4, ffn_dim=256),
    patches("patchtsmixer", class_name="PatchTSMixerForPrediction", num_layers=4),
    patches("patchtsmixer_channels", class_name="PatchTSMixerForPrediction", num_layers=4, mode="mix_channel",
            self_attn=True, norm_mlp="BatchNorm"),
    sequence("time_series_transformer", class_name="TimeSeriesTransformerForPrediction"),
    sequence("informer", class_name="InformerForPrediction"),
    sequence("autoformer", class_name="AutoformerForPrediction", label_length=6, moving_average=7),
    entry("timesfm", "time series", "TimesFmModelForPrediction",
          {"past_values": (BATCH, 64), "freq": torch.zeros(BATCH, dtype=torch.int64)}, hidden_size=128,
          intermediate_size=128, num_hidden_layers=3, num_attention_heads=4, head_dim=32, patch_length=16,
          context_length=64, horizon_length=32),
]  # fmt: skip
