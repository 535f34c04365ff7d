"""The sizes that small configurations have in common."""

from __future__ import annotations

LAYERS, WIDTH, HEADS, INNER, VOCABULARY = 3, 128, 4, 256, 512
IMAGE = (64, 64, 3)
BATCH, TOKENS = 4, 32
DEEP = {"num_layers": LAYERS, "hidden_dim": WIDTH, "num_heads": HEADS, "intermediate_dim": INNER}
TEXT = {"vocabulary_size": VOCABULARY, **DEEP}
GROUPED = {
    "vocabulary_size": VOCABULARY,
    "num_layers": LAYERS,
    "hidden_dim": WIDTH,
    "intermediate_dim": INNER,
    "num_query_heads": HEADS,
    "num_key_value_heads": HEADS // 2,
}
"""Text with fewer heads for keys and values than for queries."""
