"""The sheet for experts: what is drawn, what it shows and hides, and that no answer on it is ever lost."""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from dialogbench_examples import OPTIONS, item

from dialeval.dialogbench.experts import ExpertAnswer, ExpertReading, draw, read_expert_answers, sheet, write_sheet
from dialeval.dialogbench.items import TestItem, read_bundled
from dialeval.errors import UserError

ITEMS = {one.item_id: one for one in read_bundled("en").items}
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
    with pytest.raises(UserError, match="1 rows are filled in, and the sample of items has changed; move the file"):
        write_sheet(path, one)
    assert path.read_bytes() == before


# Files of experts' answers: as spreadsheets write them, after items have moved, and with every mistake.

EXPERT_ANSWERS_ITEMS = {
    "s/IC-1": item(item_id="s/IC-1"),
    "s/OD-1": item("OD", item_id="s/OD-1", options=("offensive", "non-offensive"), question=""),
}


def read(tmp_path: Path, text: str) -> ExpertReading:
    path = tmp_path / "answers.csv"
    path.write_text(text, encoding="utf-8")
    return read_expert_answers(path, EXPERT_ANSWERS_ITEMS)


@pytest.mark.parametrize(
    "text",
    [
        "item,answer\ns/IC-1,B\ns/OD-1,A\n",
        "\ufeffitem;answer;note\r\ns/IC-1; b ;because\r\ns/OD-1;(A);\r\n;;\r\n",
        f'Item_ID\tAnswer\ns/IC-1\t{OPTIONS[1].upper()}\ns/OD-1\t"offensive "\n',
    ],
)
def test_answers_are_read_as_spreadsheets_write_them(tmp_path: Path, text: str) -> None:
    found = read(tmp_path, text)
    assert found.answers == [ExpertAnswer("s/IC-1", "expert", "B"), ExpertAnswer("s/OD-1", "expert", "A")]
    assert (found.blank, found.moved) == (0, 0)


def test_blank_answers_are_counted_and_experts_kept_apart(tmp_path: Path) -> None:
    found = read(tmp_path, "item,answer,expert\ns/IC-1,B,ann\ns/IC-1,C,bo\ns/OD-1,,ann\n")
    assert [(one.expert, one.choice) for one in found.answers] == [("ann", "B"), ("bo", "C")]
    assert found.blank == 1


def test_a_letter_means_the_words_that_stood_beside_it(tmp_path: Path) -> None:
    """The sheet was drawn with another seed: what was B then is D now."""
    shown = {"A": OPTIONS[2], "B": OPTIONS[3], "C": OPTIONS[0], "D": OPTIONS[1]}
    cells = ",".join(f'"{text}"' for text in shown.values())
    found = read(tmp_path, f"item,A,B,C,D,answer\ns/IC-1,{cells},B\n")
    assert (found.answers[0].choice, found.moved) == ("D", 1)
    same = read(tmp_path, f"item,A,B,C,D,answer\ns/IC-1,{','.join(OPTIONS)},B\n")
    assert (same.answers[0].choice, same.moved) == ("B", 0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("item,antwort\ns/IC-1,B\n", ["line 1", "no column 'answer'", "found: item, antwort"]),
        ("", ["line 1", "no column 'item'"]),
        ("item,answer,answer\ns/IC-1,B,C\n", ["line 1", "'answer'"]),
        ("item,answer\ns/IC-2,B\n", ["line 2", " 's/IC-2' is not an item (did you mean 's/IC-1'?); correct"]),
        ("item,answer\n17,B\n", ["line 2", "'17' is not an item; correct its id, or remove the row"]),
        ("item,answer\n,B\n", ["line 2", "no item; write its id as in the sheet"]),
        ("item,answer\ns/IC-1,E\n", ["line 2", "'E' is neither one of the letters A, B, C, D", "leave it blank"]),
        ("item,answer\n\ns/OD-1,C\n", ["line 3", "the answer C is not an option of 's/OD-1', which has A, B"]),
        ("item,answer\ns/IC-1,A or B\n", ["line 2", "'A or B'"]),
        ("item,answer,expert\ns/IC-1,A,ann\ns/OD-1,A,\n", ["line 3", "no expert; write", "in every row"]),
        (
            "item,answer,expert\ns/IC-1,A,ann\ns/IC-1,A,ann\n",
            ["line 3", "already answered 's/IC-1' in line 2", "line 2"],
        ),
        ("item,answer\ns/IC-1,\n", ["no answer in 1 rows"]),
        ("item,A,B,answer\ns/IC-1,to sing,to wash,B\n", ["line 2", "option B ('to wash')", "rewritten"]),
        (
            "item,A,B,answer\ns/OD-1,offensive,non-offensive,C\n",
            ["line 2", "the answer C is not an option of that row"],
        ),
        ('item,answer\ns/IC-1,"B\n', ["not readable as CSV"]),
    ],
)
def test_a_mistake_is_reported_with_file_line_and_remedy(tmp_path: Path, text: str, words: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        read(tmp_path, text)
    assert "answers.csv" in str(caught.value)
    for word in words:
        assert word.strip("'") in str(caught.value)


def test_an_item_of_the_same_words_in_two_options_is_no_trap(tmp_path: Path) -> None:
    twice = replace(EXPERT_ANSWERS_ITEMS["s/IC-1"], options=("yes", "no", "Yes ", "perhaps"))
    path = tmp_path / "answers.csv"
    path.write_text("item,A,B,C,D,answer\ns/IC-1,yes,no,Yes,perhaps,A\n", encoding="utf-8")
    assert read_expert_answers(path, {"s/IC-1": twice}).answers[0].choice == "A"
