"""MT-bench's folder: questions and answers put together, and votes about them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialeval.corpora.transcripts.items import Options, read_items
from dialeval.corpora.transcripts.readers import source_files
from dialeval.errors import UserError

QUESTION = {"question_id": 81, "category": "writing", "turns": ["Name a bird.", "Another?"]}


def answer(*turns: Any, **more: Any) -> dict[str, Any]:
    return {"question_id": 81, "model_id": "heron", "choices": [{"index": 0, "turns": [*turns]}], **more}


def folder(path: Path, *answers: dict[str, Any], name: str = "heron") -> Path:
    (path / "model_answer").mkdir(exist_ok=True)
    (path / "question.jsonl").write_text(json.dumps(QUESTION) + "\n", encoding="utf-8")
    lines = "".join(json.dumps(one) + "\n" for one in answers)
    (path / "model_answer" / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    return path


def test_questions_and_answers_are_dialogues_on_one_case(tmp_path: Path) -> None:
    folder(tmp_path, answer("Heron.", "Reed."))
    twice = answer("Owl.", {"content": "Crow."}, model_id=None)
    folder(tmp_path, twice | {"choices": twice["choices"] * 2}, name="reed")
    items = read_items("mt", tmp_path, Options()).items
    assert [(one.item_id, one.case_id) for one in items] == [("81/heron", "81"), ("81/reed", "81"), ("81-2/reed", "81")]
    assert items[1].utterances == ("Name a bird.", "Owl.", "Another?", "Crow.")
    assert [file.name for file in source_files("auto", tmp_path)] == ["question.jsonl", "heron.jsonl", "reed.jsonl"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (answer("a", "b", "c"), "heron.jsonl, line 1: 3 answers, but question '81' has 2 turns in"),
        (answer(question_id=82), "heron.jsonl, line 1: question '82' is not in"),
        (answer(3), "heron.jsonl, line 1, choice 1: 'turns' must be a list of texts"),
        (answer(choices={}), "heron.jsonl, line 1: 'choices' must be a list of objects"),
    ],
)
def test_what_does_not_fit_is_reported(tmp_path: Path, line: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        read_items("mt", folder(tmp_path, line), Options())


def test_a_single_file_is_reported_as_one_of_several(tmp_path: Path) -> None:
    folder(tmp_path, answer("a", "b"))
    for file in source_files("auto", tmp_path):
        with pytest.raises(UserError, match="set path to the folder with question.jsonl and model_answer/"):
            read_items("mt", file, Options())
    (tmp_path / "model_answer" / "heron.jsonl").unlink()
    with pytest.raises(UserError, match="the folder has no answers"):
        read_items("mt", tmp_path, Options())


def test_dialogues_that_several_people_voted_on_stand_once(tmp_path: Path) -> None:
    said = {name: [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": name}] for name in "abc"}
    votes = [
        {
            "question_id": 81,
            "model_a": a,
            "model_b": b,
            "conversation_a": said[a],
            "conversation_b": said[b],
            "judge": n,
        }
        for n, (a, b) in enumerate([("a", "b"), ("a", "b"), ("c", "a")])
    ]
    path = tmp_path / "votes.jsonl"
    path.write_text("".join(json.dumps(vote) + "\n" for vote in votes), encoding="utf-8")
    reading = read_items("votes", path, Options())
    assert [one.item_id for one in reading.items] == ["81/a", "81/b", "81/c"]
    assert "3 dialogues that repeat an earlier one of the same id word for word, skipped" in reading.notes
