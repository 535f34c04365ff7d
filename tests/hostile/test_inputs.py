"""Inputs as people have them, and inputs that are none: planned, or an error that says what to give."""

from __future__ import annotations

import collections
import gc
import types
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn.utils.rnn import pack_padded_sequence, pack_sequence  # noqa: E402
from torch.utils.data import DataLoader, TensorDataset  # noqa: E402

import autoinit  # noqa: E402
from autoinit import Input  # noqa: E402
from autoinit.errors import AutoInitError, InputError, TraceError  # noqa: E402
from tests.hostile.odd_inputs import (  # noqa: E402
    IDS,
    RNG,
    A,
    Apply,
    Arrays,
    Batch,
    Demanding,
    Field,
    Frozen,
    Graph,
    Grumpy,
    Message,
    Pair,
    Recurrent,
    Refuses,
    Slotted,
    Table,
    Two,
    X,
    cached,
)

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
        (X.double(), "inputs.to(torch.float32)"),
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


def test_errors_are_of_one_family() -> None:
    assert issubclass(InputError, AutoInitError)
