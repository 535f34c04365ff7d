"""Options and descriptions of inputs: what is nonsense is refused, with where, what, why and how to mend it."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import autoinit  # noqa: E402
from autoinit import Input  # noqa: E402
from autoinit.core.checks import brief  # noqa: E402
from autoinit.errors import AutoInitError, InputError, OptionError  # noqa: E402

X = (8, 16)
NAN, INF = math.nan, math.inf


def complete(error: AutoInitError) -> None:
    assert error.where and error.why and error.fix and error.received is not None
    assert all(part in str(error) for part in (error.where, error.why.split("\n")[0], error.fix))


def label(value: Any) -> str:
    return re.sub(r" (object )?at 0x[0-9a-f]+", "", brief(value))


class Awkward:
    """Nothing about it works."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")


REFUSED_OPTIONS = [
    ({"variance": "2"}, "finite positive"),
    ({"variance": True}, "finite positive"),
    ({"variance": 1j}, "positive"),
    ({"variance": None}, "finite positive"),
    ({"variance": [1.0]}, "positive"),
    ({"variance": 0}, "finite positive"),
    ({"variance": -1.0}, "finite positive"),
    ({"variance": NAN}, "finite positive"),
    ({"variance": INF}, "positive"),
    ({"variance": 1e300}, "1e+20"),
    ({"variance": 1e-300}, "1e-20"),
    ({"variance": 10**400}, "positive"),
    ({"variance": np.array([1.0, 2.0])}, "positive"),
    ({"variance": torch.tensor(1.0)}, "positive"),
    ({"variance": Awkward()}, "Awkward"),
    ({"seed": "x"}, "integer"),
    ({"seed": -1}, "integer from 0"),
    ({"seed": 2**70}, "2**63 - 1"),
    ({"seed": True}, "integer"),
    ({"seed": 1.0}, "integer"),
    ({"seed": None}, "integer"),
    ({"seed": np.array([1])}, "integer"),
    ({"skip": 5}, "name patterns"),
    ({"skip": b"x"}, "name patterns"),
    ({"skip": [b"x"]}, "name patterns"),
    ({"skip": {"a": 1}}, "name patterns"),
    ({"only": [None]}, "name patterns"),
    ({"only": nn.Linear(1, 1)}, "name patterns"),
    ({"only": True}, "name patterns"),
    ({"training": "yes"}, "True, False"),
    ({"training": 1}, "True, False"),
    ({"training": None}, "True, False"),
    ({"keep_zeros": "no"}, "True, False"),
    ({"exact": 0}, "True, False"),
    ({"warn": "never"}, "True, False"),
    ({"center": True}, "'bias'"),
    ({"center": "Bias"}, "'bias'"),
    ({"center": 0}, "'bias'"),
    ({"distribution": None}, "truncated_normal"),
    ({"distribution": "Normal"}, "'normal'"),
    ({"distribution": "gaussian"}, "one of"),
    ({"distribution": 1}, "one of"),
    ({"distribution": ["normal"]}, "one of"),
    ({"rules": None, "rule": 1}, "did you mean 'rules'"),
    ({"varaince": 1.0}, "did you mean 'variance'"),
    ({"sead": 1}, "did you mean 'seed'"),
    ({"zzz": 1}, "known options"),
    ({"rules": "paper"}, "mapping"),
    ({"rules": [print]}, "mapping"),
    ({"rules": {nn.Linear: None}}, "is a function"),
    ({"rules": {"relu": print}}, "no such op"),
    ({"rules": {"linear": "x"}}, "is a function"),
    ({"rules": {None: print}}, "a layer class"),
    ({"rules": {3: print}}, "a layer class"),
    ({"rules": {"lineer": print}}, "did you mean 'linear'"),
]


@pytest.mark.parametrize(("options", "text"), REFUSED_OPTIONS, ids=label)
def test_row_option_types(options: dict[str, Any], text: str) -> None:
    model = nn.Linear(16, 16)
    before = model.weight.detach().clone()
    for function in (autoinit.plan, autoinit.initialize, autoinit.check, autoinit.measure):
        with pytest.raises(OptionError) as caught:
            function(model, X, **options)
        complete(caught.value)
        assert text in str(caught.value)
    assert torch.equal(model.weight, before)


