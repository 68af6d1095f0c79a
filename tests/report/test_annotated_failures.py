"""Failures in the report: the utterances are marked, cases are found by kind, and no leaderboard ranks by them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
import transcripts_report as mine
from page_links import packed_tables
from report_browser import Browser

from dialeval.report.inputs import EvaluatedProtocol, ReportInputs
from dialeval.report.judgements import marked
from dialeval.report.leaderboard import build_boards
from dialeval.report.page import build_report
from dialeval.tables.dialogues import JUDGEMENTS
from dialeval.tables.files import to_table
from dialeval.tables.measures import EXAMPLES, RATES


def kind(
    judge: str, item_id: str, system: str, criterion: str, places: list[int] | None, **more: Any
) -> dict[str, Any]:
    """A judgement that a kind shows in some utterances of a dialogue on the case `refund`."""
    choice = None if places is None else "Yes" if places else "No"
    about = {"item_id": item_id, "case_id": "refund", "left": system, "criterion": criterion}
    status = "unparsed" if places is None else "ok"
    row = mine.judgement("failures", **about, choice=choice, places=places, place=(places or [None])[0], status=status)
    return row | {"judge": judge} | more


ROWS = [
    kind("clerk", "a1", "v1", "formal_tone", [2, 4], reason="Stiff."),
    kind("rules", "a1", "v1", "repetitive_phrasing", [4]),
    kind("clerk", "a1", "v1", "repetitive_phrasing", [4]),
    kind("clerk", "a1", "v1", "excessive_length", []),
    kind("clerk", "a2", "v2", "excessive_length", None, reason="no readable line"),
    kind("clerk", "a3", "v2", "good_case", None, choice="Yes", status="ok", reason="Natural."),
]


@pytest.fixture(scope="module")
def inputs() -> ReportInputs:
    found = mine.inputs()
    rate = {"label": "Yes", "estimate": 0.5, "ci_low": 0.1, "ci_high": 0.9, "n": 2, "n_unparsed": 0, "system": "v1"}
    example = {"criterion": "formal_tone", "rank": 1, "system": "v1", "corpus": "support", "item_id": "a1"}
    example |= {
        "case_id": "refund",
        "flagged_by": "clerk",
        "utterance": 2,
        "n_flagged_utterances": 2,
        "text": "Ask.",
        "before": "Who?",
    }
    return dataclasses.replace(
        found,
        verdicts=to_table(JUDGEMENTS, [*found.verdicts.to_pylist(), *ROWS]),
        protocols=(*found.protocols, EvaluatedProtocol("failures", "annotate", ("support",), ("rates", "examples"))),
        tables={
            **found.tables,
            "failures/rates": to_table(RATES, [rate | {"judge": "clerk", "criterion": "formal_tone"}]),
            "failures/examples": to_table(EXAMPLES, [example]),
        },
    )


def test_no_leaderboard_ranks_by_failures(inputs: ReportInputs) -> None:
    names = [measure.name for board in build_boards(inputs) for measure in board.measures]
    assert names
    assert not [name for name in names if "formal" in name or "Failures" in name]


def test_the_clearest_examples_stand_in_the_report(inputs: ReportInputs) -> None:
    page = build_report(inputs)
    assert "Clearest examples" in page
    (examples,) = [table for name, table in packed_tables(page).items() if name.endswith("examples")]
    assert "Ask." in examples


def test_what_shows_is_lost_and_a_good_case_is_won() -> None:
    assert [marked("formal_tone", choice) for choice in ("Yes", "No", None)] == ["lost", "won", "none"]
    assert [marked("good_case", choice) for choice in ("Yes", "No", None)] == ["won", "lost", "none"]


def test_utterances_are_marked_and_cases_are_found_by_kind(
    browser: Browser, inputs: ReportInputs, written: Callable[[str], str]
) -> None:
    browser.open(
        f"{written(build_report(inputs))}#cases=dialogues&of=support&case=refund&models=v1,v2",
        until="document.querySelectorAll('.verdicts').length === 3",
    )
    assert browser.texts(".is-marked .bubble-head") == ["2 · agent", "4 · agent"]
    assert browser.texts(".is-marked .marked") == [
        "formal tone, according to clerk", "formal tone, according to clerk",
        "repetitive phrasing, according to clerk, rules",
    ]  # fmt: skip
    of_v1, first_of_v2, second_of_v2 = browser.texts(".verdicts")
    assert "Failures · formal tone Yes in utterances 2, 4Stiff." in of_v1
    assert "excessive length" not in of_v1  # what was looked for and is not there
    assert "Failures · excessive length no verdict: unparsed" in first_of_v2
    assert "Failures · good case YesNatural." in second_of_v2
    offered = browser.texts("#filter-protocol option")
    assert "Failures: formal tone" in offered
    assert "failures" not in offered
    browser.choose("filter-protocol", "Failures: formal tone")
    browser.choose("filter-outcome", "lost, judged AI, or label present")
    browser.wait("document.getElementById('found').textContent === '1 of 3 cases'")
    assert browser.texts("#case-list strong") == ["refund"]
    browser.choose("filter-protocol", "Failures: excessive length")
    browser.wait("document.getElementById('found').textContent === 'None of 3 cases matches.'")
    assert browser.complaints() == []
