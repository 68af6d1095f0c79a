"""The files that BotChat's authors published, as pandas writes them, as plain TAB files and as workbooks."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest

from dialeval.corpora import botchat
from dialeval.corpora.botchat import Shown, read_answers, read_dialogues
from dialeval.corpora.dialogues import length_distribution, seed_table, utterance_table
from dialeval.corpora.spreadsheets import read_rows
from dialeval.errors import UserError

# The files that BotChat's authors published, as pandas writes them, as plain TAB files and as workbooks.

TALK = ["Is it raining?", 'No,\tit is "only" wet.', "A line\nand another.", " Trailing. "]
CLEAN = tuple(text.strip() for text in TALK)


def as_pandas(path: Path, rows: list[dict[str, Any]], line_end: str = "\n") -> Path:
    pd.DataFrame(rows).to_csv(path, sep="\t", index=False, lineterminator=line_end)
    return path


def as_plain_text(path: Path, rows: list[dict[str, Any]]) -> Path:
    lines = [list(rows[0]), *([str(cell) for cell in row.values()] for row in rows)]
    path.write_text("".join("\t".join(cells) + "\n" for cells in lines), encoding="utf-8")
    return path


def as_workbook(path: Path, rows: list[dict[str, Any]]) -> Path:
    pd.DataFrame(rows).to_excel(path, index=False)
    return path


CONVERSATIONS = [
    {"index": "MT-1", "nround": 4, "GPT-4": json.dumps(TALK), "gpt35": json.dumps(["a", "b"], indent=None)},
    {"index": "MT-4", "nround": 2, "GPT-4": json.dumps(["Ünü.", "《书》"], ensure_ascii=False), "gpt35": ""},
]


@pytest.mark.parametrize(
    ("write", "name"),
    [(as_pandas, "c.tsv"), (as_plain_text, "c.tsv"), (as_workbook, "c.xlsx"), (as_workbook, "c.XLSX")],
)
def test_dialogues_of_a_model(tmp_path: Path, write: Any, name: str) -> None:
    path = tmp_path / "c.xlsx" if write is as_workbook else tmp_path / name
    path = write(path, CONVERSATIONS).rename(tmp_path / name)
    found = read_dialogues(path, "GPT-4")
    assert {seed: dialogue.utterances for seed, dialogue in found.items()} == {
        "MT-1": CLEAN,
        "MT-4": ("Ünü.", "《书》"),
    }
    assert list(read_dialogues(path, "gpt35")) == ["MT-1"]
    assert found["MT-4"].place == f"{path}, row 3"


def test_pandas_quoting_is_undone_whatever_the_line_ends(tmp_path: Path) -> None:
    text = '"Quoted" from the start,\n\twith a "" pair, TABs\tand lines\nChoice: No\n'
    rows = [{"index": "MT-1;a", "gpt4": text, "more": "x"}, {"index": "MT-2;a", "gpt4": "plain", "more": None}]
    for line_end in ("\n", "\r\n"):
        path = as_pandas(tmp_path / "u.tsv", rows, line_end)
        assert [row.cells["gpt4"] for row in read_rows(path, ("gpt4",))] == [text, "plain"]
        assert [row.cells["more"] for row in read_rows(path, ("gpt4",))] == ["x", ""]


@pytest.mark.parametrize(
    "text", ['"Yes" said he', '"never closed', 'he said "x"', '["", ""]', '"a" and ""b"', '"', '""" three']
)
def test_quotes_of_a_plain_file_are_ordinary_text(tmp_path: Path, text: str) -> None:
    rows = [{"index": "MT-1;a", "gpt4": text, "more": 'end"'}, {"index": "MT-2;a", "gpt4": "plain", "more": "x"}]
    path = as_plain_text(tmp_path / "u.tsv", rows)
    assert [list(row.cells.values()) for row in read_rows(path, ())] == [list(row.values()) for row in rows]


def test_other_line_separators_end_no_row(tmp_path: Path) -> None:
    text = "one\u2028two\x0bthree\x85four"
    path = as_plain_text(tmp_path / "u.tsv", [{"index": "MT-1;a", "gpt4": text}])
    assert [row.cells["gpt4"] for row in read_rows(path, ())] == [text]


