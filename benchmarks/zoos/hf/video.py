"""Video models."""

from __future__ import annotations

from functools import partial

from .declare import WIDTHS, entry

video = partial(
    entry, family="video", inputs={"pixel_values": (2, 4, 3, 64, 64)}, image_size=64, patch_size=16, num_frames=4,
    num_labels=20, **WIDTHS,
)  # fmt: skip

ENTRIES = [
    video("vivit", class_name="VivitForVideoClassification", tubelet_size=[2, 16, 16]),
    video("timesformer", class_name="TimesformerForVideoClassification"),
    video("timesformer_joint", class_name="TimesformerForVideoClassification", attention_type="joint_space_time"),
    video("videomae", class_name="VideoMAEForVideoClassification", tubelet_size=2),
    entry("vjepa2", "video", "VJEPA2ForVideoClassification", {"pixel_values_videos": (2, 4, 3, 64, 64)}, crop_size=64,
          patch_size=16, frames_per_clip=4, hidden_size=128, num_attention_heads=4, num_hidden_layers=4,
          num_pooler_layers=2, pred_hidden_size=64, pred_num_attention_heads=2, pred_num_hidden_layers=2,
          num_labels=20),
]  # fmt: skip
