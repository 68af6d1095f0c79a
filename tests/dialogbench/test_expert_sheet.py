"""The sheet for experts: what is drawn, what it shows and hides, and that no answer on it is ever lost."""

from __future__ import annotations

import csv
import re
from collections import Counter
from io import StringIO
from pathlib import Path

import pytest
from dialogbench_examples import item

from dialeval.corpora.expert_answers import read_expert_answers
from dialeval.corpora.multiple_choice import TestItem
from dialeval.dialogbench import bundled
from dialeval.dialogbench.expert_sheet import draw, sheet, write_sheet
from dialeval.errors import UserError

ITEMS = {one.item_id: one for one in bundled.read("en").items}
ORIGIN = {name: {"source": "bundled", "variant": "full"} for name in ITEMS}


def drawn(per_task: int, seed: int = 0, items: dict[str, TestItem] = ITEMS) -> list[str]:
    return [one.item_id for one in draw(items, ORIGIN, per_task, seed)]


def test_as_many_are_drawn_of_each_task_whatever_else_there_is() -> None:
    two = drawn(2)
    assert set(Counter(ITEMS[name].task for name in two).values()) == {2}
    assert set(drawn(1)) < set(two) < set(drawn(3))
    assert drawn(2, seed=1) != two
    of_one_task = {name: one for name, one in ITEMS.items() if one.task == "RC"}
    assert drawn(2, items=of_one_task) == [name for name in two if ITEMS[name].task == "RC"]
    assert len(drawn(99)) == len(ITEMS)
    refused = {**ORIGIN, two[0]: {"source": "bundled", "variant": "-filter"}}
    assert two[0] not in [one.item_id for one in draw(ITEMS, refused, 99, 0)]


def test_a_sheet_shows_what_a_model_is_shown_and_hides_the_answer(tmp_path: Path) -> None:
    text = sheet([ITEMS[name] for name in drawn(1)])
    rows = list(csv.DictReader(StringIO(text)))
    assert len(rows) == 12
    for row in rows:
        one = ITEMS[row["item"]]
        assert all(utterance in row["dialogue"] for utterance in one.utterances)
        assert tuple(row[letter] for letter in one.letters) == one.options
        assert row["question"]
        assert (row["answer"], row["expert"]) == ("", "")
        assert one.analysis not in "".join(row.values())
    assert [bool(row["beside"]) for row in rows] == [
        ITEMS[row["item"]].task in ("KRG", "DI", "PRG", "NLI") for row in rows
    ]
    path = tmp_path / "sheet.csv"
    path.write_text(text.replace(",,\n", ",A,ann\n"), encoding="utf-8")
    assert {one.choice for one in read_expert_answers(path, ITEMS).answers} == {"A"}


def test_options_that_look_like_formulas_are_escaped_and_read_back(tmp_path: Path) -> None:
    one = item(item_id="=1/IC", options=("=1+1", "-2", "+3", "@4"))
    text = sheet([one])
    assert "'=1/IC," in text
    assert ",'=1+1,'-2,'+3,'@4," in text
    path = tmp_path / "sheet.csv"
    for written in (text, re.sub(r"'(?=[=+@-])", "", text)):  # a program may take the apostrophe out
        path.write_text(written.replace(",,\n", ",B,ann\n"), encoding="utf-8")
        write_sheet(path, text)  # asks the same
        assert [answer.choice for answer in read_expert_answers(path, {one.item_id: one}).answers] == ["B"]
    path.write_text(f"item,answer\n{one.item_id},'-2\n", encoding="utf-8")
    assert [answer.choice for answer in read_expert_answers(path, {one.item_id: one}).answers] == ["B"]


def test_what_is_filled_in_is_never_written_over(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    one, other = sheet([item()]), sheet([item(item_id="i2")])
    write_sheet(path, one)
    write_sheet(path, other)  # nobody has answered yet
    assert path.read_bytes() == b"\xef\xbb\xbf" + other.encode()
    filled = other.replace(",,\n", ",B,ann\n")
    path.write_text("\ufeff" + filled.replace("\n", "\r\n"), encoding="utf-8")
    before = path.read_bytes()
    write_sheet(path, other)
    with pytest.raises(UserError, match="1 rows are filled in, and other items would be drawn now; move the file"):
        write_sheet(path, one)
    assert path.read_bytes() == before
