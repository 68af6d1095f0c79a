"""DSTC11's test set in Chinese, on hand-made files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialeval.corpora import dstc11
from dialeval.corpora.rated_sources import RatedReading
from dialeval.errors import UserError

# DSTC11's test set in Chinese, on hand-made files.

TURNS = """UID,UID_TEST,CID,SID,LANGUAGE,SUPERVISED,APPROPRIATENESS,CONTENT_RICHNESS,GRAMMATICAL_CORRECTNESS,RELEVANCE
HCCHNS-000007-0000,TEST-000100-0000,HCCHNS,Human,ZH,NO,,,,
HCCHNS-000007-0001,TEST-000100-0001,HCCHNS,Chatbot,ZH,NO,5,2.5,,4.333333333333333
HCCHNS-000007-0002,TEST-000100-0002,HCCHNS,Human,ZH,NO,3,3,3,3
HCCHNS-000007-0003,TEST-000100-0003,HCCHNS,Chatbot,ZH,NO,,,,
HCCHNS-000007-0001,TEST-000200-0001,HCCHNS,Chatbot,EN,NO,5,2.5,,4.333333333333333
ESLXXX-000001-0001,TEST-000300-0001,ESL,Chatbot,ZH,NO,1,1,1,1
"""
DIALOGUES = """UID_TEST,CID,LANGUAGE,SUPERVISED,COHERENCE,ENGAGENESS,INFORMATIVENESS,OVERALL
TEST-000100,HCCHNS,ZH,NO,4,3.5,2,5
"""
SAID = """\ufeffUID,SID,SEG
TEST-000100-0003,Chatbot,"好的, ""明天""
见"
TEST-000100-0000,Human, 明天去吗？
TEST-000100-0001,Chatbot,去啊。

