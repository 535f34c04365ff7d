from __future__ import annotations

from math import isnan, log

import numpy as np
import pytest
import torch
from torch import nn

from autoinit.errors import InputError, ModelError, OptionError
from autoinit.labs.training import Recipe, evaluate, train
from tests.labs.training.pictures import digits, noise


def dense(inputs: int = 64, outputs: int = 10, dropout: float = 0.0, seed: int = 0) -> nn.Sequential:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return nn.Sequential(
            nn.Flatten(), nn.Linear(inputs, 32), nn.ReLU(), nn.Dropout(dropout), nn.Linear(32, outputs)
        )


def weights(model: nn.Module) -> torch.Tensor:
    return torch.cat([p.detach().flatten() for p in model.parameters()])


SHORT = Recipe(steps=12, batch_size=16, learning_rate=0.05, flip=True, pad=1)


def test_it_learns_digits():
    model = dense()
    recipe = Recipe(epochs=3, batch_size=32, learning_rate=0.1, schedule="triangle", warmup=0.2)
    record = train(model, digits(), recipe, seed=0)
    assert record.accuracy > 0.85 > 0.1
    assert record.top5 >= record.accuracy
    assert record.losses[0] == pytest.approx(log(10), abs=0.4)
    assert record.losses[-1] < 0.6
    assert (record.steps, record.epochs, record.diverged) == (3 * 37, 3.0, False)
    assert evaluate(model, digits(), recipe).accuracy == record.accuracy
    assert model.training


def test_adamw_learns_too():
    recipe = Recipe(
        epochs=3, batch_size=32, optimizer="adamw", learning_rate=3e-3, schedule="cosine", weight_decay=0.02
    )
    assert train(dense(), digits(), recipe, seed=0).accuracy > 0.8


class Constant(nn.Module):
    def forward(self, x):
        return torch.zeros_like(x)


def test_a_model_whose_outputs_are_constant_stays_at_chance():
    model = dense(192, 4)
    model.append(Constant())
    record = train(model, noise(), SHORT, seed=0)
    assert (record.steps, record.diverged) == (12, False)
    assert record.loss == pytest.approx(log(4))


def test_same_seed_same_weights_other_seed_other_weights():
    runs = []
    for seed in (1, 1, 2):
        model = dense(192, 4, dropout=0.3)
        record = train(model, noise(), SHORT, seed=seed)
        runs.append((weights(model), record.losses, record.accuracy))
    assert torch.equal(runs[0][0], runs[1][0])
    assert runs[0][1:] == runs[1][1:]
    assert not torch.equal(runs[0][0], runs[2][0])


def test_the_callers_randomness_is_left_alone():
    torch.manual_seed(5)
    np.random.seed(5)
    expected = torch.random.get_rng_state(), np.random.get_state()[1]
    train(dense(192, 4, dropout=0.3), noise(), SHORT, seed=1)
    assert torch.equal(torch.random.get_rng_state(), expected[0])
    assert np.array_equal(np.random.get_state()[1], expected[1])


def test_each_epoch_sees_each_image_once():
    data = noise(count=64)
    seen = []

    class Watch(nn.Linear):
        def forward(self, x):
            if self.training:
                seen.append(x.detach().clone())
            return super().forward(x)

    train(nn.Sequential(nn.Flatten(), Watch(192, 4)), data, Recipe(epochs=2, batch_size=8, normalize=False), seed=0)
    epochs = torch.cat(seen).view(2, 32, 192)
    given = torch.from_numpy(data.train.images.transpose(0, 3, 1, 2).reshape(32, 192).copy()).float() / 255
    for epoch in epochs:
        assert sorted(epoch.tolist()) == sorted(given.tolist())
    assert not torch.equal(epochs[0], epochs[1])


def test_images_are_normalized():
    data, seen = digits(), []

    class Watch(nn.Flatten):
        def forward(self, x):
            seen.append(x)
            return super().forward(x)

    model = nn.Sequential(Watch(), nn.Linear(64, 10))
    train(model, data, Recipe(epochs=1, batch_size=1200), seed=0, evaluate_on=None)
    assert seen[0].mean() == pytest.approx(0, abs=1e-5)
    assert seen[0].std() == pytest.approx(1, abs=1e-4)


