"""Files of the repository outside docs/ that the site shows, found by following links.

A page is where its file is, with docs/ on top of the rest: docs/cli.md is cli.html and experiments/README.md is
experiments/index.html. So the same links work in the repository and on the site. Programs and notebooks become pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from os.path import normpath, relpath
from pathlib import Path, PurePosixPath

from programs import notebook_page, program_page

ROOT = Path(__file__).resolve().parents[2]
BEGINNINGS = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "experiments/README.md")
"""Pages that nobody has to link to; the README is the start page."""
LINK = re.compile(r"(\]\()(?![a-z]+:|#)([^)#\s]+)")
CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
AS_PAGES = {".py": program_page, ".ipynb": notebook_page}


@dataclass(frozen=True)
class OutsidePage:
    uri: str
    text: str


@dataclass(frozen=True)
class OutsideFile:
    """A picture, or another file that is only looked at."""

    uri: str
    path: Path


def uri_of(path: PurePosixPath) -> str:
    """Where on the site a file of the repository is."""
    if path == PurePosixPath("README.md"):
        return "index.md"
    if path.parts[0] == "docs":
        path = path.relative_to("docs")
    return str(path.with_suffix(".md") if path.suffix in AS_PAGES else path)


def relinked(text: str, source: Path) -> str:
    """The page `source` of the repository, with links as they are on the site."""
    place = PurePosixPath(uri_of(PurePosixPath(source.as_posix()))).parent

    def mended(found: re.Match[str]) -> str:
        return found[1] + relpath(uri_of(_target(source, found[2])), place)

    return _outside_code(text, mended)


def outside_pages(root: Path) -> Iterator[OutsidePage | OutsideFile]:
    """Everything outside docs/ that pages lead to, and what that leads to."""
    waiting = [*map(Path, BEGINNINGS), *_linked_from_docs(root)]
    seen: set[Path] = set()
    while waiting:
        source = waiting.pop()
        if source in seen or source.parts[0] == "docs":
            continue
        seen.add(source)
        path, uri = root / source, uri_of(PurePosixPath(source.as_posix()))
        if not path.is_file():
            raise FileNotFoundError(f"a page links to {source}, which is no file of the repository")
        if path.suffix == ".md":
            text = path.read_text(encoding="utf-8")
            waiting += _links(text, source)
            yield OutsidePage(uri, relinked(text, source))
        elif path.suffix in AS_PAGES:
            yield OutsidePage(uri, AS_PAGES[path.suffix](path))
        else:
            yield OutsideFile(uri, path)


def _linked_from_docs(root: Path) -> Iterator[Path]:
    for page in sorted((root / "docs").rglob("*.md")):
        yield from _links(page.read_text(encoding="utf-8"), page.relative_to(root))


def _links(text: str, source: Path) -> list[Path]:
    return [Path(_target(source, found[2])) for found in LINK.finditer(CODE.sub("", text))]


def _target(source: Path, link: str) -> PurePosixPath:
    return PurePosixPath(normpath(source.parent / link))


def _outside_code(text: str, mended: object) -> str:
    """Links replaced, but not where they are code."""
    parts, last = [], 0
    for code in CODE.finditer(text):
        parts += [LINK.sub(mended, text[last : code.start()]), code[0]]  # type: ignore[call-overload]
        last = code.end()
    return "".join([*parts, LINK.sub(mended, text[last:])])  # type: ignore[call-overload]
