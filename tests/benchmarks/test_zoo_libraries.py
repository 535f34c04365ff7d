"""The zoo's group of libraries: its catalogue and its installer, without anything installed."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("torch")

from benchmarks.zoos.catalogue import ZOOS, entries
from benchmarks.zoos.libraries import install
from benchmarks.zoos.libraries.declare import LIBRARIES, numbers
from benchmarks.zoos.library_models import ENTRIES
from benchmarks.zoos.summary import write


def pretend(folder: Path, **versions: str) -> None:
    for name, version in versions.items():
        info = folder / f"{name}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def test_pip_is_told_what_and_where() -> None:
    call = install.command(Path("/somewhere/else"), python="python3")
    assert call[:6] == ["python3", "-m", "pip", "install", "--no-deps", "--upgrade"]
    assert call[6:8] == ["--target", "/somewhere/else"]
    pinned = call[8:]
    assert all(re.fullmatch(r"[\w.-]+==[\d.]+", item) for item in pinned)
    assert {item.split("==")[0] for item in pinned} >= {
        "diffusers", "neuraloperator", "torch-geometric", "ultralytics", "zuko",
    }  # fmt: skip


def test_what_the_main_environment_has_is_refused(tmp_path: Path) -> None:
    listed = tmp_path / "constraints.txt"
    listed.write_text("zuko==1.6.0\nNumPy==2.0.0  # a comment\n")
    with pytest.raises(ValueError, match="numpy"):
        install.requirements(listed)
    assert not install.NEVER & set(install.requirements())


def test_the_folder_is_told_by_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(install.VARIABLE, raising=False)
    assert install.folder() == install.ROOT / ".libraries"
    monkeypatch.setenv(install.VARIABLE, str(tmp_path))
    assert install.folder() == tmp_path


def test_what_is_missing(tmp_path: Path) -> None:
    wanted = install.requirements()
    assert install.missing(tmp_path) == list(wanted)
    pretend(tmp_path, zuko=wanted["zuko"], Diffusers="0.0.1", torch_geometric=wanted["torch-geometric"])
    missing = install.missing(tmp_path)
    assert "zuko" not in missing and "torch-geometric" not in missing
    assert "diffusers" in missing  # another version


def test_nothing_is_put_on_the_path_before_it_is_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(install.VARIABLE, str(tmp_path))
    before = list(sys.path)
    with pytest.raises(RuntimeError, match=r"lacks .*zuko.*benchmarks\.zoos\.libraries\.install"):
        install.activate()
    assert sys.path == before


def test_the_folder_comes_last_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(tmp_path, **install.requirements())
    monkeypatch.setenv(install.VARIABLE, str(tmp_path))
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in (*install.QUIET, "YOLO_CONFIG_DIR"):
        monkeypatch.setenv(name, "as it was")
    install.activate()
    install.activate()
    assert sys.path[-1] == str(tmp_path) and sys.path.count(str(tmp_path)) == 1
    assert install.install(tmp_path) == 0  # complete: pip is not called


def test_without_the_packages_the_group_says_what_to_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(install.VARIABLE, str(tmp_path))
    with pytest.raises(RuntimeError, match="python -m benchmarks"):
        entries(["libraries"])


def test_the_catalogue_has_every_library_and_no_name_twice() -> None:
    names = [entry.name for entry in ENTRIES]
    assert "libraries" in ZOOS
    assert [name for name, count in Counter(names).items() if count > 1] == []
    found = Counter(re.fullmatch(r"libraries:(\w+)/.+", name).group(1) for name in names)  # type: ignore[union-attr]
    assert set(found) == set(LIBRARIES)
    assert found["diffusers"] > 70 and found["torch_geometric"] > 110 and found["ultralytics"] > 50
    assert found["neuraloperator"] > 20 and found["zuko"] > 15
    assert all(entry.zoo == "libraries" and entry.family.split(":")[0] in LIBRARIES for entry in ENTRIES)


def test_fixed_indices_are_the_same_on_every_call() -> None:
    assert numbers(3, 50, 20).tolist() == numbers(3, 50, 20).tolist()


def test_graphs_have_no_node_without_an_edge() -> None:
    from benchmarks.zoos.libraries.graph_data import NODES, batch_of, edges, near, points, triplets, within_graphs

    assert set(edges()[1].tolist()) == set(range(NODES))
    inside = within_graphs()
    assert (batch_of()[inside[0]] == batch_of()[inside[1]]).all()
    close = near(points(), 0.3)
    i, j, first, _, third, kj, ji = triplets(close, NODES)
    assert (close[1][ji] == first).all() and (close[0][kj] == third).all() and (first != third).all()
    assert (i == close[1]).all() and (j == close[0]).all()


def test_the_group_has_tables_of_its_own(tmp_path: Path) -> None:
    record = {"name": "libraries:zuko/nsf", "family": "zuko: flow", "outcome": "build failed", "error": "no such thing"}
    write([record], tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"libraries.json", "libraries.md"}  # zoo.md stays as it was
    assert "no such thing" in (tmp_path / "libraries.md").read_text("utf-8")
    write([record, {**record, "name": "timm:lost"}], tmp_path)
    assert "timm:lost" in (tmp_path / "zoo.md").read_text("utf-8")
    assert "timm" not in (tmp_path / "libraries.md").read_text("utf-8")
