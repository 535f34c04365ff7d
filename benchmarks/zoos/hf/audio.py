"""Audio models: waveforms, spectrograms, codecs, speech to text and text to speech."""

from __future__ import annotations

from functools import partial

import torch

from autoinit import Input

from .declare import BATCH, VOCABULARY, WIDTHS, entry, text, tokens

waveform = {"input_values": (BATCH, 8000)}
wav2vec2_like = partial(
    entry, family="audio", inputs=waveform, vocab_size=32, conv_dim=[64] * 7, num_conv_pos_embeddings=16,
    num_conv_pos_embedding_groups=4, layerdrop=0.0, mask_time_length=4, num_labels=10, classifier_proj_size=64,
    tdnn_dim=[64] * 5, xvector_output_dim=64, **WIDTHS,
)  # fmt: skip
speech_to_text = partial(
    entry, family="audio", d_model=128, encoder_layers=3, decoder_layers=3, encoder_attention_heads=4,
    decoder_attention_heads=4, encoder_ffn_dim=256, decoder_ffn_dim=256, vocab_size=VOCABULARY, use_cache=False,
    pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1,
)  # fmt: skip
vocoder_like = {
    "upsample_initial_channel": 64, "upsample_rates": [4, 4], "upsample_kernel_sizes": [8, 8],
    "resblock_kernel_sizes": [3, 7], "resblock_dilation_sizes": [[1, 3], [1, 3]],
}  # fmt: skip
conformer_features = {"input_features": (BATCH, 64, 80)}

