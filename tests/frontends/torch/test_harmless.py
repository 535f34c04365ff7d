"""Looking changes nothing, whatever forward does (rows 1, 3, 8 and 9 of the classes of harm)."""

from __future__ import annotations

import functools
import random
import threading
import types
import weakref
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402

import autoinit  # noqa: E402

SHAPE = (16, 8)
LOOKS = [autoinit.plan, autoinit.check, autoinit.measure]


class Layer(nn.Linear):
    """A linear layer that does something else on its way."""

    def __init__(self, deed: Callable[[Any, torch.Tensor, torch.Tensor], Any], **attributes: Any) -> None:
        super().__init__(8, 8)
        vars(self)["deed"] = staticmethod(deed)
        for name, value in attributes.items():
            setattr(self, name, value)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = super().forward(x)
        made = self.deed.__func__(self, x, y)
        return made if isinstance(made, torch.Tensor) else y


def tensors_of(model: nn.Module) -> dict[str, tuple[Any, ...]]:
    """Identity, memory, device, version and values of every parameter and buffer, and of its gradient."""
    found = {}
    for name, t in (*model.named_parameters(), *model.named_buffers()):
        grad = None if t.grad is None else (id(t.grad), t.grad.detach().clone().numpy().tobytes())
        values = t.detach().clone().numpy().tobytes()
        found[name] = (id(t), t.data_ptr(), str(t.device), t._version, tuple(t.stride()), t.requires_grad, values, grad)
    return found


def random_states() -> tuple[Any, ...]:
    numbers = np.random.get_state()
    return torch.get_rng_state().numpy().tobytes(), random.getstate(), numbers[1].tobytes(), numbers[2]


class Seen:
    """An object of another class that keeps tensors."""

    count = 0

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.last: Any = None
        self.inner = types.SimpleNamespace(queue=deque(maxlen=3))

    def keep(self, item: Any) -> None:
        self.items.append(item)
        self.last = item
        self.inner.queue.append(item)


class Slotted:
    __slots__ = ("last",)


class Frozen(dict):
    """A config that can be emptied but not filled."""

    def update(self, *args: Any, **kwargs: Any) -> None:
        raise TypeError("frozen")

    def __setitem__(self, key: Any, value: Any) -> None:
        raise TypeError("frozen")


class Pair(NamedTuple):
    left: list[Any]
    right: dict[str, Any]


def frozen(n: int) -> nn.Parameter:
    return nn.Parameter(torch.ones(n), requires_grad=False)


