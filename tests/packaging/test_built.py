"""The source distribution and the wheel: what is in them, and that they work where nothing else is."""

from __future__ import annotations

import re
import tarfile
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

import autoinit

from .environments import Environment, new_environment

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as file:
        return set(file.namelist())


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as file:
        (name,) = (n for n in file.namelist() if n.endswith("METADATA"))
        return message_from_bytes(file.read(name))


def test_the_wheel_holds_the_package_and_nothing_else(names: set[str]) -> None:
    package = ROOT / "src" / "autoinit"
    found = {p.relative_to(ROOT / "src").as_posix() for p in package.rglob("*") if p.is_file()}
    wanted = {n for n in found if "__pycache__" not in n} | {"autoinit_nn.py"}
    info = f"autoinit_nn-{autoinit.__version__}.dist-info/"
    assert wanted >= {"autoinit/py.typed", "autoinit/report/page/template.html", "autoinit/report/page/page.css"}
    assert {n for n in names if not n.startswith(info)} == wanted
    assert f"{info}licenses/LICENSE" in names


def test_the_source_distribution_holds_no_tests(sdist: Path) -> None:
    with tarfile.open(sdist) as file:
        folders = {name.split("/")[1] for name in file.getnames() if "/" in name}
    assert {"src", "README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml", "setup.py"} <= folders
    assert not folders & {"tests", "benchmarks", "experiments", "examples", "docs"}


def test_metadata(metadata: Message) -> None:
    assert metadata["Name"] == "autoinit-nn" and metadata["Version"] == autoinit.__version__
    assert metadata["Author"] == "AutoInit contributors" and metadata["License-Expression"] == "Apache-2.0"
    urls = dict(line.split(", ") for line in metadata.get_all("Project-URL", []))
    assert set(urls) >= {"Source", "Documentation", "Changelog", "Issues"}
    assert all(url.startswith(urls["Source"]) for url in urls.values())
    claimed = SpecifierSet(metadata["Requires-Python"])
    versions = re.findall(r"Python :: (3\.\d+)", "\n".join(metadata.get_all("Classifier", [])))
    assert versions and all(v in claimed for v in versions) and "3.9" not in claimed
    assert {"torch", "keras", "jax", "plot", "html", "cli", "labs"} <= set(metadata.get_all("Provides-Extra", []))


def test_links_of_the_readme_work_on_a_package_index(metadata: Message) -> None:
    """What is a link to a file here is one to the same file of the repository there."""
    page, source = str(metadata.get_payload()), "https://github.com/autoinit/autoinit-nn"
    text = re.sub(r"^```.*?^```", "", (ROOT / "README.md").read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    local = set(re.findall(r"\]\((?!https?:|#)([^)\s]+)\)", text))
    assert local and metadata["Description-Content-Type"] == "text/markdown"
    for target in local:
        kind = "raw" if target.endswith((".png", ".svg")) else "blob"
        assert f"]({source}/{kind}/HEAD/{target})" in page
    assert not re.search(r"\]\((?!https://|#)", re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL))
    assert not re.search(r"(?:src|href|srcset)=[\"'](?!https://|#)", page)


def test_the_core_needs_numpy_and_scipy_only(core: Environment) -> None:
    code = "import autoinit, sys; print(autoinit.__version__, 'torch' in sys.modules, autoinit.__file__)\n" \
           "print(autoinit.centered('relu')(0.0))"  # fmt: skip
    first, second = core.script(code).splitlines()
    assert first.split()[:2] == [autoinit.__version__, "False"] and str(core.folder) in first
    assert float(second) == pytest.approx(-((2 * 3.141592653589793) ** -0.5), abs=1e-6)  # -E max(u, 0)


@pytest.mark.parametrize("form", ["wheel", "sdist"])
def test_the_five_lines_of_the_readme(form: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    made = new_environment(tmp_path / "env", "numpy", "scipy", "torch", *(["setuptools"] if form == "sdist" else []))
    made.install(request.getfixturevalue(form))
    example = BLOCK.findall((ROOT / "README.md").read_text("utf-8"))[0]
    assert str(made.folder) in made.script("import autoinit; print(autoinit.__file__)")
    assert "parameters set" in made.script(example)


def test_keras(tmp_path: Path, wheel: Path) -> None:
    pytest.importorskip("keras")
    made = new_environment(tmp_path / "env", "numpy", "scipy", "keras", "torch")
    made.install(wheel)
    net = "keras.Sequential([keras.Input((8,)), keras.layers.Dense(4)])"
    code = f"import keras, autoinit; print(autoinit.initialize({net}))"
    assert "2 of 2 parameters set" in made.script(code, KERAS_BACKEND="torch")
    line = made.last_line("import autoinit.keras", KERAS_BACKEND="jax")
    assert line == "autoinit.errors.MissingPackage: Keras takes the backend jax, which is not installed, but torch " \
                   "is: KERAS_BACKEND=torch, or else: pip install 'jax'"  # fmt: skip
