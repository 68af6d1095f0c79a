"""Rated data sets in their authors' own files, on hand-made records: FED, DSTC10, ConTurE, GRADE, USR and Zhao's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialeval.corpora import comp_analysis
from dialeval.corpora.rated_sources import RatedReading
from dialeval.corpora.readers import rated_source_files, read_rated
from dialeval.errors import UserError


def rated(folder: Path, reader: str, content: Any, name: str = "data.json") -> RatedReading:
    (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return read_rated(reader, "mine", folder / name)


def single(reading: RatedReading) -> list[tuple[str, int | None, float]]:
    return [(rating.dimension, rating.round, rating.value) for rating in reading.ratings]


# FED's own file.


def reply(context: str = "User: Hi!", response: Any = "System: Hello.", **rated: Any) -> dict[str, Any]:
    annotations = rated or {"Relevant": [2, 1, 0]}
    return {"context": context, "response": response, "system": "Meena", "annotations": annotations}


def fed_dialogue(context: str = "User: Hi!\nSystem: Hello.\nUser: Bye!", **rated: Any) -> dict[str, Any]:
    return {"context": context, "system": "Human", "annotations": rated or {"Coherent": [2, 1]}}


def test_replies_and_dialogues_of_one_file_are_two_corpora(tmp_path: Path) -> None:
    records = (reply(), fed_dialogue(), reply("User: Rain?", "System: No: sun.\nAll day."))
    found = rated(tmp_path, "fed_turn", records)
    assert [(item.item_id, item.level, item.speakers, item.utterances) for item in found.items] == [
        ("fed-turn-000000", "turn", ("human", "chatbot"), ("Hi!", "Hello.")),
        ("fed-turn-000001", "turn", ("human", "chatbot"), ("Rain?", "No: sun.\nAll day.")),
    ]
    assert found.skipped == {"dialogues, which reader fed_dialogue takes": 1}
    found = rated(tmp_path, "fed_dialogue", records)
    assert [(item.item_id, item.level, item.speakers, item.utterances) for item in found.items] == [
        ("fed-dial-000000", "dialogue", ("human", "chatbot", "human"), ("Hi!", "Hello.", "Bye!"))
    ]
    assert found.skipped == {"replies, which reader fed_turn takes": 2}


def test_every_rater_is_kept_and_who_wrote_not_applicable_is_missing(tmp_path: Path) -> None:
    reading = rated(
        tmp_path,
        "fed_dialogue",
        [fed_dialogue(**{"Error recovery": ["N/A (nothing)", 1, "n/a", 0], "Likeable": ["N/A"], "Overall": [4]})],
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
    assert {r.dimension: (r.scale_min, r.scale_max) for r in rated(tmp_path, "fed_turn", [reply(**names)]).ratings} == {
        "interestingness": (0, 2), "specificity": (0, 2), "understandability": (0, 1),
        "semantically appropriate": (0, 2), "fluent": (0, 2),
    }  # fmt: skip


def test_a_line_without_a_name_goes_on_with_the_utterance_before(tmp_path: Path) -> None:
    (item,) = rated(tmp_path, "fed_turn", [reply("\nUser: One\n\ntwo\nSystem:\tThree\n", "Four")]).items
    assert (item.speakers, item.utterances) == (("human", "chatbot", "chatbot"), ("One\ntwo", "Three", "Four"))


def test_what_cannot_be_scored_is_left_out_and_ids_stay(tmp_path: Path) -> None:
    records = [reply(Relevant=[]), reply(response="System: "), reply() | {"annotations": None}, reply()]
    reading = rated(tmp_path, "fed_turn", records)
    assert [item.item_id for item in reading.items] == ["fed-turn-000003"]
    assert reading.skipped == {"records without a rating": 2, "records with an empty utterance": 1}


def test_a_truncated_file_and_another_language_are_refused(tmp_path: Path) -> None:
    rated(tmp_path, "fed_turn", [reply()])
    path = tmp_path / "data.json"
    with pytest.raises(UserError, match="in English only"):
        read_rated("fed_turn", "mine", path, ["de"])
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(UserError, match="data.json: not valid JSON"):
        read_rated("fed_turn", "mine", path)


# DSTC10's sets in English, one of which comp-analysis has with its copy of FED.


def in_dstc10(context: Any = "how ?\nso far ?\n", response: str = "by bus .", **rated: Any) -> dict[str, Any]:
    return {"context": context, "response": response, "annotations": rated or {"relevance": [5, 4]}}


@pytest.mark.parametrize("name", ["convai2-grade_eval", "ConvAI2-GRADE_eval_zh_es_pa"])
def test_replies_have_their_context_and_every_raters_number(tmp_path: Path, name: str) -> None:
    reading = rated(
        tmp_path, "dstc10_json", [in_dstc10(), in_dstc10(response="on foot ."), in_dstc10(None, "hm .")], f"{name}.json"
    )
    assert [(item.item_id, item.cluster[-1], item.utterances) for item in reading.items] == [
        ("convai2-grade-000000", "0", ("how ?", "so far ?", "by bus .")),
        ("convai2-grade-000001", "0", ("how ?", "so far ?", "on foot .")),
        ("convai2-grade-000002", "2", ("hm .",)),
    ]
    assert reading.items[0].speakers == ("chatbot", "human", "chatbot")
    assert single(reading)[:3] == [
        ("relevance", 0, 5), ("relevance", 1, 4), ("relevance", None, 4.5),
    ]  # fmt: skip


def test_speakers_of_fed_are_named_in_the_context(tmp_path: Path) -> None:
    (item,) = rated(
        tmp_path,
        "dstc10_json",
        [in_dstc10("User: So?\nSystem: No.\nUser: Why?", "Rain.", Relevant=[2])],
        "fed-turn_eval.json",
    ).items
    assert item.utterances == ("So?", "No.", "Why?", "Rain.")
    assert item.speakers == ("human", "chatbot", "human", "chatbot")


def test_appropriateness_of_zhaos_sets_is_their_overall(tmp_path: Path) -> None:
    reading = rated(
        tmp_path,
        "dstc10_json",
        [
            in_dstc10(appropriateness=[1, 2]),
            in_dstc10(content=[3], grammar=[4]),
        ],
        "persona-zhao_eval.json",
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


def test_what_of_dstc10_cannot_be_scored_is_left_out(tmp_path: Path) -> None:
    records = (
        in_dstc10(overall=[]),
        in_dstc10(response="", overall=[4]),
        in_dstc10(overall=[4]),
        {"context": "x", "response": "y"},
    )
    reading = rated(tmp_path, "dstc10_json", records, "dailydialog-gupta_eval.json")
    assert [item.item_id for item in reading.items] == ["dailydialog-gupta-000002"]
    assert reading.skipped == {"records without a rating": 2, "records with an empty utterance": 1}


# ConTurE's own file, on hand-made records.

WHOLE = [{"coherent": 3, "human (overall)": 5, "consistent": 1}, {"coherent": 1, "consistent": "N/A"}]


def turn(user: str = "User: Hi", chatbot: str = "Chatbot: Yo: you", impression: Any = 1) -> dict[str, Any]:
    return {"user": user, "chatbot": chatbot, "overall impression": impression}


def record(*turns: Any, ratings: Any = WHOLE) -> dict[str, Any]:
    return {"dialog_id": 3, "turns": list(turns), "dialog_ratings": ratings}


def test_a_reply_is_shown_with_all_before_it_and_clusters_are_dialogues(tmp_path: Path) -> None:
    reading = rated(
        tmp_path, "conture_turn", [record(turn(), turn("User: So?", "Chatbot: No.", 0)), record(turn(impression=2))]
    )
    assert [(item.item_id, item.cluster, item.utterances) for item in reading.items] == [
        ("conture-turn-000000", "conture-turn-000000", ("Hi", "Yo: you")),
        ("conture-turn-000001", "conture-turn-000000", ("Hi", "Yo: you", "So?", "No.")),
        ("conture-turn-000002", "conture-turn-000002", ("Hi", "Yo: you")),
    ]
    assert {item.speakers[:2] for item in reading.items} == {("human", "chatbot")}
    assert not reading.notes
    assert [(r.dimension, r.value, r.round, r.scale_min, r.scale_max) for r in reading.ratings] == [
        ("overall", 1, None, 0, 2), ("overall", 0, None, 0, 2), ("overall", 2, None, 0, 2),
    ]  # fmt: skip


def test_dialogues_have_every_raters_ratings(tmp_path: Path) -> None:
    reading = rated(tmp_path, "conture_dialogue", [record(turn(), turn("bye", "bye"))])
    (item,) = reading.items
    assert (item.item_id, item.level, item.utterances) == (
        "conture-dial-000000", "dialogue", ("Hi", "Yo: you", "bye", "bye"),
    )  # fmt: skip
    assert [(r.dimension, r.round, r.value, r.scale_max) for r in reading.ratings] == [
        ("coherence", 0, 3, 3), ("coherence", 1, 1, 3), ("coherence", None, 2, 3),
        ("overall", 0, 5, 5), ("overall", None, 5, 5), ("consistent", 0, 1, 1), ("consistent", None, 1, 1),
    ]  # fmt: skip
    assert reading.notes["ratings that are missing or N/A"] == 2


def test_a_chatbot_that_said_nothing_was_rated_too(tmp_path: Path) -> None:
    reading = rated(tmp_path, "conture_turn", [record(turn(chatbot="Chatbot:", impression=0), turn(impression=None))])
    assert [item.utterances for item in reading.items] == [("Hi", "<EMPTY>")]
    assert reading.notes == {"utterances without a text, shown as <EMPTY>": 1}
    assert reading.skipped == {"records without a rating": 1}


# GRADE's own file, on hand-made records.


def grade_record(dataset: str = "convai2", scores: Any = "[5, 4, 2]", **more: Any) -> dict[str, Any]:
    said = {"Context": "how ?|||so far ?", "Response": " by bus .", "HumanScores": scores}
    return {"ID": 9, "Dataset": dataset, "DialogModel": "bert_ranker", **said, **more}


def test_each_data_set_is_read_by_itself(tmp_path: Path) -> None:
    records = (
        grade_record("dailydialog_EVAL"),
        grade_record(),
        grade_record("empatheticdialogues"),
        grade_record(Response="on foot ."),
    )
    reading = rated(tmp_path, "grade_convai2", records)
    assert [(item.item_id, item.cluster, item.utterances) for item in reading.items] == [
        ("convai2-grade-000000", "convai2-grade-000000", ("how ?", "so far ?", "by bus .")),
        ("convai2-grade-000001", "convai2-grade-000000", ("how ?", "so far ?", "on foot .")),
    ]
    assert reading.items[0].speakers == ("chatbot", "human", "chatbot")
    assert reading.skipped == {"responses on other data sets": 2}
    for dataset in ("dailydialog", "empathetic"):
        (item,) = rated(tmp_path, f"grade_{dataset}", records).items
        assert item.item_id == f"{dataset}-grade-000000"


@pytest.mark.parametrize("scores", ["[5, 4, 2, 1]", [5, 4, 2, 1]])
def test_single_ratings_of_however_many_are_kept(tmp_path: Path, scores: Any) -> None:
    ratings = rated(tmp_path, "grade_convai2", [grade_record(scores=scores)]).ratings
    assert [(r.dimension, r.round, r.value, r.n_raters) for r in ratings] == [
        ("relevance", 0, 5, 1), ("relevance", 1, 4, 1), ("relevance", 2, 2, 1), ("relevance", 3, 1, 1),
        ("relevance", None, 3, 4),
    ]  # fmt: skip
    assert {(r.scale_min, r.scale_max) for r in ratings} == {(1, 5)}


# GRADE's texts of one chatbot, on hand-made files.

CONTEXTS = "how ?|||so far ?\nhow ?|||so far ?\nalone ?\n"


def grade_texts_write(
    folder: Path, *, responses: str = "by bus .\non foot .\nno .\n", scores: str = "4.5\n1\n2.25\n\n"
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "human_ctx.txt"
    path.write_text(CONTEXTS, encoding="utf-8")
    (folder / "human_hyp.txt").write_text(responses, encoding="utf-8")
    (folder / "human_score.txt").write_text(scores, encoding="utf-8")
    return path


def test_lines_of_three_files_are_one_item(tmp_path: Path) -> None:
    reading = read_rated("grade_texts", "mine", grade_texts_write(tmp_path))
    assert [(item.item_id, item.cluster[-1], item.utterances) for item in reading.items] == [
        ("grade-000000", "0", ("how ?", "so far ?", "by bus .")),
        ("grade-000001", "0", ("how ?", "so far ?", "on foot .")),
        ("grade-000002", "2", ("alone ?", "no .")),
    ]
    assert [(r.dimension, r.value, r.round, r.n_raters, r.scale_min, r.scale_max) for r in reading.ratings] == [
        ("relevance", 4.5, None, None, 1, 5), ("relevance", 1, None, None, 1, 5), ("relevance", 2.25, None, None, 1, 5),
    ]  # fmt: skip


def test_the_scores_may_lie_where_the_authors_have_them(tmp_path: Path) -> None:
    path = grade_texts_write(tmp_path / "evaluation/eval_data/convai2/bert_ranker")
    scores = tmp_path / "evaluation/human_score/convai2/bert_ranker/human_score.txt"
    scores.parent.mkdir(parents=True)
    path.with_name("human_score.txt").rename(scores)
    assert [rating.value for rating in read_rated("grade_texts", "mine", path).ratings] == [4.5, 1, 2.25]
    assert rated_source_files("grade_texts", path) == [path, path.with_name("human_hyp.txt"), scores]
    scores.unlink()
    with pytest.raises(UserError, match="human_score/convai2/bert_ranker/human_score.txt"):
        read_rated("grade_texts", "mine", path)


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"scores": "1\n2\n"}, "human_score.txt: 2 lines, but .*human_ctx.txt has 3"),
        ({"scores": "1\n6\n2\n"}, "human_score.txt, line 2: the rating 6 is outside its scale, 1 to 5"),
        ({"scores": "1\nok\n2\n"}, "human_score.txt, line 2: 'ok' is not a rating"),
        ({"responses": "a\n"}, "human_hyp.txt: 1 lines, but"),
    ],
)
def test_mistakes_name_the_file_and_the_line(tmp_path: Path, files: dict[str, str], words: str) -> None:
    with pytest.raises(UserError, match=words):
        read_rated("grade_texts", "mine", grade_texts_write(tmp_path, **files))


def test_an_empty_response_is_left_out(tmp_path: Path) -> None:
    reading = read_rated("grade_texts", "mine", grade_texts_write(tmp_path, responses="a\n\nb\n"))
    assert [item.item_id for item in reading.items] == ["grade-000000", "grade-000002"]
    assert reading.skipped == {"records with an empty utterance": 1}


# USR's own files, on hand-made records.


def response(text: str = "by bus .\n", **rated: Any) -> dict[str, Any]:
    return {"response": text, "model": "Seq2Seq", **(rated or {"Maintains Context": [3, 2, 3]})}


def usr_record(*responses: Any, context: str = "how ?\n so far ? \n\n") -> dict[str, Any]:
    return {"context": context, "fact": "_nofact\n", "annotators": ["a", "b", "c"], "responses": list(responses)}


def test_the_responses_to_a_context_are_one_cluster(tmp_path: Path) -> None:
    reading = rated(
        tmp_path, "usr", [usr_record(response(), response("on foot .")), usr_record(response(), context="when ?")]
    )
    assert [(item.item_id, item.cluster) for item in reading.items] == [
        ("usr-000000-0", "usr-000000-0"), ("usr-000000-1", "usr-000000-0"), ("usr-000001-0", "usr-000001-0"),
    ]  # fmt: skip
    first = reading.items[0]
    assert first.utterances == ("how ?", "so far ?", "by bus .")
    assert first.speakers == ("chatbot", "human", "chatbot")


def test_every_rater_is_kept_on_the_scales_of_the_paper(tmp_path: Path) -> None:
    scores = {
        "Understandable": [1, 0, 1], "Natural": [1, 2, 3], "Maintains Context": [3, 3, 1], "Engaging": [2, None, 2],
        "Uses Knowledge": [0, 0, 1], "Overall": [5, 4, 3],
    }  # fmt: skip
    reading = rated(tmp_path, "usr", [usr_record(response(**scores))])
    means = [(r.dimension, r.n_raters, r.scale_min, r.scale_max) for r in reading.ratings if r.round is None]
    assert means == [
        ("understandability", 3, 0, 1), ("natural", 3, 1, 3), ("relevance", 3, 1, 3), ("interestingness", 2, 1, 3),
        ("uses knowledge", 3, 0, 1), ("overall", 3, 1, 5),
    ]  # fmt: skip
    assert [r.value for r in reading.ratings if r.dimension == "overall"] == [5, 4, 3, 4]
    assert reading.notes == {"ratings that are missing or N/A": 1}


def test_what_cannot_be_scored_is_left_out(tmp_path: Path) -> None:
    reading = rated(tmp_path, "usr", [usr_record(response("\n"), response(Overall=[]), response()), usr_record()])
    assert [item.item_id for item in reading.items] == ["usr-000000-2"]
    assert reading.skipped == {"records without a rating": 1, "records with an empty utterance": 1}


# Zhao's own files, on hand-made records.


def worker(overall: Any = 4, **more: Any) -> dict[str, Any]:
    return {"worker_id": "w", "overall": overall, "overall_is_outlier": True, "fact": "na", **more}


def zhao_response(*workers: Any, text: str = "by bus .") -> dict[str, Any]:
    return {"uttr": text, "scores": {f"worker_{n}": one for n, one in enumerate(workers)}}


def dialogue(**responses: Any) -> dict[str, Any]:
    context = [["A", "how ?"], ["A", " "], ["A", "so far ?"], ["B", "far ?"]]
    return {"context": context, "reference": ["A", "on foot ."], "responses": responses}


def test_who_speaks_like_the_reference_is_the_chatbot(tmp_path: Path) -> None:
    reading = rated(
        tmp_path, "zhao", {"7": dialogue(S2S=zhao_response(worker()), GPT2=zhao_response(worker(2), text="by car ."))}
    )
    assert [(item.item_id, item.cluster) for item in reading.items] == [
        ("zhao-000000-0", "zhao-000000-0"), ("zhao-000000-1", "zhao-000000-0"),
    ]  # fmt: skip
    assert reading.items[0].utterances == ("how ?", "so far ?", "far ?", "by bus .")
    assert reading.items[0].speakers == ("chatbot", "chatbot", "human", "chatbot")


def test_every_worker_is_kept_and_nothing_else_about_them(tmp_path: Path) -> None:
    workers = (worker(5, relevance=1, fact="true"), worker(3, relevance=2, fact="false"), worker(1, fact="na"))
    reading = rated(tmp_path, "zhao", {"7": dialogue(S2S=zhao_response(*workers))})
    assert single(reading) == [
        ("relevance", 0, 1), ("relevance", 1, 2), ("relevance", None, 1.5),
        ("fact", 0, 1), ("fact", 1, 0), ("fact", None, 0.5),
        ("overall", 0, 5), ("overall", 1, 3), ("overall", 2, 1), ("overall", None, 3),
    ]  # fmt: skip
    assert reading.notes == {"ratings that are missing or N/A": 2}


def test_a_response_without_ratings_is_left_out(tmp_path: Path) -> None:
    reading = rated(
        tmp_path,
        "zhao",
        {"7": dialogue(a={"uttr": "x"}, b=zhao_response(worker()), c=zhao_response(worker(), text=""))},
    )
    assert [item.item_id for item in reading.items] == ["zhao-000000-1"]
    assert reading.skipped == {"records without a rating": 1, "records with an empty utterance": 1}


def test_a_list_is_refused_with_the_reader_that_takes_it(tmp_path: Path) -> None:
    with pytest.raises(
        UserError,
        match="JSON object that maps ids to dialogues is needed, not list; reader usr reads a file with these fields",
    ):
        rated(tmp_path, "zhao", [{"context": "x", "fact": "", "responses": []}])


# Mistakes: the message has the file, the record and the field.

MISTAKES: dict[str, tuple[str, list[tuple[Any, str]]]] = {
    "fed_turn": (
        "fed_data.json",
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
            (fed_dialogue(), r"no rated items \(1 dialogues, which reader fed_dialogue takes left out"),
        ],
    ),
    "conture_turn": (
        "data.json",
        [
            (
                record(turn(), turn(impression=3)),
                "record 1, turn 2, 'overall impression': the rating 3 is outside its scale",
            ),
            (record({"user": "x"}), "record 1, 'turns', turn 1: the field 'chatbot' is missing; present: user"),
            (record("x"), "turn 1 is 'x'; it must be an object with 'user' and 'chatbot'"),
            (record() | {"turns": 4}, "record 1: 'turns' is 4; it must be a list"),
            ({"dialog_id": 1}, "the field 'turns' is missing; present: dialog_id; reader conture_turn needs it"),
        ],
    ),
    "conture_dialogue": (
        "data.json",
        [
            (
                record(turn(), ratings=[{"coherent": 0}]),
                "'coherent', rater 1: the rating 0 is outside its scale, 1 to 3",
            ),
            (record(turn(), ratings=[{"funny": 1}]), "'funny' is not rated in this data set"),
            (record(turn(), ratings={"coherent": 1}), "'dialog_ratings' is {'coherent': 1}; it must be a list"),
            (record(turn(), ratings=None), r"no rated items \(1 records without a rating left out"),
        ],
    ),
    "grade_convai2": (
        "human_judgement.json",
        [
            (
                grade_record(scores="[5, 6]"),
                "record 1, 'HumanScores', rater 2: the rating 6 is outside its scale, 1 to 5",
            ),
            (grade_record(scores="[5, 4"), "record 1, 'HumanScores': not valid JSON"),
            (grade_record(scores="4"), "'HumanScores': a list with a number per rater is needed, not '4'"),
            (grade_record(Context=None), "'Context' is null; it must be a text"),
            (grade_record("reddit"), "of convai2; its data sets are reddit"),
            (grade_record(scores="[]"), r"no rated items \(1 records without a rating left out"),
        ],
    ),
    "usr": (
        "tc_usr_data.json",
        [
            (
                usr_record(response(), response(Overall=[0])),
                "record 1, response 2, 'Overall', rater 1: the rating 0 is outside its scale, 1 to 5",
            ),
            (usr_record(response(Fun=[1])), "record 1, response 1: 'Fun' is not rated in this data set"),
            (usr_record("x"), "record 1, 'responses', response 1 is 'x'; it must be an object with 'response'"),
            (usr_record() | {"responses": "x"}, "record 1: 'responses' is 'x'; it must be a list"),
            (
                {"context": "x", "Responses": []},
                "the field 'responses' is missing; present: context, Responses; reader usr needs it",
            ),
            ({"context": "x", "responses": {}, "reference": []}, "reader zhao reads a file with these fields"),
        ],
    ),
}


@pytest.mark.parametrize(
    ("reader", "name", "bad", "words"),
    [(reader, name, *row) for reader, (name, rows) in MISTAKES.items() for row in rows],
)
def test_mistakes_name_the_file_the_record_and_the_field(
    tmp_path: Path, reader: str, name: str, bad: Any, words: str
) -> None:
    with pytest.raises(UserError, match=words) as refused:
        rated(tmp_path, reader, [bad], name)
    assert name in str(refused.value)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (
            dialogue(S2S=zhao_response(worker(), worker(6))),
            "dialogue '7', response of 'S2S', 'overall', rater 2: the rating 6",
        ),
        (dialogue(S2S=zhao_response(worker(fact="maybe"))), "'fact', rater 1: 'maybe' is not a rating"),
        (dialogue(S2S=zhao_response("x")), "'S2S', 'scores': 'worker_0' is 'x'; it must be an object"),
        (dialogue(S2S={"scores": {}}), "'responses', 'S2S': the field 'uttr' is missing"),
        (dialogue() | {"context": "x"}, "dialogue '7': 'context' is 'x'; it must be a list"),
        (
            dialogue() | {"context": [["A", 1]]},
            "'context', utterance 1 is .'A', 1.; it must be a list of speaker and text",
        ),
        (dialogue() | {"reference": None}, "'reference' is null; it must be a list of speaker and text"),
        (dialogue() | {"responses": []}, "'responses' is ..; it must be an object"),
        ("x", "dialogue '7' is 'x'; it must be an object with 'context', 'reference' and 'responses'"),
    ],
)
def test_mistakes_name_the_dialogue_and_the_response(tmp_path: Path, bad: Any, words: str) -> None:
    with pytest.raises(UserError, match=words) as refused:
        rated(tmp_path, "zhao", {"7": bad}, "dd_annotations.json")
    assert "dd_annotations.json" in str(refused.value)


@pytest.mark.parametrize(
    ("name", "record", "words"),
    [
        ("persona-sea_eval", in_dstc10(), "'persona-sea' is not a set of DSTC10 with a known scale .did you mean"),
        ("persona-usr_eval", in_dstc10(relevance=[1]), "record 1: 'relevance' is not rated in this data set"),
        ("empathetic-grade_eval", in_dstc10(relevance=[0]),
         "'relevance', rater 1: the rating 0 is outside its scale, 1 to 5"),
        ("empathetic-grade_eval", {"dialog": []},
         "the field 'response' is missing; present: dialog; reader dstc10_json needs it"),
        ("fed-dial_eval", {"dialog": "x"}, "'dialog' is 'x'; it must be a list"),
        ("fed-dial_eval", {"dialog": ["x"]},
         "'dialog', utterance 1 is 'x'; it must be an object with 'speaker' and 'text'"),
        ("fed-dial_eval", {"dialog": [{"text": "x"}]}, "utterance 1: the field 'speaker' is missing"),
    ],
)  # fmt: skip
def test_mistakes_in_dstc10_name_the_record(tmp_path: Path, name: str, record: Any, words: str) -> None:
    with pytest.raises(UserError, match=words) as refused:
        rated(tmp_path, "dstc10_json", [record], f"{name}.json")
    assert f"{name}.json" in str(refused.value)
