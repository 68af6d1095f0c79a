"""The labelling page in a real browser, opened as a file: labelled by keyboard alone, kept, saved and opened again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import labelling_sheets as sheets
import pytest
from report_browser import PROGRAM, Browser

from dialeval.labels.page import page_html
from dialeval.labels.sheet import Sheet

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no chromium or chrome on the PATH")

READY = "document.querySelector('.bubble')"
KINDS = (sheets.scales, sheets.numbers, sheets.pairs, sheets.machines, sheets.strange)
FINISHED = "document.getElementById('finished').open"


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    """A browser that never saw the page; it saves files into `tmp_path / "saved"`."""
    with Browser(tmp_path / "profile") as browser:
        browser.command("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path / "saved"))
        yield browser


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Callable[[Sheet], Browser]:
    def open_page(sheet: Sheet) -> Browser:
        path = tmp_path / "page.html"
        path.write_text(page_html(sheet), encoding="utf-8")
        browser.open(path.as_uri(), until=READY)
        return browser

    return open_page


def texts(browser: Browser, selector: str) -> list[str]:
    found: list[str] = browser.evaluate(f"[...document.querySelectorAll({selector!r})].map(e => e.textContent)")
    return found


def text(browser: Browser, selector: str) -> str:
    (found,) = texts(browser, selector)
    return found


def reload(browser: Browser) -> None:
    browser.evaluate("window.isOld = true")
    browser.command("Page.reload")
    browser.wait(f"!window.isOld && {READY} && !document.getElementById('work').hidden")


def saved(browser: Browser, tmp_path: Path, sheet: Sheet, suffix: str = "json") -> Any:
    """Presses the key that saves, and reads the file."""
    path = tmp_path / "saved" / f"{sheet.protocol}-{sheet.annotator}.{suffix}"
    path.unlink(missing_ok=True)
    browser.press("e")
    browser.wait_for_file(path)
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_asks_for_nothing_and_complains_of_nothing(
    opened: Callable[[Sheet], Browser], kind: Callable[[], Sheet]
) -> None:
    browser = opened(kind())
    browser.press("1", "o", "Escape", "?", "Escape", "u")
    addresses = [url for url in browser.requested() if not url.startswith("data:")]
    assert [address.rpartition("/")[2] for address in addresses] == ["page.html"]
    assert browser.complaints() == []
    assert browser.evaluate("window.alarmed") is None


def test_a_pair_is_labelled_by_one_key_and_the_next_comes(opened: Callable[[Sheet], Browser], tmp_path: Path) -> None:
    sheet = sheets.pairs(3)
    browser = opened(sheet)
    assert texts(browser, ".dialogue > h3") == ["First dialogue", "Second dialogue"]
    browser.press("2")
    assert text(browser, "#thing-title") == "2 of 3"
    assert texts(browser, ".bubble p")[0] == "Utterance 1 of dialogue 2, by the customer."
    browser.press("s", "3")
    browser.wait(FINISHED)
    browser.press("Escape")
    assert text(browser, "#count") == "2 of 3 labelled, 1 skipped"
    assert text(browser, "#unsaved") == "3 not in a file yet"
    assert saved(browser, tmp_path, sheet) == {
        "format": "dialeval-labels", "version": 1, "protocol": "better", "annotator": "anna", "draw": "d1",
        "labels": [
            {"key": sheet.things[0].key, "comment": "", "round": 0, "criterion": "", "label": "B", "skipped": False},
            {"key": sheet.things[1].key, "comment": "", "round": 0, "criterion": "", "label": None, "skipped": True},
            {"key": sheet.things[2].key, "comment": "", "round": 0, "criterion": "", "label": "Tie", "skipped": False},
        ],
        "open": [],
    }  # fmt: skip
    assert text(browser, "#unsaved") == ""


def test_everything_is_there_after_a_reload_that_is_asked_about(opened: Callable[[Sheet], Browser]) -> None:
    browser = opened(sheets.scales(3))
    browser.press("4", "1", "5", "c", *"fine", "Escape")
    reload(browser)
    assert browser.asked_to_stay()
    assert text(browser, "#thing-title") == "2 of 3"
    assert texts(browser, ".option[aria-pressed=true] .option-label") == ["5"]
    assert browser.evaluate("document.getElementById('comment').value") == "fine"
    browser.press("ArrowLeft")
    assert texts(browser, ".option[aria-pressed=true] .option-label") == ["4", "No"]
    assert text(browser, "#count") == "1 of 3 labelled"


def test_the_first_utterance_is_chosen_by_keys(opened: Callable[[Sheet], Browser], tmp_path: Path) -> None:
    sheet = sheets.machines(2)
    browser = opened(sheet)
    browser.press("1", "ArrowDown", "ArrowDown", "Enter", "2")
    browser.wait(FINISHED)
    browser.press("Escape")
    labels = saved(browser, tmp_path, sheet)["labels"]
    assert [(label["label"], label.get("place")) for label in labels] == [("Yes", 3), ("No", None)]
    browser.press("ArrowLeft", "2")
    labels = saved(browser, tmp_path, sheet)["labels"]
    assert [(label["label"], label.get("place")) for label in labels] == [("No", None), ("No", None)]


def test_the_page_fits_a_phone(opened: Callable[[Sheet], Browser], browser: Browser) -> None:
    browser.look(390, 844)
    opened(sheets.strange())
    assert browser.evaluate("document.documentElement.scrollWidth") <= 390
    tops = browser.evaluate("[...document.querySelectorAll('.dialogue')].map(e => e.getBoundingClientRect().top)")
    assert tops[1] > tops[0]  # one under the other
    box = browser.evaluate(
        "(({top, bottom}) => [top, bottom])(document.querySelector('.question').getBoundingClientRect())"
    )
    assert 0 < box[0] < box[1] <= 844  # the question is in sight however long the dialogues are
