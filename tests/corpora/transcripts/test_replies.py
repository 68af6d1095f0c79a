"""A reply and what came before it, in two fields, are a dialogue; what was asked is the case."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dialeval.corpora.transcripts.items import Options, read_items
from dialeval.corpora.transcripts.readers import read
from dialeval.errors import UserError


def lines(folder: Path, *records: Any) -> Path:
    path = folder / "replies.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("record", "utterances"),
    [
        ({"instruction": "Where?", "output": "Here."}, ("Where?", "Here.")),
        ({"prompt": "Where?", "response": "Here."}, ("Where?", "Here.")),
        ({"prompt": "Where?", "completion": "Here."}, ("Where?", "Here.")),
        ({"context": ["Hi", "Hello", "Where?"], "response": "Here."}, ("Hi", "Hello", "Where?", "Here.")),
        ({"context": [{"role": "user", "content": "Where?"}], "response": "Here."}, ("Where?", "Here.")),
        ({"instruction": "Sum up.", "input": "A text.", "output": "So."}, ("Sum up.\n\nA text.", "So.")),
        ({"instruction": "Where?", "context": "A mill.", "response": "There."}, ("Where?\n\nA mill.", "There.")),
        (
            {"history": [["Hi", "Hello"]], "instruction": "Where?", "input": "", "output": "Here."},
            ("Hi", "Hello", "Where?", "Here."),
        ),
    ],
)
def test_what_came_before_a_reply(tmp_path: Path, record: dict[str, Any], utterances: tuple[str, ...]) -> None:
    (found,) = read(lines(tmp_path, record), "auto", {}, Counter())
    assert found.utterances == utterances
    assert found.speakers == (("user", "assistant") * 2)[: len(utterances)]


def test_systems_meet_on_what_was_asked(tmp_path: Path) -> None:
    several = {
        "instruction": "Where?",
        "completions": [{"model": name, "response": name} for name in ("heron", "reed")],
    }
    path = lines(tmp_path, several, {"instruction": "Where?", "output": "x", "generator": "sedge"})
    items = read_items("replies", path, Options()).items
    assert [item.system for item in items] == ["heron", "reed", "sedge"]
    assert len({item.case_id for item in items} - {""}) == 1


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"prompt": "Hi", "response": None}, "line 1: 'response' is None; it must be a text, the reply"),
        ({"prompt": 3, "response": "x"}, "line 1: 'prompt' is 3; it must be a text or a list of them"),
        ({"context": {"a": 1}, "response": "x"}, "line 1: 'context' is {'a': 1}; it must be"),
        ({"instruction": "Hi", "completions": ["x"]}, "line 1: 'completions' must be a list of objects with 'model'"),
    ],
)
def test_what_is_no_reply_is_told(tmp_path: Path, record: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        list(read(lines(tmp_path, record), "auto", {}, Counter()))
