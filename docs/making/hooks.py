"""What the site has beyond docs/: pages that lie elsewhere in the repository, and links that lead there."""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from outside import ROOT, OutsidePage, outside_pages, relinked


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The changelog, and whatever pages link to, as pages or as files to look at."""
    for made in outside_pages(ROOT):
        if isinstance(made, OutsidePage):
            files.append(File.generated(config, made.uri, content=made.text))
        elif files.get_file_from_path(made.uri) is None:
            files.append(File.generated(config, made.uri, abs_src_path=str(made.path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links of pages in docs/ keep leading where they lead in the repository; other pages came with theirs mended."""
    source = page.file.abs_src_path
    if source is None or not Path(source).is_relative_to(ROOT / "docs"):
        return markdown
    return relinked(markdown, Path(source).relative_to(ROOT))
