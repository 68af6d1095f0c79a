"""Human dialogues are read from any format that transcripts are read in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialeval.corpora import readers
from dialeval.corpora.readers import read_corpus, source_files
from dialeval.errors import UserError

# Human dialogues are read from any format that transcripts are read in.


def test_dialogues_of_any_format_are_seeds(tmp_path: Path) -> None:
    path = tmp_path / "talks.json"
    dream = [[["M: Hi.", "W: Hello.", "M: So?"], [], "4-1"], [["W: Alone."], [], "4-2"]]
    path.write_text(json.dumps(dream), encoding="utf-8")
    reading = read_corpus("auto", path, "en")
    assert [(one.dialogue_id, one.language, one.utterances[1]) for one in reading.dialogues] == [
        ("4-1", "en", ("W", "Hello."))
    ]
    assert reading.summary().endswith("1 records left out (1 with fewer than two utterances)")
    assert source_files("auto", path) == [path]


def test_dialogues_without_ids_are_numbered_and_systems_tell_them_apart(tmp_path: Path) -> None:
    path = tmp_path / "talks.txt"
    path.write_text("Hi . __eou__ Hello . __eou__\nSo ? __eou__ No . __eou__\n", encoding="utf-8")
    assert [one.dialogue_id for one in read_corpus("auto", path, "en").dialogues] == ["row-1", "row-2"]
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text(json.dumps({"prompt": "Hi", "chosen": "Hello", "rejected": "No"}), encoding="utf-8")
    found = read_corpus("auto", pairs, "en").dialogues
    assert [one.dialogue_id for one in found] == ["pair-1/chosen", "pair-1/rejected"]


# MuTual's own text files.


def folder(tmp_path: Path, **articles: str) -> Path:
    for name, article in articles.items():
        content = {"id": name, "article": article, "options": [], "answers": " "}
        (tmp_path / f"{name}.txt").write_text(json.dumps(content), encoding="utf-8")
    return tmp_path


def test_cuts_of_one_dialogue_become_one(tmp_path: Path) -> None:
    path = folder(
        tmp_path,
        test_10="m : hello . f : hi .",
        test_2="m : hello . f : hi . m : well ?",
        test_3="m : hello . f : hi . m : well ?",
        test_4="f : alone .",
        test_5="f : it 's 5 a.m : no , p.m . m : oh .",
    )
    reading = readers.read_mutual_folder(path, "en")
    assert [dialogue.dialogue_id for dialogue in reading.dialogues] == ["test_2", "test_5"]
    assert reading.dialogues[0].utterances[0] == ("m", "hello .")
    assert reading.skipped == {
        "that are shorter versions of another item": 2,
        "with fewer than two utterances": 1,
    }


def test_the_dev_split_is_read_too(tmp_path: Path) -> None:
    for number, article in ((2, "m : hi . f : no ."), (10, "f : late ? m : yes .")):
        record = {"answers": "C", "options": ["m : a"] * 4, "article": article, "id": f"dev_{number}"}
        (tmp_path / f"dev_{number}.txt").write_text(json.dumps(record))
    assert [dialogue.dialogue_id for dialogue in readers.read_mutual_folder(tmp_path, "en").dialogues] == [
        "dev_2",
        "dev_10",
    ]


def test_mistakes_are_reported_with_the_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no .txt files"):
        readers.read_mutual_folder(tmp_path, "en")
    with pytest.raises(UserError, match="is not a folder"):
        readers.read_mutual_folder(tmp_path / "nowhere", "en")
    folder(tmp_path, test_1="hello . f : hi .")
    with pytest.raises(UserError, match=r"test_1\.txt: the article begins with 'hello \.'"):
        readers.read_mutual_folder(tmp_path, "en")
    (tmp_path / "test_1.txt").write_text('{"text": 1}')
    with pytest.raises(UserError, match=r"test_1\.txt.*'article'"):
        readers.read_mutual_folder(tmp_path, "en")


def test_the_real_folder_gives_572_dialogues(real_data: Path) -> None:
    reading = readers.read_mutual_folder(real_data / "mutual" / "test", "en")
    assert len(reading.dialogues) == 572
    assert sum(reading.skipped.values()) == 886 - 572
