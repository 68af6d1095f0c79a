"""Leaderboards and tables of any length: their rows are in the document where they are seen, and nowhere else."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import report_example as example
import transcripts_report as mine
from page_links import packed_tables
from report_browser import Browser

from dialeval.html_pages import unpack
from dialeval.report.html_tables import MOST_CELLS
from dialeval.report.page import build_report
from dialeval.tables.files import to_table
from dialeval.tables.measures import PASS_RATES, RATINGS

JUDGES = tuple(f"judge {number}" for number in range(5))
BOTS = tuple(f"bot {number:02}" for number in range(60))
LENGTHS = (4, 8, 12, 16)
READY = (
    "document.querySelector('.bubble') && "
    "[...document.querySelectorAll('.board table')].every(table => table.querySelector('tbody[data-start]'))"
)
NODES = (
    "(() => { const all = document.createTreeWalker(document); let n = 1; while (all.nextNode()) n++; return n; })()"
)
LONG = "#table-unieval-pass_rates-rows"


def rows() -> dict[str, Any]:
    """Pass rates at four lengths and Elo of sixty chatbots by five judges, best first."""
    rates = [
        example._rate(bot, n, 0.9 - place / 100, judge=judge)
        for judge in JUDGES
        for place, bot in enumerate(BOTS)
        for n in LENGTHS
    ]
    elo = [example._rating(bot, 1200.0 - place, judge=judge) for judge in JUDGES for place, bot in enumerate(BOTS)]
    return {"unieval/pass_rates": to_table(PASS_RATES, rates), "arena/ratings": to_table(RATINGS, elo)}


@pytest.fixture(scope="module")
def text() -> str:
    inputs = example.inputs()
    return build_report(example.inputs(judges=JUDGES, chatbots=(*inputs.chatbots, *BOTS), tables=rows()))


@pytest.fixture(scope="module")
def address(text: str, written: Callable[[str], str]) -> str:
    return written(text)


@pytest.fixture
def page(browser: Browser, address: str) -> Browser:
    browser.open(address, until=READY)
    return browser


def open_long(page: Browser) -> None:
    page.evaluate(f"document.querySelector({LONG.removesuffix('-rows')!r}).open = true")
    page.wait(f"document.querySelector('{LONG} tbody td')")


def test_the_first_rows_stand_in_the_document_and_the_rest_is_packed(text: str) -> None:
    _, first, after = text.partition('id="board-1"')
    assert first
    board = after[: after.index("</table>")]
    assert 0 < board.count("<td") <= MOST_CELLS
    assert "bot 00" in board
    assert "bot 59" not in board
    packed = packed_tables(text)
    assert {f"board-{number}" for number in range(1, 6)} <= set(packed)
    assert packed["board-1"].count("<tr") == 62
    assert f"Without JavaScript, this page shows only {board.count('<tr') - 1} of the 62 rows." in after
    assert text.index("</main>") < text.index("-packed")  # nothing of it stands before what is read first


def test_what_is_packed_sorts_like_what_is_written() -> None:
    small = build_report(example.inputs())
    assert "board-1-packed" not in small
    packed = small.split('id="table-unieval-pass_rates-packed">')[1].partition("<")[0]
    content = unpack(packed)
    assert set(content) == {"frame", "rows"}
    assert len(content["rows"]) == 6
    assert 'data-sort="0.6666666666666666"' in "".join(content["rows"])


def test_a_part_with_a_long_table_says_what_the_browsers_search_finds(text: str) -> None:
    assert "search misses the others" in text
    assert "search misses the others" not in build_report(mine.inputs())


def test_the_page_stays_light_wherever_it_is_scrolled(page: Browser) -> None:
    assert page.evaluate(NODES) < 10_000
    for number in range(1, 6):
        board = f"#board-{number}"
        for part in ("0", "0.5", "1"):
            page.evaluate(
                f"(() => {{ const box = document.querySelector('{board}').getBoundingClientRect();"
                f"scrollBy({{top: box.top + {part} * (box.height - 600) - 100, behavior: 'instant'}}); }})()"
            )
            page.wait(  # what is in the middle of the window is a row, and no blank
                "(() => { const row = document.elementFromPoint(600, 450).closest('tr');"
                f"return row?.closest('{board}') && !row.matches('.blank'); }})()"
            )
        last = f"document.querySelector('{board} tbody[data-start]:nth-last-of-type(2)').lastElementChild.textContent"
        page.wait(f"{last}.startsWith('able')")
        assert page.evaluate(NODES) < 10_000
    assert page.complaints() == []


def test_a_long_table_draws_what_is_seen_in_order(page: Browser) -> None:
    open_long(page)
    scroller = f"document.querySelector('{LONG}').closest('.scroll')"
    page.evaluate(f"{scroller}.scrollIntoView()")
    assert page.evaluate(NODES) < 10_000
    page.evaluate(f"{scroller}.scrollTop = 1e9")
    page.wait(f"document.querySelector('{LONG} tr[aria-rowindex=\"1201\"]')")
    page.wait(f"!document.querySelector('{LONG} tr[aria-rowindex=\"2\"]')")  # gone again
    last = f"document.querySelector('{LONG} tr[aria-rowindex=\"1201\"]').textContent"
    assert "judge 4" in page.evaluate(last)
    assert "bot 59" in page.evaluate(last)
    seen = page.evaluate(
        f"[...document.querySelectorAll('{LONG} tr[aria-rowindex]')].map(r => Number(r.getAttribute('aria-rowindex')))"
    )
    assert seen == sorted(seen)
    assert page.evaluate(NODES) < 10_000


def test_all_rows_are_sorted_and_not_those_alone_that_are_drawn(page: Browser) -> None:
    open_long(page)
    page.click(f"{LONG} thead th:first-child button")
    page.click(f"{LONG} thead th:first-child button")
    page.wait(f"document.querySelector('{LONG} tbody td').textContent === 'judge 4'")
    assert page.evaluate("location.hash") == "#sort=table-unieval-pass_rates.0.down"
    page.evaluate("document.querySelector('#board-2 thead').scrollIntoView()")
    page.wait("document.querySelector('#board-2 tbody[data-start=\"0\"]').rows.length > 1")  # the page no longer moves
    page.click("#board-2 thead th:first-child button")  # names upwards, and then downwards
    page.wait("document.querySelector('#board-2 tbody th span').textContent === 'able'")
    page.click("#board-2 thead th:first-child button")
    page.wait("document.querySelector('#board-2 tbody th span').textContent === 'weak'")


def test_an_address_opens_sorts_and_shows_a_closed_table(page: Browser) -> None:
    page.evaluate("location.hash = '#sort=table-unieval-pass_rates.0.down'")
    page.wait(f"document.querySelector('{LONG} tbody td')?.textContent === 'judge 4'")
    page.evaluate("location.hash = '#table-arena-ratings'")
    page.wait("document.querySelector('#table-arena-ratings-rows tbody td')")


def test_paper_gets_every_row(page: Browser) -> None:
    open_long(page)
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(f"document.querySelectorAll('{LONG} tbody[data-start] tr').length") == 1200
    assert page.evaluate("document.querySelectorAll('.board tbody[data-start] tr').length") == 5 * 62
    assert page.evaluate("document.querySelectorAll('tr.blank').length") == 0
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    page.wait(f"{NODES} < 10000")


def test_a_copy_that_a_browser_saved_has_every_row_once(page: Browser, tmp_path: Path) -> None:
    open_long(page)
    page.click("#board-1 thead th:first-child button")
    page.wait("document.querySelector('#board-1 [aria-sort=ascending]')")
    copy = tmp_path / "copy.html"
    copy.write_text("<!doctype html>" + page.evaluate("document.documentElement.outerHTML"), encoding="utf-8")
    page.open(copy.as_uri(), until="document.readyState === 'complete'")
    page.wait(f"document.querySelector('{LONG} tbody[data-start] tr.blank > td')?.style.height")  # drawn here, and anew
    on_paper = "dispatchEvent(new Event('beforeprint')) && document.querySelectorAll"
    page.wait(f"{on_paper}('.board tbody[data-start] tr:not(.blank)').length === {5 * 62}")
    assert page.evaluate(f"document.querySelectorAll({LONG!r}).length") == 1
    assert page.evaluate(f"document.querySelectorAll('{LONG} tbody[data-start] tr:not(.blank)').length") == 1200


def test_a_leaderboard_that_lies_nowhere_else_keeps_its_rows_when_it_is_sorted(
    browser: Browser, written: Callable[[str], str]
) -> None:
    elo = [example._rating(bot, 1200.0 - place, judge=JUDGES[0]) for place, bot in enumerate(BOTS)]
    inputs = example.inputs()
    table = {"arena/ratings": to_table(RATINGS, elo)}
    small = build_report(example.inputs(judges=JUDGES[:1], chatbots=(*inputs.chatbots, *BOTS), tables=table))
    assert "board-1-packed" not in small
    browser.open(written(small), until="document.querySelector('.bubble')")
    n = browser.evaluate("document.querySelectorAll('#board-1 tbody tr').length")
    browser.click("#board-1 thead th:first-child button")
    browser.wait("document.querySelector('#board-1 tbody[data-start]')")
    assert browser.evaluate("document.querySelectorAll('#board-1 tbody tr:not(.blank)').length") == n > 60


def test_a_row_that_the_reader_is_in_stays(page: Browser) -> None:
    link = "#board-1 tbody tr:first-child a.to-cases"
    page.evaluate(f"document.querySelector({link!r}).focus()")
    page.evaluate("scrollTo({top: document.body.scrollHeight, behavior: 'instant'})")
    page.wait("document.querySelector('#board-1 tbody:nth-of-type(2) tr.blank')")
    assert page.evaluate(f"document.activeElement === document.querySelector({link!r})")


def test_comparisons_are_drawn_when_they_are_opened(page: Browser) -> None:
    assert page.evaluate("document.querySelectorAll('details.comparisons:not([open]) li').length") == 0


def test_two_leaderboards_of_one_judge_in_one_part_are_distinguished() -> None:
    run = mine.inputs()
    helpful, felt, *others = run.protocols
    protocols = (helpful, dataclasses.replace(felt, sources=("support", "elsewhere")), *others)
    text = build_report(dataclasses.replace(run, protocols=protocols))
    labels = re.findall(r'role="region" tabindex="0" aria-label="([^"]*judge clerk[^"]*)"', text, re.IGNORECASE)
    assert len(labels) == len(set(labels)) == 2
    assert any("on support and elsewhere" in label for label in labels)
    assert "on support" not in build_report(run)
