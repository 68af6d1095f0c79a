"""A hook of MkDocs: what pages link to outside docs/ is in the site, so that one link serves project and site.

The README is the site's first page, benchmarks/*.md are pages of their own, and any other file is served as it is.
A link to a file that does not exist ends the build.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
HOME = "index.md"
_LINK = re.compile(r"(?<=\]\()(?!\w+:|#)(?P<path>[^)#\s]+)(?=[)#])")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the README, what was measured, and every file that a page links to."""
    pages = {"README.md": ROOT / "README.md"}
    pages |= {name_in_project(ROOT, path): path for path in sorted(ROOT.glob("benchmarks/*.md"))}
    pages |= {name_in_project(ROOT, path): path for path in sorted(ROOT.glob("docs/*.md"))}
    linked = {name for of, path in pages.items() for name in links(of, path.read_text(encoding="utf-8"))}
    for name in sorted(linked | set(pages)):
        if not name.startswith("docs/"):
            files.append(File.generated(config, in_site(name), abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turns links between files of the project into links between files of the site."""
    source = "README.md" if page.file.src_uri == HOME else page.file.src_uri
    source = source if source.startswith(("README.md", "benchmarks/")) else f"docs/{source}"
    here = posixpath.dirname(page.file.src_uri)

    def moved(link: re.Match[str]) -> str:
        (name,) = links(source, f"]({link['path']})")
        return posixpath.relpath(in_site(name), here)

    return _LINK.sub(moved, markdown)


def links(source: str, markdown: str) -> list[str]:
    """Returns what a file of the project links to, as paths below the project's folder."""
    found = [(ROOT / source).parent / link["path"] for link in _LINK.finditer(markdown)]
    for path in found:
        if not path.exists():
            raise PluginError(f"{source} links to {path}, which does not exist")
    return [name_in_project(ROOT, path) for path in found]


def name_in_project(root: Path, path: Path) -> str:
    """Returns a path below the project's folder."""
    return path.resolve().relative_to(root).as_posix()


def in_site(name: str) -> str:
    """Returns where a file of the project lies in the site's sources."""
    if name == "README.md":
        return HOME
    if name.startswith("docs/"):
        return name.removeprefix("docs/")
    return name if re.fullmatch(r"benchmarks/\w+\.md", name) else f"project/{name}"
