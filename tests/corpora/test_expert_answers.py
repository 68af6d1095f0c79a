"""Files of experts' answers: as spreadsheets write them, after items have moved, and with every mistake."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from dialogbench_examples import OPTIONS, item

from dialeval.corpora.expert_answers import ExpertAnswer, ExpertReading, read_expert_answers
from dialeval.errors import UserError

ITEMS = {
    "s/IC-1": item(item_id="s/IC-1"),
    "s/OD-1": item("OD", item_id="s/OD-1", options=("offensive", "non-offensive"), question=""),
}


def read(tmp_path: Path, text: str) -> ExpertReading:
    path = tmp_path / "answers.csv"
    path.write_text(text, encoding="utf-8")
    return read_expert_answers(path, ITEMS)


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
        ("item,answer\ns/IC-2,B\n", ["line 2", "no item 's/IC-2' (did you mean 's/IC-1'?); correct"]),
        ("item,answer\n17,B\n", ["line 2", "there is no item '17'; correct its id, or take the row out"]),
        ("item,answer\n,B\n", ["line 2", "no item is named"]),
        ("item,answer\ns/IC-1,E\n", ["line 2", "'E' is none of the letters A, B, C, D", "leave it blank"]),
        ("item,answer\n\ns/OD-1,C\n", ["line 3", "the answer C is no option of 's/OD-1', which has A, B"]),
        ("item,answer\ns/IC-1,A or B\n", ["line 2", "'A or B'"]),
        ("item,answer,expert\ns/IC-1,A,ann\ns/OD-1,A,\n", ["line 3", "no expert is named", "in every row"]),
        ("item,answer,expert\ns/IC-1,A,ann\ns/IC-1,A,ann\n", ["line 3", "ann answers 's/IC-1' again", "line 2"]),
        ("item,answer\ns/IC-1,\n", ["no answer in 1 rows"]),
        ("item,A,B,answer\ns/IC-1,to sing,to wash,B\n", ["line 2", "option B ('to wash')", "written anew"]),
        ("item,A,B,answer\ns/OD-1,offensive,non-offensive,C\n", ["line 2", "the answer C is no option of that row"]),
        ('item,answer\ns/IC-1,"B\n', ["not readable as CSV"]),
    ],
)
def test_a_mistake_is_told_with_file_line_and_remedy(tmp_path: Path, text: str, words: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        read(tmp_path, text)
    assert "answers.csv" in str(caught.value)
    for word in words:
        assert word.strip("'") in str(caught.value)


def test_an_item_of_the_same_words_in_two_options_is_no_trap(tmp_path: Path) -> None:
    twice = replace(ITEMS["s/IC-1"], options=("yes", "no", "Yes ", "perhaps"))
    path = tmp_path / "answers.csv"
    path.write_text("item,A,B,C,D,answer\ns/IC-1,yes,no,Yes,perhaps,A\n", encoding="utf-8")
    assert read_expert_answers(path, {"s/IC-1": twice}).answers[0].choice == "A"
