"""What a real browser takes to open a page, and how much of it is in the document wherever the reader scrolls."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/support"))
from report_browser import PROGRAM, Browser

TIMES = 5
_WATCH = """
(() => {
  const look = () => {
    const row = document.querySelector('.board tbody tr');
    if (row?.getBoundingClientRect().height) {
      requestAnimationFrame(() => setTimeout(() => { window.boardSeen = performance.now(); }));
    } else {
      requestAnimationFrame(look);
    }
  };
  requestAnimationFrame(look);
  const caseDrawn = new MutationObserver(() => {
    if (document.querySelector('.bubble')) {
      window.caseSeen = performance.now();
      caseDrawn.disconnect();
    }
  });
  caseDrawn.observe(document, { childList: true, subtree: true });
})()
"""
_NODES = (
    "(() => { const all = document.createTreeWalker(document); let n = 1; while (all.nextNode()) n++; return n })()"
)
_SEEN = (
    "[performance.getEntriesByName('first-contentful-paint')[0].startTime, window.boardSeen,"
    " Math.max(performance.getEntriesByType('navigation')[0].loadEventEnd, window.caseSeen)]"
)


@dataclass(frozen=True)
class Opened:
    """Medians over several openings.

    Attributes:
        painted: seconds from asking for the page to the first paint of anything.
        board: until the first leaderboard is laid out and painted.
        whole: until all is loaded and the first case is drawn.
        nodes: elements, texts and all else in the document then, and at most while it is scrolled to its end.
    """

    painted: float
    board: float
    whole: float
    nodes: tuple[int, int]


def opened(path: Path) -> Opened | None:
    """Return what opening a page takes, the browser's own start left out; None without a browser."""
    if PROGRAM is None:
        return None
    times = []
    with Browser() as browser:
        browser.look(1200, 900)
        browser.command("Page.addScriptToEvaluateOnNewDocument", source=_WATCH)
        for _ in range(TIMES + 1):
            browser.open(path.as_uri(), until="document.readyState === 'complete' && window.caseSeen")
            times.append(browser.evaluate(_SEEN))
        nodes = browser.evaluate(_NODES)
        most = nodes
        while browser.evaluate("scrollY + innerHeight < document.body.scrollHeight - 1"):
            browser.evaluate("scrollBy({ top: 0.8 * innerHeight, behavior: 'instant' })")
            time.sleep(0.05)
            most = max(most, browser.evaluate(_NODES))
    painted, board, whole = (median(column) / 1000 for column in zip(*times[1:], strict=True))
    return Opened(painted, board, whole, (nodes, most))
