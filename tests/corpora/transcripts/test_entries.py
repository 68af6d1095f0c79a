"""Dialogues as lists within lists: ParlAI's exchanges, numbered speakers, DREAM."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dialeval.corpora.transcripts.readers import read

ACTS = [{"id": "teacher", "text": "Hi"}, {"id": "heron", "text": "Hello"}, {"id": "teacher", "text": "Why?"}]


@pytest.mark.parametrize(
    ("record", "speakers"),
    [
        ({"dialog": [ACTS[:2], ACTS[2:]]}, ("teacher", "heron", "teacher")),
        ({"dialogue": ACTS, "speakers": ["teacher", "heron"]}, ("teacher", "heron", "teacher")),
        ({"dialog": [[0, "Hi"], [1, "Hello"], [0, "Why?"]]}, ("0", "1", "0")),
        ([["M: Hi", "W: Hello", "M: Why?"], [{"question": "Who?"}], "4-1"], ("M", "W", "M")),
        ({"dialogue_id": 1, "turns": [{"speaker": "USER", "utterance": one["text"]} for one in ACTS]}, ("USER",) * 3),
    ],
)
def test_who_says_what(tmp_path: Path, record: Any, speakers: tuple[str, ...]) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps([record]), encoding="utf-8")
    (found,) = read(path, "auto", {}, Counter())
    assert (found.speakers, found.utterances) == (speakers, ("Hi", "Hello", "Why?"))


def test_ids_of_messages_are_no_speakers(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps({"dialogue_id": 1, "dialogue": ACTS}), encoding="utf-8")
    (found,) = read(path, "auto", {}, Counter())
    assert found.speakers == ("A", "B", "A")
