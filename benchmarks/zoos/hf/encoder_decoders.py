"""Encoder-decoders for text."""

from __future__ import annotations

from functools import partial

from .declare import LENGTH, VOCABULARY, entry, text, tokens

pairs = text(decoder_input_ids=tokens(32))

bart_like = partial(
    entry, family="encoder-decoder", inputs=pairs, vocab_size=VOCABULARY, d_model=128, encoder_layers=3,
    decoder_layers=3, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=256, decoder_ffn_dim=256,
    max_position_embeddings=64, encoder_layerdrop=0.0, decoder_layerdrop=0.0, use_cache=False,
)  # fmt: skip
t5_like = partial(
    entry, family="encoder-decoder", inputs=pairs, vocab_size=VOCABULARY, d_model=128, d_kv=32, d_ff=256, num_layers=3,
    num_heads=4, use_cache=False, decoder_start_token_id=0,
)  # fmt: skip
gemma_half = {
    "vocab_size": VOCABULARY, "hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 32, "sliding_window": 16,
    "query_pre_attn_scalar": 32, "use_cache": False,
}  # fmt: skip

ENTRIES = [
    t5_like("t5", class_name="T5ForConditionalGeneration"),
    t5_like("t5_gated", class_name="T5ForConditionalGeneration", feed_forward_proj="gated-gelu",
            tie_word_embeddings=False),
    t5_like("t5_encoder", class_name="T5EncoderModel", inputs=text()),
    t5_like("mt5", class_name="MT5ForConditionalGeneration"),
    t5_like("umt5", class_name="UMT5ForConditionalGeneration"),
    t5_like("longt5_local", class_name="LongT5ForConditionalGeneration", local_radius=7),
    t5_like("longt5_global", class_name="LongT5ForConditionalGeneration", local_radius=7, global_block_size=8,
            encoder_attention_type="transient-global"),
    t5_like("pop2piano", class_name="Pop2PianoForConditionalGeneration"),
    bart_like("bart", class_name="BartForConditionalGeneration"),
    bart_like("bart_eager", class_name="BartForConditionalGeneration", attn_implementation="eager",
              scale_embedding=True),
    bart_like("mbart", class_name="MBartForConditionalGeneration"),
    bart_like("pegasus", class_name="PegasusForConditionalGeneration"),
    bart_like("pegasus_x", class_name="PegasusXForConditionalGeneration", block_size=16, num_global_tokens=8),
    bart_like("bigbird_pegasus", class_name="BigBirdPegasusForConditionalGeneration", attention_type="original_full"),
    bart_like("blenderbot", class_name="BlenderbotForConditionalGeneration"),
    bart_like("blenderbot_small", class_name="BlenderbotSmallForConditionalGeneration"),
    bart_like("m2m_100", class_name="M2M100ForConditionalGeneration"),
    bart_like("marian", class_name="MarianMTModel", decoder_vocab_size=VOCABULARY, pad_token_id=0,
              decoder_start_token_id=0),
    bart_like("plbart", class_name="PLBartForConditionalGeneration"),
    bart_like("mvp", class_name="MvpForConditionalGeneration"),
    bart_like("led", class_name="LEDForConditionalGeneration", attention_window=16, max_encoder_position_embeddings=64,
              max_decoder_position_embeddings=64),
    bart_like("fsmt", class_name="FSMTForConditionalGeneration", src_vocab_size=VOCABULARY,
              tgt_vocab_size=VOCABULARY),
    entry("prophetnet", "encoder-decoder", "ProphetNetForConditionalGeneration", pairs, vocab_size=VOCABULARY,
          hidden_size=128, num_encoder_layers=3, num_decoder_layers=3, num_encoder_attention_heads=4,
          num_decoder_attention_heads=4, encoder_ffn_dim=256, decoder_ffn_dim=256, max_position_embeddings=64,
          use_cache=False),
    entry("t5gemma", "encoder-decoder", "T5GemmaForConditionalGeneration", pairs, vocab_size=VOCABULARY,
          encoder=gemma_half, decoder=gemma_half),
    entry("encoder_decoder", "encoder-decoder", "EncoderDecoderModel", pairs,
          encoder={"model_type": "bert", "vocab_size": VOCABULARY, "hidden_size": 128, "num_hidden_layers": 3,
                   "num_attention_heads": 4, "intermediate_size": 256, "max_position_embeddings": LENGTH},
          decoder={"model_type": "gpt2", "vocab_size": VOCABULARY, "n_embd": 128, "n_layer": 3, "n_head": 4,
                   "n_positions": LENGTH, "add_cross_attention": True, "is_decoder": True, "use_cache": False}),
]  # fmt: skip
