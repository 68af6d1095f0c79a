"""Numbers that were given on another scale than is set now are refused, from pages and from sheets."""

from __future__ import annotations

from pathlib import Path

import pytest
from labelled_dialogues import asked_about, dialogues, drawn_protocol, export_of, items_table, save, sheet_for

from dialeval.criteria import Criterion, Scale
from dialeval.errors import UserError
from dialeval.labels.asked_protocol import AskedProtocol
from dialeval.labels.blank_csv import blank_csv
from dialeval.labels.given_scales import scales_fault
from dialeval.labels.ledger import Ledger
from dialeval.labels.reading import read_labels


def warm(low: float, high: float) -> Criterion:
    return Criterion("warm", scale=Scale(low, high))


@pytest.mark.parametrize(
    ("options", "is_now"),
    [
        ("1 (very poor); 2; 3; 4; 5 (excellent)", True),
        ("1; 2; 3; 4; 5", True),
        ("1 (cold; 2 of 9); 2 (so (so)); 3; 4; 5 (warm; 6)", True),
        ("a number from 1 to 5", True),
        ("1 (very poor); 2; 3; 4; 5; 6; 7 (excellent)", False),
        ("1 (a); 2 (b); 3 (c); 4 (d); 5 (e); 6 (f)", False),
        ("0; 1; 2; 3; 4; 5", False),
        ("1; 2; 3; 4", False),
        ("1; 2; 3; 4; 50", False),
        ("a number from 1 to 50", False),
        ("1-5", True),
        ("from 1 (cold) to 7 (warm)", True),
    ],
)
def test_answers_are_those_of_the_scale_unless_they_are_rewritten(options: str, is_now: bool) -> None:
    assert (scales_fault(options, warm(1, 5)) == "") is is_now


@pytest.mark.parametrize(
    ("options", "is_now"),
    [
        ("a number from -0.5 to 2000000", True),  # a page's spelling
        ("a number from -0.5 to 2e+06", True),  # a sheet's
        ("a number from -0.5 to 200000", False),
    ],
)
def test_the_ends_of_a_scale_may_be_spelt_in_two_ways(options: str, is_now: bool) -> None:
    assert (scales_fault(options, warm(-0.5, 2e6)) == "") is is_now


@pytest.mark.parametrize(("before", "now"), [((1, 7), (1, 10)), ((1, 5), (1, 100)), ((0, 100), (0, 5))])
def test_labels_on_a_scale_that_has_changed_are_refused(
    tmp_path: Path, before: tuple[float, float], now: tuple[float, float]
) -> None:
    items = items_table(tmp_path / "items.parquet", dialogues())

    def protocol(ends: tuple[float, float]) -> AskedProtocol:
        return drawn_protocol(tmp_path, asked_about("felt", ["warm"], [warm(*ends)], form="scale"), items)

    labelled = protocol(before)
    sheet = sheet_for(labelled, "ann")
    table = tmp_path / "felt-ann.csv"
    header, *rows = blank_csv(sheet).split("\r\nfelt,")
    filled = [row[: row.rindex(",,")] + ",3," for row in rows]
    table.write_text("\r\nfelt,".join([header, *filled]) + "\r\n", encoding="utf-8")
    options = "; ".join(option.label for option in sheet.questions[0].options)
    options = options or f"a number from {before[0]:g} to {before[1]:g}"
    export = save(tmp_path / "felt.json", export_of(sheet, lambda *_: "3", options=options))
    for path in (table, export):
        assert {row["value"] for row in read_labels([path], {"felt": labelled}).rows} == {3.0}
        with pytest.raises(UserError, match=f"{path.name}: it was labelled on another scale of warm") as caught:
            read_labels([path], {"felt": protocol(now)})
        assert str(caught.value).count("another scale") == 1


def test_what_another_tool_calls_options_tells_no_scale(tmp_path: Path) -> None:
    items = items_table(tmp_path / "items.parquet", dialogues())
    asked = drawn_protocol(tmp_path, asked_about("felt", ["warm"], [warm(1, 5)], form="scale"), items)
    free = AskedProtocol(asked.question, asked.frame, Ledger(tmp_path / "none.csv"))
    table = tmp_path / "felt.csv"
    table.write_text("annotator,item_id,criterion,label,options\nann,1/kiosk,warm,3,low|high\n", encoding="utf-8")
    assert [row["value"] for row in read_labels([table], {"felt": free}).rows] == [3.0]