def test_a_run_that_explodes_stops_and_says_so():
    model = dense()
    record = train(model, digits(), Recipe(steps=200, learning_rate=1e18), seed=0)
    assert record.diverged
    assert record.steps < 10
    assert 0 <= record.accuracy < 0.2
    assert train(dense(), digits(), Recipe(steps=20, learning_rate=1e18), seed=0, stop_on_nan=False).steps == 20


def test_weights_stay_as_they_were_before_the_step_with_a_loss_that_is_no_number():
    class Poison(nn.Module):
        calls = 0

        def forward(self, x):
            self.calls += self.training
            return x * (float("nan") if self.calls == 3 else 1.0)

    model = nn.Sequential(dense(192, 4), Poison())
    record = train(model, noise(), SHORT, seed=0)
    other = nn.Sequential(dense(192, 4), nn.Identity())
    train(
        other,
        noise(),
        SHORT,
        seed=0,
        progress=lambda moment: stopping.append(weights(other)) if moment.step == 2 else 0,
    )
    assert (record.steps, record.diverged) == (3, True)
    assert torch.equal(weights(model), stopping[0])


stopping: list[torch.Tensor] = []


def test_frozen_and_undecayed_parameters():
    model = dense(192, 4)
    model[1].weight.requires_grad_(False)
    before, bias = model[1].weight.clone(), model[4].bias.clone()
    train(model, noise(), Recipe(steps=3, learning_rate=0.0, weight_decay=0.5), seed=0)
    assert torch.equal(model[1].weight, before)
    assert torch.equal(model[4].bias, bias)


def test_weight_decay_of_sgd_joins_the_gradient():
    """Gradient zero (the output does not depend on the weight): w ← w − η λ w, biases untouched."""

    class Deaf(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.out = nn.Linear(192, 4), nn.Parameter(torch.zeros(4))

        def forward(self, x):
            return self.out + 0 * self.layer(x.flatten(1))

    model = Deaf()
    weight, bias = model.layer.weight.detach().clone(), model.layer.bias.detach().clone()
    train(model, noise(), Recipe(steps=1, learning_rate=0.1, weight_decay=0.5), seed=0)
    assert torch.allclose(model.layer.weight, weight * (1 - 0.1 * 0.5), rtol=1e-6)
    assert torch.equal(model.layer.bias, bias)


def test_no_evaluation():
    record = train(dense(192, 4), noise(), SHORT, seed=0, evaluate_on=None)
    assert isnan(record.accuracy) and isnan(record.loss) and not record.diverged


def test_channels_last_changes_the_layout_only():
    models = [nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), dense(144, 4)) for _ in range(2)]
    models[1].load_state_dict(models[0].state_dict())
    train(models[0], noise(), SHORT, seed=0)
    train(models[1], noise(), SHORT, seed=0, channels_last=True)
    assert models[1][0].weight.is_contiguous(memory_format=torch.channels_last)
    assert torch.allclose(weights(models[0]), weights(models[1]), atol=1e-5)


def test_images_may_be_lazy():
    class Lazy:
        def __init__(self, images):
            self.images = images

        def __getitem__(self, places):
            return self.images[places]

    data, same = noise(), noise()
    data.train.images = Lazy(data.train.images)
    a, b = dense(192, 4), dense(192, 4)
    train(a, data, SHORT, seed=0)
    train(b, same, SHORT, seed=0)
    assert torch.equal(weights(a), weights(b))


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"seed": -1}, OptionError, "seed"),
        ({"seed": 0, "evaluate_on": "validate"}, OptionError, "validation"),
    ],
)
def test_bad_arguments(arguments, error, says):
    model = dense(192, 4)
    before = weights(model)
    with pytest.raises(error, match=says):
        train(model, noise(), SHORT, **arguments)
    assert torch.equal(weights(model), before)


def test_bad_data_and_bad_models():
    data = noise()
    data.train.images = data.train.images / 255
    with pytest.raises(InputError, match="float64"):
        train(dense(192, 4), data, SHORT, seed=0)
    data = noise()
    data.std = [0.2, 0.0, 0.2]
    with pytest.raises(InputError, match="constant"):
        train(dense(192, 4), data, SHORT, seed=0)
    for part in ("train", "validation"):
        data = noise()
        getattr(data, part).labels = []
        with pytest.raises(InputError, match=rf"data\.{part}: there are no images"):
            train(dense(192, 4), data, SHORT, seed=0, progress=pytest.fail)
    with pytest.raises(ModelError, match="no trainable"):
        train(nn.Flatten(), noise(), SHORT, seed=0)
