"""The page on paper, in the dark, on a phone, and read aloud."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import report_example as example
from report_browser import AXE, Browser

from dialeval.report.about import About
from dialeval.report.inputs import Figure
from dialeval.report.page import build_report
from dialeval.tables.files import to_table
from dialeval.tables.measures import PASS_RATES

READY = "document.readyState === 'complete'"
N_ROWS = 150
PAPER = 718
"""Width of what is printed on A4 between the page's margins, in CSS pixels."""
OPEN = "document.querySelectorAll('#{0} details').forEach(d => {{ d.open = true; }})"


def many_rows() -> dict[str, Any]:
    row = {"judge": "clerk", "n_utterances": 4, "system": "able", "estimate": 0.5, "ci_low": 0.4, "ci_high": 0.6}
    rows = [{**row, "judge": f"clerk {number}", "n": 3, "n_unparsed": 0} for number in range(N_ROWS)]
    return {"unieval/pass_rates": to_table(PASS_RATES, rows)}


@pytest.fixture(scope="module")
def address(written: Callable[[str], str]) -> str:
    inputs = example.inputs()
    one = Figure("Figure", "What it shows, in a sentence.", example.SVG)
    figures = tuple(replace(one, title=f"Figure {number}", file=f"f{number}") for number in range(20))
    long = "averylongwordwithoutanyblank" * 8
    models = {"a": {"engine": "vllm", "model": long}, "b": {"engine": "openai", "base_url": long}}
    about = About("0.1", "2026-01-01", "c0ffee", f"models:\n  a: {long}\n", models=models, prompts={"a.j2": long})
    return written(build_report(replace(inputs, figures=figures, about=about, tables={**inputs.tables, **many_rows()})))


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Browser]:
    browser.look(1200, 900)
    browser.open("about:blank", until=READY)
    browser.open(address, until=READY)
    yield browser
    browser.command("Emulation.setEmulatedMedia", media="", features=[])


def pages_printed(browser: Browser) -> int:
    printed = base64.b64decode(browser.command("Page.printToPDF", preferCSSPageSize=True)["data"])
    return len(re.findall(rb"/Type\s*/Page\b", printed))


def shown(browser: Browser, selector: str) -> int:
    found: int = browser.evaluate(
        f"[...document.querySelectorAll({selector!r})].filter(e => e.getClientRects().length > 0).length"
    )
    return found


def test_paper_has_leaderboards_figures_and_open_tables_and_clips_nothing(page: Browser) -> None:
    assert pages_printed(page) <= 4
    page.evaluate(OPEN.format("about"))
    page.command("Emulation.setEmulatedMedia", media="print")
    page.command("Emulation.setDeviceMetricsOverride", width=PAPER, height=1050, deviceScaleFactor=1, mobile=False)
    beyond = (
        f"[...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > {PAPER + 1})"
        ".map(e => `${e.tagName} ${e.className} ${e.textContent.slice(0, 20)}`)"
    )
    assert page.evaluate(beyond) == []
    clipped = "[...document.querySelectorAll('main *')].filter(e => e.scrollWidth > e.clientWidth + 1 && "
    assert page.evaluate(f"{clipped}['auto', 'hidden', 'scroll'].includes(getComputedStyle(e).overflowX)).length") == 0
    assert shown(page, "figure") == 20
    assert shown(page, ".board tbody tr") == 3
    assert shown(page, "#about td") > 0
    assert shown(page, "#cases, #viewer, header nav, details:not([open], .remarks)") == 0
    remark = "document.querySelector('.remarks:not([open]) li').getBoundingClientRect().height"
    assert page.evaluate(remark) > 5, "a † is explained"


def test_paper_has_the_columns_of_a_wide_window_and_headings_whole(page: Browser) -> None:
    columns = "document.querySelector('.board thead tr').cells.length"
    page.look(1200, 900)
    in_sight = shown(page, ".board:first-of-type thead th")
    page.command("Emulation.setEmulatedMedia", media="print")
    page.command("Emulation.setDeviceMetricsOverride", width=PAPER, height=1050, deviceScaleFactor=1, mobile=False)
    assert 3 < shown(page, ".board:first-of-type thead th") == in_sight <= page.evaluate(columns)
    buttons = "[...document.querySelectorAll('.board thead button')].filter(e => e.getClientRects().length)"
    assert page.evaluate(f"{buttons}.length") == 0  # which a heading that is repeated on the next page would lack
    lines = "(e => { const r = document.createRange(); r.selectNodeContents(e); return r.getClientRects().length; })"
    words = "[...document.querySelectorAll('.board thead th')].filter(e => !/\\s/.test(e.textContent))"
    assert page.evaluate(f"{words}.length") > 0
    assert page.evaluate(f"{words}.filter(e => {lines}(e) > 1).map(e => e.textContent)") == []


def test_paper_is_light_for_those_who_read_in_the_dark(page: Browser) -> None:
    text = "getComputedStyle(document.body).color"
    page.look(1200, 900)
    light = page.evaluate(text)
    page.look(1200, 900, dark=True)
    assert page.evaluate(text) != light
    dark = {"name": "prefers-color-scheme", "value": "dark"}
    page.command("Emulation.setEmulatedMedia", media="print", features=[dark])
    assert page.evaluate(text) == light


def test_on_a_phone_nothing_lies_over_a_heading_and_fingers_hit_what_they_press(page: Browser) -> None:
    page.look(360, 740)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.evaluate(OPEN.format("about"))
    covered = page.evaluate(
        "[...document.querySelectorAll('main section[id] > h2, main section[id] > h3')]"
        ".filter(h => h.getClientRects().length)"
        ".filter(h => { h.parentElement.scrollIntoView(); const { left, top, height } = h.getBoundingClientRect();"
        "const there = document.elementFromPoint(left + 2, top + height / 2); return there && !h.contains(there); })"
        ".map(h => h.textContent)"
    )
    assert covered == []
    small = page.evaluate(
        "[...document.querySelectorAll('button, summary, main a, nav a, select, input')]"
        ".filter(e => e.getClientRects().length)"
        ".filter(e => { const { width, height } = e.getBoundingClientRect(); return width < 24 || height < 24; })"
        ".map(e => `${e.tagName} ${e.className} ${e.textContent.slice(0, 30)}`)"
    )
    assert small == []


@pytest.mark.skipif(AXE is None, reason="axe-core-python is not installed")
@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing_with_all_tables_open(page: Browser, dark: bool) -> None:
    page.look(1200, 900, dark=dark)
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    page.wait("[...document.querySelectorAll('details.table[id]')].every(d => d.querySelector('tbody td'))")
    assert page.barriers(colours_alone=dark) == []
    assert page.evaluate("[...document.querySelectorAll('thead th')].filter(h => !h.textContent.trim()).length") == 0