TEST-000100-0002,Human,几点？
TEST-000200-0001,Chatbot,Sure.
"""


def write(folder: Path, ratings: str, said: str | None = SAID, name: str = "dstc11_test_task1_turn.csv") -> Path:
    path = folder / name
    path.write_text(ratings, encoding="utf-8")
    if said is not None:
        (folder / "dstc11_multilingual_test.csv").write_text(said, encoding="utf-8")
    return path


def test_a_chatbots_utterance_is_rated_in_its_dialogue(tmp_path: Path) -> None:
    path = write(tmp_path, TURNS)
    reading = dstc11.read_dstc11_csv("mine", path)
    (item,) = reading.items
    assert (item.item_id, item.cluster, item.level) == ("TEST-000100-0001", "TEST-000100", "turn")
    assert (item.utterances, item.speakers) == (("明天去吗？", "去啊。"), ("human", "chatbot"))
    assert {rating.dimension: rating.value for rating in reading.ratings} == {
        "appropriateness": 5.0, "content richness": 2.5, "relevance": 4.333333333333333,
    }  # fmt: skip
    assert reading.skipped == {
        "utterances that are not the chatbot's": 2,
        "rows without a rating": 1,
        "rows in other languages": 1,
        "rows of other sets": 1,
    }
    assert dstc11.csv_source_files(path) == [path, tmp_path / "dstc11_multilingual_test.csv"]


def test_dialogues_are_whole_and_in_order(tmp_path: Path) -> None:
    reading = dstc11.read_dstc11_csv("mine", write(tmp_path, DIALOGUES, name="dstc11_test_task1_dial.csv"), ["zh"])
    (item,) = reading.items
    assert (item.item_id, item.level) == ("TEST-000100", "dialogue")
    assert item.utterances == ("明天去吗？", "去啊。", "几点？", '好的, "明天"\n见')
    assert item.speakers == ("human", "chatbot") * 2
    assert {rating.dimension: rating.value for rating in reading.ratings} == {
        "coherence": 4.0, "engagingness": 3.5, "informativeness": 2.0, "overall": 5.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("ratings", "said", "words"),
    [
        (TURNS, None, ["folder must also have the", "UID, SID, SEG", "there is none"]),
        (TURNS.replace("RELEVANCE", "COHERENCE"), SAID, ["of responses and of dialogues"]),
        ("UID,CID,SID\nTEST-000100-0001,HCCHNS,Chatbot\n", SAID,
         ["neither of responses nor", "RELEVANCE", "COHERENCE"]),
        (TURNS.replace("UID", "KEY"), SAID, ["ids (UID_TEST", "is missing"]),
        (TURNS.replace("CID", "SET"), SAID, ["column of CID is missing"]),
        (TURNS.replace("HCCHNS,", "NCM,"), SAID, ["no set HCCHNS", "NCM, ESL"]),
        (TURNS.replace("5,2.5", "5,7"), SAID, ["line 3, column CONTENT_RICHNESS", "7 is outside its scale"]),
        (TURNS.replace("5,2.5", "5,good"), SAID, ["line 3", "'good' is not a rating"]),
        (TURNS.replace("5,2.5", "5,nan"), SAID, ["line 3", "nan is not a rating"]),
        (TURNS.replace("TEST-000100-0001", "TEST-000100-1"), SAID, ["line 3", "<six digits>-<four digits>"]),
        (TURNS.replace("TEST-000100-0001", "TEST-000109-0001"), SAID, ["'TEST-000109-0001' is rated, but is not in"]),
        (TURNS.replace("TEST-000100-0001", "TEST-000100-0009"), SAID, ["'TEST-000100-0009' is rated, but is not in"]),
        (TURNS.replace("000100-0003,HCCHNS,Chatbot,ZH,NO,,", "000100-0001,HCCHNS,Chatbot,ZH,NO,,1"), SAID,
         ["already occurs"]),
        (TURNS + "HCCHNS\n", SAID, ["line 8", "1 cells, but 10 columns"]),
        (TURNS.replace("SID", "CID"), SAID, ["'CID' occurs more than once"]),
        (TURNS, SAID + "TEST-000100-0001,Chatbot,又\n", ["line 9", "already occurs at line 5"]),
        (TURNS, SAID + "TEST-100,Chatbot,又\n", ["line 9", "'TEST-100' is not of the form"]),
        (TURNS, SAID + f"TEST-000100-{'1' * 5000},Chatbot,又\n", ["line 9", "'TEST-000100-1111", "is not of the form"]),
        (TURNS.split("\n")[0] + "\n", SAID, ["has no rows"]),
        ("", SAID, ["has no rows"]),
        (TURNS.replace("5,2.5,,4.333333333333333", ",,,"), SAID, ["no rated item", "2 rows without a rating"]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_reported_with_its_place(
    tmp_path: Path, ratings: str, said: str | None, words: list[str]
) -> None:
    path = write(tmp_path, ratings, said)
    with pytest.raises(UserError) as error:
        dstc11.read_dstc11_csv("mine", path)
    for word in words:
        assert word in str(error.value)


def test_one_file_of_utterances_is_enough(tmp_path: Path) -> None:
    path = write(tmp_path, TURNS)
    (tmp_path / "other_main.csv").write_text(SAID, encoding="utf-8")
    with pytest.raises(UserError, match=r"there are dstc11_multilingual_test.csv, other_main.csv: keep one"):
        dstc11.read_dstc11_csv("mine", path)
    (tmp_path / "other_main.csv").write_bytes(b"\xff\xfe\x00")  # of another kind, and so not looked into
    assert len(dstc11.read_dstc11_csv("mine", path).items) == 1


def test_another_encoding_or_language_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, TURNS)
    with pytest.raises(UserError, match="is in Chinese only, and languages is es"):
        dstc11.read_dstc11_csv("mine", path, ["es"])
    (tmp_path / "dstc11_multilingual_test.csv").write_bytes(SAID.lstrip("\ufeff").encode("gb18030"))
    with pytest.raises(UserError, match="not UTF-8"):
        dstc11.read_dstc11_csv("mine", path)


# DSTC11's development sets in Chinese, on hand-made files.

RATED = {"relevant": [4, 5, 3]}


def dstc11_json_write(folder: Path, name: str, *entries: Any) -> Path:
    path = folder / f"{name}.json"
    path.write_text(json.dumps(entries, ensure_ascii=False, indent=1), encoding="utf-8")
    return path


def reply(context: str | None, response: str, **more: Any) -> dict[str, Any]:
    return {"context": context, "response": response, "annotations": RATED, **more}


def dialogue(*texts: str, **more: Any) -> dict[str, Any]:
    said = [{"speaker": "AB"[n % 2], "text": text} for n, text in enumerate(texts)]
    return {"dialog": said, "annotations": {"coherent": [2, 4]}, **more}


def read(folder: Path, name: str, *entries: Any) -> RatedReading:
    return dstc11.read_dstc11_json("mine", dstc11_json_write(folder, name, *entries))


def test_replies_have_their_speakers_context_and_every_annotators_rating(tmp_path: Path) -> None:
    reading = read(tmp_path, "LCCC-turn_eval", reply("A:下雨了吗？\nB：早上就下了。", "A: 那我不出门。"))
    (item,) = reading.items
    assert (item.item_id, item.language, item.level) == ("LCCC-turn-000000", "zh", "turn")
    assert item.utterances == ("下雨了吗？", "早上就下了。", "那我不出门。")
    assert item.speakers == ("A", "B", "A")
    single = [(rating.round, rating.value, rating.n_raters) for rating in reading.ratings]
    assert single == [(0, 4.0, 1), (1, 5.0, 1), (2, 3.0, 1), (None, 4.0, 3)]
    assert {(r.dimension, r.rater_kind, r.scale_min, r.scale_max) for r in reading.ratings} == {
        ("relevance", "human", 1.0, 5.0)
    }


@pytest.mark.parametrize(
    ("context", "response", "speakers", "texts"),
    [
        ("没标的一句\nB:第二句", "第三句", ("A", "B", "A"), ("没标的一句", "第二句", "第三句")),
        ("A:一行\n又一行\nB:答", "A:好", ("A", "B", "A"), ("一行\n又一行", "答", "好")),
        ("A:我\nA:还是我", "你", ("A", "A", "B"), ("我", "还是我", "你")),
        ("没有\n标记", "好", ("chatbot", "human", "chatbot"), ("没有", "标记", "好")),
        ("\n\n", "好", ("chatbot",), ("好",)),
        (None, "B:好", ("B",), ("好",)),
    ],
)
def test_speakers_that_are_not_named_take_turns(
    tmp_path: Path, context: str | None, response: str, speakers: tuple[str, ...], texts: tuple[str, ...]
) -> None:
    (item,) = read(tmp_path, "ECM_eval", reply(context, response)).items
    assert (item.speakers, item.utterances) == (speakers, texts)


def test_replies_in_one_dialogue_are_one_cluster(tmp_path: Path) -> None:
    reading = read(
        tmp_path,
        "KdConv-turn_eval",
        reply("A:一", "B:二"),
        reply("A:别的", "B:话"),
        reply("A:一\nB:二", "A:三"),
        reply("A:又", "B:话", dialogue_id=4),
        reply("A:再", "B:话", dialogue_id="4"),
    )
    ids = [f"KdConv-turn-{number:06d}" for number in (0, 1, 0, 3, 3)]
    assert [item.cluster for item in reading.items] == ids


@pytest.mark.parametrize("name", ["LCCC-dial_eval", "lccc_dial_eval_zh"])
def test_dialogues_are_whole_in_either_form(tmp_path: Path, name: str) -> None:
    split = {"context": "A:你好\nB:你好", "response": "A:再见", "annotations": {"Coherence": [1.5], "Engageness": 2}}
    reading = read(tmp_path, name, dialogue("你好", "在吗"), split, split | {"response": ""})
    assert [(item.item_id, item.level, item.speakers) for item in reading.items] == [
        ("LCCC-dial-000000", "dialogue", ("A", "B")),
        ("LCCC-dial-000001", "dialogue", ("A", "B", "A")),
        ("LCCC-dial-000002", "dialogue", ("A", "B")),
    ]
    means = [(r.item_id[-1], r.dimension, r.value) for r in reading.ratings if r.round is None]
    assert means == [
        ("0", "coherence", 3.0), ("1", "coherence", 1.5), ("1", "engagingness", 2.0), ("2", "coherence", 1.5),
        ("2", "engagingness", 2.0),
    ]  # fmt: skip


def test_annotations_go_by_our_names_where_we_have_one(tmp_path: Path) -> None:
    names = {"Relevance": [1], "Content_Richness": [2], "grammatical correctness": [3], "Appropriateness": [4]}
    reading = read(tmp_path, "HCChinese-turn_eval", {"response": "好", "annotations": names})
    assert {r.dimension: r.value for r in reading.ratings if r.round is None} == {
        "relevance": 1.0, "content richness": 2.0, "grammatical correctness": 3.0, "appropriateness": 4.0,
    }  # fmt: skip
    of_dialogues = {"Engageness/Likeability": [1], "Informativeness": [2], "Overall": [3], "Coherent": [4]}
    reading = read(tmp_path, "HC-dial_eval", dialogue("好", annotations=of_dialogues))
    assert {rating.dimension for rating in reading.ratings} == {
        "engagingness", "informativeness", "overall", "coherence",
    }  # fmt: skip
    assert reading.items[0].item_id == "HC-dial-000000"


def test_what_cannot_be_scored_is_left_out_and_counted(tmp_path: Path) -> None:
    reading = read(
        tmp_path,
        "LCCC-turn_eval",
        reply("A:嗯", "B:"),
        reply("A:\nB:嗯", "A:好"),
        {"response": "没人评"},
        reply("A:嗯", "没有数", annotations={"relevant": [None, None]}),
        reply("A:嗯", "B:好"),
    )
    assert [item.item_id for item in reading.items] == ["LCCC-turn-000004"]
    assert reading.skipped == {"records with an empty utterance": 2, "records without a rating": 2}
    assert ("zh", "LCCC-turn-000003") in reading.left_out


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("LCCC-turn_eval", [reply("A:一", "B:二", annotations={"relevant": [6]})],
         ["entry 0, 'relevant'", "outside its"]),
        ("LCCC-turn_eval", [reply("A:一", "B:二", annotations={"relevant": ["five"]})],
         ["entry 0", "'five' is not a rating"]),
        ("LCCC-turn_eval", [reply("A:一", "B:二", annotations=[5])],
         ["entry 0: 'annotations' is [5]; it must be an object"]),
        ("LCCC-turn_eval", [reply("A:一", "B:二", annotations={"relevant": [1], "Relevance": [2]})],
         ["'Relevance'", "'relevant' has the same dimension, relevance"]),
        ("LCCC-turn_eval", [{"context": "A:一", "annotations": RATED}], ["entry 0", "'response' is missing"]),
        ("LCCC-turn_eval", [reply("A:一", "B:二"), "x"], ["entry 1 is 'x'; it must be an object with 'response'"]),
        ("LCCC-turn_eval", [{"context": ["一"], "response": "二", "annotations": RATED}], ["entry 0", "'context' is"]),
        ("LCCC-turn_eval", {"data": []}, ["a JSON list", "not dict"]),
        ("LCCC-turn_eval", [], ["has no rated items"]),
        ("LCCC-turn_eval", [{"response": "二"}], ["no rated item", "1 records without a rating"]),
        ("LCCC-dial_eval", [dialogue("一", dialogue_id=1), dialogue("二", dialogue_id="1")], ["entry 1", "at entry 0"]),
        ("LCCC-dial_eval", [{"dialog": "一", "annotations": RATED}], ["'dialog' is '一'; it must be a list"]),
        ("LCCC-dial_eval", [{"dialog": [{"speaker": "A"}], "annotations": RATED}],
         ["utterance 1", "'text' is missing"]),
        ("fed-turn_eval", [reply("A:一", "B:二")], ["'fed'", "LCCC", "rated_jsonl"]),
    ],
)  # fmt: skip
def test_dstc11_json_what_is_wrong_is_reported_with_its_place(
    tmp_path: Path, name: str, content: Any, words: list[str]
) -> None:
    path = tmp_path / f"{name}.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(UserError) as error:
        dstc11.read_dstc11_json("mine", path)
    for word in [f"{name}.json", *words]:
        assert word in str(error.value)


def test_dstc11_json_another_encoding_or_language_is_refused(tmp_path: Path) -> None:
    path = dstc11_json_write(tmp_path, "ECM_eval", reply("A:一", "B:二"))
    with pytest.raises(UserError, match="is in Chinese only, and languages is en, de"):
        dstc11.read_dstc11_json("mine", path, ["en", "de"])
    path.write_bytes(path.read_text(encoding="utf-8").encode("gb18030"))
    with pytest.raises(UserError, match=r"ECM_eval.json, line \d+: not UTF-8"):
        dstc11.read_dstc11_json("mine", path)
