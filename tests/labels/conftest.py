"""Fixtures of the labelling page in a real browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from report_browser import Browser

from dialeval.labels.page import page_html
from dialeval.labels.units import Sheet


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    """A browser that never saw the page; it saves files into `tmp_path / "saved"`."""
    with Browser(tmp_path / "saved") as browser:
        browser.look(1280, 900)
        yield browser


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Callable[[Sheet], Browser]:
    """Open the page of a sheet in that browser."""

    def open_page(sheet: Sheet) -> Browser:
        path = tmp_path / "page.html"
        path.write_text(page_html(sheet), encoding="utf-8")
        browser.open(path.as_uri(), until="document.querySelector('.bubble')")
        return browser

    return open_page
