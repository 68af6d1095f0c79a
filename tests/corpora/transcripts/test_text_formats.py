"""Dialogues as plain text: a line each, or a line for each utterance."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from dialeval.corpora.transcripts.readers import detect_format, read
from dialeval.errors import UserError


def written(folder: Path, text: str, name: str = "talk.txt") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


@pytest.mark.parametrize(
    ("text", "dialogues"),
    [
        (
            "Hi , you . __eou__ Hello . __eou__\nSo ? __eou__ No . __eou__\n",
            [["Hi , you .", "Hello ."], ["So ?", "No ."]],
        ),
        ("A: Hi, you.\nB: Hello.\n\nA: So?\nB: No.\n", [["Hi, you.", "Hello."], ["So?", "No."]]),
        ("\ufeffA: Hi, you.\nand you.\n\nmore\nB: Hello: 3 of 4.\n", [["Hi, you.\nand you.\nmore", "Hello: 3 of 4."]]),
        ("A: Hi.\n\nB: Hello.\n\nA: So?\n", [["Hi.", "Hello.", "So?"]]),
    ],
)
def test_texts_and_their_speakers(tmp_path: Path, text: str, dialogues: list[list[str]]) -> None:
    path = written(tmp_path, text)
    found = list(read(path, "auto", {}, Counter()))
    assert detect_format(path) == "text"
    assert [[*one.utterances] for one in found] == dialogues
    assert {one.speakers[:2] for one in found} == {("A", "B")}


def test_speakers_may_be_called_as_people_are(tmp_path: Path) -> None:
    (found,) = read(written(tmp_path, "Dr. Ann O'Neil: Hi\nHuman 2: Hello\n客服: 好\n"), "auto", {}, Counter())
    assert found.speakers == ("Dr. Ann O'Neil", "Human 2", "客服")


def test_a_table_stays_a_table(tmp_path: Path) -> None:
    assert detect_format(written(tmp_path, "dialogue_id\tspeaker\ttext\n1\ta\tNote: x\n")) == "csv"
    assert detect_format(written(tmp_path, "id,note: text\n1,x\n", "t.csv")) == "csv"


def test_a_text_without_speakers_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"talk.txt, line 2: no speaker before 'Hello'; write `Ann: ...`"):
        list(read(written(tmp_path, "\nHello\nA: Hi\n"), "text", {}, Counter()))


def test_parlais_numbered_exchanges_are_dialogues(tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_text(
        "1 your persona: I like tea.\n2 partner's persona: I like jam.\n3 Hi .\tHello .\t\tNo .|Hello .\n"
        "4 Tea ?\tYes .\n"
        "1 your persona: I am new.\n2 Where ?\tThere .\n"
    )
    found = list(read(path, "auto", {}, Counter()))
    assert [one.utterances for one in found] == [("Hi .", "Hello .", "Tea ?", "Yes ."), ("Where ?", "There .")]
    path.write_text("1 Hi .\tHello .\nTea ?\tYes .\n")
    with pytest.raises(UserError, match="train.txt, line 2: no number before 'Tea .*'; write `1 Hi<TAB>Hello`"):
        list(read(path, "auto", {}, Counter()))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("[00:00:01] Ann: Hi\n[00:00:05] Bot: Hello\n", "talk.txt"),
        ("00:01 Ann: Hi\n00:05 Bot: Hello\n", "talk.txt"),
        ("[10:15] <Ann> Hi\n[10:16] <Bot> Hello\n", "talk.txt"),
        ("# A talk\n\n**Ann:** Hi\n\n**Bot:** Hello\n", "talk.md"),
        ("**Ann**: Hi\n**Bot**: Hello\n", "talk.md"),
    ],
)
def test_lines_may_have_times_and_marks(tmp_path: Path, text: str, name: str) -> None:
    path = written(tmp_path, text, name)
    assert detect_format(path) == "text"
    (found,) = read(path, "auto", {}, Counter())
    assert (found.speakers, found.utterances) == (("Ann", "Bot"), ("Hi", "Hello"))


def test_parlais_silence_is_no_utterance(tmp_path: Path) -> None:
    text = "1 your persona: I ski.\n2 __SILENCE__\tHello .\t\tNo .|Hello .\n3 Hi .\tWhy ?\t\tNo .|Why ?\n"
    (found,) = read(written(tmp_path, text), "auto", {}, Counter())
    assert (found.speakers, found.utterances) == (("B", "A", "B"), ("Hello .", "Hi .", "Why ?"))


@pytest.mark.parametrize(
    "text", ["**Note:** Read this.\n\n**Warning:** Take care.\n", "# Title\n\nSome text: see below.\n"]
)
def test_a_page_with_bold_words_is_no_dialogue(tmp_path: Path, text: str) -> None:
    assert detect_format(written(tmp_path, text, "page.md")) == "csv"  # which reading it refuses
