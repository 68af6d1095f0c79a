"""FED's own file, on hand-made records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialeval.corpora import comp_analysis
from dialeval.corpora.rated_sources import RatedReading
from dialeval.corpora.readers import read_rated
from dialeval.errors import UserError

# FED's own file, on hand-made records.

NA = "N/A (nothing went wrong)"


def reply(context: str = "User: Hi!", response: Any = "System: Hello.", **rated: Any) -> dict[str, Any]:
    annotations = rated or {"Relevant": [2, 1, 0]}
    return {"context": context, "response": response, "system": "Meena", "annotations": annotations}


def dialogue(context: str = "User: Hi!\nSystem: Hello.\nUser: Bye!", **rated: Any) -> dict[str, Any]:
    return {"context": context, "system": "Human", "annotations": rated or {"Coherent": [2, 1]}}


def write(folder: Path, *records: Any) -> Path:
    path = folder / "fed_data.json"
    path.write_text(json.dumps(records), encoding="utf-8")
    return path


def turns(folder: Path, *records: Any) -> RatedReading:
    return read_rated("fed_turn", "mine", write(folder, *records))


def dialogues(folder: Path, *records: Any) -> RatedReading:
    return read_rated("fed_dialogue", "mine", write(folder, *records))


def test_replies_and_dialogues_of_one_file_are_two_corpora(tmp_path: Path) -> None:
    records = (reply(), dialogue(), reply("User: Rain?", "System: No: sun.\nAll day."))
    found = turns(tmp_path, *records)
    assert [(item.item_id, item.level, item.speakers, item.utterances) for item in found.items] == [
        ("fed-turn-000000", "turn", ("human", "chatbot"), ("Hi!", "Hello.")),
        ("fed-turn-000001", "turn", ("human", "chatbot"), ("Rain?", "No: sun.\nAll day.")),
    ]
    assert found.skipped == {"dialogues, which reader fed_dialogue takes": 1}
    found = dialogues(tmp_path, *records)
    assert [(item.item_id, item.level, item.speakers, item.utterances) for item in found.items] == [
        ("fed-dial-000000", "dialogue", ("human", "chatbot", "human"), ("Hi!", "Hello.", "Bye!"))
    ]
    assert found.skipped == {"replies, which reader fed_turn takes": 2}


def test_every_rater_is_kept_and_who_wrote_not_applicable_is_missing(tmp_path: Path) -> None:
    reading = dialogues(
        tmp_path, dialogue(**{"Error recovery": [NA, 1, "n/a", 0], "Likeable": ["N/A"], "Overall": [4]})
    )
    found = [(r.dimension, r.round, r.value, r.n_raters, r.scale_max) for r in reading.ratings]
    assert found == [
        ("error recovery", 1, 1.0, 1, 2.0),
        ("error recovery", 3, 0.0, 1, 2.0),
        ("error recovery", None, 0.5, 2, 2.0),
        ("overall", 0, 4.0, 1, 4.0),
        ("overall", None, 4.0, 1, 4.0),
    ]
    assert reading.notes == {"ratings that are missing or N/A": 3, "items without a rating on engagingness": 1}


def test_names_are_ours_where_judges_know_them(tmp_path: Path) -> None:
    names = {"Interesting": [1], "Specific": [1], "Understandable": [1], "Semantically appropriate": [2], "Fluent": [0]}
    assert {r.dimension: (r.scale_min, r.scale_max) for r in turns(tmp_path, reply(**names)).ratings} == {
        "interestingness": (0, 2), "specificity": (0, 2), "understandability": (0, 1),
        "semantically appropriate": (0, 2), "fluent": (0, 2),
    }  # fmt: skip


def test_a_line_without_a_name_goes_on_with_the_utterance_before(tmp_path: Path) -> None:
    (item,) = turns(tmp_path, reply("\nUser: One\n\ntwo\nSystem:\tThree\n", "Four")).items
    assert (item.speakers, item.utterances) == (("human", "chatbot", "chatbot"), ("One\ntwo", "Three", "Four"))


def test_what_cannot_be_scored_is_left_out_and_ids_stay(tmp_path: Path) -> None:
    reading = turns(tmp_path, reply(Relevant=[]), reply(response="System: "), reply() | {"annotations": None}, reply())
    assert [item.item_id for item in reading.items] == ["fed-turn-000003"]
    assert reading.skipped == {"records without a rating": 2, "records with an empty utterance": 1}


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (reply(Relevant=[3]), "record 1, 'Relevant', rater 1: the rating 3 is outside its scale, 0 to 2"),
        (reply(Relevant=[2, "two"]), "'Relevant', rater 2: 'two' is not a rating; a number from 0 to 2"),
        (reply(Relevant=2), "record 1, 'annotations': 'Relevant' is 2; it must be a list"),
        (reply(Relevent=[2]), "'Relevent' is not rated in this data set .did you mean 'Relevant'"),
        (reply(Coherent=[2]), "'Coherent' is not rated"),
        (
            reply() | {"annotations": [1]},
            "record 1: 'annotations' is .1.; it must be an object; reader fed_turn needs it",
        ),
        (reply("Hi!\nSystem: x"), "line 1 of 'context' begins with neither 'User:' nor 'System:' .'Hi!'."),
        (reply(response=["x"]), "'response' is .*must be a text"),
        (
            {"context": "User: Hi!", "response": "x"},
            "the field 'annotations' is missing; present: context, response; reader fed_turn needs it",
        ),
        (["x"], "entry of the list must be an object|record 1"),
    ],
)
def test_mistakes_name_the_record_and_the_field(tmp_path: Path, record: Any, words: str) -> None:
    with pytest.raises(UserError, match=words) as refused:
        turns(tmp_path, record)
    assert "fed_data.json" in str(refused.value)


def test_a_truncated_file_and_another_language_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, reply())
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(UserError, match="fed_data.json: not valid JSON"):
        read_rated("fed_turn", "mine", path)
    with pytest.raises(UserError, match="in English only"):
        read_rated("fed_turn", "mine", path, ["de"])


def test_a_file_of_dialogues_alone_has_no_reply(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no rated items \(1 dialogues, which reader fed_dialogue takes left out"):
        turns(tmp_path, dialogue())


# DSTC10's sets in English, on hand-made files and on the one that comp-analysis has with its copy of FED.


def read(folder: Path, name: str, *records: Any) -> RatedReading:
    path = folder / f"{name}.json"
    path.write_text(json.dumps(records), encoding="utf-8")
    return read_rated("dstc10_json", "mine", path)


def dstc10_json_reply(context: Any = "how ?\nso far ?\n", response: str = "by bus .", **rated: Any) -> dict[str, Any]:
    return {"context": context, "response": response, "annotations": rated or {"relevance": [5, 4]}}


@pytest.mark.parametrize("name", ["convai2-grade_eval", "ConvAI2-GRADE_eval_zh_es_pa"])
def test_replies_have_their_context_and_every_raters_number(tmp_path: Path, name: str) -> None:
    reading = read(
        tmp_path, name, dstc10_json_reply(), dstc10_json_reply(response="on foot ."), dstc10_json_reply(None, "hm .")
    )
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
    (item,) = read(
        tmp_path, "fed-turn_eval", dstc10_json_reply("User: So?\nSystem: No.\nUser: Why?", "Rain.", Relevant=[2])
    ).items
    assert item.utterances == ("So?", "No.", "Why?", "Rain.")
    assert item.speakers == ("human", "chatbot", "human", "chatbot")


def test_appropriateness_of_zhaos_sets_is_their_overall(tmp_path: Path) -> None:
    reading = read(
        tmp_path,
        "persona-zhao_eval",
        dstc10_json_reply(appropriateness=[1, 2]),
        dstc10_json_reply(content=[3], grammar=[4]),
    )
    means = {(r.dimension, r.value) for r in reading.ratings if r.round is None}
    assert means == {("overall", 1.5), ("content", 3.0), ("grammar", 4.0)}


def test_fed_dial_is_the_file_that_comp_analysis_has(real_data: Path, tmp_path: Path) -> None:
    texts = real_data / "comp-analysis/dialog_level_texts/fed-dial_text.txt"
    if not texts.is_file():
        pytest.skip(f"the public file {texts.name} is not in {real_data}")
    path = tmp_path / "fed-dial_eval.json"
    path.write_bytes((texts.parent / "fed_human_annotations.json").read_bytes())
    ours, theirs = read_rated("dstc10_json", "c", path), comp_analysis.read_dialogues("c", texts)
    assert [(i.utterances, i.speakers) for i in ours.items] == [(i.utterances, i.speakers) for i in theirs.items]
    assert [(r.item_id[-6:], r.dimension, r.round, r.value, r.n_raters, r.scale_max) for r in ours.ratings] == [
        (r.item_id[-6:], r.dimension, r.round, r.value, r.n_raters, r.scale_max)
        for r in theirs.ratings
        if r.rater_kind == "human"
    ]


def test_what_cannot_be_scored_is_left_out(tmp_path: Path) -> None:
    records = (
        dstc10_json_reply(overall=[]),
        dstc10_json_reply(response="", overall=[4]),
        dstc10_json_reply(overall=[4]),
        {"context": "x", "response": "y"},
    )
    reading = read(tmp_path, "dailydialog-gupta_eval", *records)
    assert [item.item_id for item in reading.items] == ["dailydialog-gupta-000002"]
    assert reading.skipped == {"records without a rating": 2, "records with an empty utterance": 1}


@pytest.mark.parametrize(
    ("name", "record", "words"),
    [
        (
            "persona-sea_eval",
            dstc10_json_reply(),
            "'persona-sea' is not a set of DSTC10 with a known scale .did you mean",
        ),
        ("persona-usr_eval", dstc10_json_reply(relevance=[1]), "record 1: 'relevance' is not rated in this data set"),
        (
            "empathetic-grade_eval",
            dstc10_json_reply(relevance=[0]),
            "'relevance', rater 1: the rating 0 is outside its scale, 1 to 5",
        ),
        (
            "empathetic-grade_eval",
            {"dialog": []},
            "the field 'response' is missing; present: dialog; reader dstc10_json needs it",
        ),
        ("fed-dial_eval", {"dialog": "x"}, "'dialog' is 'x'; it must be a list"),
        (
            "fed-dial_eval",
            {"dialog": ["x"]},
            "'dialog', utterance 1 is 'x'; it must be an object with 'speaker' and 'text'",
        ),
        ("fed-dial_eval", {"dialog": [{"text": "x"}]}, "utterance 1: the field 'speaker' is missing"),
    ],
)
def test_mistakes_name_the_record(tmp_path: Path, name: str, record: Any, words: str) -> None:
    with pytest.raises(UserError, match=words) as refused:
        read(tmp_path, name, record)
    assert f"{name}.json" in str(refused.value)
