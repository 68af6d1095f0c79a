"""What tests of the labelling page do and look at in a browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from report_browser import Browser

from dialeval.labels.units import Sheet

FINISHED = "document.getElementById('finished').open"


def texts(browser: Browser, selector: str) -> list[str]:
    """Return the texts of all elements that a selector finds."""
    found: list[str] = browser.evaluate(f"[...document.querySelectorAll({selector!r})].map(e => e.textContent)")
    return found


def text(browser: Browser, selector: str) -> str:
    """Return the text of the one element that a selector finds."""
    (found,) = texts(browser, selector)
    return found


def reload(browser: Browser) -> None:
    """Load the page anew."""
    browser.evaluate("window.isOld = true")
    browser.command("Page.reload")
    browser.wait("!window.isOld && document.querySelector('.bubble')")


def saved(browser: Browser, folder: Path, sheet: Sheet) -> Any:
    """Presses the key that saves, and returns what is in the file; moves it to `folder / "export.json"`."""
    path = folder / "saved" / f"{sheet.protocol}-{sheet.annotator}.json"
    browser.press("e")
    browser.wait_for_file(path)
    return json.loads(path.rename(folder / "export.json").read_text(encoding="utf-8"))


def answers(content: Any) -> list[tuple[str, Any]]:
    """Return criterion and label of every record."""
    return [(record["criterion"], record["label"]) for record in content["labels"]]


def choose_file(browser: Browser, path: Path) -> None:
    """Open a saved file in the page, and wait until the page says what it took."""
    browser.evaluate("document.getElementById('file-message').textContent = ''")
    root = browser.command("DOM.getDocument")["root"]["nodeId"]
    node = browser.command("DOM.querySelector", nodeId=root, selector="#open-file")["nodeId"]
    browser.command("DOM.setFileInputFiles", files=[str(path)], nodeId=node)
    browser.wait("document.getElementById('file-message').textContent")
