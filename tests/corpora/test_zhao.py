"""Zhao's own files, on hand-made records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialeval.corpora import zhao
from dialeval.corpora.rated import RatedReading
from dialeval.errors import UserError


def worker(overall: Any = 4, **more: Any) -> dict[str, Any]:
    return {"worker_id": "w", "overall": overall, "overall_is_outlier": True, "fact": "na", **more}


def response(*workers: Any, text: str = "by bus .") -> dict[str, Any]:
    return {"uttr": text, "scores": {f"worker_{n}": one for n, one in enumerate(workers)}}


def dialogue(**responses: Any) -> dict[str, Any]:
    context = [["A", "how ?"], ["A", " "], ["A", "so far ?"], ["B", "far ?"]]
    return {"context": context, "reference": ["A", "on foot ."], "responses": responses}


def read(folder: Path, content: Any) -> RatedReading:
    path = folder / "dd_annotations.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return zhao.read("mine", path)


def test_who_speaks_like_the_reference_is_the_chatbot(tmp_path: Path) -> None:
    reading = read(tmp_path, {"7": dialogue(S2S=response(worker()), GPT2=response(worker(2), text="by car ."))})
    assert [(item.item_id, item.cluster) for item in reading.items] == [
        ("zhao-000000-0", "zhao-000000-0"), ("zhao-000000-1", "zhao-000000-0"),
    ]  # fmt: skip
    assert reading.items[0].utterances == ("how ?", "so far ?", "far ?", "by bus .")
    assert reading.items[0].speakers == ("chatbot", "chatbot", "human", "chatbot")


def test_every_worker_is_kept_and_nothing_else_about_them(tmp_path: Path) -> None:
    workers = (worker(5, relevance=1, fact="true"), worker(3, relevance=2, fact="false"), worker(1, fact="na"))
    reading = read(tmp_path, {"7": dialogue(S2S=response(*workers))})
    assert [(r.dimension, r.round, r.value) for r in reading.ratings] == [
        ("relevance", 0, 1), ("relevance", 1, 2), ("relevance", None, 1.5),
        ("fact", 0, 1), ("fact", 1, 0), ("fact", None, 0.5),
        ("overall", 0, 5), ("overall", 1, 3), ("overall", 2, 1), ("overall", None, 3),
    ]  # fmt: skip
    assert reading.notes == {"ratings that are missing or N/A": 2}


def test_a_response_that_nobody_rated_is_left_out(tmp_path: Path) -> None:
    reading = read(tmp_path, {"7": dialogue(a={"uttr": "x"}, b=response(worker()), c=response(worker(), text=""))})
    assert [item.item_id for item in reading.items] == ["zhao-000000-1"]
    assert reading.skipped == {"records without a rating": 1, "records with an empty utterance": 1}


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (
            dialogue(S2S=response(worker(), worker(6))),
            "dialogue '7', response of 'S2S', 'overall', rater 2: the rating 6",
        ),
        (dialogue(S2S=response(worker(fact="maybe"))), "'fact', rater 1: 'maybe' is no rating"),
        (dialogue(S2S=response("x")), "'worker_0' must be an object, not 'x'"),
        (dialogue(S2S={"scores": {}}), "response of 'S2S': the field 'uttr' is missing"),
        (dialogue() | {"context": "x"}, "'context' must be a list of .speaker, text., not 'x'"),
        (dialogue() | {"context": [["A", 1]]}, "'context', utterance 1 must be a list of speaker and text"),
        (dialogue() | {"reference": None}, "'reference' must be a list of speaker and text, not None"),
        (dialogue() | {"responses": []}, "'responses' must be an object"),
        ("x", "dialogue '7': an object with 'context', 'reference' and 'responses' is needed, not 'x'"),
    ],
)
def test_mistakes_name_the_dialogue_and_the_response(tmp_path: Path, bad: Any, words: str) -> None:
    with pytest.raises(UserError, match=words) as refused:
        read(tmp_path, {"7": bad})
    assert "dd_annotations.json" in str(refused.value)


def test_a_list_is_refused_with_the_reader_that_takes_it(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="object of id -> dialogue is needed, not list; a file .* is read by usr"):
        read(tmp_path, [{"context": "x", "fact": "", "responses": []}])
