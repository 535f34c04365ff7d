"""The JAX zoo: its catalogue, its installer and the record of one model; no package of the folder is needed."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("haiku")

from benchmarks.jax_zoo import write
from benchmarks.jax_zoos import install
from benchmarks.jax_zoos.catalogue import ZOOS, entries, find
from benchmarks.jax_zoos.study import study
from benchmarks.zoos.account import Settings
from benchmarks.zoos.libraries.install import NEVER, requirements


def test_the_catalogue_has_every_library_and_no_name_twice() -> None:
    names = [entry.name for entry in entries()]
    assert [name for name, count in Counter(names).items() if count > 1] == []
    assert {name.partition(":")[0] for name in names} == set(ZOOS)
    assert len(names) >= 80 and all(re.fullmatch(r"\w+:[\w.-]+", name) for name in names)


def test_the_main_environment_stays_as_it_is() -> None:
    pinned = requirements(install.CONSTRAINTS)
    assert {"transformers", "equimo", "nanodl"} <= set(pinned) and not NEVER & set(pinned)


def test_nothing_is_put_on_the_path_before_it_is_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(install.VARIABLE, str(tmp_path))
    before = list(sys.path)
    with pytest.raises(RuntimeError, match=r"lacks .*transformers.*benchmarks\.jax_zoos\.install"):
        install.activate()
    assert sys.path == before


def test_one_model_is_measured(tmp_path: Path) -> None:
    known: list[dict[str, object]] = []
    record = study(find("haiku:mlp"), Settings(seeds=2), known.append)
    assert record["outcome"] == "measured" and record["parameters"] == 61_410 and known
    layers = record["fidelity"]["layers"]
    assert layers["n"] == layers["2"] == 3 and record["not_random"]["count"] == 0
    write([record], tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"jax_zoo.json", "jax_zoo.md"}
    assert "haiku" in (tmp_path / "jax_zoo.md").read_text("utf-8")
