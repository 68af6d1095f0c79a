"""What was preferred and what was not are two dialogues on one case."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dialeval.corpora.transcripts.items import Options, read_items
from dialeval.corpora.transcripts.readers import looks_of, read
from dialeval.errors import UserError

CHOSEN = ("Where?", "On a mill.", "Which?", "The old one.")
ASKED = [{"role": "user", "content": "Where?"}]


def marked(*texts: str) -> str:
    return "".join(f"\n\n{('Human', 'Assistant')[n % 2]}: {text}" for n, text in enumerate(texts))


def lines(folder: Path, *records: Any) -> Path:
    path = folder / "pairs.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_marks_say_who_speaks(tmp_path: Path) -> None:
    path = lines(tmp_path, {"chosen": marked(*CHOSEN), "rejected": marked(*CHOSEN[:3], "No:\n\nidea.")})
    reading = read_items("pairs", path, Options())
    assert looks_of(path) == "preferences"
    assert [(one.item_id, one.case_id, one.judged) for one in reading.items] == [
        ("pair-1/chosen", "pair-1", "assistant"),
        ("pair-1/rejected", "pair-1", "assistant"),
    ]
    assert [one.utterances for one in reading.items] == [CHOSEN, (*CHOSEN[:3], "No:\n\nidea.")]


@pytest.mark.parametrize(
    "record",
    [
        {"prompt": "Where?", "chosen": "On a mill.", "rejected": "No."},
        {"prompt": ASKED, "chosen": [{"role": "assistant", "content": "On a mill."}], "rejected": "No."},
        {"prompt": "Where?", "chosen": [*ASKED, {"role": "assistant", "content": "On a mill."}], "rejected": "No."},
        {"prompt": marked("Where?"), "chosen": "On a mill.", "rejected": "No."},
        {"prompt": marked("Where?") + "\n\nAssistant:", "chosen": " On a mill.", "rejected": " No."},
    ],
)
def test_a_prompt_may_stand_apart(tmp_path: Path, record: dict[str, Any]) -> None:
    chosen, rejected = read(lines(tmp_path, record | {"prompt_id": "q7"}), "auto", {}, Counter())
    assert (chosen.dialogue_id, chosen.utterances) == ("q7", ("Where?", "On a mill."))
    assert (rejected.speakers, rejected.utterances[-1]) == (chosen.speakers, "No.")


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"chosen": 3, "rejected": "x"}, "line 1, 'chosen' must be a text or a list of messages, not 3"),
        ({"chosen": "x", "rejected": None}, "line 1, 'rejected' must be a text or a list"),
    ],
)
def test_what_is_no_dialogue_is_told(tmp_path: Path, record: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        list(read(lines(tmp_path, record), "auto", {}, Counter()))