@pytest.mark.parametrize("repeats", [True, 0, -1, 1.5, "2", None, NAN, 2**40, np.array([1])], ids=label)
def test_row_repeats(repeats: Any) -> None:
    with pytest.raises(OptionError, match="positive integer") as caught:
        autoinit.measure(nn.Linear(16, 16), X, repeats=repeats)
    complete(caught.value)


@pytest.mark.parametrize(
    "options",
    [
        {"variance": np.float32(2.0)},
        {"variance": np.int64(2)},
        {"variance": 2},
        {"variance": Fraction(1, 2)},
        {"seed": np.int64(3)},
        {"seed": 2**63 - 1},
        {"training": np.bool_(False)},
        {"skip": (p for p in ["nothing.*"])},
        {"skip": {"weight"}},
        {"only": ["weight", "bias"]},
        {"skip": None},
        {"center": np.str_("bias")},
        {"distribution": np.str_("normal")},
        {"variance": 1e-6},
        {"variance": 1e6},
    ],
    ids=label,
)
def test_taken(options: dict[str, Any], tmp_path: Any) -> None:
    model = nn.Linear(16, 16)
    plan = autoinit.initialize(model, X, **options)
    assert model.weight.isfinite().all() and type(plan.variance) is float and type(plan.seed) is int
    plan.save(tmp_path / "plan.json")


@pytest.mark.parametrize("seed", ["x", -1, 2**70, True, 1.5])
def test_seed_of_apply(seed: Any) -> None:
    model = nn.Linear(16, 16)
    before = model.weight.detach().clone()
    with pytest.raises(OptionError, match="integer"):
        autoinit.plan(model, X).apply(model, seed=seed)
    assert torch.equal(model.weight, before)


REFUSED_INPUTS = [
    ({"shape": 5}, "Input((64, 5))"),
    ({"shape": "8x16"}, "sequence of sizes"),
    ({"shape": None}, "sequence of sizes"),
    ({"shape": b"ab"}, "sequence of sizes"),
    ({"shape": {8, 16}}, "sequence of sizes"),
    ({"shape": 2.0}, "sequence"),
    ({"shape": (8, 3.5)}, "integers"),
    ({"shape": (8, 3.0)}, "integers"),
    ({"shape": (8, "16")}, "integers"),
    ({"shape": (8, True)}, "integers"),
    ({"shape": ((8,), 16)}, "integers"),
    ({"shape": (8, NAN)}, "integers"),
    ({"shape": (-1, 3)}, "not negative"),
    ({"shape": (0, 3)}, "not zero"),
    ({"shape": (1,) * 40}, "at most 16 axes"),
    ({"shape": (2**40, 2**40)}, "no tensor"),
    ({"shape": X, "mean": "0"}, "finite"),
    ({"shape": X, "mean": NAN}, "finite"),
    ({"shape": X, "mean": INF}, "finite"),
    ({"shape": X, "mean": 1e200}, "1e+15"),
    ({"shape": X, "mean": 1j}, "finite"),
    ({"shape": X, "mean": True}, "finite"),
    ({"shape": X, "mean": None}, "finite"),
    ({"shape": X, "mean": [0.0]}, "one num"),
    ({"shape": X, "mean": [0.0] * 15}, "one number"),
    ({"shape": X, "mean": ["a"] * 16}, "finite"),
    ({"shape": X, "mean": [NAN] * 16}, "finite"),
    ({"shape": X, "mean": []}, "finite"),
    ({"shape": X, "mean": {}}, "finite"),
    ({"shape": X, "mean": [[0.0] * 16] * 8}, "one number"),
    ({"shape": X, "mean": [[1.0], [2.0, 3.0]]}, "finite"),
    ({"shape": (None, 16), "mean": np.zeros((64, 1))}, "one number"),
    ({"shape": X, "variance": "1"}, "finite"),
    ({"shape": X, "variance": -1.0}, "not negative"),
    ({"shape": X, "variance": 1e200}, "1e+30"),
    ({"shape": X, "variance": [1.0] * 15 + [-1.0]}, "not negative"),
    ({"shape": X, "variance": False}, "finite"),
    ({"shape": (8, 3, 16), "mean": [[1.0], [2.0], [3.0]], "variance": np.ones(16)}, "different axes"),
    ({"shape": X, "correlation": 1.5}, "between -1 and 1"),
    ({"shape": X, "correlation": "0.5"}, "between -1 and 1"),
    ({"shape": X, "correlation": NAN}, "between -1 and 1"),
    ({"shape": X, "correlation": -1}, "-1/(n - 1)"),
    ({"shape": (8, 64), "correlation": {1: -0.5}}, "-1/(n - 1)"),
    ({"shape": X, "correlation": -0.01}, "-1/(n - 1)"),
    ({"shape": X, "correlation": {0: -0.2, 1: -0.2}}, "-1/(n - 1)"),
    ({"shape": X, "correlation": [0.5]}, "between"),
    ({"shape": X, "correlation": {4: 0.5}}, "2 axes"),
    ({"shape": X, "correlation": {"a": 0.5}}, "2 axes"),
    ({"shape": X, "correlation": {1: 0.1, -1: 0.2}}, "once"),
    ({"shape": X, "correlation": {1: "x"}}, "between"),
    ({"shape": X, "dtype": 5}, "unknown dtype"),
    ({"shape": X, "dtype": ""}, "unknown dtype"),
    ({"shape": X, "dtype": ["float32"]}, "unknown dtype"),
    ({"shape": X, "dtype": True}, "unknown dtype"),
    ({"shape": X, "dtype": b"float32"}, "unknown dtype"),
    ({"shape": X, "vocabulary": 0}, "at least one word"),
    ({"shape": X, "vocabulary": 1.5}, "integer"),
    ({"shape": X, "vocabulary": True}, "integer"),
    ({"shape": X, "vocabulary": "9"}, "integer"),
    ({"shape": X, "vocabulary": -3}, "at least one word"),
    ({"shape": X, "vocabulary": 2**80}, "integer"),
    ({"shape": X, "vocabulary": {16: 3}}, "16 columns"),
    ({"shape": X, "vocabulary": {0: 0}}, "at least one word"),
    ({"shape": X, "vocabulary": {"a": 3}}, "16 columns"),
    ({"shape": X, "vocabulary": [3]}, "integer"),
    ({"shape": X, "mean": Awkward()}, "Awkward"),
]


