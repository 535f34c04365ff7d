"""A plan does not depend on how the program is written (PyTorch)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch import nn

import autoinit
from benchmarks.models import MODELS
from benchmarks.trials import inputs_of
from tests.rewriting.inserting import Rewritten, Wanted
from tests.rewriting.programs import PROGRAMS, shape_of
from tests.rewriting.random_programs import SHAPE, RandomProgram
from tests.rewriting.rewrites import REWRITES

CLOSE = 1e-6
NAMES = tuple(REWRITES)


Told = tuple[dict[tuple[str, int], float], list[str]]


def told(model: nn.Module, inputs: Any) -> Told:
    """Planned standard deviations, and kinds of notes that are said."""
    plan = autoinit.plan(model, inputs, warn=False)
    stds = {(e.name, k): part.std for e in plan.changed() for k, part in enumerate(e.parts)}
    return stds, sorted(str(note) for note in plan.notes)


def as_written(make: Callable[[], nn.Module], inputs: Any) -> Told:
    return told(Rewritten(make(), lambda k: None), inputs)


plain = cache(as_written)
"""Of a program that is compared many times."""


def same(make: Callable[[], nn.Module], wanted: Wanted, inputs: Any, plan: Callable[..., Told] = as_written) -> None:
    expected, notes = plan(make, inputs)
    found, said = told(Rewritten(make(), wanted), inputs)
    assert found.keys() == expected.keys()
    for name, std in expected.items():
        assert found[name] == pytest.approx(std, rel=CLOSE), name
    assert len(said) == len(notes), said


@pytest.mark.parametrize("rewrite", NAMES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_everywhere(program: str, rewrite: str) -> None:
    same(PROGRAMS[program], lambda k: REWRITES[rewrite], shape_of(program), plain)


@cache
def results_of(program: str) -> int:
    """How many results its operations make."""
    counted = Rewritten(PROGRAMS[program](), lambda k: None)
    with torch.no_grad():
        counted(torch.zeros(shape_of(program)))
    return counted.results


@pytest.mark.parametrize("rewrite", NAMES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_at_one_place(program: str, rewrite: str) -> None:
    place = (7 * NAMES.index(rewrite) + 3) % results_of(program)
    same(PROGRAMS[program], lambda k: REWRITES[rewrite] if k == place else None, shape_of(program), plain)


@example(2242, ["unsqueeze first"])  # behind samples
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.sampled_from([None, *NAMES]), min_size=1, max_size=12))
def test_random_programs_with_random_rewrites(seed: int, chosen: list[str | None]) -> None:
    def wanted(k: int) -> Any:
        name = chosen[k % len(chosen)]
        return None if name is None else REWRITES[name]

    same(lambda: RandomProgram(seed), wanted, SHAPE)


@pytest.mark.parametrize(
    "name", ["preact_resnet56", "mobilenet", "convnext", "unet", "vit12", "gpt_swiglu", "mlp_mixer"]
)
def test_models_of_the_benchmark(name: str) -> None:
    spec, rng = MODELS[name], np.random.default_rng(len(name))
    chosen = [REWRITES[NAMES[k]] if k < len(NAMES) else None for k in rng.integers(0, 3 * len(NAMES), 997)]

    def build() -> nn.Module:
        torch.manual_seed(0)
        return spec.build()

    same(build, lambda k: chosen[k % len(chosen)], inputs_of(spec))
