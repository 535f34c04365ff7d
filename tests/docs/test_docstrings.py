"""The code in docstrings, which the API reference shows, runs."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec

import pytest

pytest.importorskip("torch")

import torch

import autoinit

PUBLIC = ("autoinit", "autoinit.watching", "autoinit.report", "autoinit.testing")
BLOCK = re.compile(r"(?:::|:)\n\n((?:    .*\n?|\n)+)")


def examples() -> Iterator[tuple[str, str]]:
    """Name and code of every indented block after a colon, in the docstrings of public functions and classes."""
    for module in map(import_module, PUBLIC):
        for name in module.__all__:
            one = getattr(module, name)
            told = {f"{module.__name__}.{name}": one}
            if inspect.isclass(one):
                told |= {f"{name}.{k}": v for k, v in vars(one).items() if inspect.isroutine(v) and k[0] != "_"}
            for place, described in told.items():
                if callable(described):
                    for code in BLOCK.findall(inspect.getdoc(described) or ""):
                        yield place, textwrap.dedent(code)


EXAMPLES = list(examples())


def test_they_are_found() -> None:
    assert {"autoinit.rule", "autoinit.meta", "autoinit.Plan"} <= {place for place, _ in EXAMPLES}


@pytest.mark.parametrize(("place", "code"), EXAMPLES, ids=[place for place, _ in EXAMPLES])
def test_it_runs(place: str, code: str) -> None:
    if "dataframe" in place and find_spec("pandas") is None:
        pytest.skip("needs pandas")

    class MyLayer(torch.nn.Module):
        gain = 2.0

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.gain * x

    def net() -> torch.nn.Module:
        return torch.nn.Sequential(torch.nn.Linear(8, 8), MyLayer(), torch.nn.Linear(8, 2))

    model, inputs = net(), (4, 8)
    names = {"autoinit": autoinit, "torch": torch, "Net": net, "MyLayer": MyLayer, "model": model, "inputs": inputs,
             "plan": autoinit.plan(model, inputs)}  # fmt: skip
    try:
        exec(code.replace("cuda", "cpu"), names)  # there is no accelerator here
    finally:
        autoinit.forget_rule(MyLayer)
