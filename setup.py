"""The page on the package index: README.md, whose links lead from there to the repository. All else: pyproject.toml."""

import re
import sys
from pathlib import Path

from setuptools import setup

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
CODE = r"^```.*?^```|`[^`\n]*`"
LINK = r"""(?P<before>\]\(|\b(?:href|src|srcset)=["'])(?![a-z]+:|#|/)(?P<target>[^)"'\s]+)"""
PATTERN = re.compile(f"{CODE}|{LINK}", re.MULTILINE | re.DOTALL)
IMAGES = (".png", ".svg", ".gif", ".jpg", ".webp")


def page(text: str, source: str) -> str:
    """The text with links to files of the repository made absolute; pictures are asked for as files."""

    def absolute(match: re.Match[str]) -> str:
        if match["target"] is None:
            return match[0]
        kind = "raw" if match["target"].endswith(IMAGES) else "blob"
        return f"{match['before']}{source}/{kind}/HEAD/{match['target']}"

    return PATTERN.sub(absolute, text)


if __name__ == "__main__":
    settings = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))
    readme = (HERE / "README.md").read_text(encoding="utf-8")
    setup(
        long_description=page(readme, settings["project"]["urls"]["Source"]),
        long_description_content_type="text/markdown",
    )
