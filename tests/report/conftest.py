"""A browser for the pages of a module, and the addresses of pages as files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from report_browser import PROGRAM, Browser


@pytest.fixture(scope="module")
def downloads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the browser saves files in."""
    return tmp_path_factory.mktemp("downloads")


@pytest.fixture(scope="module")
def browser(downloads: Path) -> Iterator[Browser]:
    """A browser that never saw a page of another module."""
    if PROGRAM is None:
        pytest.skip("no chromium or chrome on the PATH")
    with Browser(downloads) as browser:
        browser.look(1200, 900)
        yield browser


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Write a page into a folder of its own and return its address."""

    def write(page: str) -> str:
        path = tmp_path_factory.mktemp("page") / "index.html"
        path.write_text(page, encoding="utf-8")
        return path.as_uri()

    return write
