"""What is judged is not learned from, however it was cut, tokenised or labelled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from training_dialogues import dialogue, saying

from dialeval.errors import UserError
from dialeval.schemas.training import JUDGED_TEXTS, TRAINING_OVERLAP
from dialeval.tables import to_table, write_table
from dialeval.training.pairs.human_dialogues import HumanDialogue
from dialeval.training.pairs.overlap import judged_rows, left_out_dialogues, overlap_rows, refuse_overlap
from dialeval.training.pairs.splitting import split

HOME = [dialogue(number) for number in range(20)]
SAID = HOME[3].utterances


def overlap(tmp_path: Path, judged: list[list[str]], dialogues: list[HumanDialogue] = HOME) -> list[dict[str, Any]]:
    placed = split(dialogues, development=0.1, held_back=0.1, random_seed=0)
    rows = judged_rows(("rated", f"i{number}", texts) for number, texts in enumerate(judged))
    write_table(tmp_path / "judged.parquet", JUDGED_TEXTS, to_table(JUDGED_TEXTS, rows))
    known = list(zip(dialogues, placed, strict=True))
    return list(overlap_rows("mine", known, tmp_path / "judged.parquet"))


@pytest.mark.parametrize(
    "item",
    [
        [*SAID[:2], "A chatbot's response that nobody else gave."],
        [*SAID[:1], "A chatbot's response."],
        [SAID[2]],
        list(SAID[1:3]),
        [f"human: {SAID[0].upper()}", f"chatbot: {SAID[1]}"],
        [text.replace(",", " ,").replace("?", " ?").replace(".", " .").lower() for text in SAID],
        ["Hi.", *SAID, "Bye."],
    ],
)
def test_contexts_cuts_and_other_spellings_are_known_again(tmp_path: Path, item: list[str]) -> None:
    assert [row["dialogue_id"] for row in overlap(tmp_path, [item])] == ["d3"]


def test_what_people_say_all_the_time_is_no_overlap(tmp_path: Path) -> None:
    greeting = ["Hi!", "Hello, how are you?", "Fine, thanks. And you?"]
    dialogues = [saying([*greeting, *one.utterances], one.dialogue_id) for one in HOME]
    judged = [greeting[:2], ["Hi, how are you?", "I'm good."], ["Yes."], ["hello"], [""], []]
    assert overlap(tmp_path, judged, dialogues) == []


def test_short_dialogues_are_known_as_a_whole(tmp_path: Path) -> None:
    short = saying(["Is it raining in Oslo?", "Not yet, no."], "short")
    assert [row["dialogue_id"] for row in overlap(tmp_path, [["is it raining in oslo", "not yet no"]], [short])] == [
        "short"
    ]


def test_chinese_is_known_again(tmp_path: Path) -> None:
    said = ["你这二胡能不能换个时间拉？", "我一天就拉四十分钟，不算晚吧？"]
    rows = overlap(tmp_path, [[*said, "好。"]], [saying(["喂。", *said], "zh", language="zh")])
    assert [row["dialogue_id"] for row in rows] == ["zh"]


def test_a_cluster_is_left_out_as_a_whole_in_all_languages(tmp_path: Path) -> None:
    dialogues = [
        *HOME,
        saying(["…", *SAID[1:3], "Something else was said in this one at great length."], "cut"),
        dialogue(3, language="zh"),
    ]
    rows = overlap(tmp_path, [list(SAID[:2])], dialogues)
    assert [(row["dialogue_id"], row["language"]) for row in rows] == [("d3", "en"), ("cut", "en"), ("d3", "zh")]
    assert {row["item_id"] for row in rows} == {"i0"}
    path = tmp_path / "overlap.parquet"
    write_table(path, TRAINING_OVERLAP, to_table(TRAINING_OVERLAP, rows))
    assert left_out_dialogues([path]) == {"home/d3", "home/cut"}


def test_what_is_judged_is_written_by_content_alone(tmp_path: Path) -> None:
    items = [("a", "1", SAID[:2]), ("b", "2", SAID[1:]), ("a", "3", SAID[:2])]
    rows = judged_rows(items)
    assert rows == sorted(rows, key=lambda row: row["passage"])
    assert len({row["passage"] for row in rows}) == len(rows)
    assert {row["passage"] for row in judged_rows(items[:2])} == {row["passage"] for row in rows}
    assert rows == judged_rows([*items, ("c", "4", SAID[:1])])


def test_a_refusal_tells_the_number_examples_and_the_remedy(tmp_path: Path) -> None:
    rows = overlap(tmp_path, [list(one.utterances) for one in HOME[:7]])
    refuse_overlap("mine", [], 20)
    with pytest.raises(UserError) as told:
        refuse_overlap("mine", rows, 20)
    assert "training.mine: 7 of 20 dialogues" in str(told.value)
    assert "'d0' of home is in item 'i0' of rated" in str(told.value)
    assert "and 2 more" in str(told.value)
    assert "overlap: leave_out" in str(told.value)
