"""How large a search is: its evolution, the training of each network, its limits. Plain data, saved with results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from ...errors import OptionError
from ..evolution import Limits
from .ranges import pairs
from .settings import Evolution

OPTIMIZERS = ("adam", "sgd")


@dataclass(frozen=True)
class Training:
    """How one network is trained; its learning rate is a gene.

    iterations: steps of an epoch; None for once through the data.
    optimizer: "adam", or "sgd" with Nesterov's momentum 0.9.
    decay: what the learning rate is multiplied by after each epoch.
    scaled_penalty: the kernels' regularization is multiplied by the learning rate of the moment.
    """

    batch_size: int = 128
    epochs: int = 5
    iterations: int | None = None
    optimizer: str = "adam"
    decay: float = 1.0
    scaled_penalty: bool = False

    def __post_init__(self) -> None:
        for name in ("batch_size", "epochs", "iterations"):
            value = getattr(self, name)
            if not (name == "iterations" and value is None) and (type(value) is not int or value < 1):
                raise OptionError(f"'{name}' takes a positive integer", where="Training", received=repr(value),
                                  fix=f"{name}=10")  # fmt: skip
        if self.optimizer not in OPTIMIZERS:
            raise OptionError("unknown optimizer", where="Training", received=repr(self.optimizer),
                              fix=f"one of {', '.join(OPTIMIZERS)}")  # fmt: skip
        if not 0 < self.decay <= 1:
            raise OptionError("'decay' takes a number above 0, up to 1", where="Training", received=repr(self.decay),
                              fix="decay=0.1 ** (1 / 10)")  # fmt: skip


@dataclass(frozen=True)
class Preset:
    """A search of one size.

    seconds, megabytes: the limits of one network.
    data: sizes that the task understands, e.g. {"images": 4000}.
    """

    name: str
    evolution: Evolution = field(default_factory=Evolution)
    training: Training = field(default_factory=Training)
    seconds: float | None = None
    megabytes: int | None = None
    data: Mapping[str, Any] | tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", pairs(self.data))

    def __getitem__(self, name: str) -> Any:
        """One of the sizes of the data."""
        return dict(pairs(self.data))[name]

    def with_data(self, **data: Any) -> Preset:
        """The same preset with other or further sizes of the data."""
        return replace(self, data={**dict(pairs(self.data)), **data})

    @property
    def limits(self) -> Limits:
        return Limits(seconds=self.seconds, bytes=None if self.megabytes is None else self.megabytes * 10**6)

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "data": dict(pairs(self.data))}

    @property
    def of_one_network(self) -> dict[str, Any]:
        """What the training of one network depends on."""
        return {"name": self.name, "training": asdict(self.training), "data": dict(pairs(self.data))}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Preset:
        known = {f.name for f in fields(cls)}
        unknown = [name for name in given if name not in known]
        if unknown or "name" not in given:
            raise OptionError("this is not a preset", where="Preset.from_dict",
                              received=", ".join(unknown) or "no name",
                              fix=f"fields: {', '.join(sorted(known))}")  # fmt: skip
        values = dict(given)
        if "evolution" in values:
            values["evolution"] = Evolution.from_dict(values["evolution"])
        if "training" in values:
            values["training"] = Training(**values["training"])
        return cls(**values)
