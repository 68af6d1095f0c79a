"""DSTC10's sets in English, on hand-made files and on the one that comp-analysis has with its copy of FED."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialeval.corpora import comp_dialogue, dstc10_json
from dialeval.corpora.rated import RatedReading
from dialeval.errors import UserError


def read(folder: Path, name: str, *records: Any) -> RatedReading:
    path = folder / f"{name}.json"
    path.write_text(json.dumps(records), encoding="utf-8")
    return dstc10_json.read("mine", path)


def reply(context: Any = "how ?\nso far ?\n", response: str = "by bus .", **rated: Any) -> dict[str, Any]:
    return {"context": context, "response": response, "annotations": rated or {"relevance": [5, 4]}}


@pytest.mark.parametrize("name", ["convai2-grade_eval", "ConvAI2-GRADE_eval_zh_es_pa"])
def test_replies_have_their_context_and_every_raters_number(tmp_path: Path, name: str) -> None:
    reading = read(tmp_path, name, reply(), reply(response="on foot ."), reply(None, "hm ."))
    assert [(item.item_id, item.cluster[-1], item.utterances) for item in reading.items] == [
        ("convai2-grade-000000", "0", ("how ?", "so far ?", "by bus .")),
        ("convai2-grade-000001", "0", ("how ?", "so far ?", "on foot .")),
        ("convai2-grade-000002", "2", ("hm .",)),
    ]
    assert reading.items[0].speakers == ("chatbot", "human", "chatbot")
    assert [(r.dimension, r.round, r.value) for r in reading.ratings[:3]] == [
        ("relevance", 0, 5), ("relevance", 1, 4), ("relevance", None, 4.5),
    ]  # fmt: skip


def test_speakers_of_fed_are_named_in_the_context(tmp_path: Path) -> None:
    (item,) = read(tmp_path, "fed-turn_eval", reply("User: So?\nSystem: No.\nUser: Why?", "Rain.", Relevant=[2])).items
    assert item.utterances == ("So?", "No.", "Why?", "Rain.")
    assert item.speakers == ("human", "chatbot", "human", "chatbot")


def test_appropriateness_of_zhaos_sets_is_their_overall(tmp_path: Path) -> None:
    reading = read(tmp_path, "persona-zhao_eval", reply(appropriateness=[1, 2]), reply(content=[3], grammar=[4]))
    means = {(r.dimension, r.value) for r in reading.ratings if r.round is None}
    assert means == {("overall", 1.5), ("content", 3.0), ("grammar", 4.0)}


def test_fed_dial_is_the_file_that_comp_analysis_has(real_data: Path, tmp_path: Path) -> None:
    texts = real_data / "comp-analysis/dialog_level_texts/fed-dial_text.txt"
    if not texts.is_file():
        pytest.skip(f"the public file {texts.name} is not in {real_data}")
    path = tmp_path / "fed-dial_eval.json"
    path.write_bytes((texts.parent / "fed_human_annotations.json").read_bytes())
    ours, theirs = dstc10_json.read("c", path), comp_dialogue.read("c", texts)
    assert [(i.utterances, i.speakers) for i in ours.items] == [(i.utterances, i.speakers) for i in theirs.items]
    assert [(r.item_id[-6:], r.dimension, r.round, r.value, r.n_raters, r.scale_max) for r in ours.ratings] == [
        (r.item_id[-6:], r.dimension, r.round, r.value, r.n_raters, r.scale_max)
        for r in theirs.ratings
        if r.rater_kind == "human"
    ]


def test_what_cannot_be_scored_is_left_out(tmp_path: Path) -> None:
    records = (
        reply(overall=[]),
        reply(response="", overall=[4]),
        reply(overall=[4]),
        {"context": "x", "response": "y"},
    )
    reading = read(tmp_path, "dailydialog-gupta_eval", *records)
    assert [item.item_id for item in reading.items] == ["dailydialog-gupta-000002"]
    assert reading.skipped == {"records without a rating": 2, "records with an empty utterance": 1}


@pytest.mark.parametrize(
    ("name", "record", "words"),
    [
        ("persona-sea_eval", reply(), "'persona-sea' is none of DSTC10's sets whose scales are known .did you mean"),
        ("persona-usr_eval", reply(relevance=[1]), "record 1: 'relevance' is not rated in this data set"),
        ("empathetic-grade_eval", reply(relevance=[0]), "'relevance', rater 1: the rating 0 is off its scale, 1 to 5"),
        ("empathetic-grade_eval", {"dialog": []}, "'response', which reader dstc10_json needs, is missing"),
        ("fed-dial_eval", {"dialog": "x"}, "'dialog' must be a list of utterances, not 'x'"),
        ("fed-dial_eval", {"dialog": ["x"]}, "'dialog', utterance 1 must be an object with 'speaker' and 'text'"),
        ("fed-dial_eval", {"dialog": [{"text": "x"}]}, "utterance 1: the field 'speaker' is missing"),
    ],
)
def test_mistakes_name_the_record(tmp_path: Path, name: str, record: Any, words: str) -> None:
    with pytest.raises(UserError, match=words) as refused:
        read(tmp_path, name, record)
    assert f"{name}.json" in str(refused.value)
