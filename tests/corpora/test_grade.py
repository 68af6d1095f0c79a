"""GRADE's own file, on hand-made records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialeval.corpora.rated import RatedReading
from dialeval.corpora.rated_readers import read_rated
from dialeval.errors import UserError


def record(dataset: str = "convai2", scores: Any = "[5, 4, 2]", **more: Any) -> dict[str, Any]:
    said = {"Context": "how ?|||so far ?", "Response": " by bus .", "HumanScores": scores}
    return {"ID": 9, "Dataset": dataset, "DialogModel": "bert_ranker", **said, **more}


def read(folder: Path, dataset: str, *records: Any) -> RatedReading:
    path = folder / "human_judgement.json"
    path.write_text(json.dumps(records), encoding="utf-8")
    return read_rated(f"grade_{dataset}", "mine", path)


def test_each_data_set_is_read_by_itself(tmp_path: Path) -> None:
    records = (record("dailydialog_EVAL"), record(), record("empatheticdialogues"), record(Response="on foot ."))
    reading = read(tmp_path, "convai2", *records)
    assert [(item.item_id, item.cluster, item.utterances) for item in reading.items] == [
        ("convai2-grade-000000", "convai2-grade-000000", ("how ?", "so far ?", "by bus .")),
        ("convai2-grade-000001", "convai2-grade-000000", ("how ?", "so far ?", "on foot .")),
    ]
    assert reading.items[0].speakers == ("chatbot", "human", "chatbot")
    assert reading.skipped == {"responses on other data sets": 2}
    for dataset in ("dailydialog", "empathetic"):
        (item,) = read(tmp_path, dataset, *records).items
        assert item.item_id == f"{dataset}-grade-000000"


@pytest.mark.parametrize("scores", ["[5, 4, 2, 1]", [5, 4, 2, 1]])
def test_single_ratings_of_however_many_are_kept(tmp_path: Path, scores: Any) -> None:
    ratings = read(tmp_path, "convai2", record(scores=scores)).ratings
    assert [(r.dimension, r.round, r.value, r.n_raters) for r in ratings] == [
        ("relevance", 0, 5, 1), ("relevance", 1, 4, 1), ("relevance", 2, 2, 1), ("relevance", 3, 1, 1),
        ("relevance", None, 3, 4),
    ]  # fmt: skip
    assert {(r.scale_min, r.scale_max) for r in ratings} == {(1, 5)}


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (record(scores="[5, 6]"), "record 1, 'HumanScores', rater 2: the rating 6 is off its scale, 1 to 5"),
        (record(scores="[5, 4"), "record 1, 'HumanScores': not valid JSON"),
        (record(scores="4"), "'HumanScores': a list with a number per rater is needed, not '4'"),
        (record(Context=None), "'Context' is null; it must be a text"),
        (record("reddit"), "nothing in it is on convai2; its data sets are reddit"),
        (record(scores="[]"), "no rated item in it .1 records without a rating left out"),
    ],
)
def test_mistakes_name_the_record(tmp_path: Path, bad: Any, words: str) -> None:
    with pytest.raises(UserError, match=words) as refused:
        read(tmp_path, "convai2", bad)
    assert "human_judgement.json" in str(refused.value)
