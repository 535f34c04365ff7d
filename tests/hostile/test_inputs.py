"""Inputs as people have them, and inputs that are none: planned, or an error that says what to give."""

from __future__ import annotations

import collections
import dataclasses
import gc
import types
import weakref
from typing import Any, NamedTuple

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn.utils.rnn import pack_padded_sequence, pack_sequence  # noqa: E402
from torch.utils.data import DataLoader, TensorDataset  # noqa: E402

import autoinit  # noqa: E402
from autoinit import Input  # noqa: E402
from autoinit.errors import AutoInitError, InputError, TraceError  # noqa: E402

RNG = np.random.default_rng(0)
X = torch.from_numpy(RNG.standard_normal((32, 16)).astype("float32"))
IDS = torch.from_numpy(RNG.integers(0, 10, (32, 3)))
A = torch.from_numpy((RNG.random((32, 32)) < 0.2).astype("float32")) / 3


class Pair(NamedTuple):
    x: Any
    y: Any = None


@dataclasses.dataclass
class Batch:
    x: Any
    size: tuple[int, ...] = (3, 4)
    made = 0

    def __post_init__(self) -> None:
        Batch.made += 1


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    x: Any


class Slotted:
    __slots__ = ("__hidden", "x")

    def __init__(self, x: Any) -> None:
        self.x, self.__hidden = x, 1


class Store:
    """As the storages of graph libraries: a mapping behind attributes, and a weak reference to its owner."""

    def __init__(self, parent: Any) -> None:
        self.__dict__["_mapping"], self.__dict__["_parent"] = {}, weakref.ref(parent)

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_mapping"][name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self._mapping[name] = value


class Graph:
    def __init__(self, **tensors: Any) -> None:
        self.__dict__["_store"] = Store(self)
        for name, value in tensors.items():
            setattr(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if "_store" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self._store, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._store, name, value)

    @property
    def owner(self) -> Any:
        return self._store.__dict__["_parent"]()


