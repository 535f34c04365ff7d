"""Fake tensors in place of parameters, and which part of which parameter a fake tensor is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ...core.graph.graph import ParameterView
from .origins import storage_of
from .parameter_places import ParameterPlaces, in_c_order


class FakeParameters:
    """The fakes of one walk. A parameter that forward writes to is `rewritten`: from then on a value like others."""

    def __init__(
        self, parameters: dict[str, torch.Tensor], stand_ins: dict[int, str], make: Callable[..., torch.Tensor]
    ) -> None:
        self._parameters, self._make = parameters, make
        self._places = ParameterPlaces(parameters, stand_ins)
        self._fakes: dict[int, torch.Tensor] = {}
        self._names: dict[int, str] = {}
        self._rewritten: set[int] = set()
        self._keep: list[Any] = []

    def of(self, tensor: torch.Tensor, following: Any, unseen: Any) -> torch.Tensor | None:
        """The fake of a real tensor that is a parameter, or lies in one; None if it does not.

        A part of a parameter that was written to is cut out under the mode `following`, any other under `unseen`.
        """
        found = self._fakes.get(id(tensor))
        if found is not None:
            return found
        place = self._places.find(tensor)
        if place is None:
            return None
        name, offset = place
        whole, fake = self._parameters[name], self.whole(name)
        same = (tensor.shape, tensor.stride(), offset) == (whole.shape, whole.stride(), 0)
        if not same and tensor.dtype == whole.dtype:
            with following if storage_of(fake) in self._rewritten else unseen:
                fake = torch.as_strided(fake, tensor.shape, tensor.stride(), offset)
        self._fakes[id(tensor)] = fake
        self._keep.append(tensor)
        return fake

    def whole(self, name: str) -> torch.Tensor:
        real = self._parameters[name]
        fake = self._fakes.get(id(real))
        if fake is None:
            fake = self._fakes[id(real)] = self._make(real.shape, real.dtype, real.device, real.stride())
            self._names[storage_of(fake)] = name
            self._keep.append(real)
        return fake

    def forget(self, tensor: torch.Tensor) -> None:
        """The tensor is no parameter any more: its data was replaced."""
        self._fakes.pop(id(tensor), None)

    def name_of(self, fake: torch.Tensor) -> str | None:
        return self._names.get(storage_of(fake))

    def view(self, fake: torch.Tensor) -> ParameterView | None:
        """A fake (view of a) parameter by its place in the parameter; None if it is none, or cannot be said so."""
        name = self.name_of(fake)
        if name is None:
            return None
        parameter, shape = self._parameters[name], tuple(int(n) for n in fake.shape)
        whole = fake.numel() == parameter.numel()
        stride, offset = tuple(fake.stride()), int(fake.storage_offset())
        return in_c_order(ParameterView(name, shape, stride, offset, whole), parameter)

    def rewrite(self, fake: torch.Tensor) -> None:
        self._rewritten.add(storage_of(fake))

    def is_plain(self, fake: torch.Tensor) -> bool:
        """Whether a fake is named by its place alone, and needs no node."""
        return self.view(fake) is not None and storage_of(fake) not in self._rewritten

    def behind(self, fake: torch.Tensor) -> torch.Tensor | None:
        """The model's own values behind a fake (view of a) parameter."""
        name = self.name_of(fake)
        if name is None:
            return None
        real = self._parameters[name].detach()
        return torch.as_strided(real, fake.shape, fake.stride(), fake.storage_offset() + real.storage_offset())
