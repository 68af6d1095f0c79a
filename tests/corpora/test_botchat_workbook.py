"""BotChat's workbook of human dialogues."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from dialeval.corpora import botchat_workbook
from dialeval.corpora.dialogues import utterance_table
from dialeval.corpora.seeds import length_distribution, seed_table
from dialeval.errors import UserError


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
    with pytest.raises(UserError, match="row 2: nround says 2, but conv-GT has 3 utterances"):
        botchat_workbook.read(path, "en")
    path = workbook(tmp_path, (None, None, None), ("MT-1", json.dumps(["Hi.", "Ho.", "He."]), 3))
    reading = botchat_workbook.read(path, "en")
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
def test_a_wrong_row_is_told(tmp_path: Path, row: tuple[Any, ...], words: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        botchat_workbook.read(workbook(tmp_path, row), "en")
    for word in words:
        assert word in str(caught.value)


def test_a_missing_column_and_a_foreign_file_are_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"lacks 1 column \(conv-GT\)"):
        botchat_workbook.read(workbook(tmp_path, ("MT-1", 2), header=("index", "nround")), "en")
    (tmp_path / "text.xlsx").write_text("not a workbook")
    with pytest.raises(UserError, match="cannot be read as an xlsx workbook"):
        botchat_workbook.read(tmp_path / "text.xlsx", "en")


def test_the_real_workbook_gives_the_papers_counts(real_data: Path) -> None:
    reading = botchat_workbook.read(real_data / "botchat" / "MuTual_test.xlsx", "en")
    assert len(reading.dialogues) == 547
    assert sum(len(dialogue.utterances) for dialogue in reading.dialogues) == 2389
    seeds = seed_table(utterance_table("mutual", reading), arena_min_utterances=4, limit=None)
    assert sum(seeds["for_arena"].to_pylist()) == 222
    counts = {row["n_utterances"]: row["n_dialogues"] for row in length_distribution(seeds).to_pylist()}
    published = Counter({4: 55, 5: 22, 6: 26, 7: 23, 8: 19, 9: 16, 10: 21, 11: 18, 12: 7, 13: 7, 14: 3, 15: 5})
    assert {n: count for n, count in counts.items() if n >= 4} == published