ENTRIES = [
    wav2vec2_like("wav2vec2", class_name="Wav2Vec2ForCTC"),
    wav2vec2_like("wav2vec2_stable_norm", class_name="Wav2Vec2ForSequenceClassification", do_stable_layer_norm=True,
                  feat_extract_norm="layer", conv_bias=True, attn_implementation="eager"),
    wav2vec2_like("wav2vec2_xvector", class_name="Wav2Vec2ForXVector"),
    wav2vec2_like("wav2vec2_pretraining", class_name="Wav2Vec2ForPreTraining", num_codevectors_per_group=32,
                  codevector_dim=64, proj_codevector_dim=64),
    wav2vec2_like("wav2vec2_conformer", class_name="Wav2Vec2ConformerForCTC", conv_depthwise_kernel_size=7),
    wav2vec2_like("wav2vec2_conformer_rotary", class_name="Wav2Vec2ConformerForCTC", conv_depthwise_kernel_size=7,
                  position_embeddings_type="rotary"),
    wav2vec2_like("hubert", class_name="HubertForCTC"),
    wav2vec2_like("wavlm", class_name="WavLMForSequenceClassification", num_buckets=32, max_bucket_distance=80),
    wav2vec2_like("unispeech", class_name="UniSpeechForCTC"),
    wav2vec2_like("unispeech_sat", class_name="UniSpeechSatForSequenceClassification"),
    wav2vec2_like("data2vec_audio", class_name="Data2VecAudioForCTC"),
    wav2vec2_like("sew", class_name="SEWForCTC", conv_dim=[64] * 5, conv_stride=[5, 2, 2, 2, 2],
                  conv_kernel=[10, 3, 3, 3, 2]),
    wav2vec2_like("sew_d", class_name="SEWDForCTC", conv_dim=[64] * 5, conv_stride=[5, 2, 2, 2, 2],
                  conv_kernel=[10, 3, 3, 3, 2], position_buckets=16, max_position_embeddings=64),
    entry("wav2vec2_bert", "audio", "Wav2Vec2BertForCTC", conformer_features, vocab_size=32,
          feature_projection_input_dim=80, conv_depthwise_kernel_size=7, layerdrop=0.0, mask_time_length=4, **WIDTHS),
    entry("audio_spectrogram_transformer", "audio", "ASTForAudioClassification", {"input_values": (BATCH, 64, 64)},
          max_length=64, num_mel_bins=64, patch_size=16, num_labels=10, **WIDTHS),
    speech_to_text("whisper", class_name="WhisperForConditionalGeneration", num_mel_bins=80, max_source_positions=50,
                   max_target_positions=64,
                   inputs={"input_features": (BATCH, 80, 100), "decoder_input_ids": tokens(24)}),
    speech_to_text("speech_to_text", class_name="Speech2TextForConditionalGeneration", conv_channels=128,
                   max_source_positions=200, max_target_positions=64,
                   inputs={"input_features": (BATCH, 100, 80), "decoder_input_ids": tokens(24)}),
    entry("moonshine", "audio", "MoonshineForConditionalGeneration",
          {"input_values": (BATCH, 8000), "decoder_input_ids": tokens(24)}, vocab_size=VOCABULARY, hidden_size=128,
          intermediate_size=256, encoder_num_hidden_layers=3, decoder_num_hidden_layers=3,
          encoder_num_attention_heads=4, decoder_num_attention_heads=4, encoder_num_key_value_heads=4,
          decoder_num_key_value_heads=4, use_cache=False),
    entry("parakeet_encoder", "audio", "ParakeetEncoder", {"input_features": (BATCH, 128, 80)}, num_mel_bins=80,
          subsampling_conv_channels=32, layerdrop=0.0, **WIDTHS),
    entry("speecht5", "audio", "SpeechT5ForTextToSpeech",
          {"input_ids": tokens(32, 80), "decoder_input_values": (BATCH, 24, 80), "speaker_embeddings": (BATCH, 64)},
          hidden_size=128, encoder_layers=3, decoder_layers=3, encoder_attention_heads=4, decoder_attention_heads=4,
          encoder_ffn_dim=256, decoder_ffn_dim=256, encoder_layerdrop=0.0, decoder_layerdrop=0.0,
          speaker_embedding_dim=64, speech_decoder_prenet_units=64, speech_decoder_postnet_units=64,
          encoder_max_relative_position=16, use_cache=False),
    entry("speecht5_vocoder", "audio", "SpeechT5HifiGan", {"spectrogram": (BATCH, 32, 80)}, **vocoder_like),
    entry("vits_encoder", "audio", "VitsModel", {"input_ids": tokens(24, 38)}, hidden_size=64, num_hidden_layers=2,
          num_attention_heads=2, ffn_dim=128, layerdrop=0.0, flow_size=64, spectrogram_bins=65,
          duration_predictor_filter_channels=64, posterior_encoder_num_wavenet_layers=2, **vocoder_like,
          note="the length of the output depends on predicted durations"),
    entry("fastspeech2_conformer", "audio", "FastSpeech2ConformerModel",
          {"input_ids": tokens(24, 78), "spectrogram_labels": (BATCH, 48, 80), "pitch_labels": (BATCH, 24, 1),
           "energy_labels": (BATCH, 24, 1), "duration_labels": torch.full((BATCH, 24), 2)},
          hidden_size=128, encoder_layers=2, decoder_layers=2, encoder_linear_units=256, decoder_linear_units=256,
          encoder_num_attention_heads=4, decoder_num_attention_heads=4, duration_predictor_channels=64,
          energy_predictor_channels=64, pitch_predictor_channels=64, speech_decoder_postnet_units=64),
    entry("encodec", "audio", "EncodecModel", {"input_values": (BATCH, 1, 3200)}, num_filters=16, hidden_size=64,
          codebook_dim=64, codebook_size=64),
    entry("dac", "audio", "DacModel", {"input_values": (BATCH, 1, 4096)}, encoder_hidden_size=16,
          decoder_hidden_size=256, n_codebooks=4, codebook_size=128, codebook_dim=16),
    entry("mimi", "audio", "MimiModel", {"input_values": (BATCH, 1, 3840)}, num_filters=16, hidden_size=64,
          upsample_groups=64, codebook_dim=32, codebook_size=64, num_quantizers=4, num_hidden_layers=2,
          vector_quantization_hidden_dimension=32, num_attention_heads=4, num_key_value_heads=4, head_dim=16,
          intermediate_size=128),
    entry("univnet", "audio", "UnivNetModel", {"input_features": (BATCH, 24, 100)}, model_in_channels=64,
          model_hidden_channels=16, resblock_stride_sizes=[4, 4],
          resblock_kernel_sizes=[3, 3], resblock_dilation_sizes=[[1, 3], [1, 3]]),
    entry("musicgen_decoder", "audio", "MusicgenForCausalLM", {"input_ids": Input((8, 24), vocabulary=256)},
          vocab_size=256, hidden_size=128, num_hidden_layers=4, num_attention_heads=4, ffn_dim=256, num_codebooks=2,
          max_position_embeddings=64, use_cache=False),
    entry("bark_semantic", "audio", "BarkSemanticModel", text(), input_vocab_size=VOCABULARY, hidden_size=128,
          output_vocab_size=VOCABULARY, num_layers=4, num_heads=4, block_size=64, use_cache=False),
    entry("clap_audio", "audio", "ClapAudioModel",
          {"input_features": (BATCH, 1, 64, 64), "is_longer": None}, spec_size=64, num_mel_bins=64, window_size=4,
          patch_embeds_hidden_size=32, depths=[2, 2, 2], num_attention_heads=[2, 4, 8], hidden_size=128,
          projection_dim=64),
]  # fmt: skip
