"""Labels of other tools: a column for each criterion, other names of columns, Label Studio and Mechanical Turk."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from labelled_dialogues import dialogues, drawn_protocol, items_table, protocol_settings

from dialeval.errors import UserError
from dialeval.labels.labelled_protocol import LabelledProtocol
from dialeval.labels.ledger import Ledger
from dialeval.labels.reading import Reading, read_labels

Protocols = Mapping[str, LabelledProtocol]
ROWS = [("ann", "1/kiosk", "coherence", 4.0), ("ann", "1/kiosk", "overall", 2.0), ("bob", "2/kiosk", "coherence", 5.0)]


@pytest.fixture
def quality(tmp_path: Path) -> Protocols:
    """One protocol of two criteria, of which nothing is drawn."""
    told = protocol_settings("quality", ["coherence", "overall"], form="scale")
    one = drawn_protocol(tmp_path, told, items_table(tmp_path / "items.parquet", dialogues()))
    return {"quality": LabelledProtocol(one.question, one.frame, Ledger(tmp_path / "none.csv"))}


@pytest.fixture
def pairs(tmp_path: Path) -> Protocols:
    """One protocol of pairs, of which nothing is drawn."""
    one = drawn_protocol(
        tmp_path, protocol_settings("better", form="pair"), items_table(tmp_path / "i.parquet", dialogues())
    )
    return {"better": LabelledProtocol(one.question, one.frame, Ledger(tmp_path / "none.csv"))}


def reading_of(folder: Path, name: str, content: Any, protocols: Protocols) -> Reading:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return read_labels([path], protocols)


def scores(reading: Reading) -> list[tuple[str, str, str, float]]:
    return [
        (row["annotator"], row["item_id"], row["criterion"], row["value"]) for row in reading.rows if "value" in row
    ]


@pytest.mark.parametrize(
    "table",
    [
        "annotator,item_id,coherence,overall\nann,1/kiosk,4,2\nbob,2/kiosk,5,\n",
        "Worker ID;Dialogue ID;System;Coherence;Overall;Time\nann;1;kiosk;4;2;7 s\nbob;2;kiosk;5;;9 s\n",
        "HITId,WorkerId,AssignmentStatus,Input.item_id,Answer.coherence,Answer.overall\n"
        "h1,ann,Approved,1/kiosk,4,2\nh2,bob,Submitted,2/kiosk,5,\nh2,eve,Rejected,2/kiosk,1,1\n",
        "rater,corpus,dialogue_id,coherence,overall\nann,support,1/kiosk,4.0,2.0\nbob,support,2/kiosk,5.0,\n",
        "annotator,dialogue_id,system,case_id,coherence,overall\nann,of-a-tool,kiosk,1,4,2\nbob,other,kiosk,2,5,\n",
    ],
)
def test_a_table_may_have_a_column_for_each_criterion(tmp_path: Path, table: str, quality: Protocols) -> None:
    reading = reading_of(tmp_path, "x.csv", table, quality)
    assert scores(reading) == ROWS
    assert any("1 rows with AssignmentStatus Rejected are left out" in note for note in reading.notes) == (
        "Rejected" in table
    )


def task(item_id: str, *annotations: tuple[Any, list[dict[str, Any]]]) -> dict[str, Any]:
    given = [
        {"id": 9, "completed_by": who, "was_cancelled": not result, "result": result} for who, result in annotations
    ]
    return {"id": 31, "data": {"item_id": item_id, "text": "Is there milk?"}, "annotations": given, "predictions": []}


def result(control: str, **value: Any) -> dict[str, Any]:
    return {"from_name": control, "to_name": "dialogue", "type": next(iter(value)), "value": value}


def test_label_studios_tasks_are_labels(tmp_path: Path, quality: Protocols) -> None:
    tasks = [
        task("1/kiosk", ("ann", [result("coherence", rating=4), result("overall", choices=["2"])])),
        task(
            "2/kiosk", ({"id": 2, "email": "bob"}, [result("coherence", number=5), result("comment", text=["Dull."])])
        ),
        task("3/kiosk", (7, [])),
    ]
    reading = reading_of(tmp_path, "x.json", tasks, quality)
    assert scores(reading) == ROWS
    assert [row["comment"] for row in reading.rows[:3]] == ["", "", "Dull."]
    assert {(row["annotator"], row["item_id"], row["skipped"]) for row in reading.rows[3:]} == {("7", "3/kiosk", True)}
    flat = [
        {"annotator": "ann", "item_id": "1/kiosk", "coherence": 4, "overall": {"rating": 2}, "lead_time": 3.5},
        {"annotator": "bob", "item_id": "2/kiosk", "coherence": [{"rating": 5}], "overall": None},
    ]
    assert scores(reading_of(tmp_path, "y.json", flat, quality)) == ROWS


def test_label_studios_choice_between_two_is_an_outcome(tmp_path: Path, pairs: Protocols) -> None:
    about = {"case_id": "1", "left": "mosaic", "right": "kiosk"}
    chosen = {"data": about, "annotations": [{"completed_by": 1, "result": [result("pw", selected="left")]}]}
    (row,) = reading_of(tmp_path, "x.json", [chosen], pairs).rows
    assert row["annotator"] == "1"
    assert row["outcome"] == ("left" if row["system"] == "mosaic" else "right")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("annotator,item_id,coherance\nann,1/kiosk,4\n", "one for each criterion) is missing; its columns: annotator"),
        ("item_id,coherence\n1/kiosk,4\n", "the column annotator is missing"),
        ("annotator,item_id,coherence,overall\nann,1/kiosk,4,9\n", "x.csv, row 2: 9 is outside the scale of overall"),
        ([3], "x.json, row 1: 3 is not an object with an answer"),
        ([], "the column annotator"),
        (
            [task("1/kiosk", ("ann", [result("overall", rating=1), result("overall", rating=2)]))],
            "answers in one annotation",
        ),
        ([task("1/kiosk", ("ann", [result("overall", choices=["1", "2"])]))], "row 1: '['1', '2']' is not a number"),
        ([task("1/nobody", ("ann", [result("overall", rating=1)]))], "row 1: "),
        ([{"data": {}, "annotations": [5]}], "an annotation has no list 'result'"),
    ],
)
def test_what_is_wrong_with_an_export_of_another_tool(
    tmp_path: Path, content: Any, words: str, quality: Protocols
) -> None:
    with pytest.raises(UserError) as caught:
        reading_of(tmp_path, "x.csv" if isinstance(content, str) else "x.json", content, quality)
    assert words in str(caught.value)


def test_what_programs_write_for_nothing_is_no_label_and_a_criterion_without_a_column_is_named(
    tmp_path: Path, quality: Protocols
) -> None:
    told = '[{"annotator": "ann", "item_id": "1/kiosk", "Coherence (1-5)": 3, "overall": 2.0}, ' + (
        '{"annotator": "bob", "item_id": "1/kiosk", "Coherence (1-5)": 3, "overall": NaN}]'
    )
    reading = reading_of(tmp_path, "x.json", told, quality)
    assert scores(reading) == [("ann", "1/kiosk", "overall", 2.0)]
    assert reading.notes == [
        "x.json: it has no column coherence, so it has no labels",
        "x.json: 1 rows have no label yet",
    ]