@pytest.mark.parametrize(("arguments", "text"), REFUSED_INPUTS, ids=label)
def test_row_input_descriptions(arguments: dict[str, Any], text: str) -> None:
    with pytest.raises(InputError) as caught:
        Input(**arguments)
    complete(caught.value)
    assert text in str(caught.value)


@pytest.mark.parametrize(
    "given",
    [
        Input(np.array([8, 16])),
        Input([8, 16]),
        Input(torch.Size(X)),
        Input((None, 16)),
        Input((np.int32(8), 16)),
        Input((8, 2), correlation={1: -1}),
        Input((8, 16), correlation={1: -1 / 15}),
        Input(X, correlation=1.0),
        Input(X, mean=np.float32(1)),
        Input(X, variance=0),
        Input(X, mean=list(range(16))),
        Input(X, mean=range(16)),
        Input((8, 1), mean=[2.0]),
        Input(X, variance=torch.ones(16)),
        Input(X, dtype="torch.float32"),
        Input(X, dtype=float),
        Input(X, dtype=np.float32),
        Input(X, dtype=torch.bfloat16),
        Input(X, vocabulary={0: 3, -1: 2}),
        Input(()),
    ],
    ids=label,
)
def test_described(given: Input) -> None:
    assert given.sample(np.random.default_rng(0)).shape == given.sizes
    assert np.isfinite(given.signal().K).all()
    assert given == Input(given.shape, given.mean, given.variance, given.correlation, given.dtype, given.vocabulary)
    assert given != Input((3, 3)) and hash(given) == hash(Input(given.shape))


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (Input(X, dtype="float31"), "unknown dtype"),
        (Input(X, dtype="nn"), "unknown dtype"),
        (Input(X, dtype=object), "unknown dtype"),
        (Input(X, dtype="int64"), "range of its values"),
        (Input(X, dtype=Awkward()), "unknown dtype"),
    ],
    ids=["typo", "module", "object", "integers", "awkward"],
)
def test_dtypes_that_the_framework_refuses(given: Input, text: str) -> None:
    with pytest.raises(InputError, match=text) as caught:
        autoinit.plan(nn.Linear(16, 16), given)
    complete(caught.value)
