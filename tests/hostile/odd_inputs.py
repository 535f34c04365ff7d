"""Batches as people have them, and models that take them."""

from __future__ import annotations

import dataclasses
import weakref
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

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
