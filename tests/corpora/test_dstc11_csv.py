"""DSTC11's test set in Chinese, on hand-made files."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialeval.corpora import dstc11_csv
from dialeval.errors import UserError

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


def test_what_a_chatbot_said_is_rated_in_its_dialogue(tmp_path: Path) -> None:
    path = write(tmp_path, TURNS)
    reading = dstc11_csv.read("mine", path)
    (item,) = reading.items
    assert (item.item_id, item.cluster, item.level) == ("TEST-000100-0001", "TEST-000100", "turn")
    assert (item.utterances, item.speakers) == (("明天去吗？", "去啊。"), ("human", "chatbot"))
    assert {rating.dimension: rating.value for rating in reading.ratings} == {
        "appropriateness": 5.0, "content richness": 2.5, "relevance": 4.333333333333333,
    }  # fmt: skip
    assert reading.skipped == {
        "utterances that no chatbot said": 2,
        "rows without a rating": 1,
        "rows in other languages": 1,
        "rows of other sets": 1,
    }
    assert dstc11_csv.source_files(path) == [path, tmp_path / "dstc11_multilingual_test.csv"]


def test_dialogues_are_whole_and_in_order(tmp_path: Path) -> None:
    reading = dstc11_csv.read("mine", write(tmp_path, DIALOGUES, name="dstc11_test_task1_dial.csv"), ["zh"])
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
        (TURNS, None, ["beside it must lie", "UID, SID, SEG", "there is none"]),
        (TURNS.replace("RELEVANCE", "COHERENCE"), SAID, ["of responses and of dialogues"]),
        (
            "UID,CID,SID\nTEST-000100-0001,HCCHNS,Chatbot\n",
            SAID,
            ["neither of responses nor", "RELEVANCE", "COHERENCE"],
        ),
        (TURNS.replace("UID", "KEY"), SAID, ["ids (UID_TEST", "is missing"]),
        (TURNS.replace("CID", "SET"), SAID, ["column of CID is missing"]),
        (TURNS.replace("HCCHNS,", "NCM,"), SAID, ["no set HCCHNS", "NCM, ESL"]),
        (TURNS.replace("5,2.5", "5,7"), SAID, ["line 3, column CONTENT_RICHNESS", "7 is off its scale"]),
        (TURNS.replace("5,2.5", "5,good"), SAID, ["line 3", "'good' is no rating"]),
        (TURNS.replace("5,2.5", "5,nan"), SAID, ["line 3", "nan is no rating"]),
        (TURNS.replace("TEST-000100-0001", "TEST-000100-1"), SAID, ["line 3", "<six digits>-<four digits>"]),
        (TURNS.replace("TEST-000100-0001", "TEST-000109-0001"), SAID, ["'TEST-000109-0001' is rated, but is not in"]),
        (TURNS.replace("TEST-000100-0001", "TEST-000100-0009"), SAID, ["'TEST-000100-0009' is rated, but is not in"]),
        (
            TURNS.replace("000100-0003,HCCHNS,Chatbot,ZH,NO,,", "000100-0001,HCCHNS,Chatbot,ZH,NO,,1"),
            SAID,
            ["is used before"],
        ),
        (TURNS + "HCCHNS\n", SAID, ["line 8", "1 cells under 10 columns"]),
        (TURNS.replace("SID", "CID"), SAID, ["'CID' is there more than once"]),
        (TURNS, SAID + "TEST-000100-0001,Chatbot,又\n", ["line 9", "used before, at line 5"]),
        (TURNS, SAID + "TEST-100,Chatbot,又\n", ["line 9", "'TEST-100' is not of the form"]),
        (TURNS, SAID + f"TEST-000100-{'1' * 5000},Chatbot,又\n", ["line 9", "'TEST-000100-1111", "is not of the form"]),
        (TURNS.split("\n")[0] + "\n", SAID, ["there are no rows"]),
        ("", SAID, ["there are no rows"]),
        (TURNS.replace("5,2.5,,4.333333333333333", ",,,"), SAID, ["no rated item", "2 rows without a rating"]),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, ratings: str, said: str | None, words: list[str]) -> None:
    path = write(tmp_path, ratings, said)
    with pytest.raises(UserError) as error:
        dstc11_csv.read("mine", path)
    for word in words:
        assert word in str(error.value)


def test_one_file_of_utterances_is_enough(tmp_path: Path) -> None:
    path = write(tmp_path, TURNS)
    (tmp_path / "other_main.csv").write_text(SAID, encoding="utf-8")
    with pytest.raises(UserError, match=r"there are dstc11_multilingual_test.csv, other_main.csv: leave one"):
        dstc11_csv.read("mine", path)
    (tmp_path / "other_main.csv").write_bytes(b"\xff\xfe\x00")  # of another kind, and so not looked into
    assert len(dstc11_csv.read("mine", path).items) == 1


def test_another_encoding_or_language_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, TURNS)
    with pytest.raises(UserError, match="read in Chinese only; languages are es: add zh"):
        dstc11_csv.read("mine", path, ["es"])
    (tmp_path / "dstc11_multilingual_test.csv").write_bytes(SAID.lstrip("\ufeff").encode("gb18030"))
    with pytest.raises(UserError, match="not UTF-8"):
        dstc11_csv.read("mine", path)