DEEDS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "assigns data": (lambda s, x, y: setattr(s.weight, "data", s.weight.data * 2.0), {}),
    "assigns data of another shape": (lambda s, x, y: setattr(s.kept, "data", torch.zeros(3, 4)), {"kept": frozen(8)}),
    "assigns data of a buffer": (lambda s, x, y: setattr(s.table, "data", x.mean(0)), {}),
    "constrains the norm": (lambda s, x, y: setattr(s.weight, "data", torch.renorm(s.weight.data, 2, 0, 0.1)), {}),
    "writes to data": (lambda s, x, y: s.weight.data.mul_(0.5), {}),
    "writes to a detached weight": (lambda s, x, y: s.weight.detach().zero_(), {}),
    "writes to a row": (lambda s, x, y: s.weight.data[0].fill_(1.0), {}),
    "writes through a view": (lambda s, x, y: s.weight.data.view(-1)[:5].copy_(torch.ones(5)), {}),
    "writes through NumPy": (lambda s, x, y: s.table.numpy().__setitem__(0, 7.0), {}),
    "averages into a frozen parameter": (lambda s, x, y: s.kept.add_(y.detach().mean(0)), {"kept": frozen(8)}),
    "norm of frozen ones": (lambda s, x, y: F.batch_norm(y, s.a, s.b, training=True), {"a": frozen(8), "b": frozen(8)}),
    "writes to its input": (lambda s, x, y: x.mul_(2.0), {}),
    "appends to a list": (lambda s, x, y: s.log.append(y), {"log": []}),
    "appends to nested containers": (lambda s, x, y: s.log["x"][0].append(y), {"log": {"x": ([],)}}),
    "appends to a default dict": (lambda s, x, y: s.log["x"].append(y), {"log": defaultdict(list)}),
    "fills an ordered dict": (lambda s, x, y: s.log.update(x=y), {"log": OrderedDict()}),
    "fills a deque": (lambda s, x, y: s.log.append(y), {"log": deque(maxlen=2)}),
    "fills a set": (lambda s, x, y: s.log.add(len(s.log)), {"log": set()}),
    "fills a named tuple": (lambda s, x, y: (s.log.left.append(y), s.log.right.update(x=y)), {"log": Pair([], {})}),
    "fills an object": (lambda s, x, y: s.log.keep(y), {"log": Seen()}),
    "fills an object in a list": (lambda s, x, y: s.log[0].keep(y), {"log": [Seen()]}),
    "fills slots": (lambda s, x, y: setattr(s.log, "last", y), {"log": Slotted()}),
    "fills a namespace": (lambda s, x, y: setattr(s.log, "last", y), {"log": types.SimpleNamespace(last=None)}),
    "calls a bound method": (lambda s, x, y: s.keep(y), {"log": Seen()}),
    "calls a partial function": (lambda s, x, y: s.keep(y), {"log": Seen()}),
    "writes to an array": (lambda s, x, y: s.log.__setitem__(0, 1.0), {"log": np.zeros(3)}),
    "draws from NumPy's generator": (lambda s, x, y: s.log.random(), {"log": np.random.default_rng(0)}),
    "draws from NumPy's old generator": (lambda s, x, y: s.log.rand(), {"log": np.random.RandomState(0)}),
    "draws from Python's generator": (lambda s, x, y: s.log.random(), {"log": random.Random(0)}),
    "draws from torch's generator": (lambda s, x, y: torch.rand(2, generator=s.log), {"log": torch.Generator()}),
    "makes attributes": (lambda s, x, y: setattr(s, "new", y), {}),
    "makes modules": (lambda s, x, y: setattr(s, "child", nn.Linear(2, 2)), {}),
    "makes parameters": (lambda s, x, y: s.register_parameter("fresh", nn.Parameter(torch.ones(2))), {}),
    "deletes attributes": (lambda s, x, y: delattr(s, "log"), {"log": [1]}),
    "replaces a parameter": (lambda s, x, y: setattr(s, "weight", nn.Parameter(torch.zeros(8, 8))), {}),
    "replaces a buffer": (lambda s, x, y: setattr(s, "table", y.mean(0)), {}),
    "freezes": (lambda s, x, y: s.requires_grad_(False), {}),
    "changes its mode": (lambda s, x, y: s.eval(), {}),
    "changes its dtype": (lambda s, x, y: s.double() and None, {}),
    "registers hooks": (lambda s, x, y: s.register_forward_hook(print), {}),
    "removes hooks": (lambda s, x, y: s._forward_hooks.clear(), {}),
    "seeds everything": (lambda s, x, y: [torch.manual_seed(7), np.random.seed(7), random.seed(7)], {}),
    "draws random numbers": (lambda s, x, y: y + np.random.rand() + random.random() + torch.rand(8), {}),
    "draws integers": (lambda s, x, y: y + np.random.randint(3) + random.randint(0, 3) + torch.randint(0, 2, (8,)), {}),
    "drops out constants": (lambda s, x, y: y + F.dropout(torch.ones(8), 0.5) + torch.rand_like(s.table), {}),
    "calls backward": (lambda s, x, y: y.sum().backward(retain_graph=True), {}),
    "takes a gradient": (lambda s, x, y: torch.autograd.grad(y.sum(), s.weight, create_graph=True)[0].sum() + y, {}),
    "zeroes gradients": (lambda s, x, y: s.zero_grad(), {}),
    "writes to gradients": (lambda s, x, y: s.weight.grad.zero_() if s.weight.grad is not None else None, {}),
}  # fmt: skip


def made(deed: str) -> Layer:
    """A fresh layer with the deed, gradients, a buffer and hooks that keep what they see."""
    import copy

    function, attributes = DEEDS[deed]
    torch.manual_seed(0)
    model = Layer(function, **{k: copy.deepcopy(v) for k, v in attributes.items()})
    model.register_buffer("table", torch.zeros(8))
    model.weight.grad = torch.ones(8, 8)
    if deed == "calls a bound method":
        vars(model)["keep"] = model.log.keep
    if deed == "calls a partial function":
        vars(model)["keep"] = functools.partial(Seen.keep, model.log)
    return model


