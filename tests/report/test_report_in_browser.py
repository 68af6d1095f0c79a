"""The page in a real browser, opened as a file: it sorts, finds, shows every verdict, and runs nothing foreign."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import report_example as example
from report_browser import Browser

from dialeval.report.page import build_report

READY = "document.querySelector('.bubble')"


@pytest.fixture(scope="module")
def address(written: Callable[[str], str]) -> str:
    return written(build_report(example.inputs()))


def test_the_page_loads_nothing_and_logs_no_error(browser: Browser, address: str) -> None:
    browser.open(address, until=READY)
    assert [url for url in browser.requested() if not url.startswith("data:")] == [address]
    assert browser.complaints() == []


def test_a_click_sorts_numbers_with_missing_ones_last(browser: Browser, address: str) -> None:
    browser.open(address, until=READY)

    def models() -> list[str]:
        return browser.texts("#board-1 tbody th span:first-child")

    def click(column: int) -> None:
        browser.evaluate(f"document.querySelectorAll('#board-1 thead button')[{column}].click()")

    click(6)  # tokens per utterance: 100, 12.5 and 9, which as text would sort otherwise
    assert models() == ["able", "human", "weak"]
    click(6)
    assert models() == ["weak", "human", "able"]
    click(3)  # Elo, which people have not
    assert models() == ["able", "weak", "human"]
    click(3)
    assert models() == ["weak", "able", "human"]
    click(0)
    assert models() == ["able", "human", "weak"]
    assert browser.evaluate("document.querySelector('#board-1 thead th').getAttribute('aria-sort')") == "ascending"


def test_an_address_leads_to_seed_and_models(browser: Browser, address: str) -> None:
    browser.open(
        f"{address}#cases=dialogues&case=MT-10&models=weak,human",
        until=f"{READY} && document.querySelectorAll('.dialogue').length === 2",
    )
    assert browser.texts("#case-title") == ["Seed MT-10"]
    assert browser.texts(".dialogue > h4") == ["weak embedded", "human people"]
    assert browser.texts(".dialogue:first-child .seed-mark") == ["seed", "seed"]


def test_every_verdict_stands_under_its_dialogue(browser: Browser, address: str) -> None:
    browser.open(
        f"{address}#cases=dialogues&case=MT-1&models=able,weak",
        until="document.querySelectorAll('.verdicts').length === 2",
    )
    able, weak = browser.texts(".verdicts")
    assert "UniEval judged AI from utterance 4 on" in able
    assert "GTEval 1 won 1 lost" in able
    assert "won against weak, shown first; judged AI: Conversation 2" in able
    assert "tied against weak, shown second" in able
    assert "no verdict: unparsed" in weak
    assert "Hard to say <i>really</i>." in weak
    assert browser.texts(".is-accused .accused") == ["first AI utterance according to clerk"]
    assert browser.texts(".is-accused .bubble-head") == ["4 · B"]
    assert browser.texts(".remark") == ["finish reason: length"]


def test_seeds_are_found_by_text_by_id_and_by_outcome(browser: Browser, address: str) -> None:
    browser.open(address, until=READY)

    def seeds_after(query: str) -> list[str]:
        browser.evaluate(
            f"(() => {{ const s = document.getElementById('search'); s.value = {query!r};"
            "s.dispatchEvent(new Event('input'));"
            "document.getElementById('found').textContent = ''; })()"
        )
        browser.wait("document.getElementById('found').textContent.endsWith('seeds')")
        return browser.texts("#case-list strong")

    assert seeds_after("mt-1") == ["MT-1", "MT-10"]
    assert seeds_after("") == ["MT-1", "MT-2", "MT-10"]
    browser.choose("filter-system", "weak")
    browser.choose("filter-outcome", "lost, judged AI, or label present")
    assert browser.texts("#case-list strong") == ["MT-1", "MT-2", "MT-10"]
    browser.choose("filter-protocol", "UniEval")
    assert browser.texts("#case-list strong") == ["MT-2", "MT-10"]
    browser.choose("filter-protocol", "UniEval at N\u00a0=\u00a04")
    assert browser.texts("#case-list strong") == ["MT-2", "MT-10"]
    browser.choose("filter-outcome", "verdict not parsed")
    assert browser.texts("#case-list strong") == ["MT-1"]


def test_an_opponent_narrows_the_cases_and_what_stands_under_them(browser: Browser, address: str) -> None:
    browser.open(
        f"{address}#cases=dialogues&system=able&opponent=human&models=able,human",
        until="document.getElementById('found')?.textContent.startsWith('1 of 3') && document.querySelector('.bubble')",
    )
    assert browser.texts("#case-list strong") == ["MT-1"]
    (able, human) = browser.texts(".verdicts")
    assert "GTEval" in able
    assert "Arena" not in able  # was against another
    assert "GTEval" in human
    browser.choose("filter-opponent", "weak")
    browser.wait("document.querySelector('.verdicts')?.textContent.includes('Arena')")
    assert "GTEval" not in browser.texts(".verdicts")[0]


def test_a_browser_that_cannot_unpack_says_so(browser: Browser, address: str) -> None:
    script = browser.command("Page.addScriptToEvaluateOnNewDocument", source="delete window.DecompressionStream;")
    browser.open(address, until="document.getElementById('viewer-message')?.hidden === false")
    browser.command("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])
    (message,) = browser.texts("#viewer-message")
    assert "cases cannot be shown" in message
    assert "results/dialogues/*.parquet" in message
    assert browser.evaluate("document.querySelectorAll('#board-1 tbody tr').length") == 3
