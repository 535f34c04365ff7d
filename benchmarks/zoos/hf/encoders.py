"""Text encoders."""

from __future__ import annotations

from functools import partial

from autoinit import Input

from .declare import BATCH, LENGTH, VOCABULARY, WIDTHS, entry, text

bert_like = partial(
    entry, family="encoder", inputs=text(), vocab_size=VOCABULARY, max_position_embeddings=2 * LENGTH, **WIDTHS
)

ENTRIES = [
    bert_like("bert", class_name="BertForMaskedLM"),
    bert_like("bert_eager", class_name="BertForSequenceClassification", attn_implementation="eager"),
    bert_like("bert_generation", class_name="BertGenerationEncoder"),
    bert_like("megatron_bert", class_name="MegatronBertForMaskedLM"),
    bert_like("roberta", class_name="RobertaForMaskedLM"),
    bert_like("roberta_prelayernorm", class_name="RobertaPreLayerNormForMaskedLM"),
    bert_like("camembert", class_name="CamembertForTokenClassification"),
    bert_like("xlm_roberta", class_name="XLMRobertaForSequenceClassification"),
    bert_like("xlm_roberta_xl", class_name="XLMRobertaXLForMaskedLM"),
    bert_like("xmod", class_name="XmodForMaskedLM", default_language="en_XX"),
    bert_like("data2vec_text", class_name="Data2VecTextForMaskedLM"),
    bert_like("ernie", class_name="ErnieForMaskedLM"),
    bert_like("electra", class_name="ElectraForPreTraining", embedding_size=64),
    bert_like("electra_generator", class_name="ElectraForMaskedLM", embedding_size=128),
    bert_like("albert", class_name="AlbertForMaskedLM", embedding_size=64),
    bert_like("deberta", class_name="DebertaForMaskedLM", relative_attention=True, pos_att_type=["c2p", "p2c"]),
    bert_like("deberta_v2", class_name="DebertaV2ForSequenceClassification", relative_attention=True,
              pos_att_type=["c2p", "p2c"], position_buckets=16, norm_rel_ebd="layer_norm", share_att_key=True,
              conv_kernel_size=3),
    bert_like("mpnet", class_name="MPNetForMaskedLM"),
    bert_like("modernbert", class_name="ModernBertForMaskedLM", local_attention=16, pad_token_id=0, bos_token_id=1,
              eos_token_id=2, cls_token_id=1, sep_token_id=2),
    bert_like("nomic_bert", class_name="NomicBertForMaskedLM"),
    bert_like("convbert", class_name="ConvBertForMaskedLM", embedding_size=64),
    bert_like("rembert", class_name="RemBertForMaskedLM", input_embedding_size=64, output_embedding_size=128),
    bert_like("roformer", class_name="RoFormerForMaskedLM", embedding_size=64),
    bert_like("squeezebert", class_name="SqueezeBertForMaskedLM", embedding_size=128),
    bert_like("mobilebert", class_name="MobileBertForMaskedLM", embedding_size=64, intra_bottleneck_size=64,
              true_hidden_size=64),
    bert_like("ibert", class_name="IBertForMaskedLM"),
    bert_like("esm", class_name="EsmForMaskedLM", position_embedding_type="rotary", mask_token_id=4, pad_token_id=1),
    bert_like("nystromformer", class_name="NystromformerForMaskedLM", segment_means_seq_len=LENGTH, num_landmarks=8),
    bert_like("yoso", class_name="YosoForMaskedLM", use_expectation=True),
    bert_like("mra", class_name="MraForMaskedLM"),
    bert_like("big_bird", class_name="BigBirdForMaskedLM", attention_type="original_full"),
    bert_like("big_bird_sparse", class_name="BigBirdForMaskedLM", inputs=text(144), attention_type="block_sparse",
              block_size=8, num_random_blocks=2, max_position_embeddings=160),
    bert_like("longformer", class_name="LongformerForMaskedLM", attention_window=16),
    bert_like("lilt", class_name="LiltForTokenClassification", hidden_size=192, channel_shrink_ratio=4),
    bert_like("layoutlm", class_name="LayoutLMForTokenClassification"),
    bert_like("bros", class_name="BrosForTokenClassification", inputs=text(bbox=Input((BATCH, LENGTH, 4), 0.5, 0.08))),
    bert_like("luke", class_name="LukeForMaskedLM", entity_vocab_size=100),
    bert_like("tapas", class_name="TapasForSequenceClassification"),
    bert_like("splinter", class_name="SplinterModel"),
    bert_like("eurobert", class_name="EuroBertForMaskedLM", pad_token_id=0, bos_token_id=1, eos_token_id=2),
    bert_like("canine", class_name="CanineForSequenceClassification", num_hash_buckets=256),
    bert_like("fnet", class_name="FNetForMaskedLM"),
    bert_like("gte", class_name="GteForMaskedLM"),
    bert_like("jina_embeddings_v3", class_name="JinaEmbeddingsV3ForMaskedLM"),
    entry("distilbert", "encoder", "DistilBertForMaskedLM", text(), vocab_size=VOCABULARY, dim=128, n_layers=4,
          n_heads=4, hidden_dim=512, max_position_embeddings=64),
    entry("xlnet", "encoder", "XLNetForSequenceClassification", text(), vocab_size=VOCABULARY, d_model=128, n_layer=4,
          n_head=4, d_inner=512, use_mems_train=False),
    entry("xlm", "encoder", "XLMWithLMHeadModel", text(), vocab_size=VOCABULARY, emb_dim=128, n_layers=4, n_heads=4,
          max_position_embeddings=64, n_langs=1),
    entry("flaubert", "encoder", "FlaubertWithLMHeadModel", text(), vocab_size=VOCABULARY, emb_dim=128, n_layers=4,
          n_heads=4, max_position_embeddings=64),
    entry("funnel", "encoder", "FunnelForMaskedLM", text(), vocab_size=VOCABULARY, d_model=128, n_head=4, d_head=32,
          d_inner=512, block_sizes=[2, 2], num_decoder_layers=2),
    entry("reformer", "encoder", "ReformerForMaskedLM", text(64), vocab_size=VOCABULARY, hidden_size=128,
          num_attention_heads=4, attention_head_size=32, feed_forward_size=256, axial_pos_embds_dim=(64, 64),
          axial_pos_shape=(8, 8), attn_layers=["local", "local"], is_decoder=False, local_attn_chunk_length=16,
          max_position_embeddings=64),
]  # fmt: skip
