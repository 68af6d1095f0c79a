"""Transcripts beside chatbots' dialogues in a real browser: sources, own judgements, and what was not said."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import report_example as example
import transcripts_report as mine
from report_browser import Browser

from dialeval.report.page import build_report

READY = "document.querySelector('.bubble')"


@pytest.fixture(scope="module")
def address(written: Callable[[str], str]) -> str:
    return written(build_report(mine.beside_chatbots()))


def test_another_source_brings_its_own_cases_and_systems(browser: Browser, address: str) -> None:
    browser.open(address, until=READY)
    assert browser.texts("#shelf option") == ["all: dialogues", "selfchat", "support"]
    assert browser.texts("#case-list strong") == ["MT-1", "MT-2", "MT-10"]
    shown = "[...document.querySelectorAll('#models label')].map(e => e.textContent)"
    assert browser.evaluate(shown) == ["human", "weak", "able"]
    browser.evaluate(
        "(() => { const s = document.getElementById('shelf'); s.value = '0/1';"
        "s.dispatchEvent(new Event('change', {bubbles: true})); })()"
    )
    browser.wait("document.getElementById('case-title').textContent === 'Case refund'")
    assert browser.texts("#case-list strong") == ["refund", "login", "c1"]
    assert browser.texts("#found") == ["3 of 3 cases"]
    assert browser.evaluate(shown) == ["v1", "v2"]
    browser.wait("document.querySelectorAll('.dialogue').length === 2")
    assert browser.texts(".dialogue > h4") == ["v2", "v1"]  # the better one first
    assert browser.evaluate("location.hash") == "#cases=dialogues&of=support&case=refund"
    assert browser.complaints() == []


def test_a_number_on_several_sources_leads_to_the_cases_of_all(browser: Browser, address: str) -> None:
    browser.open(f"{address}#cases=dialogues&system=v2&protocol=felt&judge=clerk", until=READY)
    assert browser.evaluate("document.getElementById('shelf').value") == "0/-1"
    assert browser.texts("#case-list strong") == ["refund", "c1"]
    assert browser.texts("#found") == ["2 of 6 cases"]
    assert browser.texts(".dialogue > h4") == ["v2", "v1"]
    browser.click("#case-list li:last-child button")
    browser.wait("document.getElementById('case-title').textContent === 'Case c1'")
    browser.open(browser.evaluate("location.href"), until=READY)
    assert browser.evaluate("document.getElementById('shelf').value") == "0/-1"
    assert browser.texts("#case-title") == ["Case c1"]
    assert browser.complaints() == []


def test_a_case_that_none_of_the_chosen_systems_met_shows_who_did(browser: Browser, address: str) -> None:
    """Systems that share no case: the two best ones, which are chosen at first, say nothing on a third one's."""
    browser.open(f"{address}#cases=dialogues&of=support&case=login&models=v2", until=READY)
    assert browser.texts(".dialogue > h4") == ["v1"]
    assert browser.texts("#models label:has(:checked)") == ["v1"]
    browser.open(f"{address}#cases=dialogues&of=support&case=login&models=v1,v2", until=READY)
    assert browser.texts(".dialogue > h4") == ["v1", "v2"]


def test_ones_own_judgements_stand_under_the_dialogue_that_they_are_about(browser: Browser, address: str) -> None:
    browser.open(
        f"{address}#cases=dialogues&of=support&case=refund&models=v1,v2",
        until="document.querySelectorAll('.verdicts').length === 3",
    )
    assert browser.texts(".dialogue > h5") == ["Dialogue 1 of 2", "Dialogue 2 of 2"]
    of_v1, first_of_v2, second_of_v2 = browser.texts(".verdicts")
    assert "felt · empathy 2 of 1–7Cold." in of_v1
    assert "faults · refusal Yes in utterance 2" in of_v1
    assert "lost against v2, shown first; answer: B" in of_v1
    assert "helpful 1 won 1 tied" in first_of_v2
    assert "felt · empathy 6.5 of 1–7" in second_of_v2
    assert "empathy" not in first_of_v2
    assert browser.texts(".dialogue:first-child .bubble-head")[:2] == ["1 · customer", "2 · agent"]


def test_hidden_messages_are_shown_on_request(browser: Browser, address: str) -> None:
    browser.command("Page.addScriptToEvaluateOnNewDocument", source="window.alert = () => { window.alarmed = true; };")
    browser.open(
        f"{address}#cases=dialogues&of=support&case=refund&models=v2",
        until="document.querySelectorAll('.verdicts').length === 2",
    )
    assert browser.texts(".is-hidden-message") == []
    assert browser.evaluate("document.getElementById('show-hidden').hidden") is False
    browser.evaluate("document.querySelector('#show-hidden input').click()")
    browser.wait("document.querySelectorAll('.is-hidden-message').length === 3")
    heads = browser.texts(".bubble-head")
    assert heads[:6] == ["system", "1 · customer", "tool call", "2 · agent", "3 · customer", "tool result"]
    assert f"lookup({example.HOSTILE})" in browser.texts(".is-hidden-message p")
    assert browser.evaluate("window.alarmed") is None
    browser.evaluate("document.querySelector('#show-hidden input').click()")
    browser.wait("document.querySelectorAll('.is-hidden-message').length === 0")


def test_transcripts_alone_need_no_choice_of_a_source(browser: Browser, written: Callable[[str], str]) -> None:
    browser.open(written(build_report(mine.inputs())), until=READY)
    assert browser.evaluate("document.getElementById('of-shelf').hidden") is True
    assert browser.texts("#case-title") == ["Case refund"]
    assert browser.complaints() == []