def test_answers_about_single_dialogues(tmp_path: Path) -> None:
    talk = json.dumps(TALK)
    rows = [
        {"model": model, "qidx": "MT-1", "index": f"MT-1;{model}", "conversation": talk, "gpt4": text}
        for model, text in (("gpt4", "Choice: No\n"), ("GT", "EM"))
    ]
    found = read_answers(as_pandas(tmp_path / "u.tsv", rows), "gpt4", {"gpt4": "GPT-4"}, pairs=False)
    assert [(shown, answer.text) for shown, answer in found.items()] == [
        (Shown("MT-1", "GPT-4", None), "Choice: No\n"),
        (Shown("MT-1", "human", None), "EM"),
    ]
    assert found[Shown("MT-1", "human", None)].conversations == (talk,)


def test_answers_about_pairs(tmp_path: Path) -> None:
    rows = [
        {"cmp_index": f"MT-1;{a};{b}", "A": a, "B": b, "conversation1": "[]", "conversation2": "[]", "judge": text}
        for a, b, text in (("gpt35", "GT", "one"), ("GT", "gpt35", "two"))
    ]
    found = read_answers(as_pandas(tmp_path / "g.tsv", rows), "judge", {}, pairs=True)
    assert {shown: answer.text for shown, answer in found.items()} == {
        Shown("MT-1", "gpt35", "human"): "one",
        Shown("MT-1", "human", "gpt35"): "two",
    }


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"GPT-4": "[not json"}, ["row 3", "column GPT-4", "not valid JSON"]),
        ({"GPT-4": '{"a": 1}'}, ["row 3", "JSON list of strings", '{"a": 1}']),
        ({"GPT-4": "[1, 2]"}, ["row 3", "JSON list of strings"]),
        ({"GPT-4": '["' + "x" * 32765}, ["row 3", "32767 characters", ".tsv"]),
        ({"index": "MT-1"}, ["row 3", "'MT-1' already occurs at /dev", "row 2"]),
        ({"index": ""}, ["row 3", "'index' is empty"]),
    ],
)
def test_a_wrong_row_of_dialogues_is_reported(tmp_path: Path, change: dict[str, str], words: list[str]) -> None:
    path = as_pandas(tmp_path / "c.tsv", [CONVERSATIONS[0], {**CONVERSATIONS[1], **change}])
    with pytest.raises(UserError) as caught:
        read_dialogues(path, "GPT-4")
    for word in [str(path), *words]:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cmp_index": "MT-1;GT"}, ["row 3", "'MT-1;GT'", "<qidx>;<A>;<B>"]),
        ({"cmp_index": "MT-1;a;GT"}, ["row 3", "'MT-1;a;GT' already occurs at /dev", "row 2"]),
        ({"cmp_index": "MT-1;b;GT"}, ["row 3", "has 'b'", "column A has 'a'"]),
    ],
)
def test_a_wrong_row_of_answers_is_reported(tmp_path: Path, change: dict[str, str], words: list[str]) -> None:
    rows = [{"cmp_index": f"MT-{n};a;GT", "A": "a", "B": "GT", "gpt4": "Choice: Both"} for n in (1, 2)]
    path = as_pandas(tmp_path / "g.tsv", [rows[0], {**rows[1], **change}])
    with pytest.raises(UserError) as caught:
        read_answers(path, "gpt4", {}, pairs=True)
    for word in [str(path), *words]:
        assert word in str(caught.value)


def test_a_missing_column_is_reported_with_those_there_are(tmp_path: Path) -> None:
    path = as_pandas(tmp_path / "c.tsv", CONVERSATIONS)
    with pytest.raises(UserError, match=r"the column 'gpt-4' is missing; its columns: index, nround, GPT-4, gpt35"):
        read_dialogues(path, "gpt-4")
    with pytest.raises(UserError, match="the column 'cmp_index' is missing"):
        read_answers(path, "gpt4", {}, pairs=True)


