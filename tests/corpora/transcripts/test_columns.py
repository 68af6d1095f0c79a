"""Fields that the configuration names: in objects with a list of utterances, in rows, and in cells with JSON."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dialeval.corpora.transcripts.items import Options, read_items
from dialeval.corpora.transcripts.readers import read
from dialeval.corpora.transcripts.transcript import Transcript
from dialeval.errors import UserError

TALK = [("user", "Is it open?"), ("bot", "Until five.")]
DIALOGUE = {
    "meta": {"bot": "heron", "nr": 7},
    "case": {"id": "hours", "lang": "German"},
    "log": [{"by": {"role": who}, "body": text, "pos": 2 - n} for n, (who, text) in enumerate(reversed(TALK), start=1)],
}
OF_DIALOGUE = {"system": "meta.bot", "dialogue_id": "meta.nr", "case_id": "case.id", "language": "case.lang"}
OF_ENTRY = {"speaker": "by.role", "text": "body", "turn": "pos"}
ROWS = [{"meta": DIALOGUE["meta"], "case": DIALOGUE["case"], **entry} for entry in DIALOGUE["log"]]  # type: ignore[dict-item]


def found(path: Path, columns: dict[str, str], reader: str = "auto") -> list[Transcript]:
    return list(read(path, reader, columns, Counter()))


def write(path: Path, value: Any) -> Path:
    path.write_text(
        "\n".join(map(json.dumps, value)) if path.suffix == ".jsonl" else json.dumps(value), encoding="utf-8"
    )
    return path


def parquet(path: Path, value: list[Any]) -> Path:
    pq.write_table(pa.Table.from_pylist(value), path)
    return path


def cells(path: Path, rows: list[dict[str, Any]]) -> Path:
    quoted = [
        [json.dumps(row[name]) if isinstance(row[name], dict) else f"{row[name]}" for name in row] for row in rows
    ]
    lines = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in [[*rows[0]], *quoted]]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("form", ["lines", "list", "inner", "one", "parquet", "rows", "rows in a list", "cells"])
def test_every_form_gives_the_same(tmp_path: Path, form: str) -> None:
    path = {
        "lines": lambda: write(tmp_path / "t.jsonl", [DIALOGUE]),
        "list": lambda: write(tmp_path / "t.json", [DIALOGUE]),
        "inner": lambda: write(tmp_path / "t.json", {"version": 1, "export": [DIALOGUE]}),
        "one": lambda: write(tmp_path / "t.json", DIALOGUE),
        "parquet": lambda: parquet(tmp_path / "t.parquet", [DIALOGUE]),
        "rows": lambda: write(tmp_path / "t.jsonl", ROWS),
        "rows in a list": lambda: write(tmp_path / "t.json", ROWS),
        "cells": lambda: cells(tmp_path / "t.csv", ROWS),
    }[form]()
    (one,) = found(path, OF_DIALOGUE | OF_ENTRY)
    assert (one.dialogue_id, one.case_id, one.language) == ("7", "hours", "de")
    assert (one.system or one.model) == "heron"
    assert list(zip(one.speakers, one.utterances, strict=True)) == TALK


def test_a_name_with_dots_comes_before_a_path(tmp_path: Path) -> None:
    record = {"meta.bot": "reed", "meta": {"bot": "heron"}, "utterances": ["Hi"]}
    (one,) = found(write(tmp_path / "t.jsonl", [record]), {"system": "meta.bot"})
    assert one.system == "reed"
    path = tmp_path / "t.csv"
    path.write_text("id,who,text,meta.bot\n1,user,Hi,reed\n", encoding="utf-8")
    (one,) = found(path, {"system": "meta.bot"})
    assert one.system == "reed"


@pytest.mark.parametrize(
    "record",
    [
        {"messages": [{"role": who, "content": text} for who, text in TALK]},
        {"prompt": TALK[0][1], "response": TALK[1][1]},
        {"sender_id": 1, "events": [{"event": who, "text": text} for who, text in TALK]},
    ],
)
def test_fields_of_a_dialogue_can_be_named_in_known_formats(tmp_path: Path, record: dict[str, Any]) -> None:
    path = write(tmp_path / "t.jsonl", [record | {"meta": {"nr": 3, "bot": "heron"}}])
    (one,) = found(path, {"case_id": "meta.nr", "system": "meta.bot"})
    assert (one.case_id, one.system, one.hidden_messages) == ("3", "heron", ())
    path = write(tmp_path / "t.jsonl", [record | {"meta": {"nr": 3, "bot": "heron"}, "system": "You are kind."}])
    (one,) = found(path, {"system": "meta.bot"})
    assert (one.system, [hidden.text for hidden in one.hidden_messages]) == ("heron", ["You are kind."])
    assert one.utterances == tuple(text for _, text in TALK)


def test_all_missing_fields_are_named_at_once(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", [DIALOGUE])
    with pytest.raises(UserError) as caught:
        found(path, OF_ENTRY | {"system": "meta.bat", "case_id": "kase", "utterances": "log", "text": "boddy"})
    for word in (
        "t.jsonl: there is no field 'boddy' and no field 'meta.bat' and no field 'kase'",
        "meta (of a dialogue), case (of a dialogue), log (of a dialogue), by (of an utterance), body",
        "columns: {text: NAME, system: NAME, case_id: NAME}",
    ):
        assert word in str(caught.value), caught.value
    table = tmp_path / "t.csv"
    table.write_text("conv,who,said\n1,user,Hi\n", encoding="utf-8")
    with pytest.raises(UserError, match="no column with the dialogue id, no column 'by', no column 'body'"):
        found(table, {"speaker": "by", "text": "body"})


def test_an_unmapped_speaker_is_refused_and_named(tmp_path: Path) -> None:
    entries = [{"party": who, "text": text} for who, text in TALK]
    with pytest.raises(UserError, match=r"but 'party' has roles, such as 'user'; write `columns: \{speaker: party\}`"):
        found(write(tmp_path / "t.jsonl", [{"utterances": entries}]), {})
    (one,) = found(tmp_path / "t.jsonl", {"speaker": "party"})
    assert one.speakers == ("user", "bot")
    moods = [{"mood": "calm", "text": text} for _, text in TALK]
    (one,) = found(write(tmp_path / "t.jsonl", [{"utterances": moods}]), {})
    assert one.speakers == ("A", "B")


def test_an_object_for_each_utterance_is_known_by_usual_names(tmp_path: Path) -> None:
    rows = [{"conversation_id": 1, "role": who, "content": text, "model": "heron"} for who, text in TALK]
    (one,) = found(write(tmp_path / "t.jsonl", rows), {})
    assert (one.dialogue_id, one.system, one.speakers) == ("1", "heron", ("user", "bot"))
    with pytest.raises(UserError, match="line 2: 'content' is 3; it must be a text"):
        found(write(tmp_path / "t.jsonl", [rows[0], rows[1] | {"content": 3}]), {})
    with pytest.raises(UserError, match="line 2: column 'role' is empty; name the speaker of every row"):
        found(write(tmp_path / "t.jsonl", [rows[0], rows[1] | {"role": None}]), {})


def test_a_turn_that_is_no_number_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="'by' is .*, which is not a number; number the turns"):
        found(write(tmp_path / "t.jsonl", [DIALOGUE]), {"text": "body", "turn": "by"})


@pytest.mark.parametrize("ending", ["jsonl", "json"])
def test_json_in_windows_1252_is_read_and_noted(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"t.{ending}"
    record = {
        "system": "heron",
        "utterances": [{"speaker": "user", "text": "Où est le café?"}, {"speaker": "bot", "text": "Là."}],
    }
    text = json.dumps(record if ending == "jsonl" else [record], ensure_ascii=False)
    path.write_bytes(text.encode("cp1252"))
    notes: Counter[str] = Counter()
    (one,) = read(path, "auto", {}, notes)
    assert one.utterances == ("Où est le café?", "Là.")
    assert any("read as Windows-1252" in note for note in notes)
    path.write_bytes(text.replace("Où est le café?", "Ou caf\x8e").encode("latin-1"))  # a Mac's é
    with pytest.raises(UserError, match="save the file as UTF-8"):
        found(path, {})


def test_a_named_system_of_the_plain_format_comes_before_its_own_field(tmp_path: Path) -> None:
    record = {"system": "other", "meta": {"bot": "heron"}, "dialog": [[0, "Hi"], [1, "Hello"]]}
    (one,) = found(write(tmp_path / "t.jsonl", [record]), {"system": "meta.bot"})
    assert (one.system, one.speakers) == ("heron", ("0", "1"))


@pytest.mark.parametrize("content", ["", " \n", "[]", "{}", "[[]]", "null", "7", '"x"', "\ufeff", "conv,who\n"])
def test_a_file_without_a_dialogue_is_refused_with_its_name(tmp_path: Path, content: str) -> None:
    for name in ("t.json", "t.csv", "t.txt", "t.eval"):
        (tmp_path / name).write_text(content, encoding="utf-8")
        with pytest.raises(UserError, match=re.escape(str(tmp_path / name))):
            read_items("mine", tmp_path / name, Options(columns={"speaker": "who"}))
