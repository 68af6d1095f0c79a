"""What people said of a dialogue stands under it, before judges' verdicts, and is never taken for a judge's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import transcripts_report as mine
from report_browser import Browser

from dialeval.html_pages import unpack
from dialeval.report.archive import build_archive
from dialeval.report.inputs import ReportInputs
from dialeval.report.leaderboard import build_boards
from dialeval.report.page import build_report
from dialeval.tables.files import to_table
from dialeval.tables.labels import LABELS


def label(protocol: str, annotator: str, row: int, **other: Any) -> dict[str, Any]:
    """Return a row of the table `labels/labels`."""
    said = {"simulated": False, "round": 0, "skipped": False, "comment": "", "file": f"{annotator}.json", "row": row}
    about = {"protocol": protocol, "annotator": annotator, "corpus": "support", "case_id": "refund"}
    return {**about, **said, **other}


FELT = {"item_id": "a1", "system": "v1", "criterion": "empathy", "scale_min": 1.0, "scale_max": 7.0}
LABEL_ROWS = [
    label("felt", "anna", 1, **FELT, value=5.0, comment="Warm, <b>really</b>."),
    label("felt", "anna", 2, **FELT, value=4.0, round=1),
    label("felt", "ben", 1, **FELT, simulated=True, skipped=True),
    label("helpful", "anna", 3, system="v1", opponent="v2", outcome="left"),
]


@pytest.fixture(scope="module")
def labelled() -> ReportInputs:
    return mine.inputs(labels=to_table(LABELS, LABEL_ROWS))


def test_annotators_come_before_judges_and_simulated_ones_are_called_so(labelled: ReportInputs) -> None:
    index = unpack(build_archive(labelled, 1_000_000).index)
    assert index["judges"] == ["annotator anna", "simulated annotator ben", "clerk"]
    assert index["people"] == ["annotator anna", "simulated annotator ben"]
    assert unpack(build_archive(mine.inputs(), 1_000_000).index)["people"] == []


def test_leaderboards_know_nothing_of_them(labelled: ReportInputs) -> None:
    assert build_boards(labelled) == build_boards(mine.inputs())


def test_labels_stand_under_the_dialogue_that_they_are_about(
    browser: Browser, labelled: ReportInputs, written: Callable[[str], str]
) -> None:
    browser.open(
        f"{written(build_report(labelled))}#cases=dialogues&of=support&case=refund&models=v1,v2",
        until="document.querySelectorAll('.verdicts').length === 3",
    )
    texts = "[...document.querySelectorAll('.verdicts')].map(e => e.innerText)"
    of_v1, first_of_v2, second_of_v2 = browser.evaluate(texts)
    anna, ben, clerk = (
        of_v1.index(name) for name in ("Annotator anna on v1", "Simulated annotator ben", "Judge clerk")
    )
    assert anna < ben < clerk
    assert "5 of 1–7" in of_v1[anna:ben]
    assert "Warm, <b>really</b>." in of_v1[anna:ben]
    assert "Labelled a second time." in of_v1[anna:ben]
    assert "won against v2\n" in f"{of_v1[anna:ben]}\n"  # in which order the two were shown is not said
    assert "no verdict: skipped" in of_v1[ben:clerk]
    assert "lost against v1" in first_of_v2
    assert "Annotator" not in second_of_v2
    assert browser.complaints() == []
