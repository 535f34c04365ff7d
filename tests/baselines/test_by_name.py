"""`baselines.initialize`: every name, what it does and what it refuses."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402

import autoinit  # noqa: E402
from autoinit import baselines  # noqa: E402
from autoinit.errors import InputError, ModelError, OptionError  # noqa: E402

torch.set_num_threads(1)


class Net(nn.Module):
    """A convolution, a weight that forward contracts by hand, a table, a head."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.act = nn.Conv2d(3, 16, 3, padding=1), nn.ReLU()
        self.mix = nn.Parameter(torch.randn(4, 16, 20))
        self.table = nn.Embedding(10, 20)
        self.head = nn.Linear(20, 10)

    def forward(self, x: Tensor, label: Tensor) -> Tensor:
        h = self.act(self.conv(x)).flatten(2).transpose(1, 2)
        h = torch.einsum("bni,kio->bkno", h, self.mix).mean(1)
        return self.head(self.act(h) + self.table(label)[:, None])


def inputs() -> dict[str, Tensor]:
    g = torch.Generator().manual_seed(0)
    return {"x": torch.randn(16, 3, 8, 8, generator=g), "label": torch.randint(10, (16,), generator=g)}


def made(scheme: str, seed: int = 0, **options: object) -> Net:
    torch.manual_seed(7)
    model = Net()
    assert baselines.initialize(model, inputs(), scheme, seed, **options) is model
    return model


@pytest.mark.parametrize("scheme", baselines.NAMES)
def test_every_name_repeats_by_seed_and_leaves_the_global_state(scheme: str) -> None:
    one, two, model = made(scheme, seed=5), made(scheme, seed=5), Net()
    before = torch.get_rng_state()
    other = baselines.initialize(model, inputs(), scheme, 6)
    assert torch.equal(before, torch.get_rng_state())
    for a, b in zip(one.parameters(), two.parameters(), strict=True):
        assert torch.equal(a, b)
    assert not torch.equal(one.conv.weight, other.conv.weight)
    with torch.no_grad():
        assert one(**inputs()).isfinite().all()


def test_names_are_those_of_the_comparison() -> None:
    assert set(baselines.NAMES) == {
        "default", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "lecun_normal", "lecun_uniform",
        "orthogonal", "lsuv", "autoinit", "autoinit-train", "autoinit++", "autoinit-paper",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("scheme", "conv", "mix"),
    [  # conv: fan in 27, fan out 144; mix: 16 inputs to each of 4 x 20 outputs
        ("glorot_normal", 2 / (27 + 144), 2 / (16 + 80)), ("glorot_uniform", 2 / (27 + 144), 2 / (16 + 80)),
        ("he_normal", 2 / 27, 2 / 16), ("he_uniform", 2 / 27, 2 / 16),
        ("lecun_normal", 1 / 27, 1 / 16), ("lecun_uniform", 1 / 27, 1 / 16),
        ("orthogonal", 1 / 27, 1 / 80),
    ],
)  # fmt: skip
def test_classical_variances(scheme: str, conv: float, mix: float) -> None:
    model = made(scheme)
    for weight, variance in ((model.conv.weight, conv), (model.mix, mix)):
        assert weight.square().mean().item() == pytest.approx(variance, rel=5 * (2 / weight.numel()) ** 0.5)
    assert not model.conv.bias.any() and not model.head.bias.any()
    torch.manual_seed(7)
    assert torch.equal(model.table.weight, Net().table.weight)  # no scheme speaks of tables


LAYERS = {
    "depthwise": (nn.Conv2d(64, 64, 3, groups=64), (2, 64, 8, 8), 9, 9),
    "grouped": (nn.Conv2d(32, 64, 3, groups=4), (2, 32, 8, 8), 72, 144),
    "transposed": (nn.ConvTranspose2d(32, 64, 3), (2, 32, 8, 8), 288, 576),
    "transposed in groups": (nn.ConvTranspose2d(32, 64, 3, groups=4), (2, 32, 8, 8), 72, 144),
    "one dimension": (nn.Conv1d(32, 64, 5), (2, 32, 16), 160, 320),
}


@pytest.mark.parametrize("name", LAYERS)
def test_fans_are_the_same_with_and_without_tracing(name: str) -> None:
    layer, shape, fan_in, fan_out = LAYERS[name]
    for given in (None, shape):
        baselines.classical(layer, "glorot_normal", seed=1, inputs=given)
        variance = layer.weight.square().mean().item()
        assert variance == pytest.approx(2 / (fan_in + fan_out), rel=5 * (2 / layer.weight.numel()) ** 0.5)


def test_autoinit_variants_are_what_the_api_does() -> None:
    for scheme, options in (
        ("autoinit", {}), ("autoinit-paper", {"rules": autoinit.rules.paper}), ("autoinit++", {"center": "activation"}),
    ):  # fmt: skip
        torch.manual_seed(7)
        expected = Net()
        autoinit.initialize(expected, inputs(), seed=2, variance=0.5, **options)
        for a, b in zip(made(scheme, seed=2, variance=0.5).parameters(), expected.parameters(), strict=True):
            assert torch.equal(a, b)


def test_centred_activations_have_no_mean() -> None:
    model = made("autoinit++")
    seen: list[Tensor] = []
    model.conv.register_forward_hook(lambda m, i, o: seen.append(o))
    with torch.no_grad():
        model(**inputs())
        centred = model.act(seen[0])
    assert abs(centred.mean().item()) < 0.1 * centred.std().item()
    assert nn.functional.relu(seen[0]).mean().item() > 0.5 * centred.std().item()


def test_options_reach_lsuv() -> None:
    model = made("lsuv", samples=8, pre="he_normal", target=4.0, tolerance=0.01, training=False)
    with torch.no_grad():
        some = {name: tensor[:8] for name, tensor in inputs().items()}
        assert model.eval()(**some).var(correction=0).item() == pytest.approx(4.0, rel=0.02)


def test_refused() -> None:
    m = Net()
    before = [p.clone() for p in m.parameters()]
    for call in (
        lambda: baselines.initialize(m, inputs(), "xavier"),
        lambda: baselines.initialize(m, inputs(), "he_normal", gain=2.0),
        lambda: baselines.initialize(m, inputs(), "lsuv", sample=3),
        lambda: baselines.initialize(m, inputs(), "autoinit", varianc=3),
    ):
        with pytest.raises(OptionError, match="to fix"):
            call()
    for scheme in ("lsuv", "autoinit", "he_normal"):
        with pytest.raises(InputError, match="needs inputs"):
            baselines.initialize(m, None, scheme)
    with pytest.raises(ModelError):
        baselines.initialize(object(), inputs(), "lsuv")
    assert all(torch.equal(a, b) for a, b in zip(m.parameters(), before, strict=True))
    baselines.initialize(m, None, "default")  # the framework's own draws need none
