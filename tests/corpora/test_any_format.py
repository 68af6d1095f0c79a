"""Human dialogues are read from any format that transcripts are read in."""

from __future__ import annotations

import json
from pathlib import Path

from dialeval.corpora.readers import read_corpus, source_files


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
