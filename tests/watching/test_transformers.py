"""The callback for Hugging Face's Trainer, with the real Trainer and a small model made from a config."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers", reason="needs transformers")
pytest.importorskip("accelerate", reason="the Trainer needs accelerate")
import torch
import transformers

import autoinit
from autoinit.watching.transformers import WatchSignals

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]


class Sentences(torch.utils.data.Dataset):
    """Random words; the label is whether the first is in the upper half."""

    def __init__(self) -> None:
        self.words = torch.randint(0, 64, (64, 12), generator=torch.Generator().manual_seed(0))

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, k):
        return {"input_ids": self.words[k], "attention_mask": torch.ones(12, dtype=torch.long),
                "labels": int(self.words[k, 0] >= 32)}  # fmt: skip


def model():
    sizes = {"vocab_size": 64, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = transformers.BertConfig(**sizes, intermediate_size=64, max_position_embeddings=16, num_labels=2)
    return transformers.BertForSequenceClassification(config)


def trained(net, callback, tmp_path, **options):
    settings = transformers.TrainingArguments(
        output_dir=str(tmp_path), max_steps=4, per_device_train_batch_size=8, report_to=[], save_strategy="no",
        use_cpu=True, disable_tqdm=True, **options,
    )  # fmt: skip
    transformers.Trainer(net, settings, train_dataset=Sentences(), callbacks=[callback]).train()


def test_with_a_plan(tmp_path):
    net = model()
    words = torch.stack([Sentences()[k]["input_ids"] for k in range(8)])
    plan = autoinit.initialize(net, {"input_ids": words, "attention_mask": torch.ones_like(words)})
    callback = WatchSignals(plan, steps=(0, 1, 3))
    trained(net, callback, tmp_path)
    watch = callback.watch
    assert watch.steps == [0, 1, 3] and watch.closed and not net._forward_pre_hooks
    assert len(watch.record) == 3 * len(plan.weight_layers)
    ratios = [r.ratio for r in watch.record if r.step == 0 and r.predicted.tensor_variance > 1e-3]
    assert sum(0.3 < r < 3 for r in ratios) > 0.8 * len(ratios)


def test_without_a_plan_and_with_accumulated_gradients(tmp_path):
    net = model()
    callback = WatchSignals(first=2)
    trained(net, callback, tmp_path, gradient_accumulation_steps=2)
    watch = callback.watch
    assert watch.steps == [0, 1] and watch.plan.checked
    assert len(watch.record) == 2 * len({r.layer for r in watch.record}) > 20