class Refuses(dict):
    """A mapping that may be neither copied nor written by its own methods."""

    def _no(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("frozen")

    __setitem__ = update = copy = clear = pop = __copy__ = __deepcopy__ = _no


class Demanding(dict):
    """A mapping that is not made without arguments, and lies about what it holds."""

    def __new__(cls, needed: Any, **items: Any) -> Any:
        return super().__new__(cls)

    def __init__(self, needed: Any, **items: Any) -> None:
        super().__init__(items)

    def items(self) -> Any:
        raise RuntimeError("nobody may look")


class Grumpy:
    """Raises something odd for every attribute that it does not have."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __getattr__(self, name: str) -> Any:
        raise KeyError(name)


class Arrays:
    """An array of another library."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return RNG.standard_normal((32, 16))


class Apply(nn.Module):
    """A layer behind some function of whatever is given."""

    def __init__(self, function: Any, size: int = 16) -> None:
        super().__init__()
        self.layer, self.function = nn.Linear(size, 8), function

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.layer(self.function(*args, **kwargs))


class Field(nn.Module):
    """Takes one argument and reads its field x."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(16, 8)

    def forward(self, batch: Any) -> Any:
        return self.layer(batch.x)


class Two(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(16, 8)

    def forward(self, x: Any, y: Any) -> Any:
        return self.layer(x + y)


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cells, self.layer = nn.LSTM(16, 16, batch_first=True), nn.Linear(16, 4)

    def forward(self, packed: Any) -> Any:
        return self.layer(self.cells(packed)[1][0][-1])


class Message(nn.Module):
    """A x W with a constant A, given or as a buffer."""

    def __init__(self, buffer: Any = None, product: Any = torch.matmul) -> None:
        super().__init__()
        self.layer, self.out, self.product = nn.Linear(16, 16), nn.Linear(16, 4), product
        self.register_buffer("adjacency", buffer)

    def forward(self, x: Any, adjacency: Any = None) -> Any:
        return self.out(self.product(self.adjacency if adjacency is None else adjacency, self.layer(x)))


class Table(nn.Module):
    """A weight that meets the features alone, which may be sparse."""

    def __init__(self) -> None:
        super().__init__()
        self.weight, self.out = nn.Parameter(torch.randn(32, 16)), nn.Linear(16, 4)

    def forward(self, x: Any) -> Any:
        return self.out(torch.sparse.mm(x, self.weight))


def cached(x: Any, cache: Any) -> Any:
    cache.history.append(x)
    cache.by_name["x"] = x
    return x


PACKED = pack_padded_sequence(torch.randn(4, 5, 16, generator=torch.Generator().manual_seed(0)), [5, 4, 3, 2], True)
PLANNED = {
    "a named tuple, whole": lambda: (Field(), Pair(X, X)),
    "a named tuple of shapes": lambda: (Field(), Pair((32, 16))),
    "a named tuple of descriptions": lambda: (Field(), Pair(Input((32, 16)), 3)),
    "a named tuple whose fields forward names": lambda: (Two(), Pair(X, X)),
    "a named tuple inside a dict": lambda: (Apply(lambda d: d["a"].x), ({"a": Pair(X)},)),
    "what torch.max returns": lambda: (Apply(lambda m: m.values), (torch.stack([X, X], -1).max(-1),)),
    "a data class": lambda: (Field(), Batch(X)),
    "a data class with a description": lambda: (Field(), Batch(Input((32, 16)))),
    "a frozen data class with slots": lambda: (Field(), Frozen(X)),
    "a class with slots": lambda: (Field(), Slotted(X)),
    "a name space": lambda: (Field(), types.SimpleNamespace(x=X)),
    "graph data": lambda: (Field(), Graph(x=X)),
    "graph data with edges": lambda: (Apply(lambda g: g.x.index_add(0, g.e[0], g.x[g.e[1]])), Graph(x=X, e=IDS.T[:2])),
    "graph data that asks for its owner": lambda: (Apply(lambda g: g.owner.x), Graph(x=X)),
    "a dict, whole": lambda: (Two(), {"x": X, "y": X}),
    "an ordered dict": lambda: (Apply(lambda d: d["x"]), (collections.OrderedDict(x=X),)),
    "a default dict": lambda: (Apply(lambda d: d["x"] + len(d["y"])), (collections.defaultdict(list, x=X),)),
    "a dict that refuses to be copied": lambda: (Apply(lambda d: d["x"]), (Refuses(x=X),)),
    "a dict that is not made without arguments": lambda: (Apply(lambda d: d["x"]), (Demanding(1, x=X),)),
    "an object with an odd __getattr__": lambda: (Field(), Grumpy(X)),
    "an array of another library": lambda: (nn.Linear(16, 8), Arrays()),
    "a read-only mapping": lambda: (Apply(lambda d: d["x"]), (types.MappingProxyType({"x": X}),)),
    "a user dict": lambda: (Apply(lambda d: d["x"]), (collections.UserDict(x=X),)),
    "a deque": lambda: (Apply(lambda d: d[0]), (collections.deque([X], maxlen=2),)),
    "lists in dicts in tuples": lambda: (Apply(lambda d: d["a"][0]["b"]), ({"a": [{"b": X}]},)),
    "an object in an object": lambda: (Apply(lambda b: b.x.x), (Batch(Batch(X)),)),
    "the same tensor twice": lambda: (Two(), (X, X)),
    "a packed sequence": lambda: (Recurrent(), PACKED),
    "a packed sequence in a tuple": lambda: (Recurrent(), (PACKED,)),
    "a packed sequence of tensors": lambda: (Recurrent(), (pack_sequence([X[:3, :16], X[:2, :16]]),)),
    "sparse adjacency (COO)": lambda: (Message(), (X, A.to_sparse_coo())),
    "sparse adjacency (CSR)": lambda: (Message(), (X, A.to_sparse_csr())),
    "sparse adjacency as buffer (COO)": lambda: (Message(A.to_sparse_coo()), (X,)),
    "sparse adjacency as buffer (CSR)": lambda: (Message(A.to_sparse_csr()), (X,)),
    "torch.sparse.mm": lambda: (Message(A.to_sparse_csr(), torch.sparse.mm), (X,)),
    "torch.spmm": lambda: (Message(A.to_sparse_coo(), torch.spmm), (X,)),
    "a sparse tensor made dense": lambda: (Message(A.to_sparse_csr(), lambda a, x: a.to_dense() @ x), (X,)),
    "sparse features (COO)": lambda: (Table(), A.to_sparse_coo()),
    "sparse features (CSR)": lambda: (Table(), A.to_sparse_csr()),
    "NumPy in double precision": lambda: (nn.Linear(16, 8), RNG.standard_normal((32, 16))),
    "NumPy inside a dict": lambda: (Apply(lambda d: d["x"]), ({"x": RNG.standard_normal((32, 16))},)),
    "NumPy for a half precision model": lambda: (nn.Linear(16, 8).bfloat16(), RNG.standard_normal((32, 16))),
    "NumPy for a double precision model": lambda: (nn.Linear(16, 8).double(), RNG.standard_normal((32, 16))),
    "NumPy that is read-only": lambda: (nn.Linear(16, 8), np.broadcast_to(RNG.standard_normal(16), (32, 16))),
    "NumPy with negative strides": lambda: (nn.Linear(16, 8), RNG.standard_normal((32, 16))[::-1]),
    "NumPy of the other byte order": lambda: (nn.Linear(16, 8), RNG.standard_normal((32, 16)).astype(">f8")),
    "NumPy integers": lambda: (nn.Sequential(nn.Embedding(10, 8), nn.Linear(8, 4)), IDS.numpy()),
    "a Python number beside": lambda: (Apply(lambda x, k: x * k), (X, 3.0)),
    "a NumPy number beside": lambda: (Apply(lambda x, k: x * float(k)), (X, np.float64(3.0))),
    "a word beside": lambda: (Apply(lambda x, mode: x if mode == "a" else None), (X, "a")),
    "a dtype and a device beside": lambda: (Apply(lambda x, d, e: x.to(e, d)), (X, torch.float32, torch.device("cpu"))),
    "keywords at the end": lambda: (Two(), (X, {"y": X})),
    "torch.Size": lambda: (nn.Linear(16, 8), torch.Size([32, 16])),
    "NumPy sizes": lambda: (nn.Linear(16, 8), (np.int64(32), np.int64(16))),
    "one axis": lambda: (nn.Linear(16, 8), (16,)),
    "a number as tensor": lambda: (Apply(lambda x, k: x * k), (X, torch.tensor(2.0))),
    "an empty tensor beside": lambda: (Apply(lambda x, e: torch.cat([x, e])), (X, torch.zeros(0, 16))),
    "a complex tensor": lambda: (Apply(lambda z: z.abs()), torch.complex(X, X)),
    "a batch that is not contiguous": lambda: (nn.Linear(16, 8), X.T.contiguous().T),
    "a batch that needs gradients": lambda: (nn.Linear(16, 8), X.clone().requires_grad_(True)),
    "a parameter": lambda: (nn.Linear(16, 8), nn.Parameter(X.clone())),
    "a batch of one": lambda: (nn.Linear(16, 8), X[:1]),
    "a cache that forward fills": lambda: (Apply(cached), (X, types.SimpleNamespace(history=[], by_name={}))),
    "a shape and a mask": lambda: (Apply(lambda x, m: x * m), ((32, 16), torch.ones(32, 1))),
}


@pytest.mark.parametrize("name", PLANNED)
def test_planned(name: str) -> None:
    model, inputs = PLANNED[name]()
    plan = autoinit.initialize(model, inputs)
    assert not plan.unreached() and all(t.target is None or abs(t.second - 1) < 1e-6 for t in plan.weight_layers)
    assert plan.weight_layers
    autoinit.check(model, inputs)
    autoinit.measure(model, inputs)


def generator() -> Any:
    yield X


LOADER = DataLoader(TensorDataset(X), batch_size=4)
LOOP: dict[str, Any] = {"x": X}
LOOP["self"] = LOOP
REFUSED = {
    "784": (784, "(batch, 784), for example (64, 784)"),
    "a NumPy 784": (np.int64(784), "(batch, 784)"),
    "a negative number": (-3, "a shape such as"),
    "nothing": (None, "a shape such as"),
    "a float": (1.5, "a shape such as"),
    "a complex number": (1j, "a shape such as"),
    "a truth value": (True, "a shape such as"),
    "a text": ("8,16", "a shape such as"),
    "bytes": (b"8", "a shape such as"),
    "a function": (lambda: X, "a shape such as"),
    "a class": (torch.Tensor, "a shape such as"),
    "an object": (object(), "a shape such as"),
    "a model": (nn.Linear(2, 2), "not an input"),
    "a DataLoader": (LOADER, "next(iter(loader))"),
    "a Dataset": (LOADER.dataset, "next(iter(loader))"),
    "a DataLoader in a tuple": ((LOADER,), "next(iter(loader))"),
    "a generator": (generator(), "one batch"),
    "an iterator": (iter([X]), "one batch"),
    "a zip": (zip([X], [X], strict=True), "one batch"),
    "an empty batch": (torch.zeros(0, 16), "at least one sample"),
    "an empty array": (np.zeros((0, 16)), "at least one sample"),
    "numbers in lists": ([[1.0] * 16] * 4, "torch.tensor"),
    "numbers in tuples": ((1.0, 2.0), "torch.tensor"),
    "an array of texts": (np.array(["a"]), "array of numbers"),
    "an array of objects": (np.array([object()]), "array of numbers"),
    "an array of records": (np.zeros(3, dtype=[("a", "f4")]), "array of numbers"),
    "a set of tensors": ({X}, "rebuilt"),
    "an object in a list": ([object()], "rebuilt"),
    "an object in a dict": ({"input": object()}, "rebuilt"),
    "a lock": (Batch(object.__new__(object)), "rebuilt"),
    "a dict that contains itself": ((LOOP,), "contain themselves"),
    "NaN": (torch.full((4, 16), float("nan")), "NaN"),
    "infinite": (torch.full((4, 16), float("inf")), "NaN or infinite"),
    "NaN inside an object": (Batch(torch.full((4, 16), float("nan"))), "NaN"),
    "sizes of zero": ((0, 16), "not zero"),
    "negative sizes": ((-1, 16), "not negative"),
    "a nested tensor": (torch.nested.nested_tensor([X[:2], X[:3]], layout=torch.jagged), "padded"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    inputs, text = REFUSED[name]
    model = nn.Linear(16, 8)
    before = {k: v.clone() for k, v in model.state_dict().items()}
    for function in (autoinit.plan, autoinit.initialize, autoinit.check, autoinit.measure):
        if inputs is None and function is autoinit.check:
            continue  # a preflight
        with pytest.raises(InputError) as caught:
            function(model, inputs)
        error = caught.value
        assert text in str(error) and error.where and error.fix and error.received is not None
    assert all(torch.equal(v, before[k]) for k, v in model.state_dict().items())


@pytest.mark.parametrize(
    ("inputs", "text"),
    [
        (X.double(), "inputs.float()"),
        (X.long(), "dtype"),
        ((32, 15), "shape"),
        (torch.zeros(2, 3, 4, 5), "shape"),
        ((X, X), "positional"),
        ({"x": X}, "'x'"),
    ],
)
def test_what_the_model_itself_refuses(inputs: Any, text: str) -> None:
    with pytest.raises(TraceError, match="forward failed") as caught:
        autoinit.plan(nn.Linear(16, 8), inputs)
    assert text in str(caught.value) and caught.value.__cause__ is not None


# --- the user's own objects -------------------------------------------------


def test_no_constructor_is_called_and_nothing_is_written() -> None:
    batch, made = Batch({"x": X.clone()}), Batch.made
    kept = batch.x["x"].clone()

    def greedy(b: Any) -> Any:
        b.size, b.new, b.x["more"] = None, 1, 2
        return b.x.pop("x").mul_(2)

    model = Apply(greedy)
    for function in (autoinit.plan, autoinit.initialize, autoinit.check, autoinit.measure):
        function(model, batch)
    assert Batch.made == made and batch.size == (3, 4) and not hasattr(batch, "new") and list(batch.x) == ["x"]
    assert torch.equal(batch.x["x"], kept)


def test_a_cache_stays_empty() -> None:
    cache = types.SimpleNamespace(history=[], by_name={})
    autoinit.plan(Apply(cached), (X, cache))
    autoinit.measure(Apply(cached), (X, cache))
    assert cache.history == [] and cache.by_name == {}


def test_measure_does_not_write_to_the_batch() -> None:
    batch = X.clone()
    autoinit.measure(Apply(lambda x: x.add_(1)), batch)
    assert torch.equal(batch, X)


def test_no_stand_in_survives() -> None:
    graph = Graph(x=X.clone())
    autoinit.plan(Field(), graph)
    gc.collect()
    assert type(graph.x) is torch.Tensor and graph.owner is graph


# --- libraries -------------------------------------------------


def test_batch_encodings_and_model_outputs() -> None:
    transformers = pytest.importorskip("transformers")
    from transformers.modeling_outputs import BaseModelOutput

    given = transformers.BatchEncoding({"input_ids": IDS, "attention_mask": torch.ones(32, 3)})
    model = nn.Module()
    model.table, model.layer = nn.Embedding(10, 8), nn.Linear(8, 4)
    model.forward = lambda input_ids, attention_mask: model.layer(model.table(input_ids))
    assert not autoinit.plan(model, given).unreached()
    for read in (lambda o: o.last_hidden_state, lambda o: o["last_hidden_state"], lambda o: o[0]):
        output = BaseModelOutput(last_hidden_state=X)
        assert not autoinit.plan(Apply(read), (output,)).unreached()
        assert output.last_hidden_state is X
    nested = transformers.BatchEncoding({"x": X})
    assert not autoinit.plan(Apply(lambda b: b["x"] + b.x), (nested,)).unreached()


# --- unlike columns -------------------------------------------------

SCALES = np.array([50.0, 50.0, 50.0, 1.0, 1.0, 0.01])
MEANS = np.array([0.0, 100.0, 0.0, 0.0, 3.0, 0.0])
DATA = torch.from_numpy((RNG.standard_normal((512, 6)) * SCALES + MEANS).astype("float32"))
DESCRIBED = Input((512, 6), mean=MEANS, variance=SCALES**2)


class Halves(nn.Module):
    """Two layers for two halves of the columns."""

    def __init__(self, cut: Any) -> None:
        super().__init__()
        self.first, self.second, self.cut = nn.Linear(3, 64), nn.Linear(3, 64), cut
        self.out = nn.Linear(128, 64)

    def forward(self, x: Any) -> Any:
        first, second = self.cut(x)
        return self.out(torch.cat([self.first(first), self.second(second)], -1))


class Standardised(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(6, 64)
        self.register_buffer("mean", torch.tensor(MEANS, dtype=torch.float32))
        self.register_buffer("std", torch.tensor(SCALES, dtype=torch.float32))

    def forward(self, x: Any) -> Any:
        return self.layer((x - self.mean) / self.std)


def scaled(x: Any) -> Any:
    return (x - torch.tensor(MEANS, dtype=x.dtype)) / torch.tensor(SCALES, dtype=x.dtype)


def second_moments(model: Any, plan: autoinit.Plan, inputs: Any, draws: int = 16) -> Any:
    """E[y^2] of the layers with weights, in the real model, averaged over draws."""
    found: dict[str, list[float]] = {name: [] for name, m in model.named_modules() if isinstance(m, WEIGHTS)}
    for name, values in found.items():
        model.get_submodule(name).register_forward_hook(lambda m, x, y, v=values: v.append(float(y.square().mean())))
    for seed in range(draws):
        plan.apply(model, seed=seed)
        sample = inputs
        if isinstance(inputs, Input):
            sample = torch.from_numpy(inputs.sample(np.random.default_rng(seed)).astype("float32"))
        with torch.no_grad():
            model(sample)
    return np.array([np.mean(values) for values in found.values()])


WEIGHTS = (nn.Linear, nn.Embedding)
COLUMNS = {
    "slices": lambda: Halves(lambda x: (x[:, :3], x[:, 3:])),
    "ellipsis": lambda: Halves(lambda x: (x[..., :3], x[..., 3:])),
    "split": lambda: Halves(lambda x: x.split(3, -1)),
    "chunk": lambda: Halves(lambda x: x.chunk(2, 1)),
    "narrow": lambda: Halves(lambda x: (x.narrow(1, 0, 3), x.narrow(1, 3, 3))),
    "single columns, stacked": lambda: Halves(lambda x: (torch.stack([x[..., k] for k in (0, 1, 2)], -1), x[:, 3:])),
    "unbind": lambda: Halves(lambda x: (torch.stack(x.unbind(1)[:3], 1), torch.stack(x.unbind(1)[3:], 1))),
    "a list of columns": lambda: Halves(lambda x: (x[:, [0, 2, 4]], x[:, [5, 3, 1]])),
    "slices of slices": lambda: Halves(lambda x: (x[:, :4][:, :3], x[:, 1:][:, 2:])),
    "columns put together anew": lambda: Halves(lambda x: (torch.cat([x[:, :1], x[:, 4:]], 1), x[:, 1:4])),
    "a bounded function, then slices": lambda: Halves(lambda x: (torch.tanh(x)[:, :3], torch.tanh(x)[:, 3:])),
    "tables of the user's, then slices": lambda: Halves(lambda x: (scaled(x)[:, :3], scaled(x)[:, 3:])),
    "numbers times columns": lambda: Halves(lambda x: ((x * 2 + 1)[:, :3], (x / 7)[:, 3:])),
    "all of them": lambda: nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 64)),
    "a bounded function": lambda: nn.Sequential(nn.Tanh(), nn.Linear(6, 64)),
    "layer norm": lambda: nn.Sequential(nn.LayerNorm(6), nn.Linear(6, 64)),
    "batch norm": lambda: nn.Sequential(nn.BatchNorm1d(6), nn.Linear(6, 64)),
    "standardised by buffers": Standardised,
}


@pytest.mark.parametrize("inputs", [DATA, DESCRIBED], ids=["batch", "described"])
@pytest.mark.parametrize("name", COLUMNS)
def test_row_columns_of_one_input_are_unlike(name: str, inputs: Any) -> None:
    """Every layer comes out at E[y^2] = 1: the mean over 16 draws, each over 64 features of few dominant columns.

    A feature is w x with few columns that count (two at least), so one draw of 64 features scatters by up to
    sqrt(2/64) of 1, and the mean of 16 draws by 0.05.
    """
    model = COLUMNS[name]()
    plan = autoinit.plan(model, inputs)
    assert second_moments(model, plan, inputs) == pytest.approx(1.0, abs=0.2)


class Tabular(nn.Module):
    """Indices and numbers in one floating tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.layer, self.out = nn.Embedding(10, 32), nn.Linear(5, 32), nn.Linear(64, 8)

    def forward(self, x: Any) -> Any:
        return self.out(torch.cat([self.table(x[:, 0].long()), self.layer(x[:, 1:])], -1))


MIXED = DATA.clone()
MIXED[:, 0] = torch.from_numpy(RNG.integers(0, 10, 512).astype("float32"))


WITH_INDICES = Input((512, 6), MEANS, SCALES**2, vocabulary={0: 10})


@pytest.mark.parametrize("inputs", [MIXED, WITH_INDICES], ids=["batch", "described"])
def test_row_integer_columns_inside_a_float_tensor(inputs: Any) -> None:
    model = Tabular()
    plan = autoinit.plan(model, inputs)
    assert not plan.unreached() and [round(t.second, 3) for t in plan.weight_layers] == [1.0, 1.0, 1.0]
    assert second_moments(model, plan, inputs) == pytest.approx(1.0, abs=0.2)


def test_columns_of_a_described_input() -> None:
    """The formulas of `core.signal.columns` against a large sample: standard errors of 0.5 % of each moment."""
    given = Input((20000, 3), mean=[1.0, -2.0, 5.0], variance=[1.0, 4.0, 0.0], vocabulary={2: 7}, correlation={1: 0.5})
    sample, signal = given.sample(np.random.default_rng(0)), given.signal()
    assert sorted(set(sample[:, 2])) == list(range(7))
    assert signal.mean == pytest.approx(sample.mean(), rel=0.03)
    assert signal.second == pytest.approx(np.square(sample).mean(), rel=0.03)
    between = [sample[:, i] * sample[:, j] for i, j in ((0, 1), (0, 2), (1, 2))]
    # m_i m_j + r s_i s_j; column 2 is uniform on 0 ... 6: mean 3, variance 4
    expected = [-2 + 0.5 * 1 * 2, 3.0 + 0.5 * 1 * 2, -6.0 + 0.5 * 2 * 2]
    assert float(signal.K[0, 1]) == pytest.approx(np.mean(expected))
    assert np.mean(between[0]) == pytest.approx(expected[0], abs=0.06)
    assert float(signal.K[1, 0]) == pytest.approx((1 + 4 + 9) / 3)


def test_like_columns_of_a_batch_are_pooled() -> None:
    """Noise has no unlike columns, whatever its size: single columns would only add scatter."""
    from autoinit.core.signal.columns import unlike_axes

    for shape in ((4, 64), (8, 16), (64, 256), (16, 3, 8, 8), (1000, 5), (2, 100), (1, 7), (2, 50, 6), (1, 3, 16, 16)):
        for seed in range(20):
            assert unlike_axes(np.random.default_rng(seed).standard_normal(shape)) == ()
    for shape, axes in (((8, 6), (1,)), ((2, 50, 6), (2,)), ((1, 50, 6), (2,))):
        assert unlike_axes(np.random.default_rng(0).standard_normal(shape) * SCALES) == axes


def test_channels_of_images() -> None:
    """Means per channel, as (3, 1, 1): a convolution over one channel gets that channel's level."""

    class Red(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(1, 8, 1)

        def forward(self, x: Any) -> Any:
            return self.conv(x[:, :1])

    given = Input((16, 3, 8, 8), mean=np.reshape([4.0, 0.0, 0.0], (3, 1, 1)), variance=0.0)
    assert autoinit.plan(Red(), given)["conv.weight"].std == pytest.approx(0.25)


def test_errors_are_of_one_family() -> None:
    assert issubclass(InputError, AutoInitError)
