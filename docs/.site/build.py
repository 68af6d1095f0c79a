"""Builds the documentation as a site that opens from disk, search included: build/site/index.html.

The README is the site's first page, benchmarks/*.md are pages too, and every other file that a page links to is copied.
A broken link, a broken anchor or a page that mkdocs.yml does not list ends the build.
"""

from __future__ import annotations

import argparse
import posixpath
import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "build" / "pages"
SITE = ROOT / "build" / "site"
_LINK = re.compile(r"(?<=\]\()(?!\w+:|#)(?P<path>[^)#\s]+)(?=[)#])")
_NAMED_BLOCK = re.compile(r"^(```\w+) ([\w./-]+)$", re.MULTILINE)
_REMOTE_WORKER = re.compile(r'<script src="https://unpkg\.com/iframe-worker/shim"[^>]*></script>')


def main() -> int:
    """Build the site and return the exit status."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    problems = write_sources()
    if problems:
        print("\n".join(problems), file=sys.stderr)
        return 1
    shutil.rmtree(SITE, ignore_errors=True)
    built = subprocess.run(["zensical", "build", "--strict", "--config-file", "mkdocs.yml"], cwd=ROOT, check=False)
    if built.returncode == 0:
        use_own_worker()
    return built.returncode


def write_sources() -> list[str]:
    """Write every page and linked file below build/pages, with the links of the site, and return the problems."""
    shutil.rmtree(SOURCES, ignore_errors=True)
    pages = {ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/*.md")}
    listed = set(re.findall(r"[\w/.-]+\.md", str(yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))["nav"])))
    unlisted = {in_site(page) for page in ROOT.glob("docs/*.md")} - listed
    problems = [f"mkdocs.yml: nav does not list {name}" for name in sorted(unlisted)]
    linked: set[Path] = set()
    for page in sorted(pages):
        here = posixpath.dirname(in_site(page))

        def moved(link: re.Match[str], page: Path = page, here: str = here) -> str:
            path = (page.parent / link["path"]).resolve()
            if not path.is_file():
                problems.append(f"{page.relative_to(ROOT)} links to {link['path']}, which is no file")
            else:
                linked.add(path)
            return posixpath.relpath(in_site(path), here or ".")

        text = _LINK.sub(moved, page.read_text(encoding="utf-8"))
        write(in_site(page), _NAMED_BLOCK.sub(r'\1 title="\2"', text).encode())
    for path in sorted(linked - pages):
        write(in_site(path), path.read_bytes())
    return problems


def write(name: str, content: bytes) -> None:
    """Write one file of the site's sources."""
    path = SOURCES / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def in_site(path: Path) -> str:
    """Return the place of a project file in the site's sources."""
    name = path.relative_to(ROOT).as_posix()
    if name == "README.md":
        return "index.md"
    if name.startswith("docs/"):
        return name.removeprefix("docs/")
    return name if re.fullmatch(r"benchmarks/\w+\.md", name) else f"project/{name}"


def use_own_worker() -> None:
    """Replace the script that Zensical's `offline` loads from unpkg.com by worker.js."""
    scripts = SITE / "assets" / "javascripts"
    shutil.copy(Path(__file__).with_name("worker.js"), scripts)
    for page in SITE.rglob("*.html"):
        place = posixpath.relpath((scripts / "worker.js").as_posix(), page.parent.as_posix())
        text = _REMOTE_WORKER.sub(f'<script src="{place}"></script>', page.read_text(encoding="utf-8"))
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
