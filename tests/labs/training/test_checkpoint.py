"""A run that is stopped and resumed ends with the weights of a run that is not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn

from autoinit.errors import ModelError, OptionError
from autoinit.labs.training import Recipe, train
from tests.labs.training.pictures import noise

ROOT = Path(__file__).parents[3]

SGD = Recipe(epochs=6, batch_size=8, learning_rate=0.05, schedule="cosine", weight_decay=1e-3, flip=True, pad=1)
ADAMW = replace(SGD, optimizer="adamw", learning_rate=1e-3, smallest_crop=0.3, randaugment=1, mixup=0.2, cutmix=1.0)


def network(seed: int = 0, width: int = 6) -> nn.Sequential:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return nn.Sequential(
            nn.Conv2d(3, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.Dropout(0.3), nn.Flatten(),
            nn.Linear(64 * width, 4),
        )  # fmt: skip


def same(a: nn.Module, b: nn.Module) -> bool:
    return all(torch.equal(x, y) for x, y in zip(a.state_dict().values(), b.state_dict().values(), strict=True))


class Stop(Exception):
    pass


def stop_after(step: int):
    def listen(moment):
        if moment.step == step:
            raise Stop

    return listen


@pytest.mark.parametrize("recipe", [SGD, ADAMW], ids=["sgd", "adamw"])
@pytest.mark.parametrize("stops", [(1,), (3, 4, 11), (17,)])
@pytest.mark.parametrize("channels_last", [False, True])
def test_resuming_is_exact(tmp_path, recipe, stops, channels_last):
    whole, path = network(), tmp_path / "run" / "state.pt"
    expected = train(whole, noise(), recipe, seed=3, channels_last=channels_last)
    assert expected.steps == 18
    for number, stop in enumerate(stops):
        with pytest.raises(Stop):  # other weights each time: what counts is the file
            train(network(number and 7 + number), noise(), recipe, seed=3, checkpoint=path, checkpoint_every=0,
                  progress=stop_after(stop), channels_last=channels_last)  # fmt: skip
    resumed, first = network(99), []
    record = train(resumed, noise(), recipe, seed=3, checkpoint=path, channels_last=channels_last,
                   progress=lambda moment: first.append(moment.step))  # fmt: skip
    assert first[0] == stops[-1] + 1
    assert same(resumed, whole)
    assert replace(record, seconds=0.0) == replace(expected, seconds=0.0)


def test_a_finished_run_is_not_repeated(tmp_path):
    path, model = tmp_path / "state.pt", network()
    record = train(model, noise(), SGD, seed=3, checkpoint=path)
    again = network(5)
    assert train(again, noise(), SGD, seed=3, checkpoint=path, progress=stop_after(1)) == record
    assert same(again, model)
    assert [p.name for p in tmp_path.iterdir()] == ["state.pt"]


def test_nothing_is_saved_before_its_time(tmp_path):
    path = tmp_path / "state.pt"
    with pytest.raises(Stop):
        train(network(), noise(), SGD, seed=3, checkpoint=path, checkpoint_every=1e6, progress=stop_after(5))
    assert not path.exists()


@pytest.mark.parametrize(
    ("recipe", "seed", "says"),
    [
        (replace(SGD, learning_rate=0.1), 3, "learning_rate: 0.05 in the file, 0.1 now"),
        (SGD, 4, "seed: 3 in the file, 4"),
    ],
)
def test_another_run_is_refused(tmp_path, recipe, seed, says):
    path, model = tmp_path / "state.pt", network(5)
    train(network(), noise(), SGD, seed=3, checkpoint=path)
    with pytest.raises(OptionError, match=says):
        train(model, noise(), recipe, seed=seed, checkpoint=path)
    assert same(model, network(5))


def test_another_model_is_refused(tmp_path):
    path, model = tmp_path / "state.pt", network(5, width=7)
    train(network(), noise(), SGD, seed=3, checkpoint=path)
    with pytest.raises(ModelError, match=r"the first '0.bias': \(6,\) in the file, \(7,\) in the model"):
        train(model, noise(), SGD, seed=3, checkpoint=path)
    assert same(model, network(5, width=7))


@pytest.mark.parametrize("content", [b"", b"not a checkpoint", None])
def test_a_file_that_is_no_checkpoint(tmp_path, content):
    path = tmp_path / "state.pt"
    if content is None:
        torch.save({"weights": torch.zeros(2)}, path)
    else:
        path.write_bytes(content)
    with pytest.raises(OptionError, match=r"checkpoint.*\n.*\n.*delete it"):
        train(network(), noise(), SGD, seed=3, checkpoint=path)


def test_a_run_that_has_ended_without_its_weights(tmp_path):
    path, model = tmp_path / "state.pt", network()
    record = train(model, noise(), SGD, seed=3, checkpoint=path, keep_weights=False)
    again, untouched = network(99), network(99)
    assert train(again, noise(), SGD, seed=3, checkpoint=path, keep_weights=False) == record
    assert same(again, untouched) and not same(model, untouched)


def test_a_stop_before_the_end_keeps_the_weights(tmp_path):
    path, whole, resumed = tmp_path / "state.pt", network(), network(99)
    train(whole, noise(), SGD, seed=3)
    with pytest.raises(Stop):
        train(network(), noise(), SGD, seed=3, checkpoint=path, checkpoint_every=0, keep_weights=False,
              progress=stop_after(5))  # fmt: skip
    train(resumed, noise(), SGD, seed=3, checkpoint=path, keep_weights=False)
    assert same(resumed, whole)


def test_a_model_that_was_spread_over_devices(tmp_path):
    """Begun in `nn.DataParallel`, ended without it."""
    path, whole, resumed = tmp_path / "state.pt", network(), network(99)
    train(whole, noise(), SGD, seed=3)
    with pytest.raises(Stop):
        train(nn.DataParallel(network()), noise(), SGD, seed=3, checkpoint=path, checkpoint_every=0,
              progress=stop_after(5))  # fmt: skip
    train(resumed, noise(), SGD, seed=3, checkpoint=path)
    assert same(resumed, whole)


KILLED = """
import sys, time
from tests.labs.training.test_checkpoint import SGD, network, noise, train

def listen(moment):  # never done before the signal comes
    time.sleep(0.05 if moment.step < 15 else 600)

train(network(), noise(), SGD, seed=3, checkpoint=sys.argv[1], checkpoint_every=0, progress=listen)
"""


def test_kill_9(tmp_path):
    """Killed at some moment, among them while it writes; a leftover of writing does not matter either."""
    path = tmp_path / "state.pt"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(path)], env=environment, cwd=tmp_path)
    try:
        deadline = time.monotonic() + 180
        while not path.exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.13)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert path.exists() and process.returncode == -signal.SIGKILL
    (tmp_path / "state.pt.part").write_bytes(b"half of it")
    whole, resumed = network(), network(99)
    train(whole, noise(), SGD, seed=3)
    train(resumed, noise(), SGD, seed=3, checkpoint=path)
    assert same(resumed, whole)
