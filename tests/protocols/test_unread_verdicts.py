"""What could not be read is asked once more under a key of its own, and the second answer stands if it can be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from judged_dialogues import items_of, shipped_question

from dialeval.config.protocols import shipped
from dialeval.engines.requests import Message, request_key
from dialeval.prompts.rendering import Templates
from dialeval.protocols import detect
from dialeval.protocols.item_prompts import ItemSettings, ReadingSettings
from dialeval.protocols.planning import request_from_row
from dialeval.stages import judging
from dialeval.tables.dialogues import JUDGEMENTS, REQUESTS, RESPONSES
from dialeval.tables.files import read_table, to_table, write_table

UNIEVAL: dict[str, Any] = {"name": "unieval", "shipped": True, "protocol": shipped("unieval")}
DIALOGUES = {"bot": {f"s{n}": ("Hi.", "Hello.", f"What now, {n}?") for n in range(4)}}
ANSWERS = {
    "s0": ("Choice: No\nIndex: None\nReason: natural", "ok", "stop"),
    "s1": ("Hard to say.", "ok", "stop"),
    "s2": ("I cannot help with that.", "ok", "refusal"),
    "s3": ("Choice: Yes\nIndex: nine", "ok", "stop"),
}


def response(request_id: str, text: str, status: str, finish_reason: str) -> dict[str, Any]:
    return {
        "request_id": request_id,
        "key": "0" * 32,
        "status": status,
        "text": text,
        "reasoning": "",
        "finish_reason": finish_reason,
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    planned = [one.to_row() for one in detect.plan(shipped_question("unieval"), items_of(DIALOGUES), Templates())]
    write_table(tmp_path / "requests", REQUESTS, to_table(REQUESTS, planned))
    answers = [response(row["request_id"], *ANSWERS[row["case_id"]]) for row in planned]
    write_table(tmp_path / "responses", RESPONSES, to_table(RESPONSES, answers))
    judging.plan_again(
        ItemSettings(**UNIEVAL),
        tmp_path / "requests",
        [tmp_path / "responses"],
        tmp_path / "again",
        Templates(),
    )
    return tmp_path


def test_only_what_could_not_be_read_is_asked_again_and_differently(folder: Path) -> None:
    rows = read_table(folder / "again", REQUESTS).to_pylist()
    assert [row["case_id"] for row in rows] == ["s1", "s3"]
    first = {row["case_id"]: request_from_row(row) for row in read_table(folder / "requests", REQUESTS).to_pylist()}
    for row in rows:
        again, before = request_from_row(row), first[row["case_id"]]
        assert again.request_id == before.request_id + "/again"
        assert again.messages[:1] == before.messages
        assert again.messages[1] == Message("assistant", ANSWERS[row["case_id"]][0])
        assert "exactly the form" in again.messages[2].content
        assert request_key(again, "model") != request_key(before, "model")


def test_the_second_answer_stands_where_there_is_one(folder: Path) -> None:
    again = [row["request_id"] for row in read_table(folder / "again", REQUESTS).to_pylist()]
    answers = [
        response(again[0], "Choice: Yes\nIndex: 3\nReason: abrupt", "ok", "stop"),
        response(again[1], "", "missing", ""),
    ]
    write_table(folder / "second", RESPONSES, to_table(RESPONSES, answers))
    judging.parse_detect(
        ReadingSettings(**UNIEVAL, judge="j"),
        folder / "requests",
        [folder / "responses"],
        [folder / "second"],
        folder / "judgements",
    )
    rows = {row["case_id"]: row for row in read_table(folder / "judgements", JUDGEMENTS).to_pylist()}
    assert (rows["s1"]["choice"], rows["s1"]["place"], rows["s1"]["status"]) == ("Yes", 3, "ok")
    assert rows["s3"]["status"] == "unparsed"
    assert {name: row["status"] for name, row in rows.items() if name in ("s0", "s2")} == {"s0": "ok", "s2": "refused"}