def shape_of(value: Any, depth: int = 0) -> Any:
    """What an attribute holds, as something that can be compared after the attribute was changed in place."""
    if isinstance(value, torch.Tensor):
        return "tensor", id(value), type(value), value.detach().clone().numpy().tobytes()
    if isinstance(value, np.ndarray):
        return "array", value.tobytes()
    if isinstance(value, torch.Generator):
        return "generator", value.get_state().numpy().tobytes()
    if isinstance(value, (np.random.Generator, np.random.RandomState)):
        return "generator", repr((value._bit_generator if hasattr(value, "_bit_generator") else value).state)
    if isinstance(value, random.Random):
        return "generator", value.getstate()
    if isinstance(value, dict):
        return type(value), [(k, shape_of(v, depth + 1)) for k, v in dict.items(value)]
    if isinstance(value, (list, tuple, set, deque)):
        return type(value), [shape_of(v, depth + 1) for v in value]
    inner = getattr(value, "__dict__", None)
    if inner and depth < 5 and not callable(value):
        return type(value), shape_of(inner, depth + 1)
    if isinstance(value, Slotted):
        return "slots", hasattr(value, "last")
    return id(value)


@pytest.mark.parametrize("look", LOOKS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("deed", DEEDS)
def test_looking_changes_nothing(deed: str, look: Callable[..., Any]) -> None:
    model = made(deed)
    before, states, attributes = tensors_of(model), random_states(), shape_of(vars(model))
    look(model, SHAPE)
    assert tensors_of(model) == before
    assert random_states() == states
    assert shape_of(vars(model)) == attributes
    assert model.training and model._forward_hooks == {}


@pytest.mark.parametrize("look", LOOKS, ids=lambda f: f.__name__)
def test_the_users_batch_stays(look) -> None:
    batch = torch.randn(SHAPE)
    before = batch.clone()
    look(made("writes to its input"), batch)
    assert torch.equal(batch, before) and batch._version == 0


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, MemoryError])
@pytest.mark.parametrize("look", [*LOOKS, autoinit.initialize], ids=lambda f: f.__name__)
def test_an_interrupted_look_changes_nothing(look, error: type[BaseException]) -> None:
    def deed(self, x, y):
        self.weight.data = self.weight.data * 2
        self.table.add_(1.0)
        self.log.append(y)
        np.random.rand()
        raise error("now")

    model = Layer(deed, log=[])
    model.register_buffer("table", torch.zeros(8))
    before, states, attributes = tensors_of(model), random_states(), shape_of(vars(model))
    with pytest.raises(autoinit.AutoInitError if issubclass(error, Exception) else error):
        look(model, SHAPE)
    assert (tensors_of(model), random_states(), shape_of(vars(model))) == (before, states, attributes)


def test_a_frozen_config_is_left_alone() -> None:
    """A mapping that can be emptied and not filled lost its content, and the model was refused."""
    config = Frozen(width=8)
    model = Layer(lambda s, x, y: y * s.config["width"], config=config)
    plan = autoinit.initialize(model, SHAPE)
    assert plan["weight"].action == "set" and model.config is config and dict(config) == {"width": 8}


def test_hooks_of_the_user_keep_nothing_of_a_look() -> None:
    seen: list[torch.Tensor] = []
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU())
    model[0].register_forward_hook(lambda module, args, output: seen.append(output))
    model[0].register_forward_pre_hook(lambda module, args: seen.append(args[0]))
    hooks = dict(model[0]._forward_hooks)
    for look in LOOKS:
        look(model, SHAPE)
    assert seen == [] and dict(model[0]._forward_hooks) == hooks
    model(torch.randn(SHAPE))
    assert len(seen) == 2


def test_hooks_take_part_in_a_look() -> None:
    model = nn.Sequential(nn.Linear(8, 64), nn.Linear(64, 8))
    model[0].register_forward_hook(lambda module, args, output: output * 3.0)
    assert autoinit.plan(model, SHAPE)["1.weight"].std == pytest.approx(1 / 24, rel=1e-6)


