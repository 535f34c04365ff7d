"""Scalars for TensorBoard and Weights & Biases, read back with their own libraries."""

from __future__ import annotations

import sys

import pytest

pytest.importorskip("torch")
import torch

import autoinit
from autoinit.errors import OptionError

from .loops import Net, digits, train


def watched(steps=(0, 2)):
    torch.manual_seed(0)
    model = Net()
    plan = autoinit.initialize(model, digits()[0][:64])
    return model, autoinit.watch(model, plan, steps=steps)


def values(directory):
    """{tag: [(step, value)]} as TensorBoard reads it."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util.tensor_util import make_ndarray

    events = EventAccumulator(str(directory)).Reload()
    found = {tag: [(e.step, e.value) for e in events.Scalars(tag)] for tag in events.Tags()["scalars"]}
    for tag in events.Tags()["tensors"]:
        found[tag] = [(e.step, float(make_ndarray(e.tensor_proto))) for e in events.Tensors(tag)]
    return found


def agree(found, watch):
    for row in watch.record:
        assert dict(found[f"signal/variance/{row.layer}"])[row.step] == pytest.approx(row.variance, rel=1e-5)
        assert dict(found[f"signal/mean/{row.layer}"])[row.step] == pytest.approx(row.mean, rel=1e-5, abs=1e-7)
        assert dict(found[f"signal/measured_over_predicted/{row.layer}"])[row.step] == pytest.approx(
            row.ratio, rel=1e-5
        )
    assert dict(found["signal/nonfinite"]) == dict.fromkeys(watch.steps, 0.0)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("kind", ["directory", "torch"])
def test_tensorboard(tmp_path, kind):
    pytest.importorskip("tensorboard", reason="needs tensorboard")
    model, watch = watched()
    train(model, 1)  # a step before, a step after
    if kind == "torch":
        from torch.utils.tensorboard import SummaryWriter

        writer = watch.to_tensorboard(SummaryWriter(tmp_path))
    else:
        writer = watch.to_tensorboard(tmp_path)
    train(model, 2)
    writer.close()
    assert watch.steps == [0, 2]
    agree(values(tmp_path), watch)


def test_tf_summary(tmp_path):
    pytest.importorskip("tensorboard", reason="needs tensorboard")
    tf = pytest.importorskip("tensorflow", reason="needs tensorflow")
    model, watch = watched((0,))
    watch.to_tensorboard(tf.summary.create_file_writer(str(tmp_path)))
    train(model, 1)
    agree(values(tmp_path), watch)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_wandb(tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb", reason="needs wandb")
    for name in ("WANDB_DIR", "WANDB_CACHE_DIR", "WANDB_CONFIG_DIR", "WANDB_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("WANDB_SILENT", "true")
    model, watch = watched()
    with wandb.init(mode="offline", project="watch", dir=str(tmp_path)) as run:
        assert watch.to_wandb() is run
        train(model, 3)
        summary = dict(run.summary)
    last = watch.record[-1]
    assert summary["signal/step"] == 2
    assert summary[f"signal/variance/{last.layer}"] == pytest.approx(last.variance)
    assert list(tmp_path.rglob("*.wandb"))


def test_rows_of_a_run():
    """What a run is given, without the library."""

    class Run:
        def __init__(self):
            self.rows = []

        def log(self, data, commit=True):
            self.rows.append((commit, data))

    model, watch = watched()
    run = watch.to_wandb(Run(), commit=False)
    train(model, 3)
    assert [(commit, data["signal/step"]) for commit, data in run.rows] == [(False, 0), (False, 2)]


def test_what_is_no_writer_is_refused():
    _, watch = watched()
    with pytest.raises(OptionError, match="no writer"):
        watch.to_tensorboard(3)
    with pytest.raises(OptionError, match="no run"):
        watch.to_wandb("my run")


@pytest.mark.parametrize(
    ("module", "action", "package"),
    [
        ("tensorboard.summary", lambda watch: watch.to_tensorboard("runs"), "pip install tensorboard"),
        ("wandb", lambda watch: watch.to_wandb(), "pip install wandb"),
    ],
)
def test_a_missing_package_is_named(monkeypatch, module, action, package):
    _, watch = watched()
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=package):
        action(watch)


@pytest.mark.parametrize(
    ("name", "hidden", "package"),
    [
        ("lightning", ("lightning", "lightning.pytorch", "pytorch_lightning"), "pip install lightning"),
        ("transformers", ("transformers",), "pip install 'transformers"),
        ("keras", ("keras",), "pip install 'autoinit-nn.keras"),
    ],
)
def test_a_missing_trainer_is_named(monkeypatch, name, hidden, package):
    for one in hidden:
        monkeypatch.setitem(sys.modules, one, None)
    monkeypatch.delitem(sys.modules, f"autoinit.watching.{name}", raising=False)
    with pytest.raises(ImportError, match=package):
        __import__(f"autoinit.watching.{name}")
