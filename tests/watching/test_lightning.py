"""The Lightning callback, with the real Trainer."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")
pytest.importorskip("lightning", reason="needs lightning")
import lightning.pytorch as lightning
import torch
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

import autoinit
from autoinit.errors import ModelError, PlanError
from autoinit.watching.lightning import WatchSignals

from .loops import Net, digits

pytestmark = pytest.mark.filterwarnings("ignore")


class Task(lightning.LightningModule):
    """Calls a part of itself in its steps, as most do."""

    def __init__(self, through_forward: bool = False) -> None:
        super().__init__()
        self.net = Net()
        self.through_forward = through_forward

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.cross_entropy(self(x) if self.through_forward else self.net(x), y)

    def validation_step(self, batch, batch_idx):
        self.net(batch[0])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05)


class Kept(lightning.loggers.logger.DummyLogger):
    """Keeps what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = []

    def log_metrics(self, metrics, step=None):
        self.rows.append((step, dict(metrics)))


def fit(task, callback, tmp_path, logger=False, **options):
    batches = DataLoader(TensorDataset(*digits()), batch_size=64)
    settings = {"accelerator": "cpu", "max_epochs": 2, "enable_progress_bar": False, "enable_model_summary": False}
    trainer = lightning.Trainer(
        **(settings | options), callbacks=[callback], logger=logger, enable_checkpointing=False,
        default_root_dir=tmp_path,
    )  # fmt: skip
    trainer.fit(task, batches, batches)


def test_the_part_that_the_plan_is_of(tmp_path):
    task = Task()
    plan = autoinit.initialize(task.net, digits()[0][:64])
    callback = WatchSignals(plan, steps=(0, 1, 5))
    fit(task, callback, tmp_path)
    watch = callback.watch
    assert watch.steps == [0, 1, 5] and len(watch.record) == 9
    assert all(0.6 < r.ratio < 1.6 for r in watch.record if r.step == 0)
    assert watch.closed and not task.net._forward_pre_hooks


@pytest.mark.parametrize("options", [{"module": "net"}, {}], ids=["a part by name", "the whole"])
def test_without_a_plan(tmp_path, options):
    task = Task(through_forward=not options)
    callback = WatchSignals(steps=(0,), **options)
    fit(task, callback, tmp_path, max_epochs=1)
    assert callback.watch.plan.checked and len(callback.watch.record) == 3


def test_accumulated_gradients_are_one_step(tmp_path):
    task = Task()
    callback = WatchSignals(module="net", first=4)
    fit(task, callback, tmp_path, accumulate_grad_batches=2)
    assert callback.watch.steps == [0, 1, 2, 3] and len(callback.watch.record) == 12


def test_mixed_precision_and_loggers(tmp_path):
    task, logger = Task(), Kept()
    plan = autoinit.initialize(task.net, digits()[0][:64])
    callback = WatchSignals(plan, steps=(0, 2), log=True)
    fit(task, callback, tmp_path, logger, precision="bf16-mixed", max_epochs=1)
    rows = {step: row for step, row in logger.rows if "signal/variance/first" in row}
    assert list(rows) == [0, 2] and rows[0]["signal/variance/last"] == pytest.approx(callback.watch.record[2].variance)


def test_a_module_that_is_not_called_is_told(tmp_path):
    task = Task()
    callback = WatchSignals(steps=(0,))  # the whole, whose forward nobody calls
    with pytest.warns(UserWarning, match="saw no forward"):
        fit(task, callback, tmp_path, max_epochs=1)


def test_what_does_not_fit_is_refused():
    from autoinit.watching.parts import part_of

    plan = autoinit.plan(torch.nn.Linear(3, 4), (8, 3))
    with pytest.raises(PlanError, match="no part of the model"):
        part_of(Task(), plan)
    with pytest.raises(ModelError, match="no module of that name"):
        part_of(Task(), None, "head")