def test_references_lead_to_what_is_looked_at() -> None:
    """Bound methods, partial functions, closures and weak references among the attributes are not ways out."""

    class Inner(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer, self.calls = nn.Linear(8, 8), 0

        def run(self, x):
            self.calls += 1
            return self.layer(x)

    class Outer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = inner = Inner()
            self.bound, self.partial = inner.run, functools.partial(Inner.run, inner)
            self.closure = lambda x: inner.run(x)
            self.weak = weakref.ref(inner)
            self.hidden = [inner]

        def forward(self, x):
            return self.bound(x) + self.partial(x) + self.closure(x) + self.weak().run(x) + self.hidden[0].run(x)

    model = Outer()
    for look in LOOKS:
        look(model, SHAPE)
    assert model.inner.calls == 0
    autoinit.initialize(model, SHAPE)
    assert autoinit.plan(model, SHAPE).unreached() == []


def test_shared_modules_and_buffers_stay_shared() -> None:
    """A change that one module sees in another is seen while looking, too."""

    class Writer(nn.Module):
        def __init__(self, table) -> None:
            super().__init__()
            self.register_buffer("table", table)

        def forward(self, x):
            self.table.fill_(2.0)
            return x

    class Reader(nn.Module):
        def __init__(self, table) -> None:
            super().__init__()
            self.register_buffer("table", table)
            self.layer = nn.Linear(8, 8)

        def forward(self, x):
            return self.layer(x * self.table)

    table = torch.ones(16)
    model = nn.Sequential(Writer(table), Reader(table[:8]))
    assert autoinit.plan(model, SHAPE)["1.layer.weight"].std == pytest.approx(0.5 * 8**-0.5, rel=1e-6)
    row = autoinit.measure(model, (4096, 8)).rows[-1]
    # variance of 8 features x 4096 samples around that of the weights as they are
    assert row.variance == pytest.approx(row.predicted.tensor_variance, rel=0.1)
    assert torch.equal(table, torch.ones(16))


class Counting(nn.Linear):
    calls, log, cache, latest = 0, [], {}, None

    def forward(self, x):
        Counting.calls += 1
        type(self).log.append(x)
        self.cache["x"] = x
        type(self).latest = x
        type(self).another = x
        return super().forward(x)


@pytest.mark.parametrize("look", LOOKS, ids=lambda f: f.__name__)
def test_attributes_of_classes(look) -> None:
    look(Counting(8, 8), SHAPE)
    assert (Counting.calls, Counting.log, Counting.cache, Counting.latest) == (0, [], {}, None)
    assert not hasattr(Counting, "another")


def test_exported_and_compiled_models() -> None:
    """Programs that have one mode only, compiled modules, scripts: planned like the model that they were made of."""
    plain = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8)).eval()
    expected = [p.std for p in autoinit.plan(plain, SHAPE).parameters]
    others = [
        torch.export.export(plain, (torch.randn(SHAPE),)).module(), torch.compile(plain, backend="eager"),
        torch.jit.script(plain), torch.jit.trace(plain, torch.randn(SHAPE)), torch.fx.symbolic_trace(plain),
        nn.DataParallel(plain),
    ]  # fmt: skip
    for other in others:
        assert [p.std for p in autoinit.plan(other, SHAPE).parameters] == pytest.approx(expected, rel=1e-6), other


def test_a_module_that_cannot_be_copied_is_shared() -> None:
    model = Layer(lambda s, x, y: s.lock.locked() and y, lock=threading.Lock(), stream=open(__file__))  # noqa: SIM115
    with model.stream:
        assert autoinit.plan(model, SHAPE)["weight"].action == "set"
        assert not model.stream.closed


def test_objects_with_a_finalizer_are_not_copied() -> None:
    closed = []

    class Handle:
        def __del__(self) -> None:
            closed.append(self)

    model = Layer(lambda s, x, y: None, handle=Handle())
    for look in LOOKS:
        look(model, SHAPE)
    assert closed == []


def test_long_chains_of_modules_and_containers() -> None:
    chain: Any = nn.Linear(8, 8)
    for _ in range(300):
        chain = nn.Sequential(chain)
    nested: Any = []
    for _ in range(5000):
        nested = [nested]
    chain.nested = nested
    chain.itself = [chain]
    assert autoinit.plan(nn.Sequential(nn.Linear(8, 8), nn.Sequential(nn.Linear(8, 8))), SHAPE)
    from autoinit.frontends.torch.shadow import Shadow

    shadow = Shadow(chain)
    assert shadow.model is not chain and shadow.model.itself[0] is shadow.model