def test_uneven_rows_and_foreign_files_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "u.tsv"
    path.write_text("index\tgpt4\nMT-1;a\tChoice: Yes\nIndex: 3\n")
    with pytest.raises(UserError, match="row 3: 1 cells, but 2 columns"):
        list(read_rows(path, ("index",)))
    path.write_bytes(b"index\tgpt4\nMT-1;a\t\xff\n")
    with pytest.raises(UserError, match="line 2: not UTF-8"):
        list(read_rows(path, ()))
    path.write_bytes(b"")
    with pytest.raises(UserError, match="column 'index' is missing"):
        list(read_rows(path, ("index",)))
    (tmp_path / "c.xlsx").write_text("no workbook")
    with pytest.raises(UserError, match="cannot be read as an xlsx workbook"):
        list(read_rows(tmp_path / "c.xlsx", ()))


# BotChat's workbook of human dialogues.


def workbook(tmp_path: Path, *rows: tuple[Any, ...], header: tuple[str, ...] = ("index", "conv-GT", "nround")) -> Path:
    book = openpyxl.Workbook()
    for row in (header, *rows):
        book.active.append(row)
    path = tmp_path / "book.xlsx"
    book.save(path)
    return path


def test_rows_become_dialogues(tmp_path: Path) -> None:
    path = workbook(
        tmp_path,
        (2, "MT-1", json.dumps(["Hi.", "Ho.", "He."])),
        (None, None, None),
        (2, "MT-4", json.dumps(["A", "B"])),
        header=("nround", "index", "conv-GT"),
    )
    with pytest.raises(UserError, match="row 2: nround is 2, but conv-GT has 3 utterances"):
        botchat.read_botchat_workbook(path, "en")
    path = workbook(tmp_path, (None, None, None), ("MT-1", json.dumps(["Hi.", "Ho.", "He."]), 3))
    reading = botchat.read_botchat_workbook(path, "en")
    assert [(u.speaker, u.text) for u in reading.dialogues[0].utterances] == [("A", "Hi."), ("B", "Ho."), ("A", "He.")]
    assert reading.skipped == {"blank rows": 1}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (("MT-1", "[not json", 2), ["row 2", "conv-GT", "not valid JSON"]),
        (("MT-1", "{}", 0), ["row 2", "JSON list of strings"]),
        (("MT-1", json.dumps(["Hi.", ""]), 2), ["row 2", "'MT-1'", "utterance 2 is empty"]),
        ((None, json.dumps(["Hi.", "Ho."]), 2), ["row 2", "no id"]),
    ],
)
def test_a_wrong_row_is_reported(tmp_path: Path, row: tuple[Any, ...], words: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        botchat.read_botchat_workbook(workbook(tmp_path, row), "en")
    for word in words:
        assert word in str(caught.value)


def test_a_missing_column_and_a_foreign_file_are_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="the column 'conv-GT' is missing; its columns: index, nround"):
        botchat.read_botchat_workbook(workbook(tmp_path, ("MT-1", 2), header=("index", "nround")), "en")
    (tmp_path / "text.xlsx").write_text("not a workbook")
    with pytest.raises(UserError, match="cannot be read as an xlsx workbook"):
        botchat.read_botchat_workbook(tmp_path / "text.xlsx", "en")


def test_the_real_workbook_gives_the_papers_counts(real_data: Path) -> None:
    reading = botchat.read_botchat_workbook(real_data / "botchat" / "MuTual_test.xlsx", "en")
    assert len(reading.dialogues) == 547
    assert sum(len(dialogue.utterances) for dialogue in reading.dialogues) == 2389
    seeds = seed_table(utterance_table("mutual", reading), arena_min_utterances=4, limit=None)
    assert sum(seeds["for_arena"].to_pylist()) == 222
    counts = {row["n_utterances"]: row["n_dialogues"] for row in length_distribution(seeds).to_pylist()}
    published = Counter({4: 55, 5: 22, 6: 26, 7: 23, 8: 19, 9: 16, 10: 21, 11: 18, 12: 7, 13: 7, 14: 3, 15: 5})
    assert {n: count for n, count in counts.items() if n >= 4} == published
